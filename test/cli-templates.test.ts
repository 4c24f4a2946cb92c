// Templates at the command line: the verbs of one template, and a folder of files that is pulled, tested and pushed.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import { emailTemplate, inMinutes, type Key } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const SECRET = 'the secret that the service and the commands share'
const folder = mkdtempSync(join(tmpdir(), 'herald-cli-templates-'))
let env: Record<string, string>
let here: World
let key: Key

beforeAll(async () => {
  here = await world({ HERALD_SECRET: SECRET })
  key = await (await here.service({ name: 'Parking permits' })).key()
  env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_SECRET: SECRET, HERALD_DATA: folder }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function herald(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const streams = {
    out(said: string) {
      out += said
    },
    err(said: string) {
      err += said
    },
  }
  const code = await run(argv, streams, () => readConfig({ ...env, HERALD_LOG_LEVEL: 'silent' }))
  return { code, out, err }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
async function json(...argv: string[]): Promise<any> {
  const { code, out, err } = await herald(...argv, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const NEW = ['--type', 'email', '--category', 'status update', '--subject', 'Renew, ((name))']

describe('template', () => {
  test('create, list, show, edit, versions, diff', async () => {
    await here.service({ name: 'Alone' })
    const content = file('renewal.txt', 'Hello ((name)),\nrenew by ((date)).')
    const made = await json('template', 'create', 'Alone', '--name', 'Renewal', ...NEW, '--content-file', content)
    expect(made).toMatchObject({
      ...{ name: 'Renewal', version: 1, template_category_name: 'Status update', subject: 'Renew, ((name))' },
      ...{ body: 'Hello ((name)),\nrenew by ((date)).', placeholders: ['name', 'date'] },
    })
    const { templates } = await json('template', 'list', 'Alone')
    expect(templates).toMatchObject([{ id: made.id, name: 'Renewal', type: 'email', folder: null }])
    expect((await json('template', 'list', 'Alone', '--search', 'nowhere')).templates).toEqual([])

    const other = file('other.txt', 'Hello ((name)),\nrenew by ((day)).')
    expect(await json('template', 'edit', made.id, '--content-file', other)).toMatchObject({ version: 2 })
    expect((await json('template', 'show', made.id, '--version', '1')).body).toContain('((date))')
    expect((await json('template', 'versions', made.id)).versions).toMatchObject([{ version: 2 }, { version: 1 }])
    expect((await herald('template', 'diff', made.id)).out).toMatch(
      /placeholders:\n- \(\(date\)\)\n\+ \(\(day\)\)\n\ncontent:\n {2}Hello \(\(name\)\),\n- renew by .*\n\+ renew by/,
    )
    expect(await herald('template', 'diff', made.id, '--to', '1')).toMatchObject({ code: 2 })
    expect(await json('template', 'show', made.id.slice(0, 18))).toMatchObject({ id: made.id })
    expect((await herald('template', 'show', 'Renewal')).err).toContain('TEMPLATE takes the id of a template')
    expect(await herald('template', 'edit', made.id)).toMatchObject({ code: 2 })
    expect((await herald('template', 'edit', made.id, '--category', 'x')).err).toMatch(/Categories: .*Status update/)
  })

  test('message cancel stops a scheduled message, and refuses one that is not scheduled', async () => {
    const template_id = await emailTemplate(key)
    const send = async (more: object) => {
      const body = { template_id, email_address: 'ann@example.org', personalisation: { name: 'Ann' }, ...more }
      return String((await key.post('/v2/notifications/email', body)).body.id)
    }
    const later = await send({ scheduled_for: inMinutes(60) })
    expect(await json('message', 'cancel', later)).toEqual({ id: later, status: 'cancelled' })
    expect((await json('message', 'show', later)).message.status).toBe('cancelled')
    expect(await herald('message', 'cancel', await send({}))).toMatchObject({ code: 1 })
    expect(await herald('message', 'cancel', 'nothing')).toMatchObject({ code: 2 })
  })
})

describe('templates as code', () => {
  test('pull, test, push: samples, breaking changes and other editors stop a push', async () => {
    const own = await here.service({ name: 'As code' })
    await emailTemplate(await own.key())
    const [service, place] = ['As code', join(folder, 'code')]
    await json('templates', 'pull', service, place)
    const [name = ''] = readdirSync(place)
    const path = join(place, name)
    const pulled = readFileSync(path, 'utf8')
    expect(pulled).toMatch(/^---\nid: .*\nversion: 1\nname: .*\ntype: email\ncategory: .*\nsubject: .*\n---\nHello /)
    expect(await herald('templates', 'diff', service, place)).toMatchObject({ code: 0, out: 'Nothing differs.\n' })

    // The samples: without what is expected, then with it, then with another text.
    const samples = path.replace('.md', '.samples.json')
    writeFileSync(samples, JSON.stringify([{ name: 'Ann', values: { name: 'Ann' } }]))
    expect(await json('templates', 'test', place, '--update')).toMatchObject({ ok: true })
    expect(JSON.parse(readFileSync(samples, 'utf8'))[0].expected.body).toContain('Hello Ann')
    writeFileSync(path, pulled.replace('Hello ', 'Good day '))
    const failing = await herald('templates', 'test', place)
    expect(failing).toMatchObject({ code: 1, out: expect.stringMatching(/FAILED .*- Hello Ann\n\+ Good day Ann/s) })
    expect(await herald('templates', 'push', service, place)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Samples fail. Nothing was pushed./),
    })
    expect(await herald('templates', 'pull', service, place)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/changes that are not pushed/),
    })

    await json('templates', 'test', place, '--update')
    expect(await herald('templates', 'diff', service, place)).toMatchObject({ code: 1 })
    const planned = await json('templates', 'push', service, place, '--dry-run')
    expect(planned).toMatchObject({ pushed: false, changes: [{ does: 'change', breaks: [], fields: ['content'] }] })
    expect(await json('templates', 'push', service, place)).toMatchObject({ pushed: true })
    const pushed = readFileSync(path, 'utf8')
    expect(pushed).toContain('version: 2')

    // A new placeholder is a breaking change.
    writeFileSync(path, pushed.replace('Good day ', 'Good day ((title)) '))
    writeFileSync(samples, JSON.stringify([{ name: 'Ann', values: { name: 'Ann', title: 'Dr' } }]))
    const refused = await herald('templates', 'push', service, place)
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/break callers.*without \(\(title\)\)/s) })
    expect(await json('templates', 'push', service, place, '--allow-breaking')).toMatchObject({ pushed: true })

    // Somebody else saves a version.
    const id = /^id: (.*)$/m.exec(pushed)?.[1] ?? ''
    await json('template', 'edit', id, '--name', 'Elsewhere')
    writeFileSync(path, readFileSync(path, 'utf8').replace('Good day', 'Good morning'))
    expect(await herald('templates', 'push', service, place)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Somebody has changed templates since they were pulled/),
    })

    // A file without an id becomes a template; the file gets its id.
    const fresh = join(place, 'fresh.txt')
    writeFileSync(fresh, '---\nname: Fresh\ntype: sms\ncategory: Alert\n---\nHi ((name))\n')
    await json('templates', 'pull', service, place, '--force')
    expect(await json('templates', 'push', service, place)).toMatchObject({ changes: [{ does: 'create' }] })
    expect(readFileSync(fresh, 'utf8')).toMatch(/^---\nid: .*\nversion: 1\nname: Fresh\n/)
    expect((await json('templates', 'list', service)).templates).toHaveLength(2)
    expect(await herald('templates', 'diff', service, place)).toMatchObject({ code: 0 })
  })

  test('a file that cannot be read is named with its line', async () => {
    const place = mkdtempSync(join(folder, 'wrong-'))
    writeFileSync(join(place, 'a.md'), '---\nname: A\ncolour: red\n---\nx\n')
    expect((await herald('templates', 'test', place)).err).toMatch(/a\.md line 3 is not one of id, version, name/)
    writeFileSync(join(place, 'a.md'), 'no front matter')
    expect(await herald('templates', 'test', place)).toMatchObject({ code: 2 })
    expect(await herald('templates', 'test', join(place, 'none'))).toMatchObject({ code: 2 })
  })
})
