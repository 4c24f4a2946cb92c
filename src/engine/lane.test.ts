import { expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import type { Ticket } from '../queue/port.ts'
import { createLaneShares } from '../runtime/admission.ts'
import { createLane } from './lane.ts'
import { createSuspectSlot } from './suspects.ts'
import type { Entry, Handled } from './work.ts'

const turn = () => new Promise(resume => setImmediate(resume))
const LATER = Number.POSITIVE_INFINITY

const ticket = (name: string, items: number, takes = 1, faults = 0): Ticket => ({
  id: name as Id,
  lane: 'a',
  service_id: 'service' as Id,
  subjects: Array.from({ length: items }, (_, n) => `${name}/${n + 1}` as Id),
  attempts: 0,
  faults,
  takes,
})

/** A lane without a queue and a database: items end, and results are recorded, when the test says so. */
function lane(slots = 2, isAutomatic = false, isHandedOver = false) {
  const handling = new Map<string, (handled: Handled<string> | Error) => void>()
  const started: string[] = []
  const unrecorded: { entry: Entry<string>; done(): void }[] = []
  const recorded: Entry<string>[] = []
  const givenBack: Id[] = []
  const setAside: string[] = []
  const windows: { asked: { id: Id; begun: number }; answer(isOurs: boolean): void; fail(): void }[] = []
  const record = () => {
    for (const { entry, done } of unrecorded.splice(0)) {
      recorded.push(entry)
      done()
    }
  }
  const loop = createLane<Id, string>({
    name: 'a',
    slots,
    leaseSeconds: 30,
    work: {
      ...(isHandedOver && { isHandedOver: true }),
      load: async tickets => new Map(tickets.flatMap(one => one.subjects.map((id): [Id, Id] => [id, id]))),
      handle: id =>
        new Promise((resolve, reject) => {
          started.push(id)
          handling.set(id, handled => (handled instanceof Error ? reject(handled) : resolve(handled)))
        }),
      setAside: id => `${id} set aside`,
    },
    taker: {
      take: async () => [],
      renew: async ids => new Map(ids.map(id => [id, 1])),
      begin: async all => new Set(all.map(one => one.id)),
      freeUnknown: async () => {},
      reap: async () => {},
      giveBack: async ids => void givenBack.push(...ids),
      nextDue: async () => new Map(),
    },
    recorder: {
      push(entry, done) {
        unrecorded.push({ entry, done: () => done(undefined) })
        if (isAutomatic) record()
      },
    },
    share: () => createLaneShares().local(slots),
    suspectSlot: createSuspectSlot(),
    windows: {
      push: (asked, answer, fail) => void windows.push({ asked, answer, fail: () => fail(new Error('no database')) }),
    },
    onFault: () => {},
    onSetAside: name => setAside.push(name),
  })
  const hand = async (one: Ticket, leasedUntil = LATER) => {
    loop.hand([one], leasedUntil)
    await turn()
  }
  const end = async (id: string, handled: Handled<string> | Error = { kind: 'done', result: id }) => {
    handling.get(id)?.(handled)
    await turn()
  }
  return { loop, hand, end, record, started, recorded, unrecorded, givenBack, setAside, windows }
}

test('items start as slots become free, and the last result settles the ticket with what is retried', async () => {
  const { loop, hand, end, record, started, recorded } = lane()
  await hand(ticket('t', 3))
  expect(started).toEqual(['t/1', 't/2'])
  await end('t/1', { kind: 'again', result: null, delaySeconds: 7 })
  expect(started).toEqual(['t/1', 't/2', 't/3'])
  await end('t/2')
  await end('t/3')
  expect(loop.load()).toEqual({ inFlight: 0, unrecorded: 2 })
  record()
  expect(recorded.map(({ id, settle }) => [id, settle])).toEqual([
    ['t/2', null],
    ['t/3', [{ id: 't/1', delaySeconds: 7, attempts: 1, faults: 0, takes: 0 }]],
  ])
  expect([loop.load().unrecorded, loop.leased()]).toEqual([0, []])
})

test('a stop gives back at once what has not begun, and waits until every result is recorded', async () => {
  const { loop, hand, end, record, recorded, started, givenBack } = lane(1)
  await hand(ticket('t', 2))
  await hand(ticket('later', 2))
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  expect([givenBack, loop.hasRoom()]).toEqual([['later'], false])
  await end('t/1')
  expect([isStopped, started]).toEqual([false, ['t/1']])
  record()
  await stopped
  // What is left of a ticket becomes a new one in the statement that records its results.
  expect(recorded.map(({ id, settle }) => [id, settle])).toEqual([
    ['t/1', null],
    [null, [{ id: 't/2', delaySeconds: 0, attempts: 0, faults: 0, takes: 0 }]],
  ])
  expect(givenBack).toEqual(['later'])
})

test('a recalled ticket goes back when nothing of it is in flight, and what its work gave back goes with it', async () => {
  const { loop, hand, end, recorded, started, givenBack } = lane(2, true)
  await hand(ticket('t', 3))
  await hand(ticket('other', 1))
  expect(started).toEqual(['t/1', 't/2'])
  loop.recall(({ id }) => id === 't')
  await end('t/1', { kind: 'recalled' })
  expect([started, givenBack, recorded]).toEqual([['t/1', 't/2', 'other/1'], [], []])
  await end('t/2', { kind: 'wait', until: new Promise(() => {}) })
  expect([givenBack, loop.leased(), loop.load().inFlight]).toEqual([['t'], ['other'], 1])
})

test('a recall keeps the delay of what is retried', async () => {
  const { loop, hand, end, recorded } = lane(2, true)
  await hand(ticket('t', 3))
  await end('t/1', { kind: 'again', result: null, delaySeconds: 7 })
  loop.recall(() => true)
  await end('t/2')
  await end('t/3', { kind: 'recalled' })
  expect(recorded.at(-1)).toMatchObject({
    id: null,
    settle: [
      { id: 't/1', delaySeconds: 7, attempts: 1 },
      { id: 't/3', delaySeconds: 0, attempts: 0, takes: 0 },
    ],
  })
  expect(loop.leased()).toEqual([])
})

test('nothing starts under an expired or lost lease', async () => {
  const { loop, hand, end, started } = lane(1)
  await hand(ticket('expired', 1), performance.now() - 1)
  expect([started, loop.leased()]).toEqual([[], []])
  await hand(ticket('lost', 2))
  loop.renewed(['lost' as Id], new Map(), LATER)
  await end('lost/1')
  expect(started).toEqual(['lost/1'])
})

test('a lane pauses while no provider is up, and goes on with the same item', async () => {
  const { loop, hand, end, started } = lane(1, true)
  let isUp: () => void = () => {}
  const until = new Promise<void>(resolve => {
    isUp = resolve
  })
  await hand(ticket('t', 2))
  await end('t/1', { kind: 'wait', until })
  expect([started, loop.hasRoom()]).toEqual([['t/1'], false])
  isUp()
  await turn()
  expect(started).toEqual(['t/1', 't/1'])
})

test('a suspect ticket is given back during a pause, so that it is not blamed', async () => {
  const { hand, end, started, givenBack } = lane(4, true)
  await hand(ticket('suspect', 2, 5))
  expect(started).toEqual(['suspect/1']) // one at a time by now
  await end('suspect/1', { kind: 'wait', until: new Promise(() => {}) })
  expect(givenBack).toEqual(['suspect'])
})

test('a suspect starts its next group when the current one is recorded; a deferred item splits the rest off', async () => {
  const { hand, end, record, started, recorded } = lane(4)
  await hand(ticket('suspect', 3, 5))
  await end('suspect/1')
  expect(started).toEqual(['suspect/1'])
  record()
  expect(started).toEqual(['suspect/1', 'suspect/2'])
  await end('suspect/2', { kind: 'again', result: 'deferred', delaySeconds: 3 })
  record()
  record()
  expect(recorded.at(-1)?.settle).toEqual([
    { id: 'suspect/2', delaySeconds: 3, attempts: 1, faults: 0, takes: 0 },
    { id: 'suspect/3', delaySeconds: 0, attempts: 0, faults: 0, takes: 4 },
  ])
})

test('poison is set aside, and so is an item that throws the fifth time', async () => {
  const { hand, end, started, recorded, setAside } = lane(1, true)
  await hand(ticket('poison', 2, 6))
  expect(started).toEqual([])
  expect(recorded).toMatchObject([{ id: 'poison/1', result: 'poison/1 set aside', settle: [{ id: 'poison/2' }] }])
  await hand(ticket('fourth', 1, 1, 3))
  await end('fourth/1', new Error('a bug'))
  expect(recorded.at(-1)).toMatchObject({ result: null, settle: [{ delaySeconds: 5, attempts: 0, faults: 4 }] })
  await hand(ticket('fifth', 1, 1, 4))
  await end('fifth/1', new Error('a bug'))
  expect(recorded.at(-1)).toMatchObject({ result: 'fifth/1 set aside', settle: [] })
  expect(setAside).toEqual(['a', 'a'])
})

test('what is handed over starts only when its ticket says so, and the next window is asked for in time', async () => {
  const { hand, end, started, windows } = lane(4, true, true)
  await hand(ticket('t', 20))
  expect([started, windows.map(({ asked }) => asked.begun)]).toEqual([[], [8]])
  windows[0]?.answer(true)
  expect(started).toEqual(['t/1', 't/2', 't/3', 't/4'])
  expect(windows).toHaveLength(2) // half of the window is left
  for (const n of [1, 2, 3, 4]) await end(`t/${n}`)
  expect(started).toHaveLength(8)
  for (const n of [5, 6, 7, 8]) await end(`t/${n}`)
  expect(started).toHaveLength(8)
  windows[1]?.answer(true)
  expect(windows[1]?.asked.begun).toBeGreaterThan(8)
  expect(started).toHaveLength(12)
})

test('what the insert of a ticket has opened starts without a statement', async () => {
  const { hand, started, windows } = lane(4, true, true)
  await hand({ ...ticket('t', 3), begun: 3 })
  expect([started.length, windows]).toEqual([3, []])
})

test('a ticket that is not ours any more is dropped, and nothing of it starts', async () => {
  const { loop, hand, started, windows } = lane(4, true, true)
  await hand(ticket('t', 3))
  windows[0]?.answer(false)
  expect([started, loop.leased()]).toEqual([[], []])
})

test('while the database is away nothing starts, and the window is asked for again', async () => {
  const { hand, started, windows } = lane(4, true, true)
  await hand(ticket('t', 3))
  windows[0]?.fail()
  expect(started).toEqual([])
  await expect.poll(() => windows.length).toBe(2)
  windows[1]?.answer(true)
  expect(started).toHaveLength(3)
})

test('a ticket whose lease expires by our timer waits for its renewal; one that was taken again is dropped', async () => {
  const { loop, hand, end, started } = lane(1, true)
  const until = performance.now() + 50
  await hand(ticket('kept', 2), until)
  await hand(ticket('lost', 2), until)
  expect(started).toEqual(['kept/1'])
  await expect.poll(() => performance.now()).toBeGreaterThan(until)
  await end('kept/1')
  expect([started, loop.leased()]).toEqual([['kept/1'], ['kept', 'lost']])
  loop.renewed(
    loop.leased(),
    new Map([
      ['kept' as Id, 1],
      ['lost' as Id, 2],
    ]),
    LATER,
  )
  expect([started, loop.leased()]).toEqual([['kept/1', 'kept/2'], ['kept']])
})
