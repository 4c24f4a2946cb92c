// The log has no gaps for those who follow it: transactions that commit late, out of order or not at all, on real connections.
// These tests can fail: a reader that follows `seq` alone misses events in two of them, with `event_stamp` as the xmax of the
// snapshot alone the horizon is passed, and with the number of the transaction alone the events of a message are out of order.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIds, type Id } from '../src/core/id.ts'
import { connect, type Database, part, type Sql } from '../src/db/connect.ts'
import { BEGINNING, type Position, type Scope } from '../src/events/event.ts'
import { logged } from '../src/events/sql.ts'
import { comparePositions, type LoggedEvent, readEvents } from '../src/feed/read.ts'
import { poolOptions } from './support/database.ts'
import { readable } from './support/events.ts'
import { seeded } from './support/seeds.ts'
import { type World, world } from './support/world.ts'

const WRITERS = 8
const TRANSACTIONS = 20
const MESSAGES = 12

let here: World
/** Connections of the writers. */
let db: Database

beforeAll(async () => {
  here = await world()
  db = connect({ url: String(here.config.databaseUrl) }, { ...poolOptions, size: WRITERS })
})
afterAll(() => db.stop())

/** A service with messages. */
async function scene(messages: number) {
  const service = await here.service()
  const key = await service.key()
  const scope: Scope = { service_id: service.id, key_type: 'normal' }
  const { next } = createIds(here.parts.clock)
  const ids = Array.from({ length: messages }, next)
  await here.parts.db.sql`
    insert into states (id, service_id, key_type, channel, in_job, status, moves)
    select id, ${scope.service_id}, 'normal', 'email', false, 'created', '{}' from unnest(${ids}::uuid[]) as m (id)`
  return { key, scope, ids }
}

/** Changes messages and logs it in one statement, as the program does. The event tells which change of its message it was. */
const change = (sql: Sql, ids: readonly Id[]) => sql`
  with moved as (
    update states
    set attempts = attempts + 1
    where id = any (array(select id from states where id = any (${ids}::uuid[]) order by id for update))
    returning id, service_id, key_type, channel, attempts
  ),
  ${logged(
    part`logged`,
    'attempt',
    part`
    select id, service_id, key_type, channel, 'notification.deferred', null::text, null::text, attempts::text, false,
           null::integer, null::real, null::timestamptz, null::bytea
    from moved`,
  )}
  select 1 as one`

const ROLLBACK = new Error('rolled back on purpose')

/** A transaction that is committed when it is told to. */
function open(work: (sql: Sql) => Promise<unknown>) {
  const gate: { release?: () => void } = {}
  const released = new Promise<void>(resolve => {
    gate.release = resolve
  })
  let begun: () => void = () => {}
  const hasWorked = new Promise<void>(resolve => {
    begun = resolve
  })
  const more: ((sql: Sql) => Promise<unknown>)[] = []
  const ended = db.transaction(async sql => {
    await work(sql)
    begun()
    await released
    for (const last of more) await last(sql)
  })
  return {
    hasWorked,
    commit(last?: (sql: Sql) => Promise<unknown>) {
      if (last) more.push(last)
      gate.release?.()
      return ended
    },
  }
}

type Seen = Pick<LoggedEvent, 'id' | 'subject' | 'detail' | 'position'>

/** Follows the log until `isOver`, and then to its end. */
async function reader(scope: Scope, most: number, isOver: () => boolean, seen: Seen[] = []): Promise<Seen[]> {
  let position: Position = BEGINNING
  for (;;) {
    const wasOver = isOver()
    const page = await readEvents(here.parts.db.sql, scope, position, { types: null, most })
    expect(comparePositions(page.position, position)).toBeGreaterThanOrEqual(0)
    position = page.position
    seen.push(...page.events)
    if (page.events.length === 0 && !page.hasMore) {
      if (wasOver) return seen
      await sleep(3)
    }
  }
}

/** Follows `seq` alone, as one would without a horizon. */
async function naiveReader({ service_id }: Scope, isOver: () => boolean): Promise<Id[]> {
  const seen: Id[] = []
  let last = 0
  for (;;) {
    const wasOver = isOver()
    const rows = await here.parts.db.sql<{ id: Id; seq: number }>`
      select id, seq from events where service_id = ${service_id} and seq > ${last} order by seq limit 7`
    seen.push(...rows.map(row => row.id))
    last = rows.at(-1)?.seq ?? last
    if (rows.length === 0) {
      if (wasOver) return seen
      await sleep(3)
    }
  }
}

const subjects = (events: readonly Seen[]) => events.map(event => event.subject)

