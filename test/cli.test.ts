// The command line. Every command is called as index.ts calls it, once with human-readable output and once with --json; exit
// codes, streams and signals are tested with real processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { nameOf } from '../src/cli/help.ts'
import { read } from '../src/cli/parse.ts'
import { cliReference } from '../src/cli/reference.ts'
import { run } from '../src/cli/run.ts'
import { table } from '../src/cli/table.ts'
import { readConfig } from '../src/config/index.ts'
import { createSeal } from '../src/core/seal.ts'
import { connect, type Database } from '../src/db/connect.ts'
import { secretIn } from '../src/db/seal.ts'
import { openStore } from '../src/store.ts'
import { databaseUrl, onServer, poolOptions } from './support/database.ts'

type Place = Record<'DATABASE_URL' | 'HERALD_DATA' | 'HERALD_PORT' | 'HERALD_LOG_LEVEL', string>
type Said = { code: number | null; out: string; err: string }
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
type Json = any

const folders: string[] = []
const databases: string[] = []
let env: Place
let db: Database

beforeAll(async () => {
  env = await place()
  db = connect({ url: env.DATABASE_URL }, poolOptions)
})

afterAll(async () => {
  await db.stop()
  for (const name of databases) await onServer(inject('server'), `drop database if exists ${name} with (force)`)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A data folder and an empty, migrated database. */
async function place(): Promise<Place> {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(inject('server'), `create database ${name} template ${inject('template')}`)
  databases.push(name)
  const data = folder()
  secretIn(data)
  return {
    DATABASE_URL: databaseUrl(inject('server'), name),
    HERALD_DATA: data,
    HERALD_PORT: '0',
    HERALD_LOG_LEVEL: 'silent',
  }
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'herald-cli-'))
  chmodSync(made, 0o711) // the embedded server runs as nobody when we are root
  folders.push(made)
  return made
}

async function herald(argv: readonly string[], settings: NodeJS.ProcessEnv = env): Promise<Said> {
  let out = ''
  let err = ''
  const streams = {
    out(text: string) {
      out += text
    },
    err(text: string) {
      err += text
    },
  }
  const code = await run(argv, streams, () => readConfig(settings))
  return { code, out, err }
}

