// Pages of the log: what is in them, where the next one begins, and who may see them.
import { beforeAll, describe, expect, test } from 'vitest'
import { createIds, type Id } from '../src/core/id.ts'
import { BEGINNING, type EventType, type Position, type Scope } from '../src/events/event.ts'
import { presentEvent } from '../src/feed/present.ts'
import { endOfLog, eventsById, type LoggedEvent, positionAt, readEvents } from '../src/feed/read.ts'
import { logGroup, readable } from './support/events.ts'
import { type World, world } from './support/world.ts'

let here: World

beforeAll(async () => {
  here = await world()
})

const ids = (n: number): Id[] => {
  const { next } = createIds(here.parts.clock)
  return Array.from({ length: n }, next)
}

const aScope = async (): Promise<Scope> => ({ service_id: (await here.service()).id, key_type: 'normal' })

/** Everything from a position on, in pages of this size. */
async function follow(scope: Scope, most: number, { from = BEGINNING, types = null as EventType[] | null } = {}) {
  const events: LoggedEvent[] = []
  let position: Position = from
  await readable(here.parts.db.sql)
  for (let pages = 0; ; pages++) {
    const page = await readEvents(here.parts.db.sql, scope, position, { types, most })
    expect(page.events.length).toBeLessThanOrEqual(most)
    events.push(...page.events)
    position = page.position
    if (!page.hasMore) return { events, position, pages }
  }
}

describe('pages', () => {
  for (const most of [1, 2, 7, 1000])
    test(`of ${most} hold every event once, in order, with the same ids`, async () => {
      const scope = await aScope()
      const { sql } = here.parts.db
      const groups = [ids(1), ids(5), ids(3), ids(1), ids(4)]
      for (const subjects of groups) await logGroup(sql, scope, subjects)
      const { events, position } = await follow(scope, most)
      expect(events.map(event => event.subject)).toEqual(groups.flat())
      expect(new Set(events.map(event => event.id)).size).toBe(14)
      expect(position).toEqual(await endOfLog(sql, scope))
      expect(events.map(event => event.id)).toEqual((await follow(scope, 3)).events.map(event => event.id))
      const found = await eventsById(
        sql,
        [...events].reverse().map(event => event.id),
      )
      expect(found).toEqual(events)
      expect((await follow(scope, most, { from: position })).events).toEqual([])
    })

  test('are in the order of numbers, not of their digits', async () => {
    const scope = await aScope()
    const { sql } = here.parts.db
    const groups = [ids(1), ids(1), ids(1)]
    for (const subjects of groups) await logGroup(sql, scope, subjects)
    for (const [at, stamp] of [9, 10, 100].entries())
      await sql`update events set stamp = ${stamp} where subjects[1] = ${groups[at]?.[0]}`
    expect((await follow(scope, 1000)).events.map(event => event.subject)).toEqual(groups.flat())
    expect(await endOfLog(sql, scope)).toMatchObject({ stamp: '100' })
  })

  test('go past events of other types, and never end too early', async () => {
    const scope = await aScope()
    const { sql } = here.parts.db
    const wanted = ids(6)
    await logGroup(sql, scope, ids(3), { type: 'notification.sending' })
    await logGroup(sql, scope, wanted.slice(0, 4))
    await logGroup(sql, scope, ids(3), { type: 'notification.sending' })
    await logGroup(sql, scope, wanted.slice(4))
    await logGroup(sql, scope, ids(3), { type: 'notification.sending' })
    for (const most of [1, 2, 5, 100]) {
      const { events, position } = await follow(scope, most, { types: ['notification.delivered'] })
      expect(events.map(event => event.subject)).toEqual(wanted)
      expect(position).toEqual(await endOfLog(sql, scope))
    }
  })

  test('of many small groups are as full as others', async () => {
    const scope = await aScope()
    const { sql } = here.parts.db
    const subjects = ids(230)
    for (const [at, subject] of subjects.entries())
      await logGroup(sql, scope, [subject], { type: at % 3 === 0 ? 'notification.sending' : 'notification.delivered' })
    const delivered = subjects.filter((_, at) => at % 3 !== 0)
    for (const [most, pages] of [
      [99, 2],
      [100, 2],
      [101, 2],
      [150, 1],
      [230, 0],
      [1000, 0],
    ] as const) {
      const all = await follow(scope, most)
      expect(all.events.map(event => event.subject)).toEqual(subjects)
      expect(all.pages).toBe(pages)
      const some = await follow(scope, most, { types: ['notification.delivered'] })
      expect(some.events.map(event => event.subject)).toEqual(delivered)
    }
  })

  test('are of one service and one key type', async () => {
    const scope = await aScope()
    const { sql } = here.parts.db
    await logGroup(sql, scope, ids(2))
    await logGroup(sql, { ...scope, key_type: 'team' }, ids(2))
    await logGroup(sql, await aScope(), ids(2))
    expect((await follow(scope, 10)).events).toHaveLength(2)
  })

  test('begin at a time', async () => {
    const scope = await aScope()
    const { sql } = here.parts.db
    const [early, late] = [ids(2), ids(2)]
    await logGroup(sql, scope, early)
    await readable(sql)
    const [now] = await sql<{
      micros: number
    }>`select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros`
    const between = now?.micros ?? 0
    await readable(sql)
    expect(await positionAt(sql, scope, between)).toEqual(await endOfLog(sql, scope))
    await logGroup(sql, scope, late)
    await readable(sql)
    const from = await positionAt(sql, scope, between)
    expect((await follow(scope, 10, { from })).events.map(event => event.subject)).toEqual(late)
    const start = await positionAt(sql, scope, between - 60_000_000)
    expect((await follow(scope, 10, { from: start })).events).toHaveLength(4)
    expect(await positionAt(sql, await aScope(), between)).toEqual(BEGINNING)
  })

  test('a message whose files wait for the scanner is still pending', async () => {
    const scope = await aScope()
    await logGroup(here.parts.db.sql, scope, ids(1), { type: 'notification.deferred', cause: 'scan', delay: 30 })
    const [event] = (await follow(scope, 10)).events
    expect(presentEvent(event as LoggedEvent).data).toMatchObject({ status: 'pending-virus-check', cause: 'scan' })
  })

  test('an event whose message was purged has no details', async () => {
    const scope = await aScope()
    const [one] = ids(1)
    await logGroup(here.parts.db.sql, scope, [one as Id], { type: 'notification.deferred', delay: 30, detail: 'busy' })
    const [event] = (await follow(scope, 10)).events
    expect(presentEvent(event as LoggedEvent)).toMatchObject({
      id: event?.id,
      type: 'notification.deferred',
      data: {
        notification_id: one,
        reference: null,
        notification_type: 'email',
        status: 'created',
        status_description: 'In transit',
        template: null,
        job_id: null,
        reason: 'busy',
        next_attempt_at: expect.stringMatching(/^20.*Z$/),
      },
    })
  })
})
