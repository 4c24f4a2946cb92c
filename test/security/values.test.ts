// S-08: a value is formatted like the template around it, so text typed by the public can become a link. A template can be set to
// show values literally; the choice belongs to its version.
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { EMAIL, emailTemplate, type Key } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const VALUE = '[click](https://evil.example) # h\n# h\n* a\n\n1. b\n**c** https://evil.example'

let here: World
let key: Key

beforeAll(async () => {
  here = await world({}, { engine: true })
  key = await (await here.service()).key()
})

async function setValues(template: string, how: string) {
  let said = ''
  const keep = (text: string) => {
    said += text
  }
  const code = await run(
    ['template', 'set', template, '--values', how, '--json'],
    { out: keep, err: keep },
    () => here.config,
  )
  return { code, said }
}

const previewed = async (template: string) =>
  (await key.post(`/v2/template/${template}/preview`, { personalisation: { name: VALUE } })).body.html as string

/** The HTML that was handed to the provider. */
async function sent(template: string): Promise<string> {
  const body = { email_address: 'ada@example.net', template_id: template, personalisation: { name: VALUE } }
  const { id } = (await key.post(EMAIL, body)).body
  await expect.poll(async () => (await here.parts.inbox.get(id))?.id, { interval: 20, timeout: 20_000 }).toBe(id)
  return (await here.parts.inbox.get(id))?.html ?? ''
}

const ACTIVE = /<(?:a|h[1-6]|ul|ol|li|strong)\b/

describe('S-08 values as plain text', () => {
  test('without the switch Markdown in a value is formatted, and only with safe targets', async () => {
    const template = await emailTemplate(key, 'Hello ((name))')
    for (const html of [await previewed(template), await sent(template)]) {
      expect(html).toContain('href="https://evil.example"')
      expect(html).toMatch(/<li\b/)
    }
    const unsafe = { personalisation: { name: '[x](javascript:alert(1)) [y](data:text/html,z)' } }
    expect((await key.post(`/v2/template/${template}/preview`, unsafe)).body.html).not.toMatch(/href="(?!#")/)
  })

  test('with it links, headings and lists in a value stay as they were typed, in the mail and in its preview', async () => {
    const template = await emailTemplate(key, '# News\n\nHello ((name))\n\n[ours](https://ours.example)')
    expect(await setValues(template, 'plain')).toMatchObject({
      code: 0,
      said: expect.stringContaining('"values": "plain"'),
    })
    for (const html of [await previewed(template), await sent(template)]) {
      expect(html).not.toContain('href="https://evil.example"')
      expect(html).toContain('href="https://ours.example"')
      expect(html).toContain('[click](https://evil.example) # h')
    }
    const plain = await emailTemplate(key, '((name))')
    await setValues(plain, 'plain')
    expect(await previewed(plain)).not.toMatch(ACTIVE)
  })

  test('later edits keep the choice, accepted messages keep theirs, and it can be reverted', async () => {
    const template = await emailTemplate(key, '((name))')
    await setValues(template, 'plain')
    // The interface has no such field: a request that contains it changes nothing.
    await key.patch(`/v2/manage-template/${template}`, { content: 'Hi ((name))', literal_values: false })
    expect(await previewed(template)).not.toMatch(ACTIVE)
    await key.patch(`/v2/manage-template/${template}`, { content: 'Hello ((name))' })
    expect(await previewed(template)).not.toMatch(ACTIVE)
    await setValues(template, 'formatted')
    expect(await previewed(template)).toMatch(ACTIVE)
  })

  test('an id that is no template is refused with a sentence', async () => {
    expect(await setValues('not-an-id', 'plain')).toMatchObject({ code: 2 })
    expect(await setValues('207b293c-2ae5-48e8-836d-fcabd60b2153', 'plain')).toMatchObject({ code: 1 })
    expect(await setValues('207b293c-2ae5-48e8-836d-fcabd60b2153', 'odd')).toMatchObject({ code: 2 })
  })
})
