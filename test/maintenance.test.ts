// Maintenance tasks must succeed whatever was interrupted before them: partitions that are dropped, counters that are corrected.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { DAYS_AGO, KINDS, SERVICES } from '../faults/support/expired.ts'
import { createClock } from '../src/core/clock.ts'
import { makeEventPartitions } from '../src/events/partitions.ts'
import { maintenanceOf } from '../src/lanes.ts'
import { purgeBulkRows } from '../src/maintenance/purge.ts'
import { recountDailyUsage } from '../src/maintenance/recount.ts'
import { dropPartitions, makePartitions } from '../src/notifications/partitions.ts'
import type { EngineParts } from '../src/parts.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { emailTemplate, type Key } from './support/sends.ts'
import { CATEGORY, type World, world } from './support/world.ts'

const DAY = 86_400_000_000

let here: World
beforeAll(async () => {
  here = await world()
})

describe('days past every retention', () => {
  const clock = createClock()
  const longAgo = { ...clock, micros: () => clock.micros() - 30 * DAY }
  const old = async () => {
    const rows = await here.parts.db.sql<{ name: string }>`
      select relname as name from pg_class
      where relkind = 'r' and relname ~ '^(notifications|states)_[0-9]{8}$'
        and relnamespace = current_schema()::regnamespace
      order by relname`
    const tomorrow = new Date(clock.now() - 20 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
    return rows.map(row => row.name).filter(name => name.slice(-8) < tomorrow)
  }

  test('are dropped, also those that an earlier attempt had only detached, or only begun to detach', async () => {
    const { db } = here.parts
    const made = (await makePartitions(db, longAgo)).sort()
    expect(await old()).toEqual(made)
    const [apart = '', leaving = ''] = made
    await db.script(`alter table notifications detach partition ${apart} concurrently`)
    await beginToDetach(leaving)

    expect((await dropPartitions(db, clock.micros() - 20 * DAY)).sort()).toEqual(made)
    expect(await old()).toEqual([])
    expect(await dropPartitions(db, clock.micros() - 20 * DAY)).toEqual([])
  })

  /** A reader delays the detach, which is then cancelled: the partition is half detached. */
  async function beginToDetach(name: string) {
    const { db } = here.parts
    const [reader, worker] = [db.client(), db.client()]
    await Promise.all([reader.connect(), worker.connect()])
    await reader.query('begin')
    await reader.query('select count(*) from notifications')
    const { rows } = await worker.query('select pg_backend_pid() as pid')
    const detached = worker.query(`alter table notifications detach partition ${name} concurrently`).catch(() => {})
    const isLeaving = async () =>
      (await db.sql`select from pg_inherits where inhrelid = ${name}::regclass and inhdetachpending`).length > 0
    while (!(await isLeaving())) await sleep(20)
    await db.sql`select pg_cancel_backend(${rows[0].pid})`
    await detached
    await reader.query('rollback')
    await Promise.all([reader.end(), worker.end()])
  }
})

describe('missing partitions', () => {
  test('4.8 processes that start together without partitions: one creates them, the others wait', async () => {
    const { db, clock } = here.parts
    const longAgo = { ...clock, micros: () => clock.micros() - 60 * DAY }
    const pools = Array.from({ length: 12 }, () => db.separate({ size: 1, name: 'herald-test', statementSeconds: 30 }))
    try {
      const made = await Promise.all(pools.map(pool => makePartitions(pool, longAgo)))
      expect(made.flat().length).toBe(10)
      expect(new Set(made.flat()).size).toBe(10)
    } finally {
      for (const pool of pools) await pool.stop()
      await dropPartitions(db, clock.micros() - 40 * DAY)
    }
  })
})

describe('4.9 a bulk job that was due while no process ran', () => {
  let engine: World
  beforeAll(async () => {
    engine = await world({}, { engine: true })
  })

  const scheduled = async () => {
    const key = await (await engine.service()).key()
    const template_id = await emailTemplate(key)
    const due = Date.now() + 95.9 * 3_600_000
    const rows = [['email address', 'name'], ...Array.from({ length: 3 }, (_, n) => [`a${n}@example.org`, 'A'])]
    const job = { name: 'Late', template_id, rows, scheduled_for: new Date(due).toISOString() }
    const reply = await key.post('/v2/notifications/bulk', job)
    expect(reply.status).toBe(201)
    return { key, id: reply.body.data.id as string, due }
  }
  const statusOf = async (key: Key, id: string) => (await key.get(`/v2/notifications/bulk/${id}`)).body.data.job_status

  test('its messages get the partition of the day it was due', async () => {
    const { db } = engine.parts
    const { key, id, due } = await scheduled()
    // As after days without a process: the partitions of the day do not exist, and the job is due.
    const day = new Date(due).toISOString().slice(0, 10).replaceAll('-', '')
    await db.script(`drop table if exists notifications_${day}; drop table if exists states_${day}`)
    await db.sql`update tickets set due_at = now() where lane = 'spread'`
    await vi.waitUntil(async () => !['pending', 'in progress'].includes(await statusOf(key, id)), 20_000)
    expect(await statusOf(key, id)).toBe('finished')
    expect(await db.sql`select from states where job_id = ${id}`).toHaveLength(3)
  })

  test('a job whose rows are purged gets the status error, and the log names it', async () => {
    const { key, id } = await scheduled()
    const told: unknown[] = []
    const { clock } = engine.parts
    const later = { ...clock, micros: () => clock.micros() + 12 * DAY }
    const onFault = (_error: unknown, sentence: string, { job }: { job: string }) => told.push([sentence, job])
    await runSteps(purgeBulkRows({ ...engine.parts, clock: later, onFault }))
    expect(told).toEqual([['rows of a bulk job were purged that never became messages', id]])
    expect(await statusOf(key, id)).toBe('error')
  })
})

describe('3.4 purges work in bounded steps', () => {
  const COUNT = 25_000
  const MOST = 10_000

  test.each(KINDS.map(kind => [kind.name, kind] as const))('%s', async (_name, { task: name, fill, left }) => {
    const { db, clock } = here.parts
    const client = db.client() // outside the pool: no timeout
    await client.connect()
    try {
      await client.query(SERVICES)
      for (const days of Object.values(DAYS_AGO)) {
        const then = { ...clock, micros: () => clock.micros() - days * DAY }
        await makePartitions(db, then)
        await makeEventPartitions(db, then)
      }
      await client.query(fill(COUNT))
      const count = async () => Number((await client.query(left)).rows[0].left)
      const sizes: number[] = []
      let before = await count()
      expect(before).toBe(COUNT)
      const task = maintenanceOf({ ...here.parts, onFault() {} } as unknown as EngineParts).find(
        one => one.name === name,
      )
      if (!task) throw new Error(`no task is called ${name}`)
      let reported = 0
      for (const steps = task.steps(); ; ) {
        const { done, value } = await steps.next()
        reported += value ?? 0
        const after = await count()
        sizes.push(before - after)
        before = after
        if (done) break
      }
      expect(before).toBe(0)
      expect(reported).toBe(COUNT)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST)
      expect(sizes.length).toBeGreaterThanOrEqual(COUNT / MOST)
    } finally {
      await client.end()
    }
  })
})

