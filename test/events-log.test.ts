// The log is written by the statements that change messages and jobs: never a status without its event, never an event without its
// status.
import { beforeAll, describe, expect, test } from 'vitest'
import { stop } from '../src/bulk/sql/cancel.ts'
import { purgeChunks, stall } from '../src/bulk/sql/spread.ts'
import { floorOf, type Id } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import type { EventGroup } from '../src/events/event.ts'
import { ofMessage } from '../src/events/sql.ts'
import { writeResults } from '../src/notifications/deliver.ts'
import { writeVerdicts } from '../src/notifications/scan.ts'
import { cancel } from '../src/notifications/sql/cancel.ts'
import { giveUp } from '../src/notifications/sql/expire.ts'
import { markUncertain } from '../src/notifications/sql/record.ts'
import { DELIVERED, logWriter, NOTHING } from './support/log-writer.ts'
import { seeded } from './support/seeds.ts'
import { emailTemplate, inMinutes } from './support/sends.ts'
import { OPERATOR, type World, world } from './support/world.ts'

let here: World
let writer: ReturnType<typeof logWriter>
beforeAll(async () => {
  here = await world()
  writer = logWriter(here)
})

const sql: Sql = (strings, ...values) => here.parts.db.sql(strings, ...values)
const at = (ms: number) => `1970-01-01 00:00:0${ms / 1000}+00`
const inOrder = (ids: readonly Id[]) => [...ids].sort()

test('500 messages of a service with the same result are one row; those of another service are another', async () => {
  const [one, other] = [await writer.messages(250), await writer.messages(250)]
  await writer.results([...one.ids, ...other.ids], one.service, (_id, at) => ({ ...DELIVERED, took: at }))
  const [mine, theirs] = [await writer.eventsOf(one.service), await writer.eventsOf(other.service)]
  expect(mine).toMatchObject([
    { type: 'notification.delivered', cause: 'attempt', provider: 'smtp', channel: 'email', key_type: 'normal' },
  ])
  expect(theirs).toHaveLength(1)
  expect(inOrder(mine[0]?.subjects ?? [])).toEqual(inOrder(one.ids))
  expect(inOrder(theirs[0]?.subjects ?? [])).toEqual(inOrder(other.ids))
  // took is in the order of subjects.
  expect(mine[0]?.took).toEqual(mine[0]?.subjects.map(id => one.ids.indexOf(id)))
  expect(mine[0]?.delays).toBe(null)
  expect(mine[0]?.id.slice(-4)).toBe('0000')
})

test('an attempt that is repeated is logged with the class of the reply, the sealed reply, and the delay', async () => {
  const { service, ids } = await writer.messages(4)
  await writer.results(ids, service, (_id, at) => ({
    ...NOTHING,
    detail: '451 4.7.1',
    reply: at < 3 ? '451 4.7.1 try again <anna@example.org>' : '451 4.7.1 another <anna@example.org>',
    took: 10 + at,
    delay: 2.5 + at,
  }))
  const logged = await writer.eventsOf(service)
  expect(logged.map(({ type, detail, reply }) => ({ type, detail, reply }))).toEqual(
    expect.arrayContaining([
      { type: 'notification.deferred', detail: '451 4.7.1', reply: '451 4.7.1 try again <anna@example.org>' },
      { type: 'notification.deferred', detail: '451 4.7.1', reply: '451 4.7.1 another <anna@example.org>' },
    ]),
  )
  const three = logged.find(({ subjects }) => subjects.length === 3)
  expect(three?.delays).toEqual(three?.subjects.map(id => 2.5 + ids.indexOf(id)))
  expect(three?.took).toEqual(three?.subjects.map(id => 10 + ids.indexOf(id)))
  for (const id of ids) expect(await writer.statusOf(id)).toMatchObject({ status: 'created', moves: ['created'] })
  const [row] = await sql<{
    text: string
  }>`select string_agg(events::text, ' ') as text from events where service_id = ${service}`
  expect(row?.text).not.toContain('anna')
})

test('an attempt that may have been sent is uncertain, and so are the messages of a process that crashed', async () => {
  const { service, ids } = await writer.messages(3)
  const [tried, taken, sent] = ids as [Id, Id, Id]
  await writer.results([tried], service, () => ({
    ...NOTHING,
    detail: 'no answer in time',
    reply: 'No answer in time',
    uncertain: true,
    delay: 5,
  }))
  await writer.results([sent], service, () => DELIVERED)
  await writer.crashed([taken, sent], service)
  expect(await writer.eventsOf(service)).toMatchObject([
    {
      type: 'notification.uncertain',
      cause: 'attempt',
      subjects: [tried],
      uncertain: true,
      detail: 'no answer in time',
      delays: [5],
    },
    { type: 'notification.delivered', cause: 'attempt', subjects: [sent], uncertain: false },
    { type: 'notification.uncertain', cause: 'crash', subjects: [taken], uncertain: true, delays: null },
  ])
  expect(await writer.statusOf(taken)).toMatchObject({ status: 'created', moves: ['created'] })
})

