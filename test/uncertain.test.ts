// Uncertain is what may have been handed over, and nothing else: a ticket says how far its hand-over may have come, and a take whose
// answer was lost has handed over nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { createEngine, lane } from '../src/engine/run.ts'
import type { Entry, Work } from '../src/engine/work.ts'
import { markUncertain } from '../src/notifications/sql/record.ts'
import type { Taker, Ticket } from '../src/queue/port.ts'
import { createPostgresTaker } from '../src/queue/postgres.ts'
import { releaseAll } from '../src/queue/release.ts'
import { settleTail, stillLeased } from '../src/queue/tickets.ts'
import { atEnd } from './support/ends.ts'
import { DELIVERED, logWriter } from './support/log-writer.ts'
import { type World, world } from './support/world.ts'

let here: World
let writer: ReturnType<typeof logWriter>
beforeAll(async () => {
  here = await world()
  writer = logWriter(here)
})

/** A lane for each test: another test takes nothing from it. */
let lanes = 0
async function queued(messages: number, takes = 0) {
  const { ids, service } = await writer.messages(messages)
  const [id, name] = [writer.next(), `lane-${++lanes}`]
  await writer.sql`
    insert into tickets (id, lane, service_id, subjects, due_at, takes)
    values (${id}, ${name}, ${service}, ${ids}::uuid[], clock_timestamp(), ${takes})`
  return { id, name, ids, service }
}

/** A process of its own, as far as the queue knows it. */
function process(leaseSeconds = 30) {
  const owner = writer.next()
  const taker = createPostgresTaker(writer.sql, owner, leaseSeconds)
  const take = async (name: string): Promise<Ticket> => {
    const [ticket] = [...(await taker.take(name, 1, 'usual')), ...(await taker.take(name, 1, 'suspects'))]
    if (!ticket) throw new Error('no ticket')
    return ticket
  }
  /** Takes the ticket and clears up after the process that had it. */
  const retake = async (name: string) => {
    const ticket = await take(name)
    await markUncertain(writer.sql, owner, [ticket], ticket.subjects)
    return ticket
  }
  return { owner, taker, take, retake }
}

/** The process that has it ends, and its lease expires. */
const freed = (id: Id) => writer.sql`update tickets set owner = null, leased_until = null where id = ${id}`

const uncertain = async (ids: readonly Id[]) =>
  (await writer.sql<{ id: Id }>`select id from states where id = any (${ids}::uuid[]) and uncertain order by id`).map(
    row => row.id,
  )
const attempts = async (ids: readonly Id[]) =>
  (await writer.sql<{ attempts: number }>`select attempts from states where id = any (${ids}::uuid[]) order by id`).map(
    row => row.attempts,
  )

test('a process that ends leaves those uncertain whose hand-over it had announced and not recorded', async () => {
  const { id, name, ids, service } = await queued(500)
  const one = process()
  await one.take(name)
  await one.taker.begin([{ id, takes: 1, begun: 16 }])
  await one.taker.begin([{ id, takes: 1, begun: 40 }])
  await writer.results(ids.slice(0, 12), service, () => DELIVERED)
  await freed(id)

  await process().retake(name)
  expect(await uncertain(ids)).toEqual(ids.slice(12, 40))
})

test('clearing up twice counts once, and the next process begins anew', async () => {
  const { id, name, ids } = await queued(10)
  const [one, two, three] = [process(), process(), process()]
  await one.take(name)
  await one.taker.begin([{ id, takes: 1, begun: 2 }])
  await freed(id)
  const ticket = await two.retake(name)
  await markUncertain(writer.sql, two.owner, [ticket], ticket.subjects)
  expect(await attempts(ids.slice(0, 3))).toEqual([1, 1, 0])
  await two.taker.begin([{ id, takes: 2, begun: 1 }])
  await freed(id)
  await three.retake(name)
  expect(await attempts(ids.slice(0, 3))).toEqual([2, 1, 0])
  expect(await uncertain(ids)).toEqual(ids.slice(0, 2))
})

test('a take whose answer was lost leaves nothing uncertain, however often; earlier hand-overs stay uncertain', async () => {
  const [never, begun] = [await queued(500), await queued(500)]
  const one = process()
  await one.take(begun.name)
  await one.taker.begin([{ id: begun.id, takes: 1, begun: 3 }])
  await freed(begun.id)
  for (const { id, name } of [never, begun]) {
    await process().take(name)
    await freed(id)
    await process().retake(name)
  }
  expect(await uncertain(never.ids)).toEqual([])
  expect(await uncertain(begun.ids)).toEqual(begun.ids.slice(0, 3))
})

test('a ticket given back leaves nothing uncertain', async () => {
  const { id, name, ids } = await queued(20)
  const one = process()
  await one.take(name)
  await one.taker.begin([{ id, takes: 1, begun: 8 }])
  await one.taker.giveBack([id])
  await process().take(name)
  await freed(id)
  await process().retake(name)
  expect(await uncertain(ids)).toEqual([])
})

