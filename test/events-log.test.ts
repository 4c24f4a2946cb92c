// The log is written by the statements that change messages and jobs: never a status without its event, never an event without its
// status.
import { beforeAll, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import type { EventGroup } from '../src/events/event.ts'
import { type DeliveryResult, writeResults } from '../src/notifications/deliver.ts'
import { markUncertain } from '../src/notifications/sql/record.ts'
import { type World, world } from './support/world.ts'

let here: World
beforeAll(async () => {
  here = await world()
})

const sql: Sql = (strings, ...values) => here.parts.db.sql(strings, ...values)
const next = () => here.parts.ids.next()
const hints = { announced: [] as Id[], announce: (services: Iterable<Id>) => void hints.announced.push(...services) }

type Event = EventGroup & { reply: string | null }

/** Everything that was logged about a service, in order. */
async function eventsOf(service: Id): Promise<Event[]> {
  const rows = await sql<EventGroup>`
    select id, stamp::text, seq::text, service_id, key_type, channel, type, at, subjects, cause, provider, response, detail,
           uncertain, took, delays, times, sealed
    from events
    where service_id = ${service}
    order by stamp, seq`
  return rows.map(row => ({ ...row, reply: row.sealed && here.parts.seal.open(row.sealed).toString('utf8') }))
}

type Making = { service?: Id; status?: string; channel?: 'email' | 'sms'; provider?: string | null }

async function messages(
  count: number,
  { service = next(), status = 'created', channel = 'email', provider = null }: Making = {},
) {
  const ids = Array.from({ length: count }, next)
  await sql`
    insert into states (id, service_id, key_type, channel, in_job, status, provider, sent_at)
    select id, ${service}::uuid, 'normal', ${channel}, false, ${status}, ${provider},
           case when ${status} = 'sending' then now() - interval '73 hours' end
    from unnest(${ids}::uuid[]) as m (id)`
  return { service, ids }
}

/** A ticket leased to a process of its own. */
async function lease(subjects: readonly Id[], service: Id, lane = 'email-low') {
  const [id, owner] = [next(), next()]
  await sql`
    insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
    values (${id}, ${lane}, ${service}, ${subjects}::uuid[], now(), 1, ${owner}, now() + interval '1 minute')`
  const ticket = { id, lane, service_id: service, subjects: [...subjects], attempts: 0, takes: 1 }
  return { ticket, app: { ...here.parts, sql: here.parts.db.sql, owner, hints, wake() {}, random: () => 0.5 } }
}

const NOTHING: DeliveryResult = {
  ...{ status: null, moves: [], provider: 'smtp', ref: null, uncertain: false },
  ...{ response: null, detail: null, reply: null, took: null, delay: null },
}
const DELIVERED: DeliveryResult = { ...NOTHING, status: 'delivered', moves: ['sending', 'delivered'] }

async function results(ids: readonly Id[], service: Id, of: (id: Id, at: number) => DeliveryResult) {
  const { ticket, app } = await lease(ids, service)
  await writeResults(app)(
    ids.map((id, at) => ({ ticket, id, result: of(id, at), settle: at === ids.length - 1 ? [] : null })),
  )
}

const statusOf = async (id: Id) =>
  (
    await sql<{ status: string; moves: string[]; logged: string[] }>`
    select status, moves, logged from states where id = ${id}`
  )[0]

const inOrder = (ids: readonly Id[]) => [...ids].sort()

test('500 messages of a service with the same result are one row; those of another service are another', async () => {
  const [one, other] = [await messages(250), await messages(250)]
  await results([...one.ids, ...other.ids], one.service, (_id, at) => ({ ...DELIVERED, took: at }))
  const [mine, theirs] = [await eventsOf(one.service), await eventsOf(other.service)]
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
  const { service, ids } = await messages(4)
  await results(ids, service, (_id, at) => ({
    ...NOTHING,
    detail: '451 4.7.1',
    reply: at < 3 ? '451 4.7.1 try again <anna@example.org>' : '451 4.7.1 another <anna@example.org>',
    took: 10 + at,
    delay: 2.5 + at,
  }))
  const logged = await eventsOf(service)
  expect(logged.map(({ type, detail, reply }) => ({ type, detail, reply }))).toEqual(
    expect.arrayContaining([
      { type: 'notification.deferred', detail: '451 4.7.1', reply: '451 4.7.1 try again <anna@example.org>' },
      { type: 'notification.deferred', detail: '451 4.7.1', reply: '451 4.7.1 another <anna@example.org>' },
    ]),
  )
  const three = logged.find(({ subjects }) => subjects.length === 3)
  expect(three?.delays).toEqual(three?.subjects.map(id => 2.5 + ids.indexOf(id)))
  expect(three?.took).toEqual(three?.subjects.map(id => 10 + ids.indexOf(id)))
  for (const id of ids) expect(await statusOf(id)).toMatchObject({ status: 'created', moves: ['created'] })
  const [row] = await sql<{
    text: string
  }>`select string_agg(events::text, ' ') as text from events where service_id = ${service}`
  expect(row?.text).not.toContain('anna')
})

test('an attempt that may have been sent is uncertain, and so are the messages of a process that crashed', async () => {
  const { service, ids } = await messages(3)
  const [tried, taken, sent] = ids as [Id, Id, Id]
  await results([tried], service, () => ({
    ...NOTHING,
    detail: 'no answer in time',
    reply: 'No answer in time',
    uncertain: true,
    delay: 5,
  }))
  await results([sent], service, () => DELIVERED)
  await markUncertain(sql, [taken, sent])
  expect(await eventsOf(service)).toMatchObject([
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
  expect(await statusOf(taken)).toMatchObject({ status: 'created', moves: ['created'] })
})

test('the results of a ticket that was lost are neither recorded nor logged', async () => {
  const { service, ids } = await messages(2)
  const { ticket, app } = await lease(ids, service)
  await sql`update tickets set takes = 2 where id = ${ticket.id}`
  await writeResults(app)(ids.map(id => ({ ticket, id, result: DELIVERED, settle: null })))
  expect(await eventsOf(service)).toEqual([])
  for (const id of ids) expect(await statusOf(id)).toMatchObject({ status: 'created', logged: [] })
})
