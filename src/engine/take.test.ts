import { expect, onTestFinished, test, vi } from 'vitest'
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'
import { createSuspectSlot } from './suspects.ts'
import { createTickets, type TakeOptions, type Tickets } from './take.ts'
import type { Leased } from './work.ts'

let ids = 0
const ticket = (subjects: readonly string[] = ['x'], takes = 1): Ticket => ({
  id: `ticket-${++ids}` as Id,
  lane: 'a',
  service_id: 'service' as Id,
  subjects: subjects as Id[],
  attempts: 0,
  takes,
})

/** A queue in memory, and what the lane was told. */
function lane(options: Partial<TakeOptions<string>> = {}) {
  const due: Ticket[] = []
  const asked: { most: number; which: string; held: number }[] = []
  const givenBack: Id[] = []
  const faults: string[] = []
  const loaded: { leased: Leased<string>; broken: readonly Id[] }[] = []
  const taker: Taker = {
    async take(_lane, most, which, held) {
      asked.push({ most, which, held: held?.get('service' as Id) ?? 0 })
      const isWanted = (one: Ticket) => (which === 'suspects') === one.takes > 2
      return due
        .filter(isWanted)
        .slice(0, most)
        .map(one => due.splice(due.indexOf(one), 1)[0] as Ticket)
    },
    renew: async asked => new Map(asked.map(id => [id, 1])),
    begin: async all => new Set(all.map(one => one.id)),
    freeUnknown: async () => {},
    reap: async () => {},
    async giveBack(all) {
      givenBack.push(...all)
    },
    nextDue: async () => new Map(),
  }
  const tickets: Tickets<string> = createTickets<string>({
    lane: 'a',
    taker,
    work: { load: async all => new Map(all.flatMap(one => one.subjects.map((id): [Id, string] => [id, id]))) },
    leaseSeconds: 30,
    enough: 4,
    suspectSlot: createSuspectSlot(),
    isPaused: () => false,
    isStopping: () => false,
    onLost: leased => tickets.forget(leased),
    onCrowded: leased => tickets.forget(leased),
    onLoaded: (leased, broken) => loaded.push({ leased, broken }),
    onChange: () => tickets.takeIfRoom(),
    onFault: (_error, sentence) => faults.push(sentence),
    ...options,
  })
  const wake = () => {
    tickets.expectMore()
    tickets.takeIfRoom()
  }
  const usual = () => asked.filter(one => one.which === 'usual')
  return { tickets, due, wake, asked, usual, givenBack, faults, loaded }
}

test('takes while tickets come and there is room, and counts those of a service', async () => {
  const { tickets, due, wake, usual, loaded } = lane()
  due.push(...Array.from({ length: 20 }, () => ticket([])))
  wake()
  await expect.poll(() => loaded.length).toBe(16)
  expect(usual()).toMatchObject([{ most: 16, held: 0 }])
  expect(tickets.hasRoom()).toBe(false)
  for (const { leased } of loaded.slice(0, 2)) tickets.forget(leased)
  wake()
  await expect.poll(() => loaded.length).toBe(18)
  expect(usual()[1]).toMatchObject({ most: 2, held: 14 })
  expect(tickets.isIdle()).toBe(true)
})

test('with enough items waiting, takes are 10 ms apart', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { tickets, wake, usual, loaded } = lane()
  tickets.add([ticket(['1', '2', '3', '4'])], Number.POSITIVE_INFINITY)
  await vi.advanceTimersByTimeAsync(0)
  expect(loaded).toHaveLength(1)
  wake()
  await vi.advanceTimersByTimeAsync(0)
  expect(tickets.isIdle()).toBe(true)
  wake()
  await vi.advanceTimersByTimeAsync(9)
  expect(usual()).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(usual()).toHaveLength(2)
})

test('one suspect per process; the next one is taken when it is settled', async () => {
  const suspectSlot = createSuspectSlot()
  const one = lane({ suspectSlot })
  one.due.push(ticket(['x'], 3), ticket(['y'], 3))
  one.wake()
  await expect.poll(() => one.loaded.length).toBe(1)
  expect(suspectSlot.tryAcquire()).toBe(false)
  const [first] = one.loaded
  if (first) one.tickets.forget(first.leased)
  one.tickets.takeIfRoom()
  await expect.poll(() => one.loaded.length).toBe(2)
})

test('a renewal tells which tickets were lost, and tickets are given back by id', async () => {
  const { tickets, due, wake, loaded, givenBack } = lane()
  const [kept, lost] = [ticket(), ticket()]
  due.push(kept, lost)
  wake()
  await expect.poll(() => loaded.length).toBe(2)
  expect(tickets.renewed([kept.id, lost.id, 'unknown' as Id], new Map([[kept.id, 1]]), 7)).toEqual([loaded[1]?.leased])
  expect(loaded[0]?.leased.leasedUntil).toBe(7)
  await tickets.giveBack(tickets.all())
  expect(givenBack).toEqual([kept.id, lost.id])
})

test('a subject that cannot be loaded is found, and the others of its ticket and other tickets are loaded', async () => {
  const load = async (all: readonly Ticket[]) => {
    if (all.some(one => one.subjects.includes('bad' as Id))) throw new Error('unreadable')
    return new Map(all.flatMap(one => one.subjects.map((id): [Id, string] => [id, id])))
  }
  const { due, wake, loaded, faults } = lane({ work: { load } })
  due.push(ticket(['1', '2', 'bad', '4']), ticket(['5']))
  wake()
  await expect.poll(() => loaded.length).toBe(2)
  const found = loaded.map(({ leased, broken }) => [leased.items.map(([id]) => id), broken])
  expect(found).toContainEqual([['1', '2', '4'], ['bad']])
  expect(found).toContainEqual([['5'], []])
  expect(faults).toContain('a subject could not be loaded while others could')
})

test('a ticket that cannot be loaded before its lease expires is left, and frees the suspect slot', async () => {
  const suspectSlot = createSuspectSlot()
  const load = () => Promise.reject(new Error('no database'))
  const { tickets, due, wake, loaded, givenBack } = lane({ suspectSlot, leaseSeconds: 0.05, work: { load } })
  due.push(ticket(['x'], 3))
  wake()
  await expect.poll(() => tickets.isIdle() && suspectSlot.tryAcquire()).toBe(true)
  expect([loaded, givenBack]).toEqual([[], []])
})
