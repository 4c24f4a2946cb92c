// Purges: one bounded step of deleting the oldest rows (src/db/purge.ts), by the example of receipts; events by the retention of their
// service and channel.
import { expect, test } from 'vitest'
import type { Timestamp } from '../src/core/clock.ts'
import { floorOf } from '../src/core/id.ts'
import { makeEventPartitions } from '../src/events/partitions.ts'
import { purgeEvents, purgeInstallation, purgeWebhookRetries } from '../src/maintenance/purge.ts'
import { purge } from '../src/receipts/sql.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { world } from './support/world.ts'

test('a step deletes the oldest rows only, at most as many as asked for, and the next one continues after them', async () => {
  const { sql } = (await world()).parts.db
  for (const hours of [50, 49, 48, 47, 1])
    await sql`
      insert into receipts (id, provider, event_id, ref, result, received_at)
      values (gen_random_uuid(), 'smtp', ${`${hours} h`}, 'ref', 'delivered', clock_timestamp() - make_interval(hours => ${hours}))`
  const left = async () =>
    (await sql<{ event_id: string }>`select event_id from receipts order by received_at`).map(row => row.event_id)
  let after: Timestamp | null = null
  const step = async (most: number) => {
    const { found, last } = await purge(sql, 24, after, most)
    after = last
    return found
  }

  expect(await step(3)).toBe(3)
  expect(await left()).toEqual(['47 h', '1 h'])
  expect(await step(3)).toBe(1)
  expect(await left()).toEqual(['1 h'])
  expect(await step(3)).toBe(0)
  expect(after).toBe(null)
})

test('processes and tests of providers go after an hour; those that run stay', async () => {
  const here = await world()
  const { db, ids } = here.parts
  const { sql } = db
  for (const minutes of [59, 61])
    await sql`
      with process as (
        insert into processes (id, name, version, runs, started_at, seen_at, in_flight, providers)
        values (${ids.next()}, ${`${minutes} min`}, '1', '{http}', now(), clock_timestamp() - make_interval(mins => ${minutes}), '{}', '[]')
      )
      insert into provider_tests (id, channel, provider, asked_at)
      values (${ids.next()}, 'email', ${`${minutes} min`}, clock_timestamp() - make_interval(mins => ${minutes}))`
  expect(await runSteps(purgeInstallation(here.parts))).toBe(2)
  expect(await sql`select provider from provider_tests`).toEqual([{ provider: '59 min' }])
  const names = (await sql<{ name: string }>`select name from processes`).map(({ name }) => name)
  expect(names).toContain('59 min')
  expect(names).not.toContain('61 min')
})

test('events are kept as long as messages of their channel, those of jobs as long as the longer, and none for less than 8 days', async () => {
  const here = await world()
  const { db, clock } = here.parts
  const { sql } = db
  const DAY = 86_400_000_000
  const at = (days: number) => ({ ...clock, micros: () => clock.micros() - days * DAY })
  const brief = (await here.service({ email_retention_days: 3, sms_retention_days: 20 })).id
  const mixed = (await here.service({ email_retention_days: 9, sms_retention_days: 30 })).id
  const services = { brief, mixed }
  const ages = [2, 7, 10, 21]
  let stamp = 0
  const webhook = floorOf(clock.micros())
  await sql`
    insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n)
    values (${webhook}, ${brief}, 'normal', 'standard', '', 0, 0, -1)`
  for (const days of ages.toReversed()) {
    await makeEventPartitions(db, at(days))
    for (const service of Object.values(services))
      for (const key_type of ['normal', 'test'])
        for (const channel of ['email', 'sms', null]) {
          const id = floorOf(clock.micros() - days * DAY + ++stamp * 1000)
          await sql`
            insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause)
            values (${id}, ${stamp}, ${service}, ${key_type}, ${channel}, 'notification.delivered', array[${id}::uuid], 'attempt')`
        }
    await sql`
      insert into webhook_retries (webhook_id, event, stamp, seq, subject, state, next_at)
      values (${webhook}, ${floorOf(clock.micros() - days * DAY)}, 0, 0, gen_random_uuid(), 'failed', now())`
  }
  const left = async (service: string) => {
    const rows = await sql<{ days: number; channel: string | null; n: number }>`
      select round(extract(epoch from clock_timestamp() - uuid_time(id)) / 86400)::integer as days, channel, count(*)::integer as n
      from events
      where service_id = ${service}
      group by 1, 2
      order by 1, 2`
    return rows.map(row => `${row.channel ?? 'job'} ${row.days}: ${row.n}`)
  }
  expect(await left(brief)).toHaveLength(ages.length * 3)

  expect(await runSteps(purgeEvents(here.parts))).toBe(8 + 4)
  const days = (channel: string, ages: readonly number[]) => ages.map(age => `${channel} ${age}: 2`)
  const sorted = (lines: readonly string[]) => [...lines].sort()
  const kept = (email: number[], sms: number[], job: number[]) =>
    sorted([...days('email', email), ...days('sms', sms), ...days('job', job)])
  expect(sorted(await left(brief))).toEqual(kept([2, 7], [2, 7, 10], [2, 7, 10]))
  expect(sorted(await left(mixed))).toEqual(kept([2, 7], [2, 7, 10, 21], [2, 7, 10, 21]))
  expect(await runSteps(purgeEvents(here.parts))).toBe(0)
  expect(await runSteps(purgeWebhookRetries(here.parts))).toBe(1)
})
