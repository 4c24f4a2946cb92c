// A reader of the log goes on with its cursor after a fail-over: a primary and a synchronous standby (streaming replication), kill -9
// of the primary while writers commit, and the promotion of the standby.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { createClock } from '../src/core/clock.ts'
import { createIds, type Id } from '../src/core/id.ts'
import { connect, type Database } from '../src/db/connect.ts'
import { type Embedded, startEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { BEGINNING, type Position, type Scope } from '../src/events/event.ts'
import { makeEventPartitions } from '../src/events/partitions.ts'
import { isAhead } from '../src/events/sql.ts'
import { readEvents } from '../src/feed/read.ts'
import { logGroup, readable } from './support/events.ts'
import { seeded } from './support/seeds.ts'

const WRITERS = 4
const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'failover-test-'))
fs.chmodSync(scratch, 0o755)
const servers: Embedded[] = []
const databases: Database[] = []

afterAll(async () => {
  for (const database of databases) await database.stop()
  for (const server of servers) await server.stop()
  fs.rmSync(scratch, { recursive: true, force: true })
})

/** A server that accepts a standby. */
async function serve(name: string, settings: Record<string, string> = {}): Promise<Embedded> {
  const hba = path.join(scratch, 'hba.conf')
  fs.writeFileSync(hba, 'local all herald trust\nlocal replication herald trust\n', { mode: 0o644 })
  const server = await startEmbedded(path.join(scratch, name), { settings: { hba_file: hba, ...settings } })
  servers.push(server)
  return server
}

function open({ host, user, database }: Embedded): Database {
  const made = connect(
    { host, user, database },
    { size: WRITERS + 2, name: 'failover', statementSeconds: 20, onIdleError: () => {} },
  )
  databases.push(made)
  return made
}

/** A copy of the running primary, as pg_basebackup makes it. */
async function copyOf(db: Database, primary: Embedded, name: string): Promise<void> {
  const client = db.client()
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  const home = path.join(scratch, name)
  const data = path.join(home, 'data')
  expect(spawnSync('cp', ['-a', primary.home, home]).status).toBe(0)
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  for (const left of ['postmaster.pid', 'postmaster.opts']) fs.rmSync(path.join(data, left), { force: true })
  for (const left of ['lock', 'users']) fs.rmSync(path.join(home, left), { recursive: true, force: true })
  const { uid, gid } = fs.statSync(data)
  for (const [file, text] of [
    ['backup_label', rows[0].labelfile],
    ['standby.signal', ''],
  ]) {
    fs.writeFileSync(path.join(data, file), text, { mode: 0o600 })
    fs.chownSync(path.join(data, file), uid, gid)
  }
}

test('nothing is lost, doubled or out of order', async () => {
  const clock = createClock()
  const ids = createIds(clock)
  const scope: Scope = { service_id: randomUUID() as Id, key_type: 'normal' }
  const primary = await serve('primary')
  const db = open(primary)
  await migrate(db)
  await makeEventPartitions(db, clock)
  await copyOf(db, primary, 'standby')
  const standby = await serve('standby', { primary_conninfo: `host=${primary.host} port=5432 user=herald` })
  await db.sql`alter system set synchronous_standby_names = '*'`
  await db.sql`alter system set synchronous_commit = remote_apply`
  await db.sql`select pg_reload_conf()`
  await vi.waitFor(
    async () => {
      const rows = await db.sql<{ sync_state: string }>`select sync_state from pg_stat_replication`
      expect(rows).toEqual([{ sync_state: 'sync' }])
    },
    { timeout: 10_000 },
  )
  await vi.waitFor(async () =>
    expect(await db.sql`show synchronous_commit`).toEqual([{ synchronous_commit: 'remote_apply' }]),
  )

  const random = seeded()
  const acknowledged: Id[] = []
  const seen: { id: Id; subject: Id }[] = []
  let position: Position = BEGINNING
  let isKilled = false
  async function write(to: Database, isOver: () => boolean) {
    while (!isOver()) {
      const subjects = Array.from({ length: random.between(1, 5) }, ids.next)
      await to.transaction(async sql => {
        await sql`select pg_current_xact_id()`
        await sleep(random.next() * 10)
        await logGroup(sql, scope, subjects)
        await sleep(random.next() * 10)
      })
      acknowledged.push(...subjects)
    }
  }
  async function read(from: Database): Promise<number> {
    const page = await readEvents(from.sql, scope, position, { types: null, most: 7 })
    position = page.position
    seen.push(...page.events)
    return page.events.length
  }

  const writers = Array.from({ length: WRITERS }, () => write(db, () => false).catch(() => {}))
  const reader = (async () => {
    while (!isKilled) if ((await read(db)) === 0) await sleep(5)
  })().catch(() => {})
  await vi.waitFor(() => expect(seen.length).toBeGreaterThan(200), { timeout: 20_000 })
  process.kill(primary.pid, 'SIGKILL')
  isKilled = true
  await Promise.all([...writers, reader])
  const [writtenBefore, readBefore] = [acknowledged.length, seen.length]

  const next = open(standby)
  await next.sql`select pg_promote()`
  expect(await isAhead(next.sql, position)).toBe(false)
  await Promise.all(Array.from({ length: WRITERS }, () => write(next, () => acknowledged.length > writtenBefore + 200)))
  await readable(next.sql)
  while ((await read(next)) > 0);

  const stored = await next.sql<{ subjects: Id[] }>`select subjects from events order by stamp, seq`
  expect(seen.map(event => event.subject)).toEqual(stored.flatMap(group => group.subjects))
  expect(new Set(seen.map(event => event.id)).size).toBe(seen.length)
  const known = new Set(seen.map(event => event.subject))
  expect(acknowledged.filter(id => !known.has(id))).toEqual([])
  expect(readBefore).toBeGreaterThan(200)
}, 120_000)
