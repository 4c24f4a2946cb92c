// The editor of templates over HTTP: preview, problems, example values, saving, conflicts, the warning before placeholders change,
// and a test to oneself.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { createSeal } from '../../src/core/seal.ts'
import { sealAgain } from '../../src/maintenance/seal.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { readSamples } from '../../src/templates/samples.ts'
import { find } from '../../src/templates/sql.ts'
import { addedPause } from '../support/loop.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'

let here: ConsolePlace
let author: SignedInAs
let service: Id

beforeAll(async () => {
  here = await place()
  author = await here.signIn('author')
  service = here.planted.service.id
})

type Fields = [string, string][]

/** Repeated fields are possible, as a form of a browser has them. */
async function post(who: SignedInAs, path: string, fields: Fields) {
  const response = await fetch(here.address + CONSOLE + path, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie: `${who.cookie.name}=${who.cookie.value}`,
      'content-type': 'application/x-www-form-urlencoded',
      origin: here.address,
      'sec-fetch-site': 'same-origin',
    },
    body: new URLSearchParams([['form_token', who.formToken], ...fields]).toString(),
  })
  return { status: response.status, text: await response.text(), location: response.headers.get('location') }
}

const pathOf = (id: Id) => `/s/${service}/templates/${id}`
const sampleFields = (samples: Record<string, string>): Fields =>
  Object.entries(samples).flatMap(
    ([name, value]): Fields => [
      ['sample-name', name],
      ['sample-value', value],
    ],
  )
const fieldsOf = (
  { subject, body, version }: { subject?: string; body: string; version: number },
  samples: Record<string, string> = {},
): Fields => [
  ...(subject === undefined ? [] : ([['subject', subject]] as Fields)),
  ['body', body],
  ['version', String(version)],
  ...sampleFields(samples),
]

/** A template that nobody uses yet. */
async function newTemplate(type: 'email' | 'sms', content: string, subject = 'A subject'): Promise<Id> {
  const { key } = here.planted.service.keys[0] as { key: string }
  const made = await here.call('POST', '/v2/manage-template', {
    headers: { authorization: `ApiKey-v1 ${key}` },
    body: {
      name: `Template ${content.slice(0, 20)}`,
      template_type: type,
      content,
      ...(type === 'email' && { subject }),
      template_category_id: '207b293c-2ae5-48e8-836d-fcabd60b2153',
    },
  })
  expect(made.status).toBe(201)
  return made.body.id
}
const stored = async (id: Id) => {
  const found = await find(here.parts.db.sql, service, id)
  if (!found) throw new Error('no such template')
  return found
}
const frameIn = (text: string) => /<iframe[^>]* src="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
const openFrame = (who: SignedInAs, src: string) => here.request(who, src.slice(CONSOLE.length))

describe('the page', () => {
  test('authors edit, viewers read', async () => {
    const { email } = here.planted.service.templates
    const [edit, read] = await Promise.all([
      here.request(author, pathOf(email)),
      here.request(await here.signIn('viewer'), pathOf(email)),
    ])
    expect(edit.status).toBe(200)
    expect(edit.text).toContain('<textarea id="body"')
    expect(read.status).toBe(200)
    expect(read.text).not.toContain('<textarea')
    expect(read.text).toContain('<mark class="ph">')
    expect(read.text).not.toContain('Send to myself')
  })

  test('a template of another service and a broken id are not found', async () => {
    const other = here.planted.other.templates.email
    expect((await here.request(author, pathOf(other))).status).toBe(404)
    expect((await here.request(author, `${pathOf(other)}/rendered`)).status).toBe(404)
    expect((await post(author, pathOf(other), fieldsOf({ body: 'x', version: 1 }))).status).toBe(404)
    expect((await here.request(author, `/s/${service}/templates/nonsense`)).status).toBe(404)
  })

  test('viewers, senders and developers cannot save, preview or read drafts', async () => {
    const id = await newTemplate('email', 'Hello')
    const before = await here.changes()
    for (const who of ['viewer', 'sender', 'developer'] as const) {
      const person = await here.signIn(who)
      for (const act of ['', '/preview', '/live', '/confirm'])
        expect((await post(person, pathOf(id) + act, fieldsOf({ body: 'x', version: 1 }))).status).toBe(403)
    }
    const after = await here.changes()
    expect({ ...after, sessions: '', audit: '' }).toEqual({ ...before, sessions: '', audit: '' })
  })
})