test('the results of a ticket that was lost are neither recorded nor logged', async () => {
  const { service, ids } = await writer.messages(2)
  const { ticket, app } = await writer.lease(ids, service)
  await sql`update tickets set takes = 2 where id = ${ticket.id}`
  await writeResults(app)(ids.map(id => ({ ticket, id, result: DELIVERED, settle: null })))
  expect(await writer.eventsOf(service)).toEqual([])
  for (const id of ids) expect(await writer.statusOf(id)).toMatchObject({ status: 'created', logged: [] })
})

describe('receipts', () => {
  test('a change of status is logged with the provider and its time; late and repeated receipts, too', async () => {
    const { service, ids } = await writer.messages(1, { status: 'sending', provider: 'ses' })
    const [id] = ids as [Id]
    await writer.receipts(service, [writer.receipt(id, 'delivered', 5_000)])
    await writer.receipts(service, [writer.receipt(id, 'delivered', 4_000), writer.receipt(id, 'complaint', 6_000)])
    await writer.receipts(service, [writer.receipt(id, 'permanent-failure', 7_000, { provider: 'another' })])
    const logged = await writer.eventsOf(service)
    expect(logged.map(({ type, cause, provider, detail, times }) => [type, cause, provider, detail, times])).toEqual([
      ['notification.delivered', 'receipt', 'ses', null, [at(5_000)]],
      ...logged.slice(1, 3).map(() => expect.arrayContaining(['notification.receipt', 'receipt', 'ses'])),
      ['notification.receipt', 'receipt', 'another', 'permanent-failure', [at(7_000)]],
    ])
    expect(new Map(logged.slice(1, 3).map(({ detail, times }) => [detail, times]))).toEqual(
      new Map([
        ['delivered', [at(4_000)]],
        ['complaint', [at(6_000)]],
      ]),
    )
    expect(await writer.statusOf(id)).toMatchObject({ status: 'delivered', moves: ['created', 'delivered'] })
  })

  test('of several receipts in one statement the last that counts is the change, the others are noted', async () => {
    const { service, ids } = await writer.messages(1, { status: 'sending', provider: 'ses' })
    const [id] = ids as [Id]
    const [pending, failed] = [
      writer.receipt(id, 'pending', 1_000),
      writer.receipt(id, 'temporary-failure', 2_000, { detail: 'full', diagnosis: '452 full <anna@example.org>' }),
    ]
    await writer.receipts(service, [pending, failed])
    const logged = await writer.eventsOf(service)
    expect(logged).toHaveLength(2)
    expect(logged).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'notification.receipt', detail: 'pending', times: [at(1_000)] }),
        expect.objectContaining({
          type: 'notification.temporary-failure',
          detail: 'full',
          reply: '452 full <anna@example.org>',
          times: [at(2_000)],
        }),
      ]),
    )
    // An older receipt comes with the next one of its message: it is not noted again.
    await writer.receipts(service, [failed, writer.receipt(id, 'delivered', 3_000)], 1)
    expect((await writer.eventsOf(service)).map(({ type }) => type).slice(2)).toEqual(['notification.delivered'])
    expect(await writer.statusOf(id)).toMatchObject({ moves: ['created', 'pending', 'temporary-failure', 'delivered'] })
  })

  test('receipts of 100 messages are one row', async () => {
    const { service, ids } = await writer.messages(100, { status: 'sending', provider: 'ses' })
    await writer.receipts(
      service,
      ids.map((id, n) => writer.receipt(id, 'delivered', 1_000 + n)),
    )
    const [group, ...others] = await writer.eventsOf(service)
    expect(others).toEqual([])
    expect(group?.times).toEqual(group?.subjects.map(id => at(1_000 + ids.indexOf(id))))
  })

  test('when a message changes meanwhile, each receipt is logged once', async () => {
    const { service, ids } = await writer.messages(2, { status: 'sending', provider: 'ses' })
    const [first, second] = ids as [Id, Id]
    let isFirst = true
    const interfering: Sql = async (strings, ...values) => {
      const isMove = strings.join('').includes('outcome as materialized')
      if (isMove && isFirst) {
        isFirst = false
        await sql`update states set status = 'pending' where id = ${second}`
      }
      return here.parts.db.sql(strings, ...values)
    }
    await writer.receipts(
      service,
      [writer.receipt(first, 'delivered', 1_000), writer.receipt(second, 'delivered', 2_000)],
      0,
      interfering,
    )
    expect(isFirst).toBe(false)
    const logged = await writer.eventsOf(service)
    expect(logged.map(({ type, subjects }) => [type, subjects])).toEqual([
      ['notification.delivered', [first]],
      ['notification.delivered', [second]],
    ])
  })
})

