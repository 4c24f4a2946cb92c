// The engine on a real queue, with artificial work: fairness, slots, leases, retries, pauses, poison messages, stops.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { createEngine, type Engine, lane } from '../src/engine/run.ts'
import type { Entry, Handled, Work } from '../src/engine/work.ts'
import { retriesOf } from '../src/notifications/deliver.ts'
import type { Ticket } from '../src/queue/port.ts'
import { createPostgresTaker } from '../src/queue/postgres.ts'
import { settleTail } from '../src/queue/tickets.ts'
import { processes } from './support/processes.ts'
import { type Queue, ticketQueue } from './support/tickets.ts'
import { CATEGORY, world } from './support/world.ts'

type Handle = (id: Id, ticket: Ticket) => Promise<Handled<string>>
type Options = {
  slots?: number
  reserved?: number
  lanes?: string[]
  leaseSeconds?: number
  failures?: number
  /** Subjects that can never be loaded. */
  broken?: Id[]
  /** Writes fail from now on. */
  isDead?(): boolean
  /** Already recorded: nothing is left to do for it. */
  gone?: ReadonlySet<Id>
}

let queue: Queue
const engines: Engine[] = []
beforeEach(async () => {
  queue = await ticketQueue()
})
afterEach(async () => {
  await Promise.all(engines.splice(0).map(engine => engine.stop()))
})

const done = (result = 'done'): Handled<string> => ({ kind: 'done', result })

/** An engine of its own; what it has recorded can be read, in order. */
function engineWith(
  handle: Handle,
  {
    slots = 4,
    reserved,
    lanes = ['a'],
    leaseSeconds = 30,
    failures = 0,
    broken = [],
    isDead = () => false,
    gone = new Set(),
  }: Options = {},
) {
  const owner = queue.newOwner()
  const recorded: { id: Id; result: string }[] = []
  const faults: string[] = []
  let left = failures
  const work: Work<Id, string> = {
    async load(tickets) {
      const ids = tickets.flatMap(ticket => ticket.subjects).filter(id => !gone.has(id))
      if (ids.some(id => broken.includes(id))) throw new Error('a row that cannot be read')
      return new Map(ids.map(id => [id, id]))
    },
    handle,
    setAside: () => 'set aside',
    unrecordable: () => 'unrecordable',
    setAsideUnseen: () => 'set aside unseen',
  }
  const write = async (entries: readonly Entry<string>[]) => {
    if (left-- > 0) throw new Error('the database is away')
    if (isDead()) return
    const leased = [...new Map(entries.map(({ ticket }) => [ticket.id, ticket])).values()]
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(entry => retriesOf({ ids: { next: queue.id } }, entry))
    const rows = await queue.db.sql<{ id: Id }>`
      with leased as materialized (
        select t.id
        from tickets t
        join unnest(${leased.map(one => one.id)}::uuid[], ${leased.map(one => one.takes)}::integer[]) as h (id, takes)
          on h.id = t.id and h.takes = t.takes
        where t.owner = ${owner}
        for update of t
      ),
      ${settleTail(settled, again)},
      results as (select count(*) as results from unnest(${entries.map(entry => entry.result)}::text[]))
      select id from leased, results`
    const ours = new Set(rows.map(row => row.id))
    for (const { id, result, ticket } of entries) if (id && result && ours.has(ticket.id)) recorded.push({ id, result })
  }
  const engine = createEngine({
    specs: lanes.map(name => lane({ name, slots, ...(reserved !== undefined && { reserved }), work, write })),
    taker: createPostgresTaker(queue.db.sql, owner, leaseSeconds),
    leaseSeconds,
    onFault: (_error, sentence) => faults.push(sentence),
  })
  engines.push(engine)
  return { engine, recorded, faults, owner }
}

async function until(holds: () => boolean | Promise<boolean>, seconds = 10) {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(10))
    if (await holds()) return
  expect.fail(`it did not come to pass in ${seconds} s`)
}