describe('preview', () => {
  test('hostile content stays in the frame, which has a policy of its own', async () => {
    const id = await newTemplate('email', 'Hello')
    const hostile = '</pre></textarea><script>alert(1)</script><img src=x onerror=alert(2)>\n[a](javascript:alert(3))'
    const page = await post(author, `${pathOf(id)}/preview`, fieldsOf({ subject: hostile, body: hostile, version: 1 }))
    expect(page.status).toBe(200)
    expect(page.text).not.toContain('<script>alert')
    expect(page.text).not.toContain('<img src=x')
    expect(page.text).toContain('leads nowhere')
    expect(page.text).toMatch(/<iframe sandbox=?(?:"")? /)
    const frame = await openFrame(author, frameIn(page.text))
    expect(frame.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    expect(frame.text).not.toContain('<script>')
    expect(frame.text).toContain('&lt;script')
    // What is being written belongs to its author.
    const manager = await openFrame(await here.signIn('manager'), frameIn(page.text))
    expect(manager.text).toContain('out of date')
    expect((await openFrame(await here.signIn('viewer'), frameIn(page.text))).status).toBe(403)
  })

  test('follows what is typed, with example values, dark and light', async () => {
    const id = await newTemplate('email', 'Hello')
    const live = await post(
      author,
      `${pathOf(id)}/live`,
      fieldsOf(
        { subject: 'For ((name))', body: 'Dear ((name)): ((things)) ((late??Hurry!))', version: 1 },
        {
          name: 'Kim',
          things: 'a bag\na hat',
          late: 'no',
        },
      ),
    )
    expect(live.status).toBe(200)
    expect(live.text).not.toContain('<html')
    expect(live.text).toContain('For Kim')
    expect(live.text).not.toContain('Hurry!</span>')
    const frame = frameIn(live.text)
    const light = await openFrame(author, frame)
    expect(light.text).toContain('Dear Kim')
    expect(light.text).toContain('a bag</li>')
    expect(light.text).toContain('@media not all')
    expect((await openFrame(author, frame.replace('scheme=light', 'scheme=dark'))).text).toContain('@media all')
    // Nothing is saved but the example values, and these are sealed.
    expect((await stored(id)).version).toBe(1)
    expect(await readSamples(here.parts, service, id)).toEqual({ name: 'Kim', things: ['a bag', 'a hat'], late: 'no' })
    const sealed = await here.parts.db.sql<{ sealed: Buffer }>`
      select sealed from template_samples where template_id = ${id}
      union all select sealed from template_drafts where template_id = ${id}`
    expect(sealed).toHaveLength(2)
    for (const row of sealed) expect(row.sealed.toString('latin1')).not.toMatch(/Kim|hat|name/)
    const page = await here.request(await here.signIn('viewer'), pathOf(id))
    expect(page.status).toBe(200)
  })

  test('a body of 50,000 characters does not block other requests', async () => {
    const id = await newTemplate('email', 'Hello')
    const body = '**((a))** [x](https://x.example) _b_ '.repeat(2_000).slice(0, 50_000)
    const ask = (content: string) => async () => {
      const answer = await post(
        author,
        `${pathOf(id)}/live`,
        fieldsOf({ subject: 's', body: content, version: 1 }, { a: 'x'.repeat(100) }),
      )
      expect(answer.status).toBe(200)
    }
    await ask(body)()
    for (const content of [body, '((a))'.repeat(10_000), '(('.repeat(25_000)])
      expect(await addedPause(ask('Hello'), ask(content))).toBeLessThan(100)
  }, 60_000)

  test('thousands of placeholders are shown in part', async () => {
    const id = await newTemplate('email', 'Hello')
    const body = Array.from({ length: 5_000 }, (_, at) => `((p${at}))`).join('')
    const page = await post(author, `${pathOf(id)}/preview`, fieldsOf({ subject: 's', body, version: 1 }))
    expect(page.text).toContain('4800 more are not listed')
    expect(page.text.match(/name="sample-name"/g)).toHaveLength(200)
    expect(page.text).toContain('((p4999))')
  })

  test('a text message names the character that makes it expensive, and can replace it', async () => {
    const id = await newTemplate('sms', 'Hello')
    const body = `Lost it? Call ((number)) – à bientôt! ${'x'.repeat(110)}`
    const page = await post(author, `${pathOf(id)}/preview`, fieldsOf({ body, version: 1 }, { number: '112' }))
    expect(page.text).toContain('One character needs the large alphabet')
    expect(page.text).toContain('<code>ô</code> in line 1')
    expect(page.text).toContain('<mark class="odd">ô</mark>')
    expect(page.text).toMatch(/With basic letters this message is <strong>1 part<\/strong> instead of 3/)
    expect(page.text).toContain('<code>–</code> in line 1 becomes <code>-</code>')
    expect(page.text).toContain('part 3')
    expect(page.text).toContain('UCS-2')
    const fixed = await post(author, pathOf(id), [...fieldsOf({ body, version: 1 }), ['act', 'basic-letters']])
    expect(fixed.text).toContain('à bientot!')
    expect(fixed.text).toContain('GSM-7')
    expect((await stored(id)).content).toBe('Hello')
  })
})

test('example values are sealed again after a change of the secret', async () => {
  const id = await newTemplate('email', 'Hi ((name))')
  await post(author, `${pathOf(id)}/live`, fieldsOf({ subject: 's', body: 'Hi ((name))', version: 1 }, { name: 'Kim' }))
  const { sql } = here.parts.db
  const both = createSeal(['a-new-secret-of-forty-characters-or-more', ...here.parts.secrets])
  const alone = createSeal(['a-new-secret-of-forty-characters-or-more'])
  expect(await readSamples({ db: { sql }, seal: alone }, service, id)).toEqual({})
  await runSteps(sealAgain({ db: { sql }, seal: both }))
  expect(await readSamples({ db: { sql }, seal: alone }, service, id)).toEqual({ name: 'Kim' })
  await runSteps(
    sealAgain({
      db: { sql },
      seal: createSeal([...here.parts.secrets, 'a-new-secret-of-forty-characters-or-more']),
    }),
  )
  expect(await readSamples(here.parts, service, id)).toEqual({ name: 'Kim' })
})

describe('saving', () => {
  test('makes a version, keeps the example values, and drops the draft', async () => {
    const id = await newTemplate('email', 'Hello')
    await post(author, `${pathOf(id)}/live`, fieldsOf({ subject: 's', body: 'draft', version: 1 }))
    const text = 'Dear ((name)),\r\n\r\n👋 مرحبا'
    const saved = await post(author, pathOf(id), fieldsOf({ subject: 'S', body: text, version: 1 }, { name: 'Kim' }))
    expect([saved.status, saved.location]).toEqual([303, `${CONSOLE}${pathOf(id)}?done=saved`])
    expect(await stored(id)).toMatchObject({ version: 2, subject: 'S', content: text.replaceAll('\r', '') })
    expect(await readSamples(here.parts, service, id)).toEqual({ name: 'Kim' })
    expect(await here.parts.db.sql`select 1 from template_drafts where template_id = ${id}`).toEqual([])
    const page = await here.request(author, `${pathOf(id)}?done=saved`)
    expect(page.text).toContain('The new version is in use.')
    const [entry] = await here.parts.db.sql<{ actor_kind: string; action: string }>`
      select actor_kind, action from audit where subject_id = ${id} order by id desc limit 1`
    expect(entry).toEqual({ actor_kind: 'person', action: 'template changed' })
  })

  test('of example values only makes no version', async () => {
    const id = await newTemplate('email', 'Hi ((name))')
    const saved = await post(
      author,
      pathOf(id),
      fieldsOf({ subject: 'A subject', body: 'Hi ((name))', version: 1 }, { name: 'Ö' }),
    )
    expect(saved.location).toBe(`${CONSOLE}${pathOf(id)}?done=samples`)
    expect((await stored(id)).version).toBe(1)
  })

  test.each([
    ['an empty message', 'email', { subject: 's', body: ' \n' }, 'Enter a message'],
    ['a long message', 'email', { subject: 's', body: 'x'.repeat(50_001) }, 'At most 50000 are possible'],
    ['a long subject', 'email', { subject: 'x'.repeat(2_001), body: 'b' }, 'At most 2000 are possible'],
    ['a long text message', 'sms', { body: 'x'.repeat(613) }, 'At most 612 are possible'],
  ] as const)('refuses %s and keeps the values', async (_what, type, content, sentence) => {
    const id = await newTemplate(type, 'Hello')
    const page = await post(author, pathOf(id), fieldsOf({ ...content, version: 1 }))
    expect(page.status).toBe(422)
    expect(page.text).toMatch(/<title>Error: /)
    expect(page.text).toContain(sentence)
    expect(page.text).toContain(`\n${content.body}</textarea>`)
    expect((await stored(id)).version).toBe(1)
  })

  test('lists problems that do not keep it from being saved', async () => {
    const id = await newTemplate('email', 'Hello')
    const page = await post(author, `${pathOf(id)}/preview`, fieldsOf({ subject: '', body: 'a\n((name', version: 1 }))
    expect(page.text).toContain('The subject is empty')
    expect(page.text).toContain('Message, line 2')
    expect(page.text).toContain('is never closed')
    expect((await post(author, pathOf(id), fieldsOf({ subject: '', body: 'a\n((name', version: 1 }))).status).toBe(303)
  })

  test('after somebody else saved shows both, and saves when it is sent again', async () => {
    const id = await newTemplate('email', 'One')
    expect((await post(author, pathOf(id), fieldsOf({ subject: 's', body: 'Two of Sami', version: 1 }))).status).toBe(
      303,
    )
    const manager = await here.signIn('manager')
    const late = await post(manager, pathOf(id), fieldsOf({ subject: 's', body: 'Mine', version: 1 }))
    expect(late.status).toBe(409)
    expect(late.text).toContain('Version 2 was saved meanwhile')
    expect(late.text).toContain('Two of Sami')
    expect(late.text).toContain('\nMine</textarea>')
    expect(late.text).toContain('name="version" value="2"')
    expect((await post(manager, pathOf(id), fieldsOf({ subject: 's', body: 'Mine', version: 2 }))).status).toBe(303)
    expect(await stored(id)).toMatchObject({ version: 3, content: 'Mine' })
  })
})

describe('a change of placeholders', () => {
  const change = async (id: Id, body: string, subject: string) => {
    const { version } = await stored(id)
    return post(author, pathOf(id), fieldsOf({ subject, body, version }))
  }

  test('names the keys that do not send the new one, and jobs that keep their version', async () => {
    const { email } = here.planted.service.templates
    const before = await stored(email)
    const asked = await change(email, `${before.content}\n((car park))`, before.subject ?? '')
    expect(asked.status).toBe(303)
    expect(asked.location).toContain('/confirm?draft=')
    const path = asked.location?.slice(CONSOLE.length) ?? ''
    const page = await here.request(author, path)
    expect(page.status).toBe(200)
    expect(page.text).toContain('This change breaks sends')
    expect(page.text).toMatch(/not send “car park” yet/)
    expect(page.text).toContain('lacks car park')
    expect(page.text).toContain('zone-c-notice.csv')
    expect(page.text).toContain(`keeps version ${before.version}, not touched`)
    expect(page.text).not.toContain('visitors-fair.csv')
    expect((await stored(email)).version).toBe(before.version)

    // A preview that was on its way when the form was sent replaces nothing.
    await post(
      author,
      `${pathOf(email)}/live`,
      fieldsOf({ subject: before.subject ?? '', body: 'earlier', version: before.version }),
    )
    const back = await here.request(author, `${pathOf(email)}?${path.split('?')[1]}`)
    expect(back.text).toContain('((car park))</textarea>')
    const draft = new URLSearchParams(path.split('?')[1]).get('draft') ?? ''
    const saved = await post(author, `${pathOf(email)}/confirm`, [['draft', draft]])
    expect(saved.location).toContain('done=saved')
    expect(await stored(email)).toMatchObject({
      version: before.version + 1,
      content: `${before.content}\n((car park))`,
    })

    // The key is told about now: it sends the value, so taking it away again breaks nothing.
    const less = await change(email, before.content, before.subject ?? '')
    const mild = await here.request(author, less.location?.slice(CONSOLE.length) ?? '')
    expect(mild.text).toContain('No key has to change')
    // A draft that is gone leads back to the template.
    const gone = await post(author, `${pathOf(email)}/confirm`, [['draft', draft]])
    expect(gone.location).toBe(`${CONSOLE}${pathOf(email)}`)
  })

  test('that nobody uses is saved at once', async () => {
    const id = await newTemplate('email', 'Hi ((name))')
    expect((await change(id, 'Hi ((first name))', 's')).location).toContain('done=saved')
  })

  test('of spelling only is none', async () => {
    const { email } = here.planted.service.templates
    const before = await stored(email)
    const respelt = before.content.replace(/\(\(([a-z ]+)\)\)/g, (_, name: string) => `((${name.toUpperCase()}))`)
    expect(respelt).not.toBe(before.content)
    expect((await change(email, respelt, before.subject ?? '')).location).toContain('done=saved')
  })
})

describe('a test to myself', () => {
  const sent = async (location: string | null) => {
    const id = /\/messages\/([0-9a-f-]{36})\?done=sent$/.exec(location ?? '')?.[1]
    const [row] = await here.parts.db.sql<{ template_version: number; key_id: string | null }>`
      select template_version, key_id from notifications where id = ${id ?? null}::uuid`
    return row
  }

  test('sends the saved version with the example values, for authors, senders and managers', async () => {
    const id = await newTemplate('email', 'Hi ((name))')
    const fields = fieldsOf({ subject: 'A subject', body: 'Hi ((name))', version: 1 }, { name: 'Kim' })
    for (const who of ['author', 'manager'] as const) {
      const answer = await post(await here.signIn(who), `${pathOf(id)}/test`, fields)
      expect(await sent(answer.location)).toEqual({ template_version: 1, key_id: null })
    }
    const sender = await post(await here.signIn('sender'), `${pathOf(id)}/test`, [])
    expect(await sent(sender.location)).toEqual({ template_version: 1, key_id: null })
    for (const who of ['viewer', 'developer'] as const)
      expect((await post(await here.signIn(who), `${pathOf(id)}/test`, [])).status).toBe(403)
  })

  test('wants saved changes, values, and a number', async () => {
    const id = await newTemplate('email', 'Hi ((name))')
    const unsaved = await post(author, `${pathOf(id)}/test`, fieldsOf({ subject: 's', body: 'Other', version: 1 }))
    expect(unsaved.status).toBe(422)
    expect(unsaved.text).toContain('Save your changes first')
    expect(unsaved.text).toContain('\nOther</textarea>')
    const empty = await post(
      author,
      `${pathOf(id)}/test`,
      fieldsOf({ subject: 'A subject', body: 'Hi ((name))', version: 1 }),
    )
    expect(empty.text).toContain('The test is not sent')
    expect(empty.text).toContain('<a href="#sample-0">Enter an example value for name.</a>')
    expect(empty.text).toMatch(
      /<textarea[^>]*id="sample-0"[^>]*aria-invalid="true"[^>]*aria-describedby="sample-0-error"/,
    )
    expect(empty.text).toContain('id="sample-0-error"')
    const text = await newTemplate('sms', 'Hi')
    const noNumber = await post(author, `${pathOf(text)}/test`, fieldsOf({ body: 'Hi', version: 1 }))
    expect(noNumber.text).toContain('no phone number of yours')
  })
})