test('a scan that gives no result is a deferral; a verdict is the change of status', async () => {
  const { service, ids } = await writer.messages(3, { status: 'pending-virus-check' })
  const [clean, virus, waits] = ids as [Id, Id, Id]
  const { ticket, app } = await writer.lease(ids, service, 'scan')
  const none = { response: null, delay: null, clean: [], virus: [] }
  await writeVerdicts(app)([
    { ticket, id: clean, result: { ...none, status: 'created' }, settle: null },
    { ticket, id: virus, result: { ...none, status: 'virus-scan-failed' }, settle: null },
    { ticket, id: waits, result: { ...none, status: null, delay: 10 }, settle: [] },
  ])
  const logged = await writer.eventsOf(service)
  expect(logged).toHaveLength(3)
  expect(logged).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'notification.created', cause: 'scan', subjects: [clean] }),
      expect.objectContaining({
        type: 'notification.virus-scan-failed',
        cause: 'scan',
        subjects: [virus],
        detail: null,
      }),
      expect.objectContaining({
        type: 'notification.deferred',
        cause: 'scan',
        subjects: [waits],
        detail: 'no scan result',
        delays: [10],
      }),
    ]),
  )
  expect(await writer.statusOf(waits)).toMatchObject({ status: 'pending-virus-check', moves: ['created'] })
})