describe('counters of the daily limit', () => {
  test('a counter that is too high is corrected exactly, also while messages are accepted and cancelled', async () => {
    const service = await here.service({ email_daily_limit: 10_000, rate_limit: 1_000_000 })
    const key = await service.key()
    const shape = { name: 'Counted', template_type: 'email', subject: 'x', content: 'x' }
    const template_id = (await key.post('/v2/manage-template', { ...shape, template_category_id: CATEGORY.general }))
      .body.id
    const send = (more: object = {}) =>
      key.post('/v2/notifications/email', { email_address: 'a@example.org', template_id, ...more })
    const scheduled_for = new Date(Date.now() + 3_600_000).toISOString()
    const rows = [['email address'], ...Array.from({ length: 30 }, (_, n) => [`a${n}@example.org`])]
    const first = await Promise.all(Array.from({ length: 40 }, (_, n) => send(n % 2 === 0 ? { scheduled_for } : {})))
    await key.post('/v2/notifications/bulk', { template_id, name: 'Counted', rows })
    const used = async () => {
      const [row] = await here.parts.db.sql<{ used: number }>`
        select sum(used)::integer as used from usage where service_id = ${service.id}`
      return row?.used
    }
    const recounted = async () => {
      let sum = 0
      await runSteps(recountDailyUsage(here.parts, surplus => (sum += surplus)))
      return sum
    }
    expect(await used()).toBe(70)
    expect(await recounted()).toBe(0)

    await here.parts.db.sql`
      update usage set used = used + 7
      where service_id = ${service.id} and day = (clock_timestamp() at time zone 'UTC')::date`
    const cancels = first.filter((_, n) => n % 4 === 0).map(reply => key.delete(`/v2/notifications/${reply.body.id}`))
    const sends = Array.from({ length: 60 }, () => send())
    const repaired = await recounted()
    for (const reply of await Promise.all(cancels)) expect(reply.status).toBe(200)
    for (const reply of await Promise.all(sends)) expect(reply.status).toBe(201)
    expect(repaired + (await recounted())).toBe(7)
    expect(await used()).toBe(70 - 10 + 60)
  })
})