/** The result for programs: one JSON document on stdout, nothing on stderr. */
async function json(...argv: string[]): Promise<Json> {
  const { code, out, err } = await herald([...argv, '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** The human-readable result. */
async function said(...argv: string[]): Promise<string> {
  const { code, out, err } = await herald(argv)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.endsWith('\n')).toBe(true)
  return out.trimEnd()
}

async function failed(code: 1 | 2, ...argv: string[]): Promise<string> {
  const answer = await herald(argv)
  expect({ code: answer.code, out: answer.out }).toEqual({ code, out: '' })
  expect(answer.err).not.toMatch(/^\s+at /m)
  return answer.err.trimEnd()
}

function launch(argv: readonly string[], settings: NodeJS.ProcessEnv = env): ChildProcess {
  return spawn(process.execPath, ['bin/herald.js', ...argv], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function inProcess(argv: readonly string[], settings: NodeJS.ProcessEnv = env): Promise<Said> {
  const child = launch(argv, settings)
  const [out, err] = [listenTo(child.stdout), listenTo(child.stderr)]
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, out: out(), err: err() }
}

function listenTo(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.on('data', chunk => {
    text += String(chunk)
  })
  return () => text
}

describe('help', () => {
  test('lists every command, explains each and works at every level', async () => {
    const whole = await said('--help')
    expect(await said()).toBe(whole)
    expect(await said('help')).toBe(whole)
    for (const command of table) {
      expect(whole).toContain(`${nameOf(command)} `)
      const words = nameOf(command).split(' ')
      const own = await said(...words, '--help')
      expect(own).toMatch(/^Usage: herald /)
      expect(own).toContain(command.sentence)
      for (const option of command.options ?? []) expect(own).toContain(`--${option.name}`)
      expect(await said('help', ...words)).toBe(own)
      expect(cliReference(table)).toContain(`## ${nameOf(command)}\n`)
    }
    expect(await said('service', '--help')).toContain('service create')
    expect((await json('--help')).commands).toHaveLength(table.length)
    expect(await json('--version')).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
    expect(await said('--version')).toMatch(/^herald \d/)
  })

  test('words that people try: version, other verbs, the other number of a noun, earlier names of options', () => {
    const called = (...argv: string[]) => {
      const call = read(table, argv).call()
      return call.kind === 'run' ? { name: nameOf(call.command), input: call.input } : { name: call.kind }
    }
    expect(called('version').name).toBe('version')
    expect(called('keys', 'rm', '0190a1b2').name).toBe('key revoke')
    expect(called('key', 'delete', '0190a1b2').name).toBe('key revoke')
    expect(called('template', 'pull', 'x', 'folder').name).toBe('templates pull')
    expect(called('template', 'push', 'x', 'folder').name).toBe('templates push')
    expect(called('template', 'diff', '0190a1b2').name).toBe('template diff')
    expect(called('templates', 'diff', 'x', 'folder').name).toBe('templates diff')
    expect(called('event').name).toBe('events')
    for (const argv of [['audit'], ['inbox'], ['webhook', 'attempts', '0190a1b2'], ['message', 'find', '--to', 'x']])
      for (const name of ['--limit', '--most']) expect(called(...argv, name, '7').input?.number('limit')).toBe(7)
    expect(() => called('audit', '--limit', '7', '--most', '8')).toThrow('--limit is given twice.')
    for (const type of ['live', 'normal']) {
      expect(called('events', '--key-type', type).input?.text('key-type')).toBe('live')
      expect(called('key', 'create', 'x', '--name', 'y', '--type', type).input?.text('type')).toBe('live')
    }
  })

  test('no command has an argument and an option with the same name', () => {
    for (const { args = [], options = [] } of table) {
      const names = [...args, ...options].map(({ name }) => name.toLowerCase())
      expect(new Set(names).size).toBe(names.length)
    }
  })
})

describe('wrong usage exits with 2, and prints the usage line and the most similar command', () => {
  const rows: [string, string[], RegExp][] = [
    ['unknown noun', ['servce', 'list'], /There is no command "servce". Did you mean herald service\?\nUsage: herald/],
    ['unknown verb', ['service', 'lsit'], /Did you mean herald service list\?\nUsage: herald service create\|list/],
    ['no verb', ['key'], /Give a verb for key: create, list or revoke\.\nUsage: herald key create\|list\|revoke/],
    ['missing argument', ['service', 'show'], /^SERVICE is missing.*\nUsage: herald service show SERVICE/],
    ['missing option', ['key', 'create', 'x', '--name', 'y'], /^--type is missing/],
    [
      'unknown option',
      ['service', 'set', 'x', '--mod', 'live'],
      /There is no option --mod here. Did you mean --mode\?/,
    ],
    [
      'unknown choice',
      ['key', 'create', 'x', '--name', 'y', '--type', 'z'],
      /--type takes live, team or test, not "z"/,
    ],
    ['no number', ['service', 'set', 'x', '--rate-limit', 'many'], /--rate-limit takes a whole number or `default`/],
    ['forgotten value', ['key', 'create', 'x', '--name', '--type', 'live'], /--name needs a value: --name NAME/],
    ['value for a switch', ['service', 'create', 'x', '--live=yes'], /--live is a switch and takes no value/],
    ['twice', ['service', 'set', 'x', '--name', 'a', '--name', 'b'], /--name is given twice/],
    [
      'too much',
      ['service', 'show', 'Parking', 'permits'],
      /"permits" was not expected. Put names with spaces in quotes/,
    ],
    ['option first', ['--mode', 'live'], /Give a command before --mode/],
    ['nothing to change', ['service', 'set', 'x'], /Give at least one option.*\nUsage: herald service set/],
    ['unknown permission', ['service', 'set', 'x', '--allow', 'fax'], /--allow takes email, sms, international, files/],
    ['both ways', ['service', 'set', 'x', '--allow', 'sms', '--forbid', 'sms'], /both name sms/],
  ]
  test.each(rows)('%s', async (_name, argv, message) => {
    expect(await failed(2, ...argv)).toMatch(message)
    const { errors, usage, exit_code } = JSON.parse(await failed(2, ...argv, '--json'))
    expect(`${errors[0].message}\nUsage: ${usage}`).toMatch(message)
    expect({ exit_code, errors }).toEqual({
      exit_code: 2,
      errors: [{ error: 'UsageError', message: expect.any(String) }],
    })
  })

  test('an expiry of a key that is not a time', async () => {
    await said('service', 'create', 'Endless')
    const create = ['key', 'create', 'Endless', '--name', 'k', '--type', 'test', '--expires']
    for (const wrong of ['soon', '90', '2027-13-01', '01/02/2027'])
      expect(await failed(2, ...create, wrong)).toMatch(/--expires takes/)
    expect(await failed(1, ...create, '2020-01-01')).toMatch(/ended already at 2020-01-01T00:00:00.000000Z/)
  })
})

describe('services', () => {
  test('create, list, show, set', async () => {
    const made = await json('service', 'create', 'Parking permits')
    expect(made).toMatchObject({ name: 'Parking permits', mode: 'trial', state: 'active', mailbox: 'parking.permits' })
    expect(await said('service', 'create', '--name', 'Live one', '--live', '--mailbox', 'hello')).toMatch(
      /"Live one" \(live\), id/,
    )
    expect((await json('services', 'ls')).services.map((s: Json) => s.name)).toContain('Live one')
    expect(await said('service', 'list')).toMatch(
      new RegExp(`^ID +NAME +MODE +STATE +CREATED\n[^]*${made.id}  Parking permits`),
    )

    expect(await json('service', 'show', 'Parking permits')).toEqual(made)
    expect(await json('service', 'show', made.id.toUpperCase())).toEqual(made)
    expect(await json('service', 'show', '--service', made.id.replaceAll('-', '').slice(0, 20))).toEqual(made)
    expect(await said('service', 'show', 'Parking permits')).toMatch(/e-mails a day +50 \(default\)/)

    const changed = await json(
      ...['service', 'set', 'Parking permits', '--name', 'Permits', '--mode', 'LIVE', '--state', 'suspended'],
      ...['--email-daily-limit', '7', '--sms-daily-limit=0', '--rate_limit', '9', '--forbid', 'international,files'],
      ...['--prefix', 'off', '--mailbox', 'permits', '--email-retention-days', '30', '--sms-retention-days', '1'],
    )
    expect(changed).toEqual({
      ...made,
      ...{ name: 'Permits', mode: 'live', state: 'suspended', mailbox: 'permits', sms_prefix: false },
      ...{ email_daily_limit: 7, sms_daily_limit: 0, rate_limit: 9, email_retention_days: 30, sms_retention_days: 1 },
      ...{ may_send_international: false, may_send_files: false, updated_at: expect.stringMatching(/Z$/) },
    })
    expect(await said('service', 'set', 'Permits', '--email-daily-limit', 'default', '--allow', 'files')).toMatch(
      /e-mails a day +10000 \(default\)/,
    )
    expect(await json('service', 'show', 'Permits')).toMatchObject({
      email_daily_limit: null,
      sms_daily_limit: 0,
      may_send_files: true,
    })
  })

  test('impossible values are refused with a sentence, exit code 1', async () => {
    const { id } = await json('service', 'create', 'Refusing')
    await json('service', 'create', 'Refusing too')
    expect(await failed(1, 'service', 'create', 'Refusing')).toMatch(/^There is already a service named "Refusing"/)
    expect(await failed(1, 'service', 'set', id, '--name', 'Refusing too')).toMatch(/^There is already a service named/)
    expect(await failed(1, 'service', 'create', 'x'.repeat(256))).toBe('The name must have at most 255 characters.')
    expect(await failed(1, 'service', 'create', 'a\nb')).toMatch(/one line/)
    expect(await failed(1, 'service', 'set', id, '--name', ' ')).toBe('The name must not be empty.')
    expect(await failed(1, 'service', 'show', 'Nowhere')).toMatch(/^There is no service "Nowhere". Give its exact name/)
    expect(await failed(1, 'service', 'show', id.slice(0, 7))).toMatch(/^There is no service/)
    await db.sql`
      insert into services (id, name, mailbox)
      values (${`${id.slice(0, 8)}-0000-4000-8000-000000000000`}, 'Refusing as well', 'refusing')`
    expect(await failed(1, 'service', 'show', id.slice(0, 8))).toMatch(
      /fits more than one service. Give the id .*Refusing as well/,
    )
    for (const wrong of ['UPPER', 'a b', '.a', 'a..b', 'x'.repeat(65)])
      expect(await failed(1, 'service', 'set', id, '--mailbox', wrong)).toMatch(/is not a mailbox/)
    expect(await failed(1, 'service', 'set', id, '--home-country', 'XX')).toMatch(/is not a country/)
    expect(await said('service', 'set', id, '--home-country', 'fr')).toMatch(/home country +FR\n/)
    expect(await said('service', 'set', id, '--home-country', 'default')).toMatch(/home country +CA \(default\)/)
    expect(await failed(1, 'service', 'set', id, '--rate-limit', '3000000000')).toMatch(/whole number from 0/)
    expect(await failed(1, 'service', 'set', id, '--sms-retention-days', '366')).toMatch(/from 1 to 365/)
  })

  test('a name is free again when its service is archived; an archived service gets no keys', async () => {
    const { id } = await json('service', 'create', 'Phoenix')
    await said('service', 'set', id, '--state', 'archived')
    await said('service', 'create', 'Phoenix')
    expect(await failed(1, 'key', 'create', id, '--name', 'k', '--type', 'test')).toMatch(/is archived/)
  })
})

describe('keys', () => {
  test('create shows the key once, list never, revoke ends it', async () => {
    const service = await json('service', 'create', 'Key holder')
    const create = ['key', 'create', 'Key holder', '--name', 'Web site', '--type']
    const made = await json(...create, 'live', '--manage-templates', '--expires', '90d')
    expect(made).toMatchObject({ type: 'live', manage_templates: true, created_by: 'operator@herald.example' })
    expect(made.key).toMatch(new RegExp(`^herald-web_site-${service.id}-[0-9a-f-]{36}$`))

    const secret = made.key.slice(-36)
    const seal = createSeal([readFileSync(join(env.HERALD_DATA, 'secret'), 'utf8').trim()])
    const [row] =
      await db.sql<Json>`select id, key_type, secret_sealed from keys where secret_digest = ${seal.digest('key secret', secret)}`
    expect(row).toMatchObject({ id: made.id, key_type: 'normal' })
    expect(seal.open('key secret', row.secret_sealed).toString()).toBe(secret)
    expect(Date.parse(made.expires_at) / 86_400_000).toBeCloseTo(Date.now() / 86_400_000 + 90, 1)

    await said('user', 'add', 'Key holder', '--name', 'Ada', '--email', 'ada@example.org')
    const shown = await said(...create, 'team', '--expires', '2099-01-31T18:00+02:00')
    const second = /herald-web_site-\S+/.exec(shown)?.[0] ?? ''
    expect(shown).toMatch(/created by +ada@example.org\nexpires +2099-01-31 16:00 UTC/)
    const third = await json(...create, 'test', '--created-by', 'bob@example.org')
    expect(third).toMatchObject({
      type: 'test',
      created_by: 'bob@example.org',
      expires_at: null,
      manage_templates: false,
      manage_webhooks: false,
    })
    expect(await failed(1, ...create, 'test', '--created-by', 'bob')).toBe('"bob" is not a valid e-mail address.')

    const lists = [await said('key', 'list', 'Key holder'), JSON.stringify(await json('key', 'list', 'Key holder'))]
    for (const list of lists) {
      expect(list).toContain(made.id)
      for (const key of [made.key, second, third.key]) expect(list).not.toContain(key.slice(-36))
      expect(list).not.toMatch(/digest|sealed/)
    }

    expect(await said('key', 'revoke', made.id)).toMatch(/^The key "Web site" .* was revoked at/)
    const [revoked] = await db.sql<Json>`select revoked_at from keys where id = ${made.id}`
    expect(revoked.revoked_at).not.toBe(null)
    expect((await json('key', 'revoke', made.id)).revoked_at.slice(0, 10)).toBe(revoked.revoked_at.slice(0, 10))
    const found = await json('key', 'delete', second)
    expect(found).toMatchObject({ type: 'team', revoked_at: expect.stringMatching(/Z$/) })
    expect(JSON.stringify(found)).not.toContain(second.slice(-36))
    expect(await said('key', 'list', 'Key holder')).toMatch(/team +revoked/)

    const stranger = `${third.key.slice(0, -36)}${randomUUID()}`
    const no = await failed(1, 'key', 'revoke', stranger)
    expect(no).toMatch(/^There is no key "herald-web_s…"/)
    expect(await failed(1, 'key', 'revoke', randomUUID())).toMatch(/^There is no key/)
  })
})

describe('lists of a service', () => {
  test('team members', async () => {
    const { id } = await json('service', 'create', 'With a team')
    const ada = await json(
      'user',
      'add',
      id,
      '--name',
      'Ada',
      '--email',
      'Ada@example.org',
      '--phone',
      '(613) 555-0199',
    )
    expect(ada).toMatchObject({ name: 'Ada', email_address: 'Ada@example.org', phone_number: '+16135550199' })
    expect(await said('user', 'add', id, '--name', 'Bob', '--email', 'bob@example.org')).toMatch(/^Added Bob <bob@/)
    expect(await failed(1, 'user', 'add', id, '--name', 'X', '--email', 'ADA@EXAMPLE.ORG')).toMatch(
      /already a team member/,
    )
    expect(await failed(1, 'user', 'add', id, '--name', 'X', '--email', 'x@example.org', '--phone', '12')).toMatch(
      /not a valid phone/,
    )
    expect((await json('user', 'list', id)).users).toHaveLength(2)
    expect(await said('user', 'list', id)).toMatch(/Ada +Ada@example.org +\+16135550199 +viewer /)
    expect(await said('user', 'role', id, 'bob@example.org', 'manager')).toMatch(
      /^Bob <bob@example.org> is now manager of/,
    )
    expect((await json('user', 'list', id)).users).toMatchObject([{ role: 'viewer' }, { role: 'manager' }])
    expect(await failed(2, 'user', 'role', id, 'bob@example.org', 'emperor')).toMatch(/is not a role/)
    const link = await json('user', 'sign-in-link', 'BOB@example.org')
    expect(link).toMatchObject({
      link: expect.stringMatching(/\/console\/sign-in\/link\/[\w-]{43}$/),
      name: 'Bob',
      minutes: 60,
    })
    expect(await said('user', 'sign-in-link', 'bob@example.org')).toMatch(/\nIt signs in Bob <bob@example.org>, once/)
    expect(await failed(1, 'user', 'sign-in-link', 'nobody@example.org')).toMatch(/^Nobody has the e-mail address/)
    expect(await json('user', 'remove', id, 'ada@example.org')).toEqual(ada)
    expect(await said('user', 'rm', id, 'bob@example.org')).toMatch(/^Removed Bob/)
    expect(await failed(1, 'user', 'remove', id, 'bob@example.org')).toMatch(/^No team member/)
    expect(await said('user', 'list', id)).toBe('"With a team" has no team member yet.')
  })

  test('operators', async () => {
    expect(await said('operator', 'add', 'grace@example.org', '--name', 'Grace')).toBe(
      'Grace <grace@example.org> is now an operator.',
    )
    expect(await failed(1, 'operator', 'add', 'Grace@example.org')).toMatch(/is already an operator/)
    expect(await failed(1, 'operator', 'remove', 'grace@example.org')).toMatch(/is the only operator/)
    await said('operator', 'add', 'hal@example.org')
    const { operators } = await json('operator', 'list')
    expect(operators).toMatchObject([
      { name: 'Grace', email_address: 'grace@example.org', is_operator: true, last_seen_at: null },
      { name: 'hal@example.org' },
    ])
    expect(await said('operator', 'list')).toMatch(/Grace +grace@example.org/)
    expect(await json('operator', 'remove', 'hal@example.org')).toMatchObject({ is_operator: false })
  })

  test.each([
    ['reply-to', 'reply_tos', 'email_address', ['a@example.org', 'b@example.org'], 'nobody'],
    ['sender', 'senders', 'sender', ['HERALD', '+16135550199'], 'twelve-letters'],
  ])(
    '%s: the first is the default, --default moves it, remove archives',
    async (noun, list, field, [a = '', b = ''], wrong) => {
      const { id } = await json('service', 'create', `With a ${noun}`)
      const first = await json(noun, 'add', id, a)
      expect(first).toMatchObject({ [field]: a, is_default: true })
      expect(await said(noun, 'create', id, b)).toContain(`${b} is now a `)
      expect(await failed(1, noun, 'add', id, a)).toMatch(/is already a /)
      expect(await failed(1, noun, 'add', id, wrong)).toMatch(/is not a /)
      const defaults = async () => (await json(noun, 'list', id))[list].map((one: Json) => one.is_default)
      expect(await defaults()).toEqual([true, false])
      expect((await json(noun, 'add', id, b, '--default')).is_default).toBe(true)
      expect(await defaults()).toEqual([false, true])
      expect(await said(noun, 'list', id)).toMatch(new RegExp(`\\${b} +yes`))

      expect(await said(noun, 'remove', id, b)).toMatch(/It was the default/)
      expect(await json(noun, 'remove', id, first.id.slice(0, 30))).toMatchObject({ [field]: a })
      expect(await failed(1, noun, 'remove', id, a)).toMatch(/has no /)
      expect(await said(noun, 'list', id)).toMatch(/has no .* yet/)
      const [kept] = await db.sql<Json>`
      select (select count(*)::int from reply_tos where archived and service_id = ${id})
           + (select count(*)::int from senders where archived and service_id = ${id}) as count`
      expect(kept.count).toBe(2)
    },
  )

  test('safelist', async () => {
    const { id } = await json('service', 'create', 'With a safelist')
    expect(await json('safelist', 'add', id, '613 555 0199')).toMatchObject({ recipient: '+16135550199' })
    expect(await said('safelist', 'add', id, 'friend@example.org')).toMatch(/is now on the safelist/)
    expect(await failed(1, 'safelist', 'add', id, 'FRIEND@example.org')).toMatch(/already on the safelist/)
    expect(await failed(1, 'safelist', 'add', id, 'nobody')).toMatch(/neither an e-mail address nor a phone number/)
    expect((await json('safelist', 'list', id)).safelist).toHaveLength(2)
    expect(await said('safelist', 'list', id)).toContain('friend@example.org')
    expect(await json('safelist', 'remove', id, '+1 613-555-0199')).toMatchObject({ recipient: '+16135550199' })
    expect(await said('safelist', 'remove', id, 'Friend@example.org')).toMatch(/no longer on the safelist/)
    expect(await failed(1, 'safelist', 'remove', id, 'friend@example.org')).toMatch(/is not on the safelist/)
  })

  test('folders, and the sample: a folder with templates is kept until they are moved out', async () => {
    const sample = await json('sample')
    expect(Object.keys(sample)).toEqual(
      expect.arrayContaining([
        'service',
        'keys',
        'user',
        'templates',
        'reply_to',
        'sender',
        'safelist',
        'folder',
        'curl',
      ]),
    )
    expect(await said('sample')).toMatch(/"Sample service 2" \(live\).*test key +herald-.*\ncurl -sS [^\n]*'\n/s)
    // A key is shown only when it is created: a key that cannot be shown is not created.
    expect(Object.keys(sample.keys)).toEqual(['test'])
    expect((await json('key', 'list', sample.service.id)).keys).toMatchObject([{ type: 'test' }])
    expect(await said('sample')).toMatch(/live key +only on a terminal, or by: herald sample --show-keys\n/)
    expect(Object.keys((await json('sample', '--show-keys')).keys)).toEqual(['test', 'team', 'live'])
    const terminal: string[] = []
    const screen = { columns: 1_000, paint: (_: string, text: string) => text }
    const streams = { out: (text: string) => void terminal.push(text), err() {}, screens: { out: screen, err: screen } }
    expect(await run(['sample'], streams, () => readConfig(env))).toBe(0)
    expect(terminal.join('')).toMatch(/test key +herald-.*team key +herald-.*live key +herald-/s)
    const { id } = sample.service
    expect((await json('folder', 'list', id)).folders).toMatchObject([{ name: 'First steps', templates: 2 }])
    expect(await said('folder', 'list', id)).toMatch(/First steps +2 /)
    expect(await json('folder', 'add', id, 'Empty')).toMatchObject({ name: 'Empty' })
    expect(await failed(1, 'folder', 'add', id, 'Empty')).toMatch(/already a folder named "Empty"/)
    expect(await json('folder', 'add', id, 'Inner', '--in', 'Empty')).toMatchObject({ name: 'Inner' })
    expect(await said('folder', 'list', id)).toMatch(/ Empty \/ Inner +0 /)
    expect(await failed(1, 'folder', 'remove', id, 'Empty')).toMatch(/still holds templates or folders/)
    expect(await said('folder', 'set', id, 'Empty / Inner', '--in', 'First steps', '--name', 'Inside')).toBe(
      'The folder is now "First steps / Inside".',
    )
    expect(await json('folder', 'set', id, 'Inside', '--top')).toMatchObject({ path: ['Inside'], parent_id: null })
    expect(await said('folder', 'remove', id, 'Inside')).toMatch(/^Removed the folder "Inside"/)
    expect(await said('folder', 'remove', id, 'Empty')).toMatch(/^Removed the folder "Empty"/)
    expect(await failed(1, 'folder', 'remove', id, 'First steps')).toMatch(
      /still holds templates.*--move-templates-out/,
    )
    expect(await json('folder', 'remove', id, sample.folder.id, '--move-templates-out')).toMatchObject({ templates: 2 })
    expect(await failed(1, 'folder', 'remove', id, 'First steps')).toMatch(/has no folder/)
    const rows = await db.sql<Json>`select folder_id from templates where service_id = ${id}`
    expect(rows).toEqual([{ folder_id: null }, { folder_id: null }])
  })
})

describe('migrate and doctor', () => {
  test('migrate prints what it did', async () => {
    expect(await json('migrate')).toEqual({ steps: [] })
    expect(await said('migrate')).toBe('The database is up to date.')
  })

  test('doctor finds nothing, or says what to do', async () => {
    expect(await json('doctor')).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'Sealing secret', ok: true })]),
    })
    expect(await said('doctor')).toMatch(/^ok +Node.js: .*No problem found.$/s)

    const other = await herald(['doctor'], { ...env, HERALD_SECRET: 'another secret of at least 32 characters' })
    expect(other).toMatchObject({
      code: 1,
      out: expect.stringMatching(/PROBLEM +Sealing secret: does not match.*1 problem found/s),
    })
    const away = await herald(['doctor', '--json'], { ...env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' })
    expect(away.code).toBe(1)
    expect(JSON.parse(away.out).checks).toContainEqual(
      expect.objectContaining({ name: 'Database', ok: false, found: expect.stringMatching(/does not answer/) }),
    )
    const mute = { ...env, HERALD_EMAIL_PROVIDERS: 'smtp', HERALD_SMTP_URL: 'smtp://127.0.0.1:1' }
    expect(await herald(['doctor'], mute)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/PROBLEM +Provider of e-mails: smtp cannot be used: .*\n +-> Messages wait/),
    })

    const wrong = await herald(['doctor'], { ...env, HERALD_PORT: 'x', HERALD_HSOT: 'y' })
    expect(wrong).toMatchObject({
      code: 1,
      out: expect.stringMatching(/PROBLEM +Settings: HERALD_PORT is "x".*HERALD_HSOT is not a setting/),
    })

    const stranger = createServer((_request, reply) => reply.end('hello')).listen(0, '127.0.0.1')
    await new Promise(resolve => stranger.once('listening', resolve))
    const taken = await herald(['doctor'], { ...env, HERALD_PORT: String((stranger.address() as AddressInfo).port) })
    await new Promise(resolve => stranger.close(resolve))
    expect(taken).toMatchObject({
      code: 1,
      out: expect.stringMatching(/PROBLEM +Service: .*does not answer like Herald/),
    })
  })

  test('wrong settings and an unreachable database are reported together, without a stack trace', async () => {
    const wrong = await herald(['service', 'list'], { ...env, HERALD_PORT: 'x', HERALD_HOSTS: 'y' })
    expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/HERALD_PORT.*HERALD_HOSTS/s) })
    const away = { ...env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }
    const quiet = await herald(['service', 'list', '--json'], away)
    expect({ ...quiet, err: JSON.parse(quiet.err) }).toEqual({
      code: 1,
      out: '',
      err: {
        errors: [{ error: 'Error', message: expect.stringMatching(/^The database does not answer .*herald doctor$/) }],
        exit_code: 1,
      },
    })
    const loud = await herald(['service', 'list'], { ...away, HERALD_LOG_LEVEL: 'debug' })
    expect(loud.err).toMatch(/^ +at /m)
  })
})

