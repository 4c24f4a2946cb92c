// The hourly counts are exact: whatever happens to messages, the sums of both tables are the statuses of the messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../faults/support/random.ts'
import type { Id } from '../src/core/id.ts'
import { foldHourlyCounts, purgeHourlyCounts, recountDays } from '../src/maintenance/statistics.ts'
import { currentStates, move } from '../src/notifications/sql/apply.ts'
import { giveUp } from '../src/notifications/sql/expire.ts'
import { miscounted } from '../src/notifications/sql/recount.ts'
import { isFinal, type Status, statusAfter, statusesOf } from '../src/notifications/status.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { failing, overview } from '../src/statistics/overview.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, SMS, smsTemplate } from './support/sends.ts'
import { OPERATOR, type World, world } from './support/world.ts'

const hourNow = () => Math.floor(Date.now() / 3_600_000)
const FAILED = statusesOf(['failed'])

async function wrong({ parts }: World) {
  const today = Math.floor(hourNow() / 24)
  const days = await Promise.all([-2, -1, 0, 1].map(day => miscounted(parts.db.sql, today + day)))
  return days.flat()
}

/** Waits until no ticket is due: all that can be delivered is. */
async function settled({ parts: { db } }: World) {
  for (let rounds = 0; rounds < 400; rounds++) {
    const [row] = await db.sql<{ due: number }>`select count(*)::integer as due from tickets where due_at < now()`
    if (row?.due === 0) return
    await sleep(25)
  }
  throw new Error('tickets are still due')
}

