// The recipes of docs/running.md for an external PostgreSQL, run with the tools of PostgreSQL 15: dump and restore, and a base
// backup with a second server on it.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { BEGINNING, type Position, type Scope } from '../src/events/event.ts'
import { endOfLog, readEvents } from '../src/feed/read.ts'
import { start } from '../src/main.ts'
import type { Parts } from '../src/parts.ts'
import { makeSample } from '../src/sample.ts'
import { logGroup, readable } from './support/events.ts'
import { EMAIL } from './support/sends.ts'
import { callerWith, OPERATOR } from './support/world.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const hasTools = existsSync(join(BIN, 'pg_dump'))
if (!hasTools) console.warn('SKIPPED: the recipes for an external PostgreSQL, as PostgreSQL 15 is not installed')

const home = mkdtempSync(join(tmpdir(), 'hx-'))
const servers: string[] = []
afterAll(() => {
  for (const data of servers) tool('pg_ctl', '-D', data, '-m', 'fast', '-w', 'stop')
  rmSync(home, { recursive: true, force: true })
})

/** PostgreSQL refuses root. */
const isRoot = process.getuid?.() === 0
const user = hasTools && isRoot ? idOf('postgres') : undefined

function idOf(name: string): { uid: number; gid: number } {
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(line => line.startsWith(`${name}:`))
  const [, , uid, gid] = entry?.split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

function tool(name: string, ...args: string[]): string {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
  return execFileSync(join(BIN, name), args, {
    ...user,
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })?.toString()
}

function launch(data: string, name: string): string {
  const sockets = join(home, name)
  mkdirSync(sockets)
  if (user) chownSync(sockets, user.uid, user.gid)
  const options = `-c listen_addresses= -c unix_socket_directories=${sockets}`
  tool('pg_ctl', '-D', data, '-l', join(home, 'own', `${name}.log`), '-w', '-o', options, 'start')
  servers.push(data)
  return sockets
}

const urlOf = (sockets: string, database: string) =>
  `postgresql://herald@/${database}?host=${encodeURIComponent(sockets)}`

type Env = Record<string, string>
const settings = (url: string): Env => ({
  DATABASE_URL: url,
  HERALD_DATA: join(home, 'data'),
  HERALD_PORT: '0',
  HERALD_LOG_LEVEL: 'silent',
})

async function herald(env: Env, ...argv: string[]): Promise<number> {
  return run(argv, { out() {}, err() {} }, () => readConfig(env))
}

describe.skipIf(!hasTools)('an external PostgreSQL', () => {
  const own = join(home, 'own')
  const data = join(own, 'data')
  let sockets = ''
  let sample: { key: string; template: string; ids: string[] }
  /** The events of the original, and where its readers are. */
  let log: { scope: Scope; subjects: Id[]; end: Position }

  beforeAll(async () => {
    execFileSync('chmod', ['711', home])
    mkdirSync(own)
    if (user) chownSync(own, user.uid, user.gid)
    tool('initdb', '-D', data, '-U', 'herald', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8')
    sockets = launch(data, 's1')
    tool('createdb', '-h', sockets, '-U', 'herald', 'herald')
    const original = await start(readConfig(settings(urlOf(sockets, 'herald'))))
    const { service, keys, templates } = await makeSample(original.parts, OPERATOR, 'all')
    const key = keys.live ?? ''
    const caller = callerWith(original.address, key)
    const template = templates.email.id
    const ids: string[] = []
    for (let n = 0; n < 10; n++) {
      const reply = await caller.post(EMAIL, body(template))
      expect(reply.status).toBe(201)
      ids.push(reply.body.id)
    }
    sample = { key, template, ids }
    const { sql } = original.parts.db
    // More transactions than a new server has had.
    await original.parts.db.script(
      'do $$ begin for n in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$',
    )
    const scope: Scope = { service_id: service.id, key_type: 'team' }
    const subjects = [original.parts.ids.next(), original.parts.ids.next()]
    for (const id of subjects) await logGroup(sql, scope, [id])
    await readable(sql)
    log = { scope, subjects, end: await endOfLog(sql, scope) }
    await original.stop()
  }, 240_000)

  const body = (template_id: string) => ({
    email_address: 'ada@example.org',
    template_id,
    personalisation: { name: 'Ada' },
  })

  /** Everything accepted is in the copy, which accepts more and sends nothing until it is released. */
  async function proves(env: Env) {
    const copy = await start(readConfig(env))
    try {
      const caller = callerWith(copy.address, sample.key)
      await continuesLog(copy.parts)
      for (const id of sample.ids) expect((await caller.get(`/v2/notifications/${id}`)).status).toBe(200)
      const { id } = (await caller.post(EMAIL, body(sample.template))).body
      const status = async () => (await caller.get(`/v2/notifications/${id}`)).body.status
      await new Promise(resume => setTimeout(resume, 1_500))
      expect(await status()).toBe('created')
      expect(await herald(env, 'release', '--all')).toBe(0)
      await expect.poll(status, { timeout: 60_000 }).toBe('delivered')
    } finally {
      await copy.stop()
    }
  }

  /** All events of the original can be read, and a reader of the original sees what is new, once. */
  async function continuesLog({ db: { sql }, ids }: Parts) {
    const fresh = ids.next()
    await logGroup(sql, log.scope, [fresh])
    await readable(sql)
    const after = async (position: Position) =>
      (await readEvents(sql, log.scope, position, { types: null, most: 100 })).events.map(event => event.subject)
    expect(await after(BEGINNING)).toEqual([...log.subjects, fresh])
    expect(await after(log.end)).toEqual([fresh])
  }

  test('pg_dump and pg_restore: the copy is detected and starts held', async () => {
    tool('pg_dump', '--format=custom', `--file=${join(own, 'herald.dump')}`, urlOf(sockets, 'herald'))
    const other = join(own, 'other')
    tool('initdb', '-D', other, '-U', 'herald', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8')
    const elsewhere = launch(other, 's3')
    tool('createdb', '-h', elsewhere, '-U', 'herald', 'herald_copy')
    tool('pg_restore', '--no-owner', `--dbname=${urlOf(elsewhere, 'herald_copy')}`, join(own, 'herald.dump'))
    await proves(settings(urlOf(elsewhere, 'herald_copy')))
  }, 240_000)

  test('pg_basebackup: a copy declared by the operator', async () => {
    const base = join(own, 'base')
    tool('pg_basebackup', '-h', sockets, '-U', 'herald', `--pgdata=${base}`, '--checkpoint=fast', '--wal-method=stream')
    const env = settings(urlOf(launch(base, 's2'), 'herald'))
    expect(await herald(env, 'hold', '--restored')).toBe(0)
    await proves(env)
  }, 240_000)
})
