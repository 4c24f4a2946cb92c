// --json on every command: the table of commands is walked with a wrong option, and without a database; every command that reads is
// called on real data. The same texts in colours differ by the colours only.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CommandEntry } from '../src/cli/command.ts'
import { nameOf } from '../src/cli/help.ts'
import { run } from '../src/cli/run.ts'
import { table } from '../src/cli/table.ts'
import { screenOf } from '../src/cli/terminal.ts'
import { readConfig } from '../src/config/index.ts'
import { emailTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const SECRET = 'the secret that the service and the commands share'
const folder = mkdtempSync(join(tmpdir(), 'herald-cli-json-'))
let here: World
let env: Record<string, string>
/** Words of a call for which there is data. */
let reads: Record<string, readonly string[]>

beforeAll(async () => {
  here = await world({ HERALD_SECRET: SECRET }, { engine: true })
  env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_SECRET: SECRET, HERALD_DATA: folder, HERALD_PORT: '0' }
  const service = await here.service({ name: 'Parking permits' })
  const key = await service.key()
  const template = await emailTemplate(key)
  await service.addReplyTo('desk@example.org')
  const json = async (...argv: string[]) => JSON.parse((await herald([...argv, '--json'])).out)
  await json('template', 'edit', template, '--name', 'Renamed')
  await json('folder', 'add', service.id, 'Letters')
  await json('safelist', 'add', service.id, 'ann@example.org')
  const webhook = await json('webhook', 'add', service.id, 'https://hooks.example.org/events')
  await json('operator', 'add', 'ada@example.org')
  const body = { template_id: template, email_address: 'ann@example.org', personalisation: { name: '李明' } }
  const { id } = (await key.post('/v2/notifications/email', body)).body
  await vi.waitFor(async () => expect((await key.get(`/v2/notifications/${id}`)).body.status).toBe('delivered'), 10_000)
  const rows = [
    ['email address', 'name'],
    ['a@example.org', 'A'],
  ]
  const job = (await key.post('/v2/notifications/bulk', { name: 'Spring', template_id: template, rows })).body.data.id
  const csv = join(folder, 'people.csv')
  writeFileSync(csv, 'email address,name\nann@example.org,Ann\n')
  const files = join(folder, 'templates')
  await json('templates', 'pull', service.id, files)
  reads = {
    migrate: [],
    held: [],
    'provider list': [],
    'service list': [],
    'service show': [service.id],
    'key list': [service.id],
    'user list': [service.id],
    'operator list': [],
    'reply-to list': [service.id],
    'sender list': [service.id],
    'safelist list': [service.id],
    'folder list': [service.id],
    'template list': [service.id],
    'template show': [template],
    'template versions': [template],
    'template diff': [template],
    'templates pull': [service.id, files],
    'templates diff': [service.id, files],
    'templates test': [files],
    check: [csv, '--template', template],
    'job errors': ['--template', template, '--csv', csv],
    'job list': [service.id],
    'job show': [job],
    'job watch': [job],
    'message show': [id],
    'message find': ['--to', 'ann@example.org'],
    'webhook list': [service.id],
    'webhook show': [webhook.id],
    'webhook attempts': [webhook.id],
    inbox: [],
    audit: [],
    completion: ['bash'],
  }
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Said = { code: number; out: string; err: string }

async function herald(argv: readonly string[], settings = env, hasColours = false): Promise<Said> {
  const said = { out: '', err: '' }
  const screen = screenOf({}, hasColours ? { FORCE_COLOR: '1' } : {})
  const streams = {
    out: (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
    screens: { out: screen, err: screen },
  }
  const code = await run(argv, streams, () => readConfig({ ...settings, HERALD_LOG_LEVEL: 'silent' }))
  return { code, ...said }
}

const commands = table.map(command => [nameOf(command), command] as const)

/** Words in the place of every required argument and option. */
const anyWords = ({ args = [], options = [] }: CommandEntry): string[] => [
  ...args.flatMap(({ choices, optional }) => (optional ? [] : (choices?.[0] ?? join(folder, 'nowhere')))),
  ...options.flatMap(({ name, value, choices, number, required }) =>
    required && value ? [`--${name}`, choices?.[0] ?? (number ? '1' : join(folder, 'nowhere'))] : [],
  ),
]

const failure = (code: number) => ({
  errors: expect.arrayContaining([{ error: expect.any(String), message: expect.stringMatching(/\S/) }]),
  exit_code: code,
})

describe('errors are JSON with --json', () => {
  test.each(commands)('%s with an option that does not exist', async (name, command) => {
    const { code, out, err } = await herald([...name.split(' '), ...anyWords(command), '--nonsense', '--json'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(JSON.parse(err)).toMatchObject({ ...failure(2), usage: expect.stringContaining(`herald ${name}`) })
  })

  const others = ['start', 'completion', 'doctor'] // run on anything
  test.each(commands.filter(([name]) => !others.includes(name)))('%s without a database', async (name, command) => {
    const nowhere = { HERALD_DATA: join(folder, 'empty'), HERALD_SECRET: SECRET }
    const { code, out, err } = await herald([...name.split(' '), ...anyWords(command), '--json'], nowhere)
    expect({ code: code > 0, out }).toEqual({ code: true, out: '' })
    // Before it there may be lines that say what is done, such as where the database is looked for.
    expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')).toMatchObject(failure(code))
  })
})

describe('output', () => {
  /** They change something, need a question, or run until they are interrupted; others of these tests call them. */
  const OTHERS =
    /^(start|doctor|backup|restore|upgrade-database|hold|release|provider test|file-store adopt|sample|send|export|import|events|.* (create|set|export|import|revoke|add|role|remove|sign-in-link|edit|push|send|cancel|resend|pause|resume|rotate-secret|test|replay))$/

  test('every command that only reads is called', () => {
    const missing = commands.map(([name]) => name).filter(name => !(name in reads) && !OTHERS.test(name))
    expect(missing).toEqual([])
  })

  test('is one JSON document with --json; in colours it is the same text', async () => {
    for (const [name, words] of Object.entries(reads)) {
      const argv = [...name.split(' '), ...words]
      const { code, out, err } = await herald([...argv, '--json'])
      expect({ name, code, err }).toEqual({ name, code: 0, err: '' })
      expect(typeof JSON.parse(out), name).toBe('object')
      const text = await herald(argv)
      expect(text.out, name).toMatch(/\S/)
      expect(text.out, name).not.toMatch(/\u001b|=>|\[object/)
      const coloured = await herald(argv, env, true)
      if (name !== 'completion') expect(coloured.out.replaceAll(/\u001b\[\d+m/g, ''), name).toBe(text.out)
    }
  }, 60_000)

  test('of doctor and of events', async () => {
    const doctor = await herald(['doctor', '--json'])
    expect(JSON.parse(doctor.out)).toMatchObject({ checks: expect.any(Array) })
    const { out } = await herald(['events', '--json'])
    const lines = out.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ cursor: expect.any(String) })
  })
})
