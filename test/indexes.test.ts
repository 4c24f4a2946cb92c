// Indexes that a migration added to a partitioned table only: maintenance builds those of the partitions, beside writers, and goes on
// after a run that was interrupted.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { createIds } from '../src/core/id.ts'
import type { DedicatedClient } from '../src/db/connect.ts'
import { buildMissingIndexes } from '../src/maintenance/partitions.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { type World, world } from './support/world.ts'

let here: World
let partitions: string[]

beforeEach(async () => {
  here = await world()
  const { db } = here.parts
  expect(await runSteps(buildMissingIndexes({ db }))).toBe(0)
  await db.script(
    'create index notifications_test on only notifications (template_version, id) where template_version > 0',
  )
  const rows = await db.sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'notifications'::regclass order by 1 desc`
  partitions = rows.map(row => row.name)
})

const indexes = async () => {
  const rows = await here.parts.db.sql<{ name: string; valid: boolean; attached: boolean }>`
    select c.relname as name, i.indisvalid as valid,
           exists (select from pg_inherits where inhrelid = c.oid and inhparent = 'notifications_test'::regclass) as attached
    from pg_class c
    join pg_index i on i.indexrelid = c.oid
    where c.relname ~ '^notifications_[0-9]{8}_test' or c.relname = 'notifications_test'
    order by 1`
  return rows.map(({ name, valid, attached }) => `${name}${valid ? '' : ' invalid'}${attached ? ' attached' : ''}`)
}
const complete = () => ['notifications_test', ...partitions.map(name => `${name}_test attached`)].sort()

const insert = (client: Pick<DedicatedClient, 'query'>) =>
  client.query(`
    insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane, is_international, sealed)
    values ('${createIds(here.parts.clock).next()}', gen_random_uuid(), 'normal', 'email', false, gen_random_uuid(), 1, 'email-low', false, '')`)

async function connected(): Promise<DedicatedClient> {
  const client = here.parts.db.client()
  await client.connect()
  return client
}

/**
 * Resolves when the build of an index is blocked by this transaction. The phase alone does not show it: each build goes through the
 * phases of waiting, also when there is nobody to wait for, and may wait for others for a moment.
 */
async function building(blocker: DedicatedClient): Promise<number> {
  const { rows } = await blocker.query('select pg_backend_pid() as pid')
  for (;;) {
    const [row] = await here.parts.db.sql<{ pid: number }>`
      select pid from pg_stat_progress_create_index
      where phase like 'waiting for%' and datname = current_database() and ${rows[0].pid} = any (pg_blocking_pids(pid))`
    if (row) return row.pid
    await sleep(10)
  }
}

test('every partition gets the index, one per step; the next run finds nothing to do', async () => {
  const { db } = here.parts
  const rows: number[] = []
  for await (const one of buildMissingIndexes({ db })) rows.push(one)
  expect(rows).toEqual(partitions.map(() => 1))
  expect(await indexes()).toEqual(complete())
  expect(await runSteps(buildMissingIndexes({ db }))).toBe(0)
})

test('writers are not blocked while an index is built, and the build takes no lock that conflicts with them', async () => {
  const { db } = here.parts
  const [old, writer] = [await connected(), await connected()]
  await old.query('begin')
  await insert(old)
  const built = runSteps(buildMissingIndexes({ db }))
  const pid = await building(old)
  await writer.query("set lock_timeout = '100ms'")
  for (let n = 0; n < 20; n++) await insert(writer)
  const locks = await db.sql<{ mode: string }>`
    select distinct l.mode
    from pg_locks l
    join pg_class c on c.oid = l.relation
    where l.pid = ${pid} and l.granted and c.relname like 'notifications%' and c.relkind in ('r', 'p')`
  for (const { mode } of locks) expect(['ShareUpdateExclusiveLock', 'AccessShareLock']).toContain(mode)
  await old.query('commit')
  expect(await built).toBe(partitions.length)
  expect(await indexes()).toEqual(complete())
  await Promise.all([old.end(), writer.end()])
})

test('what an interrupted build has left is dropped and built again', async () => {
  const maintenance = here.parts.db.separate({ size: 2, name: 'herald-maintenance', statementSeconds: 60 })
  const old = await connected()
  await old.query('begin')
  await insert(old)
  const built = runSteps(buildMissingIndexes({ db: maintenance }))
  const failed = expect(built).rejects.toThrow()
  const pid = await building(old)
  maintenance.interrupt()
  await failed
  // The server does not notice at once that its client is gone; meanwhile nobody builds a second one.
  expect(await runSteps(buildMissingIndexes({ db: here.parts.db }))).toBe(0)
  await here.parts.db.sql`select pg_terminate_backend(${pid})`
  await expect
    .poll(async () => (await here.parts.db.sql`select from pg_stat_activity where pid = ${pid}`).length)
    .toBe(0)
  await old.query('commit')
  const [invalid] = (await indexes()).filter(name => name.endsWith('invalid') && name !== 'notifications_test invalid')
  expect(invalid).toMatch(/^notifications_\d{8}_test invalid$/)

  // One that is built but not attached, because the process ended between the two.
  const apart = partitions.at(-1)
  await here.parts.db.script(`create index ${apart}_test on ${apart} (template_version, id) where template_version > 0`)
  expect(await runSteps(buildMissingIndexes({ db: maintenance }))).toBeGreaterThanOrEqual(2)
  expect(await indexes()).toEqual(complete())
  await Promise.all([old.end(), maintenance.stop()])
}, 120_000)