describe('through the whole program', () => {
  let here: World
  let key: Key
  let testKey: Key
  let service: Id
  let templates: { email: Id[]; sms: Id }
  beforeAll(async () => {
    here = await world({}, { engine: true })
    const made = await here.service({ email_daily_limit: 100_000, sms_daily_limit: 100_000, rate_limit: 100_000 })
    service = made.id
    key = await made.key()
    testKey = await made.key({ type: 'test' })
    templates = { email: [await emailTemplate(key), await emailTemplate(key)], sms: await smsTemplate(key) }
  })

  test('random sends, cancels, jobs, receipts and folding: hourly sums are the statuses of the messages', async () => {
    const random = createRandom(17_018)
    const { db, ids } = here.parts
    const owner = ids.next()
    const scheduled: Id[] = []
    const body = (n: number) => ({ reference: `r${n}`, personalisation: { name: `n${n}` } })
    const acts: (() => Promise<unknown>)[] = [
      () => email(key),
      () => email(key),
      () => email(testKey),
      () => key.post(SMS, { template_id: templates.sms, phone_number: '+16135550123', ...body(1) }),
      async () => {
        const sent = await key.post(EMAIL, {
          template_id: random.pick(templates.email),
          email_address: 'later@example.org',
          scheduled_for: inMinutes(30),
          ...body(2),
        })
        expect(sent.status).toBe(201)
        scheduled.push(sent.body.id)
      },
      async () => {
        const id = scheduled.pop()
        if (id) await key.delete(`/v2/notifications/${id}`)
      },
      () =>
        key.post('/v2/notifications/bulk', {
          name: 'a job',
          template_id: random.pick(templates.email),
          rows: [['email address', 'name'], ...Array.from({ length: 7 }, (_, n) => [`row${n}@example.org`, `n${n}`])],
        }),
      () =>
        receipt(random.pick(['delivered', 'temporary-failure', 'permanent-failure', 'technical-failure', 'pending'])),
      () => receipt(random.pick(['delivered', 'temporary-failure', 'permanent-failure'])),
      () => runSteps(foldHourlyCounts(here.parts)),
    ]
    const email = (by: Key) =>
      by.post(EMAIL, { template_id: random.pick(templates.email), email_address: 'a@example.org', ...body(0) })

    // A receipt for any message, by the rules of statuses and through the statement of the receipt lane.
    async function receipt(
      result: 'delivered' | 'temporary-failure' | 'permanent-failure' | 'technical-failure' | 'pending',
    ) {
      const [some] = await db.sql<{
        id: Id
      }>`select id from states where status <> 'cancelled' order by random() limit 1`
      const [state] = some ? await currentStates(db.sql, [some.id]) : []
      if (!state) return
      const at = 1_700_000_000_000 + random.between(0, 5)
      const after = statusAfter(
        state.channel,
        { status: state.status, at: state.receipt_at },
        { result, at, detail: null },
      )
      if (!after) return
      const ticket = ids.next()
      await db.sql`
        insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
        values (${ticket}, 'receipt', ${service}, ${[some?.id]}::uuid[], now() + interval '1 day', 1, ${owner}, now() + interval '1 day')`
      await move(
        db.sql,
        owner,
        [{ id: ticket, takes: 1 }],
        [
          {
            ...{ id: state.id, from: state, status: after.status, at: after.at, isFinal: isFinal(after.status) },
            ...{ changes: true, provider: 'test', decidedAt: at, response: null, detail: null, diagnosis: null },
            moves: after.status === state.status ? [] : [after.status],
          },
        ],
        [],
        [ticket],
        [],
      )
    }

    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 12 }, () => random.pick(acts)()))
      expect(await wrong(here)).toEqual([])
    }
    // Overdue messages end as failures.
    await db.sql`update states set sent_at = now() - interval '80 hours' where status in ('sending', 'pending')`
    const open = await db.sql<{
      id: Id
      status: Status
    }>`select id, status from states where status in ('sending', 'pending')`
    for (const { id, status } of open) await giveUp(db.sql, status, [id])
    await settled(here)
    expect(await wrong(here)).toEqual([])
    await runSteps(foldHourlyCounts(here.parts))
    expect(await wrong(here)).toEqual([])
    const [left] = await db.sql<{ n: number; zero: number; total: number; of_templates: number; delivered: number }>`
      select (select count(*) from hourly_changes)::integer as n,
             (select count(*) from hourly_counts where messages <= 0)::integer
               + (select count(*) from template_counts where messages <= 0)::integer as zero,
             (select sum(messages) from hourly_counts)::integer as total,
             (select sum(messages) from template_counts)::integer as of_templates,
             (select count(*) from states where status = 'delivered')::integer as delivered`
    expect(left).toMatchObject({ n: 0, zero: 0 })
    expect(left?.total).toBeGreaterThan(80)
    expect(left?.of_templates).toBe(left?.total)
    expect(left?.delivered).toBeGreaterThan(20)
    // Nothing to correct, and the comparison does find what is wrong.
    expect(await runSteps(recountDays(here.parts))).toBe(0)
  })

  test('the overview shows the same numbers, without test keys', async () => {
    const { db, clock } = here.parts
    const rows = await db.sql<{ status: string; channel: string; messages: number }>`
      select case when status = 'created' and scheduled_for is not null then 'scheduled' else status end as status, channel,
             count(*)::integer as messages
      from states where service_id = ${service} and key_type <> 'test' group by 1, 2 order by 1, 2`
    const app = { sql: db.sql, clock }
    const seen = await overview(app, OPERATOR, service, 'UTC')
    const worst = await failing(app, OPERATOR, service, 'UTC', FAILED)
    expect(seen.days).toHaveLength(7)
    const all = seen.days
      .flatMap(day => day.counts)
      .map(({ status, channel, messages }) => ({ status, channel, messages }))
      .sort((a, b) => (a.status + a.channel < b.status + b.channel ? -1 : 1))
    expect(all).toEqual(rows)
    const failed = rows.filter(row => FAILED.includes(row.status as Status)).reduce((sum, row) => sum + row.messages, 0)
    expect(worst.reduce((sum, one) => sum + one.failed, 0)).toBe(failed)
    expect(seen.took.days?.p50).toBeLessThan(10)
  })

  test('two processes that fold at the same moment count nothing twice', async () => {
    for (let n = 0; n < 40; n++)
      await key.post(EMAIL, {
        template_id: templates.email[0],
        email_address: 'a@example.org',
        personalisation: { name: 'n' },
      })
    await settled(here)
    await Promise.all(Array.from({ length: 6 }, () => runSteps(foldHourlyCounts(here.parts))))
    expect(await wrong(here)).toEqual([])
  })

  test('a message of the version before is never counted, and a change that it did not count is corrected', async () => {
    const { db, ids } = here.parts
    const old = ids.next()
    await db.sql`
      insert into states (id, service_id, key_type, channel, in_job, status, sent_at)
      values (${old}, ${service}, 'normal', 'email', false, 'sending', now() - interval '80 hours')`
    await giveUp(db.sql, 'sending', [old])
    expect(await wrong(here)).toEqual([])

    await db.sql`
      update states set status = 'permanent-failure'
      where id = (select id from states where status = 'delivered' and template_id is not null limit 1)`
    expect(await wrong(here)).toHaveLength(6)
    expect(await runSteps(recountDays(here.parts))).toBe(6)
    expect(await wrong(here)).toEqual([])

    // Counts of an hour whose messages are gone stay.
    const lost = { service: ids.next(), hour: hourNow() - 50 }
    await db.sql`
      insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages)
      values (${lost.service}, ${lost.hour}, 'email', 'normal', 'delivered', 3, 5)`
    expect(await runSteps(recountDays(here.parts))).toBe(0)
    await db.sql`delete from hourly_counts where service_id = ${lost.service}`
  })

  test('counts are deleted after 13 months', async () => {
    const { sql } = here.parts.db
    const counts = async () => {
      const [row] = await sql<{ n: number }>`
        select ((select count(*) from hourly_counts) + (select count(*) from template_counts))::integer as n`
      return row?.n ?? 0
    }
    await runSteps(foldHourlyCounts(here.parts))
    const before = await counts()
    for (const months of [12, 14])
      await sql`
        insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
        values (${service}, ${hourNow() - months * 30 * 24}, 'email', 'normal', ${service}, 'delivered', 3, 5)`
    await runSteps(foldHourlyCounts(here.parts))
    expect(await counts()).toBe(before + 4)
    await runSteps(purgeHourlyCounts(here.parts))
    expect(await counts()).toBe(before + 2)
  })
})