describe('a transaction that commits late', () => {
  test('delays what was logged after it began, and nothing is missed', async () => {
    const { scope, ids } = await scene(3)
    const [early, middle, late] = ids as [Id, Id, Id]
    const { sql } = here.parts.db
    const seen: Seen[] = []
    const naive: Id[] = []
    let position: Position = BEGINNING
    let lastSeq = 0
    const look = async () => {
      const page = await readEvents(sql, scope, position, { types: null, most: 1000 })
      position = page.position
      seen.push(...page.events)
      const rows = await sql<{ subjects: Id[]; seq: number }>`
        select subjects, seq from events where service_id = ${scope.service_id} and seq > ${lastSeq} order by seq`
      naive.push(...rows.flatMap(row => row.subjects))
      lastSeq = rows.at(-1)?.seq ?? lastSeq
    }
    const slow = open(one => change(one, [early]))
    await slow.hasWorked
    const quick = open(one => change(one, [middle]))
    await quick.hasWorked
    await quick.commit()
    await look()
    // The naive reader is past the number of the transaction that has not committed.
    expect(naive).toEqual([middle])
    expect(seen).toEqual([])
    await slow.commit()
    await change(sql, [late])
    await readable(sql)
    await look()
    expect(subjects(seen)).toEqual([early, middle, late])
    expect(naive).toEqual([middle, late])
  })

  test('with the oldest number, which logs last, is last for its message', async () => {
    const { scope, ids } = await scene(2)
    const [first, other] = ids as [Id, Id]
    const { sql } = here.parts.db
    // It has a number before the others begin, and logs after they have committed.
    const oldest = open(one => one`select pg_current_xact_id()`)
    await oldest.hasWorked
    await change(sql, [first])
    await change(sql, [first, other])
    const { events, hasMore } = await readEvents(sql, scope, BEGINNING, { types: null, most: 10 })
    expect({ events, hasMore }).toEqual({ events: [], hasMore: false })
    await oldest.commit(one => change(one, [first]))
    await readable(sql)
    const page = await readEvents(sql, scope, BEGINNING, { types: null, most: 10 })
    const ofFirst = page.events.filter(event => event.subject === first)
    expect(ofFirst.map(event => event.detail)).toEqual(['1', '2', '3'])
    expect(page.events.at(-1)?.id).toBe(ofFirst.at(-1)?.id)
    expect(page.events).toHaveLength(4)
  })

  test('and is rolled back delays, and leaves nothing', async () => {
    const { scope, ids } = await scene(2)
    const { sql } = here.parts.db
    const failing = open(one => change(one, [ids[0] as Id]))
    await failing.hasWorked
    await change(sql, [ids[1] as Id])
    expect((await readEvents(sql, scope, BEGINNING, { types: null, most: 10 })).events).toEqual([])
    await expect(failing.commit(() => Promise.reject(ROLLBACK))).rejects.toBe(ROLLBACK)
    await readable(sql)
    const { events } = await readEvents(sql, scope, BEGINNING, { types: null, most: 10 })
    expect(subjects(events)).toEqual([ids[1]])
  })
})

test('many writers that commit in random order, readers with pages of 1, 7 and 1000 and one that waits: all see the same', async () => {
  const { key, scope, ids } = await scene(MESSAGES)
  const { sql } = here.parts.db
  let isOver = false
  const over = () => isOver
  const random = seeded()
  const anyOf = (most: number) => random.between(0, most - 1)
  const some = () => ids.filter(() => random.next() < 0.3)

  async function writer() {
    for (let n = 0; n < TRANSACTIONS; n++)
      await db
        .transaction(async one => {
          // A number of its own, and then a pause: numbers, statements and commits are in different orders.
          if (random.next() < 0.3) await one`select pg_current_xact_id()`
          await sleep(anyOf(10))
          // Half of the messages first, then the other half: locks are always taken in the same order.
          const chosen = some()
          const half = ids.slice(0, MESSAGES / 2)
          await change(
            one,
            chosen.filter(id => half.includes(id)),
          )
          if (random.next() < 0.5) await sleep(anyOf(10))
          await change(
            one,
            chosen.filter(id => !half.includes(id)),
          )
          await sleep(anyOf(15))
          if (random.next() < 0.15) throw ROLLBACK
        })
        .catch(error => {
          if (error !== ROLLBACK) throw error
        })
  }

  async function waitingCaller(): Promise<{ id: Id }[]> {
    const seen: { id: Id }[] = []
    let after = ''
    for (;;) {
      const wasOver = isOver
      const { status, body } = await key.get(`/herald/v1/events?limit=50&wait=1${after}`)
      expect(status).toBe(200)
      seen.push(...body.events)
      after = `&after=${body.next}`
      if (wasOver && body.events.length === 0) return seen
    }
  }

  const readers = [1, 7, 1000].map(most => reader(scope, most, over))
  const caller = waitingCaller()
  const naive = naiveReader(scope, over)
  await Promise.all(Array.from({ length: WRITERS }, writer))
  await readable(sql)
  isOver = true

  const committed = await sql<{ id: Id; subjects: Id[] }>`
    select id, subjects from events where service_id = ${scope.service_id} order by stamp, seq`
  const all = committed.flatMap(group => group.subjects)
  expect(all.length).toBeGreaterThan(WRITERS * TRANSACTIONS)
  const [first, ...others] = await Promise.all(readers)
  expect(subjects(first ?? [])).toEqual(all)
  for (const other of others) expect(other.map(event => event.id)).toEqual(first?.map(event => event.id))
  expect((await caller).map(event => event.id)).toEqual(first?.map(event => event.id))
  for (const id of ids) {
    const changes = (first ?? []).filter(event => event.subject === id).map(event => Number(event.detail))
    expect(changes).toEqual(changes.map((_, at) => at + 1))
  }
  // The same writers make a reader that has no horizon miss events.
  expect((await naive).length).toBeLessThan(committed.length)
}, 60_000)
