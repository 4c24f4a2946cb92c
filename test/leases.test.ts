// The primary is lost for longer than a lease, and its standby is promoted. Owners have done work that they could not record, and one
// of them reaches the new primary later than the others: nobody takes over its tickets before it has had the time of a lease.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { createRelay, type Relay } from '../faults/support/relay.ts'
import { createClock } from '../src/core/clock.ts'
import { createIds, type Id } from '../src/core/id.ts'
import { connect, type Database } from '../src/db/connect.ts'
import { migrate } from '../src/db/migrate.ts'
import { createEngine, type Engine, lane } from '../src/engine/run.ts'
import { createPostgresTaker } from '../src/queue/postgres.ts'
import { settleTail, stillLeased } from '../src/queue/tickets.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'

const LEASE_SECONDS = 9
const TICKETS = 40
const SLOTS = 8

const ids = createIds(createClock())
const pools: Database[] = []
const engines: Engine[] = []
const relays: Relay[] = []
let pair: Replicated | null = null

afterAll(async () => {
  await Promise.all(engines.map(engine => engine.stop()))
  await Promise.all(pools.map(pool => pool.stop()))
  await Promise.all(relays.map(relay => relay.stop()))
  await pair?.stop()
})

function open(url: string): Database {
  const db = connect({ url }, { size: 4, name: 'herald-test', statementSeconds: 2, onIdleError: () => {} })
  pools.push(db)
  return db
}

/** An engine like a process of its own, which counts in `done` how often it has done each item. */
function engineOn(db: Database, done: Map<Id, number>) {
  const owner = ids.next()
  const spec = lane<Id, string>({
    name: 'a',
    slots: SLOTS,
    work: {
      load: async tickets => new Map(tickets.flatMap(ticket => ticket.subjects.map((id): [Id, Id] => [id, id]))),
      async handle(id) {
        done.set(id, (done.get(id) ?? 0) + 1)
        await sleep(2_000)
        return { kind: 'done', result: 'done' }
      },
      setAside: () => 'set aside',
    },
    async write(entries) {
      const leased = [...new Map(entries.map(({ ticket }) => [ticket.id, ticket])).values()]
      const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
      await db.sql`
        with leased as materialized (${stillLeased(owner, leased)}),
        ${settleTail(settled, [])}
        select id from leased`
    },
  })
  const taker = createPostgresTaker(db.sql, owner, LEASE_SECONDS)
  engines.push(createEngine({ specs: [spec], taker, leaseSeconds: LEASE_SECONDS, onFault: () => {} }))
}

const until = (holds: () => Promise<boolean> | boolean, seconds: number) =>
  expect.poll(holds, { timeout: seconds * 1000, interval: 50 }).toBe(true)

if (missing) console.warn(`skipped: ${missing}`)

describe.skipIf(missing)('a failover that takes longer than a lease', () => {
  test('nothing is done twice', { timeout: 120_000 }, async () => {
    pair = await createReplicated()
    const [primary, standby] = pair.nodes as [ReplicatedNode, ReplicatedNode]
    const setup = open(primary.url)
    await migrate(setup)
    const all = Array.from({ length: TICKETS }, ids.next)
    await setup.sql`
      insert into tickets (id, lane, service_id, subjects, due_at)
      select id, 'a', id, array[id], clock_timestamp()
      from unnest(${all}::uuid[]) as id`
    await pair.synchronous(true)
    const [toPrimary, toStandby] = [await createRelay(primary), await createRelay(standby)]
    relays.push(toPrimary, toStandby)
    const done = new Map<Id, number>()
    engineOn(open(`postgresql://herald@127.0.0.1:${toPrimary.port},127.0.0.1:${toStandby.port}/herald`), done)
    engineOn(open(pair.urls()), done)

    await until(() => done.size === 2 * SLOTS, 10)
    await primary.kill()
    toStandby.set({ isSilent: true })
    await sleep((LEASE_SECONDS + 2) * 1000)
    await standby.query(`alter system set synchronous_standby_names = ''`)
    await standby.query('select pg_reload_conf()')
    await standby.promote()
    // The first engine is cut off for another part of a lease; the second one works meanwhile.
    await sleep((LEASE_SECONDS / 2) * 1000)
    expect(done.size).toBeGreaterThan(2 * SLOTS)
    toStandby.set({ isSilent: false })

    const left = async () => (await standby.query('select id from tickets')).length
    await until(async () => (await left()) === 0, 60)
    expect([...done.keys()].sort()).toEqual([...all].sort())
    expect([...done.values()].filter(times => times > 1)).toEqual([])
  })
})