describe('the event and its status are one transaction', () => {
  type Change = { service: Id; id: Id; type: string; status: string; run(sql: Sql): Promise<unknown> }

  const CHANGES: Record<string, () => Promise<Change>> = {
    async record() {
      const { service, ids } = await writer.messages(1)
      const { ticket, app } = await writer.lease(ids, service)
      const entries = ids.map(id => ({ ticket, id, result: DELIVERED, settle: [] }))
      return changeOf(service, ids, 'delivered', sql => writeResults({ ...app, sql })(entries))
    },
    async receipts() {
      const { service, ids } = await writer.messages(1, { status: 'sending' })
      return changeOf(service, ids, 'delivered', sql =>
        writer.receipts(
          service,
          ids.map(id => writer.receipt(id, 'delivered', 1_000)),
          0,
          sql,
        ),
      )
    },
    async scan() {
      const { service, ids } = await writer.messages(1, { status: 'pending-virus-check' })
      const { ticket, app } = await writer.lease(ids, service, 'scan')
      const result = { status: 'created' as const, response: null, delay: null, clean: [], virus: [] }
      const entries = ids.map(id => ({ ticket, id, result, settle: [] }))
      return changeOf(service, ids, 'created', sql => writeVerdicts({ ...app, sql })(entries))
    },
    async cancel() {
      const { service, ids } = await writer.messages(1, { isScheduled: true })
      return changeOf(service, ids, 'cancelled', sql => cancel(sql, service, ids[0] as Id, OPERATOR))
    },
    async expiry() {
      const { service, ids } = await writer.messages(1, { status: 'sending' })
      return changeOf(service, ids, 'temporary-failure', sql => giveUp(sql, 'sending', ids))
    },
    async crash() {
      const { service, ids } = await writer.messages(1)
      const { ticket, app } = await writer.lease(ids, service)
      const change = changeOf(service, ids, 'created', sql => markUncertain(sql, app.owner, [ticket], ids))
      return { ...change, type: 'notification.uncertain' }
    },
  }

  const changeOf = (service: Id, ids: readonly Id[], status: string, run: Change['run']): Change => ({
    ...{ service, id: ids[0] as Id, type: `notification.${status}`, status, run },
  })
  const stored = (id: Id) => sql`select * from states where id = ${id}`

  test.each(Object.keys(CHANGES))('%s', async name => {
    const { service, id, type, status, run } = await (CHANGES[name] as () => Promise<Change>)()
    const before = await stored(id)

    const rolledBack = here.parts.db.transaction(async sql => {
      await run(sql)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect([await stored(id), await writer.eventsOf(service)]).toEqual([before, []])

    // What the log refuses is not written anywhere.
    await here.parts.db.script(`alter table events add constraint refused check (service_id <> '${service}')`)
    await expect(run(sql)).rejects.toThrow('refused')
    expect([await stored(id), await writer.eventsOf(service)]).toEqual([before, []])
    await here.parts.db.script('alter table events drop constraint refused')

    await run(sql)
    const after = await writer.statusOf(id)
    expect(after).toMatchObject({ status })
    const logged = await writer.eventsOf(service)
    expect(logged).toMatchObject([{ type, subjects: [id] }])
    // The event is found by the mark of the message.
    expect(await ofMessage(sql, id, (after?.logged ?? []) as never)).toMatchObject([{ id: logged[0]?.id, n: 0 }])
  })
})

describe('jobs', () => {
  test('accepted, started and finished in order, of one chunk too; the messages follow', async () => {
    const sending = await world({}, { engine: true })
    const service = await sending.service()
    const key = await service.key()
    const template_id = await emailTemplate(key, 'Hello', 'Hello')
    const rows = [['email address'], ['a@example.org'], ['b@example.org']]
    const hinted: Id[] = []
    sending.parts.hints.subscribe(services => hinted.push(...(services ?? [])))
    const sent = await key.post('/v2/notifications/bulk', { name: 'Job', template_id, rows })
    const job = sent.body.data.id as Id
    const logged = () => sending.parts.db.sql<EventGroup>`
      select type, subjects, cause, channel, key_type from events where service_id = ${service.id} order by stamp, seq`
    await expect.poll(async () => (await logged()).flatMap(one => one.subjects), { timeout: 10_000 }).toHaveLength(5)
    expect((await logged()).slice(0, 3)).toEqual(
      ['job.accepted', 'job.started', 'job.finished'].map(type => ({
        ...{ type, subjects: [job], cause: 'job', channel: null, key_type: 'normal' },
      })),
    )
    expect((await logged()).slice(3).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['notification.delivered']),
    )
    expect(hinted).toContain(service.id)

    const scheduled = await key.post('/v2/notifications/bulk', {
      name: 'Job',
      template_id,
      rows,
      scheduled_for: inMinutes(60),
    })
    hinted.length = 0
    await key.delete(`/v2/notifications/bulk/${scheduled.body.data.id}`)
    expect(hinted).toContain(service.id)
    expect((await logged()).slice(-2)).toMatchObject(
      ['job.accepted', 'job.cancelled'].map(type => ({ type, subjects: [scheduled.body.data.id] })),
    )
    const single = await key.post('/v2/notifications/email', {
      ...{ email_address: 'a@example.org', template_id, scheduled_for: inMinutes(60) },
    })
    await key.delete(`/v2/notifications/${single.body.id}`)
    expect((await logged()).slice(-1)).toMatchObject([
      { type: 'notification.cancelled', cause: 'cancel', subjects: [single.body.id] },
    ])
  })

  test('a job that exceeds the daily limit is not accepted, and not in the log', async () => {
    const service = await here.service({ email_daily_limit: 1 })
    const key = await service.key()
    const template_id = await emailTemplate(key, 'Hello', 'Hello')
    const rows = [['email address'], ['a@example.org'], ['b@example.org']]
    expect((await key.post('/v2/notifications/bulk', { name: 'Job', template_id, rows })).status).toBe(400)
    expect(await writer.eventsOf(service.id)).toEqual([])
  })

  test('stopped because its service is not active; failed because a chunk cannot become messages, or is too old', async () => {
    const service = await here.service()
    const key = await service.key()
    const template_id = await emailTemplate(key, 'Hello', 'Hello')
    const rows = [['email address'], ['a@example.org']]
    const jobs: Id[] = []
    for (const name of ['stopped', 'stalled', 'old'])
      jobs.push(
        (await key.post('/v2/notifications/bulk', { name, template_id, rows, scheduled_for: inMinutes(60) })).body.data
          .id,
      )
    const [stopped, stalled, old] = jobs as [Id, Id, Id]
    expect([await stop(sql, stopped), await stop(sql, stopped)]).toEqual([true, false])
    const { ticket, app } = await writer.lease([stalled], service.id, 'spread')
    const take = [{ id: ticket.id, takes: 1 }]
    await stall(sql, app.owner, take, stalled, [])
    await stall(sql, app.owner, take, stalled, [])
    await purgeChunks(sql, writer.next(), old, 10)
    const types = (await writer.eventsOf(service.id)).map(({ type, subjects: [job] }) => [type, job])
    expect(types).toEqual([
      ...jobs.map(job => ['job.accepted', job]),
      ['job.cancelled', stopped],
      ['job.failed', stalled],
      ['job.failed', old],
    ])
  })
})

test('the ids of events begin with the time of their transaction, as those of messages do', async () => {
  const random = seeded()
  const micros = Array.from({ length: 500 }, () => random.between(0, 4e15))
  const rows = await sql<{ floor: Id }>`
    select event_floor(to_timestamp(0) + m * interval '1 microsecond') as floor
    from unnest(${micros.map(String)}::bigint[]) with ordinality as t (m, n)
    order by n`
  expect(rows.map(row => row.floor)).toEqual(micros.map(floorOf))
})