describe('as a process', () => {
  test('exit codes, and the use of stdout and stderr', async () => {
    const [listed, unknown, wrong] = await Promise.all([
      inProcess(['service', 'list', '--json']),
      inProcess(['service', 'show', 'Nowhere']),
      inProcess(['service', 'shwo']),
    ])
    expect({ ...listed, out: JSON.parse(listed.out) }).toEqual({
      code: 0,
      out: { services: expect.any(Array) },
      err: '',
    })
    expect(unknown).toEqual({ code: 1, out: '', err: expect.stringMatching(/^There is no service "Nowhere"/) })
    expect(wrong).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/Did you mean (npx )?herald service show\?\nUsage: /),
    })
  })

  test('the curl line of a sample answers 2xx; commands reach the running service; SIGTERM stops it', async () => {
    const own = await place()
    const child = launch(['start'], own)
    const [out, err] = [listenTo(child.stdout), listenTo(child.stderr)]
    const closed = new Promise<number | null>(resolve => child.once('close', resolve))
    await new Promise<void>(resolve => {
      child.stdout?.on('data', () => /Herald listens on/.test(out()) && resolve())
      child.once('close', () => resolve())
    })
    expect(err()).not.toMatch(/error|^\s+at /im)
    const port = new URL(/Herald listens on (\S+)/.exec(out())?.[1] ?? '').port
    const sample = JSON.parse((await herald(['sample', '--show-keys', '--json'], { ...own, HERALD_PORT: port })).out)
    const [, url = '', authorization = '', body = ''] =
      /^curl -sS '([^']+)' -H 'Authorization: ([^']+)' -H 'Content-Type: application\/json' -d '([^']+)'$/.exec(
        sample.curl,
      ) ?? []
    const paste = (key = authorization) =>
      fetch(url, { method: 'POST', headers: { authorization: key, 'content-type': 'application/json' }, body })
    const reply = await paste()
    expect({ status: reply.status, text: await reply.text() }).toMatchObject({
      status: 201,
      text: expect.stringContaining('Ada'),
    })
    const keys = Object.values(sample.keys).map(key => `ApiKey-v1 ${key}`)
    expect(await Promise.all(keys.map(async key => (await paste(key)).status))).toEqual([201, 201, 201])

    const listed = JSON.parse((await herald(['key', 'list', 'Sample service', '--json'], own)).out).keys as Json[]
    await herald(['key', 'revoke', listed.find(key => key.type === 'test').id], own)
    await expect.poll(async () => (await paste()).status).toBe(403)

    child.kill('SIGTERM')
    child.kill('SIGTERM') // npm forwards a signal that the terminal has already sent; the second one must not abort the stop
    expect(await closed).toBe(0)
    expect(out()).toMatch(/Herald has stopped\.\n$/)
  })

  test('a command starts the embedded database for its own duration', async () => {
    const own = { HERALD_DATA: folder(), HERALD_LOG_LEVEL: 'silent' }
    const store = await openStore(readConfig(own), { make: true })
    await store.stop()
    expect(await herald(['service', 'create', 'Kept'], own)).toMatchObject({ code: 0, err: '' })
    const listed = await herald(['service', 'list', '--json'], own)
    expect(JSON.parse(listed.out).services).toMatchObject([{ name: 'Kept' }])
  })

  describe('only start creates a database: any other command says where it looked, and exits with 2', () => {
    const rest =
      /Only herald start makes one\. Settings were looked for in the environment; there is no \S+herald\.env or \/etc\/herald\/herald\.env\.\nRun the command with the settings of the service: .*HERALD_ENV_FILE\)\.\n$/

    test.each([['service', 'create', 'Kept'], ['service', 'list'], ['migrate'], ['sample'], ['held'], ['inbox']])(
      'on an empty folder: %s %s',
      async (...argv) => {
        const data = folder()
        const { code, out, err } = await herald(argv, { HERALD_DATA: join(data, 'data'), HERALD_LOG_LEVEL: 'silent' })
        expect({ code, out }).toEqual({ code: 2, out: '' })
        expect(err).toMatch(
          /^There is no database in \S+\/data\/postgres\. HERALD_DATA names the data folder; its default is \.\/data\.\n/,
        )
        expect(err).toMatch(rest)
        expect(readdirSync(data)).toEqual([])
      },
    )

    test('doctor does not create one either', async () => {
      const data = folder()
      expect(await herald(['doctor'], { HERALD_DATA: join(data, 'data'), HERALD_LOG_LEVEL: 'silent' })).toMatchObject({
        code: 0,
        out: expect.stringContaining('the first start creates it'),
      })
      expect(readdirSync(data)).toEqual([])
    })

    test('an external database without the secret: none is created', async () => {
      const data = folder()
      const { code, err } = await herald(['service', 'list'], { ...env, HERALD_DATA: data })
      expect(code).toBe(2)
      expect(err).toMatch(/^There is no sealing secret: HERALD_SECRET is not set, and \S+\/secret is not there\.\n/)
      expect(readdirSync(data)).toEqual([])
    })

    test('an external database that is empty', async () => {
      const name = `t_${randomUUID().replaceAll('-', '')}`
      await onServer(inject('server'), `create database ${name}`)
      databases.push(name)
      const empty = { ...env, DATABASE_URL: databaseUrl(inject('server'), name) }
      const { code, err } = await herald(['service', 'list'], empty)
      expect(code).toBe(2)
      expect(err).toMatch(/^The database that DATABASE_URL names is empty: no Herald has started on it\.\n/)
      expect(err).toMatch(rest)
    })
  })
})