test('of a ticket that an older version had, everything is uncertain', async () => {
  const { id, name, ids } = await queued(20)
  const take = () => writer.sql`update tickets set takes = takes + 1 where id = ${id}`
  await take()
  await process().retake(name)
  expect(await uncertain(ids)).toEqual(ids)

  const other = await queued(20)
  const one = process()
  await one.take(other.name)
  await one.taker.begin([{ id: other.id, takes: 1, begun: 8 }])
  await writer.sql`update tickets set takes = takes + 1, owner = null where id = ${other.id}`
  await process().retake(other.name)
  expect(await uncertain(other.ids)).toEqual(other.ids)
})

test('of a ticket that the original of a restored copy had leased, everything is uncertain', async () => {
  const { id, name, ids } = await queued(20)
  await process().take(name)
  await writer.sql`update sending set held_since = clock_timestamp(), reason = 'restored'`
  await releaseAll(here.parts.db, [name])
  await freed(id)
  await process().retake(name)
  expect(await uncertain(ids)).toEqual(ids)
})

/** An engine whose items wait for `release`; everything about it is real but the work. */
function engineOn(name: string, taker: Taker, owner: Id, leaseSeconds: number) {
  const started: Id[] = []
  const takes = new Set<number>()
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const work: Work<Id, string> = {
    isHandedOver: true,
    load: async tickets => new Map(tickets.flatMap(one => one.subjects.map((id): [Id, Id] => [id, id]))),
    async handle(id, ticket) {
      started.push(id)
      takes.add(ticket.takes)
      await released
      return { kind: 'done', result: 'done' }
    },
    setAside: () => 'set aside',
  }
  const write = async (entries: readonly Entry<string>[]) => {
    const leased = [...new Map(entries.map(({ ticket }) => [ticket.id, ticket])).values()]
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    await writer.sql`
      with leased as materialized (${stillLeased(owner, leased)} order by t.id for update of t), ${settleTail(settled, [])}
      select id from leased`
  }
  const engine = createEngine({
    specs: [lane({ name, slots: 4, work, write })],
    taker,
    leaseSeconds,
    onFault: () => {},
  })
  atEnd(async () => {
    release()
    await engine.stop()
  })
  return { started, takes, release }
}

const ticketOf = async (id: Id) =>
  (await writer.sql<{ begun: number; takes: number }>`select begun, takes from tickets where id = ${id}`)[0]

test('an engine announces what it starts, and little more', async () => {
  const { id, name } = await queued(500)
  const { owner, taker } = process()
  const { started, release } = engineOn(name, taker, owner, 30)
  await expect.poll(() => started.length).toBe(4)
  const begun = (await ticketOf(id))?.begun ?? 0
  expect(begun).toBeGreaterThanOrEqual(4)
  expect(begun).toBeLessThanOrEqual(4 + 16) // the second window is at most twice the first
  release()
  await expect.poll(() => ticketOf(id), { timeout: 20_000 }).toBe(undefined)
  expect(new Set(started).size).toBe(500)
})

test('a process that got no answer to its take frees the ticket within a lease, and takes it for the first time', async () => {
  const { id, name } = await queued(5)
  const { owner, taker } = process(3)
  let lost = 0
  const losing: Taker = {
    ...taker,
    async take(...asked) {
      const tickets = await taker.take(...asked)
      if (tickets.length === 0 || lost > 0) return tickets
      lost++
      throw new Error('connection lost')
    },
  }
  const { started } = engineOn(name, losing, owner, 3)
  await expect.poll(() => started.length, { timeout: 6_000 }).toBe(4)
  expect([lost, (await ticketOf(id))?.takes]).toEqual([1, 1])
})

test('a database that is away for longer than a lease: the process keeps its tickets', async () => {
  const { id, name } = await queued(40)
  const { owner, taker } = process(1)
  let isAway = false
  const fails =
    <A extends unknown[], R>(ask: (...asked: A) => Promise<R>) =>
    async (...asked: A) => {
      if (isAway) throw new Error('the database does not answer')
      return ask(...asked)
    }
  const cut: Taker = {
    take: fails(taker.take),
    renew: fails(taker.renew),
    reap: fails(taker.reap),
    giveBack: fails(taker.giveBack),
    begin: fails(taker.begin),
    freeUnknown: fails(taker.freeUnknown),
    nextDue: fails(taker.nextDue),
  }
  const { started, takes, release } = engineOn(name, cut, owner, 1)
  await expect.poll(() => started.length).toBe(4)
  isAway = true
  await sleep(1_500) // longer than the lease
  release()
  isAway = false
  await expect.poll(() => ticketOf(id), { timeout: 20_000 }).toBe(undefined)
  // Another take would leave what was begun uncertain.
  expect([started.length, [...takes]]).toEqual([40, [1]])
})