describe('fairness and slots', () => {
  test('a service with one message does not wait for one with two hundred', async () => {
    const [busy, quiet] = [queue.id(), queue.id()]
    await queue.put({ lane: 'a', service: busy, subjects: 200 })
    await queue.put({ lane: 'a', service: quiet })
    const order: Id[] = []
    engineWith(
      async (_id, ticket) => {
        order.push(ticket.service_id)
        await sleep(1)
        return done()
      },
      { slots: 1 },
    )

    await until(() => order.length === 201)
    expect(order.indexOf(quiet)).toBeLessThan(5)
  })

  const PACE_MS = 5
  const paced = async () => {
    await sleep(PACE_MS)
    return done()
  }

  test('a service is served at once although two others fill all places of the lane', async () => {
    const [one, two] = [queue.id(), queue.id()]
    for (const service of [one, two])
      for (let n = 0; n < 10; n++) await queue.put({ lane: 'a', service, subjects: 400 })
    const { engine, recorded } = engineWith(paced, { slots: 2 })
    await until(() => recorded.length > 50)
    expect(engine.hasRoom('a')).toBe(false)

    const single = await queue.put({ lane: 'a' })
    const before = recorded.length
    engine.wake('a')
    await until(async () => (await queue.takesOf(single)) === -1, 60)
    // Without a place of its own it would wait until a ticket of 400 ends, of which each service has the same share.
    expect(recorded.length - before).toBeLessThan(700)
    expect(new Set(recorded.map(({ id }) => id)).size).toBe(recorded.length)
  })

  test('forty services with much to do take turns, although a lane has sixteen places', async () => {
    const services = Array.from({ length: 40 }, () => queue.id())
    const serviceOf = new Map<Id, Id>()
    for (const service of services)
      for (const id of [
        await queue.put({ lane: 'a', service, subjects: 150 }),
        await queue.put({ lane: 'a', service, subjects: 150 }),
      ]) {
        const [row] = await queue.db.sql<{ subjects: Id[] }>`select subjects from tickets where id = ${id}`
        for (const subject of row?.subjects ?? []) serviceOf.set(subject, service)
      }
    const { recorded } = engineWith(paced, { slots: 2 })
    const seen = () => new Set(recorded.map(({ id }) => serviceOf.get(id)))

    await until(() => seen().size === services.length, 60)
    // Sixteen tickets of 150 end together.
    expect(recorded.length).toBeLessThan(2_000)
    await until(() => recorded.length === 40 * 300, 240)
    expect(new Set(recorded.map(({ id }) => id)).size).toBe(40 * 300)
    expect(await queue.left()).toBe(0)
  })

  test('a lane does not use the slots of another', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    await queue.put({ lane: 'low', subjects: 50 })
    const begun: string[] = []
    const { recorded } = engineWith(
      async (_id, ticket) => {
        begun.push(ticket.lane)
        if (ticket.lane === 'low') await held
        return done(ticket.lane)
      },
      { lanes: ['low', 'high'], slots: 3 },
    )
    await until(() => begun.length === 3)

    await queue.put({ lane: 'high', subjects: 10 })
    await until(() => recorded.filter(one => one.result === 'high').length === 10)

    expect(begun.filter(one => one === 'low')).toHaveLength(3)
    release()
    await until(() => recorded.length === 60)
  })

  test('all lanes together send at most 64 messages at the same time, and each lane has its reserved slots', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    await queue.put({ lane: 'low', subjects: 100 })
    const begun: string[] = []
    const { recorded } = engineWith(
      async (_id, ticket) => {
        begun.push(ticket.lane)
        await held
        return done()
      },
      { lanes: ['low', 'other', 'high'], slots: 60, reserved: 4 },
    )
    await until(() => begun.length === 56)
    await queue.put({ lane: 'other', subjects: 100 })
    await queue.put({ lane: 'high', subjects: 100 })
    await until(() => begun.length === 64)
    await sleep(100)

    expect(begun.filter(one => one === 'low')).toHaveLength(56)
    expect(begun.filter(one => one === 'other')).toHaveLength(4)
    expect(begun.filter(one => one === 'high')).toHaveLength(4)
    release()
    await until(() => recorded.length === 300)
  })

  test('several engines share the work, and each message is handled once', async () => {
    await Promise.all(Array.from({ length: 40 }, () => queue.put({ lane: 'a', subjects: 5 })))
    const handled: Id[] = []
    const both = [1, 2].map(() =>
      engineWith(async id => {
        handled.push(id)
        await sleep(60) // neither can do everything before the other has polled
        return done()
      }),
    )

    await until(async () => (await queue.left()) === 0)
    expect(handled).toHaveLength(200)
    expect(new Set(handled).size).toBe(200)
    for (const { recorded } of both) expect(recorded.length).toBeGreaterThan(0)
  })

  test('14.3.7 a message of a service does not wait behind hundreds of its earlier messages', async () => {
    const service = queue.id()
    await queue.put({ lane: 'a', service, subjects: 300 })
    await queue.put({ lane: 'a', service, subjects: 300 })
    const order: Id[] = []
    const { engine, recorded } = engineWith(
      async id => {
        order.push(id)
        await sleep(2)
        return done()
      },
      { slots: 1 },
    )
    await until(() => order.length > 20)
    const code = await queue.put({ lane: 'a', service })
    const [row] = await queue.db.sql<{ subjects: Id[] }>`select subjects from tickets where id = ${code}`
    const before = order.length
    engine.wake('a')
    await until(() => order.includes(row?.subjects[0] as Id))
    expect(order.indexOf(row?.subjects[0] as Id) - before).toBeLessThan(60)
    await until(() => recorded.length === 601)
  })
})

