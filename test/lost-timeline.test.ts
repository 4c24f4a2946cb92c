// An asynchronous standby takes over: the last transactions of the primary are lost, and their numbers are used again. Readers of the log
// that were ahead of the standby miss nothing of what is logged from then on.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIds, type Id } from '../src/core/id.ts'
import { connect } from '../src/db/connect.ts'
import type { Scope } from '../src/events/event.ts'
import { settleTimeline } from '../src/events/sql/clock.ts'
import { horizon } from '../src/events/sql.ts'
import { endOfLog } from '../src/feed/read.ts'
import { giveTickets } from '../src/webhooks/sql/watch.ts'
import { poolOptions } from './support/database.ts'
import { logGroup, readable } from './support/events.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'
import { type Caller, type World, world } from './support/world.ts'

if (missing) console.warn(`skipped: ${missing}`)

describe.skipIf(missing)('an asynchronous standby is promoted', () => {
  let pair: Replicated
  let primary: ReplicatedNode
  let standby: ReplicatedNode
  let here: World
  let key: Caller
  let scope: Scope

  beforeAll(async () => {
    pair = await createReplicated()
    ;[primary, standby] = pair.nodes as [ReplicatedNode, ReplicatedNode]
    here = await world({}, { urlOf: () => pair.urls() })
    const service = await here.service()
    key = await service.key()
    scope = { service_id: service.id, key_type: 'normal' }
  })
  afterAll(async () => {
    await here?.running.stop()
    await pair?.stop()
  })

  async function log(count: number): Promise<Id[]> {
    const { sql } = here.parts.db
    const subjects = Array.from({ length: count }, createIds(here.parts.clock).next)
    for (const id of subjects) await logGroup(sql, scope, [id])
    await readable(sql)
    return subjects
  }

  /** Follows the feed to its end. */
  async function follow(after: string) {
    const seen: Id[] = []
    for (let next = after; ; ) {
      const { status, body } = await key.get(`/herald/v1/events?limit=3${next && `&after=${next}`}`)
      expect({ status, body }).toMatchObject({ status: 200 })
      for (const { data } of body.events) seen.push(data.notification_id)
      next = body.next
      if (!body.has_more) return { seen, next: String(next) }
    }
  }

  const position = async () => {
    const [row] = await here.parts.db.sql<{ horizon: string }>`select ${horizon}::text as horizon`
    return BigInt(row?.horizon ?? 0)
  }

  /** Transactions that leave nothing but their numbers. */
  const useNumbers = (node: ReplicatedNode, count: number) =>
    node.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)

  const answers = () =>
    expect
      .poll(() => here.parts.db.sql`select pg_current_xact_id()`.then(() => true, String), { timeout: 30_000 })
      .toBe(true)

  test('a cursor and an endpoint that are ahead of it get every later event', async () => {
    const kept = await log(3)
    const first = await follow('')
    expect(first.seen).toEqual(kept)
    await pair.caughtUp()

    standby.cut()
    await useNumbers(primary, 2_000)
    const lost = await log(5)
    const ahead = await follow(first.next)
    expect(ahead.seen).toEqual(lost)
    const { stamp, seq, n } = await endOfLog(here.parts.db.sql, scope)
    await primary.kill()
    await standby.promote()
    await answers()

    // As a turn that was loaded before the fail-over records it.
    const webhook = randomUUID() as Id
    await here.parts.db.sql`
      insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n)
      values (${webhook}, ${scope.service_id}, 'normal', 'standard', ${here.parts.seal.seal('webhook target', '{}')}, ${stamp}, ${seq}, ${n})`
    expect((await follow(ahead.next)).seen).toEqual([])
    const fresh = await log(4)
    const after = await follow(ahead.next)
    expect(after.seen).toEqual(fresh)
    expect((await giveTickets(here.parts.db.sql, [scope.service_id])).map(({ id }) => id)).toEqual([webhook])

    // The numbers of the lost transactions are passed.
    await useNumbers(standby, 3_000)
    const more = await log(3)
    expect((await follow(after.next)).seen).toEqual(more)
    expect((await follow('')).seen).toEqual([...kept, ...fresh, ...more])
  })

  test('what the timeline adds is stored, and a server that begins again at timeline 1 does not lower positions', async () => {
    const { sql } = here.parts.db
    const clock = () => sql<{ shift: string; timeline: string }>`select shift::text, timeline::text from event_clock`
    expect(await clock()).toEqual([{ shift: '0', timeline: '1' }])
    const before = await position()
    expect(before).toBeGreaterThan(2n ** 40n)
    await settleTimeline(sql)
    expect(await clock()).toEqual([{ shift: String(2n ** 40n), timeline: '2' }])
    expect(await position()).toBeGreaterThanOrEqual(before)
    expect(await position()).toBeLessThan(before + 2n ** 40n)

    const { next } = await follow('now')
    // As after pg_upgrade of a server at timeline 9.
    await sql`update event_clock set timeline = 9`
    const [one] = await log(1)
    expect((await follow(next)).seen).toEqual([one])
    await settleTimeline(sql)
    expect(await clock()).toEqual([{ shift: String(2n ** 40n), timeline: '2' }])
  })

  test('a planned switchover loses no place and repeats nothing', async () => {
    const [from, to] = [standby, primary]
    await to.follow(from)
    const before = await log(2)
    const { seen, next } = await follow('')
    expect(seen.slice(-2)).toEqual(before)
    await log(3)
    await pair.caughtUp(from)
    await pair.switchover(from, to)
    await answers()
    expect((await follow(next)).seen).toHaveLength(3)
    const fresh = await log(2)
    expect((await follow(next)).seen.slice(-2)).toEqual(fresh)
    expect((await follow(next)).seen).toHaveLength(5)
  })

  test('a role without any right but its own database is told the timeline', async () => {
    await primary.query('create role plain login')
    const db = connect({ url: primary.url.replace('//herald@', '//plain@') }, poolOptions)
    expect(await db.sql`select event_timeline()::integer as timeline`.finally(db.stop)).toEqual([{ timeline: 3 }])
  })
})
