// Chores that must hold whatever ended half-way before them: days that are dropped, and counters that are set right.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClock } from '../src/core/clock.ts'
import { dropPartitions, makePartitions } from '../src/db/partitions.ts'
import { recount } from '../src/limits/recount.ts'
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

  test('are dropped, also those that an earlier try had only detached, or only begun to detach', async () => {
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

  /** A reader holds it up, and then it is told to stop: what is left is neither in nor out. */
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

describe('counters of the daily allowance', () => {
  test('one that stands too high is lowered by exactly that, also while messages are accepted and cancelled', async () => {
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
    expect(await used()).toBe(70)
    expect(await recount(here.parts)).toBe(0)

    await here.parts.db.sql`
      update usage set used = used + 7
      where service_id = ${service.id} and day = (clock_timestamp() at time zone 'UTC')::date`
    const cancels = first.filter((_, n) => n % 4 === 0).map(reply => key.delete(`/v2/notifications/${reply.body.id}`))
    const sends = Array.from({ length: 60 }, () => send())
    const repaired = await recount(here.parts)
    for (const reply of await Promise.all(cancels)) expect(reply.status).toBe(200)
    for (const reply of await Promise.all(sends)) expect(reply.status).toBe(201)
    expect(repaired + (await recount(here.parts))).toBe(7)
    expect(await used()).toBe(70 - 10 + 60)
  })
})