describe('leases', () => {
  test('work that takes longer than a lease keeps its lease', async () => {
    await queue.put({ lane: 'a' })
    let times = 0
    const handle = async () => {
      times++
      await sleep(3_000)
      return done()
    }
    const [first] = [engineWith(handle, { leaseSeconds: 1 }), engineWith(handle, { leaseSeconds: 1 })]

    await until(async () => (await queue.left()) === 0)
    expect(times).toBe(1)
    expect(first.faults).toEqual([])
  })

  test('tickets of a crashed worker are taken over within the lease and five seconds', async () => {
    const id = await queue.put({ lane: 'a' })
    await queue.taker(1).take('a', 1, 'usual')
    const since = performance.now()
    const takes: number[] = []
    engineWith(
      async (_id, ticket) => {
        takes.push(ticket.takes)
        return done()
      },
      { leaseSeconds: 1 },
    )

    await until(() => takes.length === 1)
    expect(performance.now() - since).toBeLessThan(6_000)
    expect(takes).toEqual([2])
    await until(async () => (await queue.takesOf(id)) === -1)
  })
})

describe('deferred messages', () => {
  test('a deferred message gets a ticket and a due time of its own', async () => {
    await queue.put({ lane: 'a', subjects: 5 })
    const seen: { id: Id; at: number; attempts: number; subjects: number }[] = []
    let deferred: Id | null = null
    engineWith(async (id, { attempts, subjects }) => {
      seen.push({ id, at: performance.now(), attempts, subjects: subjects.length })
      deferred ??= id
      return id === deferred && attempts === 0 ? { kind: 'again', result: 'later', delaySeconds: 1.5 } : done()
    })

    await until(async () => (await queue.left()) === 0)
    expect(seen).toHaveLength(6)
    const [first, last] = [seen[0], seen.at(-1)]
    expect(last).toMatchObject({ id: deferred, attempts: 1, subjects: 1 })
    expect((last?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_400)
  })

  test('a lane whose provider is down waits, uses up no attempt, and resumes', async () => {
    await queue.put({ lane: 'a', subjects: 20 })
    let isUp = false
    let goUp = () => {}
    const up = new Promise<void>(resolve => {
      goUp = resolve
    })
    let tries = 0
    const attempts = new Set<number>()
    const { recorded } = engineWith(async (_id, ticket) => {
      tries++
      attempts.add(ticket.attempts)
      return isUp ? done() : { kind: 'wait', until: up }
    })
    await sleep(1_500)
    expect(tries).toBeLessThanOrEqual(4)
    expect(await queue.left()).toBe(1)

    isUp = true
    goUp()
    await until(() => recorded.length === 20)
    expect(attempts).toEqual(new Set([0]))
  })

  test('results wait in memory while the database is unreachable, and are recorded once', async () => {
    await queue.put({ lane: 'a', subjects: 10 })
    let handled = 0
    const { recorded, faults } = engineWith(
      async () => {
        handled++
        return done()
      },
      { failures: 4 },
    )

    await until(async () => (await queue.left()) === 0)
    expect(handled).toBe(10)
    expect(recorded).toHaveLength(10)
    expect(faults).toHaveLength(4)
  })

  test('14.3.5 a result that the database rejects is set aside, and all others are recorded', async () => {
    await queue.put({ lane: 'a', subjects: 60 })
    await queue.put({ lane: 'a', subjects: 60 })
    let handled = 0
    const { recorded, faults } = engineWith(
      async () => {
        handled++
        return done(handled === 1 || handled === 50 ? 'a NUL: \u0000' : 'done')
      },
      { slots: 60 },
    )

    await until(async () => (await queue.left()) === 0)
    expect(handled).toBe(120)
    await until(() => recorded.length === 120)
    expect(recorded.filter(one => one.result === 'unrecordable')).toHaveLength(2)
    expect(new Set(recorded.map(one => one.id)).size).toBe(120)
    expect(faults).toEqual(
      Array(2).fill('a result was refused by the database; it is recorded without what came with it, or left'),
    )
  })

  test('a lane resumes after results had piled up, even if no new ticket arrives', async () => {
    await queue.put({ lane: 'a', subjects: 400 })
    const { recorded } = engineWith(async () => done(), { failures: 5, slots: 8 })

    await until(() => recorded.length === 400)
  })

  test('a repeated statement makes no second ticket', async () => {
    const id = await queue.put({ lane: 'a' })
    const owner = queue.newOwner()
    const [ticket] = await createPostgresTaker(queue.db.sql, owner, 30).take('a', 1, 'usual')
    const subject = ticket?.subjects[0] as Id
    const settle = () => {
      const next = {
        from: id,
        ticket: queue.id(),
        lane: 'a',
        service_id: queue.id(),
        id: subject,
        delaySeconds: 60,
        attempts: 1,
        takes: 0,
      }
      return queue.db.sql`
        with leased as materialized (select id from tickets where id = ${id} and owner = ${owner} for update),
        ${settleTail([id], [next])}
        select 1`
    }
    await settle()
    await settle()

    expect(await queue.left()).toBe(1)
  })
})

describe('poison messages', () => {
  test('after five takes the first unrecorded message is set aside, and the others of its ticket are handled', async () => {
    await queue.put({ lane: 'a', subjects: 4, takes: 5 })
    const handled: Id[] = []
    const { recorded } = engineWith(async id => {
      handled.push(id)
      return done()
    })

    await until(() => recorded.length === 4)
    expect(recorded.filter(one => one.result === 'set aside')).toHaveLength(1)
    expect(handled).toHaveLength(3)
  })

  test.each([
    [3, [64, 64, 22]],
    [4, [8, 8, 8, 8, 8, 8, 8, 8, 64, 22]],
    [5, [1, 1, 1, 1, 1, 1, 1, 1, 8, 8, 8, 8, 8, 8, 8, 64, 22]],
  ])(
    '14.4.11 taken %i times, a suspect is handled in groups, each recorded before the next begins',
    async (takes, groups) => {
      await queue.put({ lane: 'a', subjects: 150, takes: takes - 1 })
      const seen: number[] = []
      let [begun, running, early] = [0, 0, 0]
      const { recorded } = engineWith(
        async () => {
          if (running === 0) seen.push(0)
          if (running === 0 && recorded.length < begun) early++
          seen.push((seen.pop() ?? 0) + 1)
          running++
          begun++
          await sleep(20)
          running--
          return done()
        },
        { slots: 200 },
      )
      await until(() => recorded.length === 150, 20)
      // Once the suspected group has passed, the others are handled in larger groups.
      expect(seen).toEqual(groups)
      expect(early).toBe(0)
    },
  )

  test.each([0, 64, 499])(
    '14.4.11 the message out of 500 that kills the process (number %i) is found by five crashes, and no other is set aside',
    async guilty => {
      const id = await queue.put({ lane: 'a', subjects: 500 })
      const [row] = await queue.db.sql<{ subjects: Id[] }>`select subjects from tickets where id = ${id}`
      const killer = row?.subjects[guilty] as Id
      const recorded: { id: Id; result: string }[] = []
      const gone = new Set<Id>()
      let deaths = 0
      for (let isOver = false; !isOver; ) {
        // A crashed process neither continues nor writes: its work stays as it is.
        let isDead = false
        let bury = () => {}
        const buried = new Promise<void>(resolve => {
          bury = resolve
        })
        const life = engineWith(
          async one => {
            isDead ||= one === killer
            if (!isDead) await sleep(1)
            if (isDead) await buried
            return done()
          },
          { slots: 100, isDead: () => isDead, gone },
        )
        await until(async () => isDead || (await queue.left()) === 0, 20)
        isOver = !isDead
        recorded.push(...life.recorded)
        for (const one of life.recorded) gone.add(one.id)
        if (isDead) deaths++
        await queue.db.sql`update tickets set owner = ${queue.newOwner()} where owner is not null`
        const stopped = life.engine.stop()
        bury()
        await stopped
        await queue.db.sql`update tickets set owner = null, leased_until = null`
      }
      expect(deaths).toBe(5)
      expect(recorded.filter(one => one.result === 'set aside').map(one => one.id)).toEqual([killer])
      expect(new Set(recorded.map(one => one.id)).size).toBe(500)
    },
  )

  test('one suspect is handled at a time; other tickets are handled meanwhile', async () => {
    await queue.put({ lane: 'a', subjects: 5, takes: 4 })
    await queue.put({ lane: 'a', subjects: 5, takes: 4 })
    await queue.put({ lane: 'a', subjects: 30 })
    let suspects = 0
    let most = 0
    const { recorded } = engineWith(async (_id, { takes }) => {
      if (takes <= 2) return done('usual')
      suspects++
      most = Math.max(most, suspects)
      await sleep(20)
      suspects--
      return done('suspect')
    })

    await until(() => recorded.length === 40)
    expect(most).toBe(1)
    const lastUsual = recorded.findLastIndex(one => one.result === 'usual')
    const lastSuspect = recorded.findLastIndex(one => one.result === 'suspect')
    expect(lastUsual).toBeLessThan(lastSuspect)
  })

  test('a deferred message of a suspect is not blamed for what the messages behind it do', async () => {
    const id = await queue.put({ lane: 'a', subjects: 3, takes: 4 })
    const [row] = await queue.db.sql<{ subjects: Id[] }>`select subjects from tickets where id = ${id}`
    const [first, second, third] = row?.subjects ?? []
    const begun: Id[] = []
    let release = () => {}
    const end = new Promise<void>(resolve => {
      release = resolve
    })
    engineWith(async one => {
      begun.push(one)
      if (one === first) return { kind: 'again', result: 'later', delaySeconds: 600 }
      await end // a crash may happen here
      return done()
    })
    await until(() => begun.length === 2)

    const left = await queue.db.sql`select subjects, attempts, takes from tickets order by attempts`
    expect(left).toEqual([
      { subjects: [second, third], attempts: 0, takes: 5 },
      { subjects: [first], attempts: 1, takes: 0 },
    ])
    release()
  })

  test('a ticket that can never be loaded is set aside the fifth time, without delaying others', async () => {
    const id = await queue.put({ lane: 'a', subjects: 7 })
    const [row] = await queue.db.sql<{ subjects: Id[] }>`
      update tickets set faults = 3 where id = ${id} returning subjects`
    const broken = row?.subjects.slice(4, 5) ?? []
    const { recorded } = engineWith(async () => done(), { broken })

    await until(() => recorded.length === 6)
    expect(recorded.every(one => one.result === 'done')).toBe(true)
    await until(() => recorded.length === 7, 20)
    expect(recorded.at(-1)).toEqual({ id: broken[0], result: 'set aside unseen' })
    await until(async () => (await queue.left()) === 0)
  })

  test('a message that throws is retried, and set aside the fifth time', async () => {
    const id = await queue.put({ lane: 'a' })
    await queue.db.sql`update tickets set faults = 3, attempts = 40 where id = ${id}`
    const seen: unknown[] = []
    const { recorded } = engineWith(async (_id, { attempts, faults }) => {
      seen.push({ attempts, faults })
      throw new Error('a bug')
    })

    await until(() => recorded.length === 1, 15)
    expect(seen).toEqual([3, 4].map(faults => ({ attempts: 40, faults })))
    expect(recorded[0]?.result).toBe('set aside')
  })

  test('deferrals and faults are counted apart; the time of the first deferral stays', async () => {
    const id = await queue.put({ lane: 'a' })
    await queue.db.sql`update tickets set attempts = 4, faults = 1, tried_at = '2026-01-01T00:00:00Z' where id = ${id}`
    const seen: Pick<Ticket, 'attempts' | 'faults' | 'tried_at'>[] = []
    const { recorded } = engineWith(async (_id, { attempts, faults, tried_at }) => {
      seen.push({ attempts, faults: faults ?? 0, tried_at: tried_at && new Date(tried_at).toISOString() })
      if (seen.length === 1) throw new Error('a bug')
      return seen.length === 2 ? { kind: 'again', result: null, delaySeconds: 0.1 } : done()
    })

    await until(() => recorded.length === 1, 20)
    const tried_at = '2026-01-01T00:00:00.000Z'
    expect(seen).toEqual([
      { attempts: 4, faults: 1, tried_at },
      { attempts: 4, faults: 2, tried_at },
      { attempts: 5, faults: 2, tried_at },
    ])
    expect(recorded[0]?.result).toBe('done')
  })

  test('a fault is no first attempt, a deferral is one', async () => {
    await queue.put({ lane: 'a' })
    const seen: (boolean | null)[] = []
    const { recorded } = engineWith(async (_id, { tried_at }) => {
      seen.push(typeof tried_at === 'string')
      if (seen.length === 1) throw new Error('a bug')
      return seen.length === 2 ? { kind: 'again', result: null, delaySeconds: 0.1 } : done()
    })

    await until(() => recorded.length === 1, 20)
    expect(seen).toEqual([false, false, true])
  })
})

describe('stop', () => {
  test('finishes what is in flight, records it, and returns the rest as if it had never been taken', async () => {
    const id = await queue.put({ lane: 'a', subjects: 50 })
    const [put] = await queue.db.sql<{ subjects: Id[] }>`select subjects from tickets where id = ${id}`
    const handled: Id[] = []
    const { engine, recorded } = engineWith(async one => {
      handled.push(one)
      await sleep(300)
      return done()
    })
    await until(() => handled.length === 4)

    await engine.stop()

    expect(handled).toHaveLength(4)
    expect(recorded.map(one => one.id).sort()).toEqual([...handled].sort())
    // What is left is a new ticket: the queue does not count what is done.
    const left = await queue.db.sql<{ owner: Id | null; takes: number; subjects: Id[] }>`
      select owner, takes, subjects
      from tickets
      where subjects && ${put?.subjects ?? []}::uuid[]`
    expect(left).toEqual([{ owner: null, takes: 0, subjects: expect.any(Array) }])
    expect([...(left[0]?.subjects ?? []), ...handled].sort()).toEqual([...(put?.subjects ?? [])].sort())
  })
})

test('an engine in one process is notified at once of what another process has accepted', async () => {
  const secret = 'the secret that all processes of this test share'
  const here = await world({ HERALD_SECRET: secret }, { engine: true })
  const [http] = await processes(1, { databaseUrl: here.config.databaseUrl ?? '', secret })
  const key = await (await here.service()).key()
  const template = await key.post('/v2/manage-template', {
    name: 'Soon',
    template_type: 'email',
    subject: 'Soon',
    content: 'Here it is.',
    template_category_id: CATEGORY.authentication,
  })
  const took: number[] = []
  for (let n = 0; n < 5; n++) {
    const reply = await fetch(`${http?.address}/v2/notifications/email`, {
      method: 'POST',
      headers: { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email_address: 'a@example.org', template_id: template.body.id }),
    })
    const since = performance.now()
    const { id } = (await reply.json()) as { id: string }
    const isDelivered = async () => (await key.get(`/v2/notifications/${id}`)).body.status === 'delivered'
    await until(isDelivered)
    took.push(performance.now() - since)
  }
  // Without the notification it would be found by the poll every second, half a second later on average.
  expect(took.sort((a, b) => a - b)[2]).toBeLessThan(350)
})
