// One suite for every implementation that brings tickets to engines. An adapter creates takers on one queue and adds tickets to
// it.
import { describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { Taker } from '../../src/queue/port.ts'

export type TakerHouse = {
  /** A taker with a new owner each time, on the same queue. */
  taker(leaseSeconds: number): Taker
  put(ticket: { lane: string; service?: Id; subjects?: number; dueInMs?: number; takes?: number }): Promise<Id>
  /** Tickets of one subject each. */
  putMany(tickets: { lane: string; service: Id; count: number; dueInMs?: number; takes?: number }): Promise<void>
  id(): Id
  takesOf(id: Id): Promise<number>
}

export function takerSuite(name: string, open: () => Promise<TakerHouse>) {
  describe(`taker: ${name}`, () => {
    const ids = (tickets: readonly { id: Id }[]) => tickets.map(ticket => ticket.id).sort()

    test('takes due tickets of its lane, and nothing else', async () => {
      const house = await open()
      const due = await house.put({ lane: 'a' })
      await house.put({ lane: 'b' })
      await house.put({ lane: 'a', dueInMs: 60_000 })

      expect(ids(await house.taker(30).take('a', 10, 'usual'))).toEqual([due])
    })

    test('a ticket is taken by one taker only, however many ask concurrently', async () => {
      const house = await open()
      const put = await Promise.all(Array.from({ length: 40 }, () => house.put({ lane: 'a', service: house.id() })))
      const takers = Array.from({ length: 4 }, () => house.taker(30))

      const taken: Id[] = []
      for (let round = 0; taken.length < put.length && round < 100; round++)
        taken.push(...(await Promise.all(takers.map(taker => taker.take('a', 3, 'usual')))).flat().map(one => one.id))

      expect([...taken].sort()).toEqual([...put].sort())
    })

    test('a service with many tickets leaves room for one with a single ticket', async () => {
      const house = await open()
      const busy = house.id()
      for (let n = 0; n < 30; n++) await house.put({ lane: 'a', service: busy })
      const single = await house.put({ lane: 'a' })

      expect(ids(await house.taker(30).take('a', 16, 'usual'))).toContain(single)
    })

    test('14.3.7 many small due tickets of one service are taken together', async () => {
      const house = await open()
      const [crowd, quiet] = [house.id(), house.id()]
      await house.putMany({ lane: 'a', service: crowd, count: 1_500 })
      await house.putMany({ lane: 'a', service: crowd, count: 20, dueInMs: 60_000 })
      await house.putMany({ lane: 'b', service: crowd, count: 20 })
      await house.put({ lane: 'a', service: quiet })
      const taker = house.taker(30)

      const leased = new Map<Id, number>()
      const subjects: Id[] = []
      for (let round = 0; round < 4; round++)
        for (const ticket of await taker.take('a', 16, 'usual', leased)) {
          leased.set(ticket.service_id, (leased.get(ticket.service_id) ?? 0) + 1)
          expect(ticket.subjects.length).toBeLessThanOrEqual(500)
          subjects.push(...ticket.subjects)
        }

      // Nothing twice, nothing early, nothing of another lane; and no more tickets leased than a service may have.
      expect(subjects).toHaveLength(1_501)
      expect(new Set(subjects).size).toBe(1_501)
      expect(leased.get(crowd)).toBeLessThanOrEqual(12)
      expect(leased.get(quiet)).toBe(1)
    })

    test('14.3.7 tickets that were attempted or lost before keep their counts', async () => {
      const house = await open()
      const service = house.id()
      await house.putMany({ lane: 'a', service, count: 100 })
      await house.putMany({ lane: 'a', service, count: 100, takes: 1 })
      const taker = house.taker(30)
      const takes: number[] = []
      for (let round = 0, got = 1; got > 0 && round < 100; round++) {
        const tickets = await taker.take('a', 16, 'usual')
        got = tickets.length
        for (const ticket of tickets) takes.push(...ticket.subjects.map(() => ticket.takes))
      }
      expect(takes.filter(one => one === 1)).toHaveLength(100)
      expect(takes.filter(one => one === 2)).toHaveLength(100)
    })

    test('a ticket has its subjects, and its takes are counted', async () => {
      const house = await open()
      const id = await house.put({ lane: 'a', subjects: 3, takes: 1 })

      const [ticket] = await house.taker(30).take('a', 1, 'usual')

      expect(ticket).toMatchObject({ id, lane: 'a', takes: 2, attempts: 0 })
      expect(ticket?.subjects).toHaveLength(3)
      expect(await house.takesOf(id)).toBe(2)
    })

    test('a ticket that lost its owner twice is taken separately from the others', async () => {
      const house = await open()
      const suspect = await house.put({ lane: 'a', takes: 2 })
      const usual = await house.put({ lane: 'a', takes: 1 })
      const taker = house.taker(30)

      expect(ids(await taker.take('a', 10, 'usual'))).toEqual([usual])
      expect(ids(await taker.take('a', 10, 'suspects'))).toEqual([suspect])
    })

    test('an expired lease frees the ticket for another; a renewed one does not', async () => {
      const house = await open()
      const [one, two] = [house.taker(0.2), house.taker(30)]
      const lost = await house.put({ lane: 'a' })
      const kept = await house.put({ lane: 'b' })
      await one.take('a', 1, 'usual')
      await two.take('b', 1, 'usual')
      await new Promise(resume => setTimeout(resume, 300))

      expect(await two.renew([kept, lost])).toEqual(new Map([[kept, 1]]))
      await house.taker(0.2).reap()

      expect(ids(await two.take('a', 1, 'usual'))).toEqual([lost])
      expect(await one.renew([lost])).toEqual(new Map())
      expect(await two.take('b', 1, 'usual')).toEqual([])
    })

    test('a returned ticket is as if never taken; only its owner can return it', async () => {
      const house = await open()
      const id = await house.put({ lane: 'a' })
      const [one, two] = [house.taker(30), house.taker(30)]
      await one.take('a', 1, 'usual')

      await two.giveBack([id])
      expect(await two.take('a', 1, 'usual')).toEqual([])

      await one.giveBack([id])
      expect((await two.take('a', 1, 'usual')).map(ticket => ticket.takes)).toEqual([1])
    })

    test('what may be handed over is written for tickets that are still ours', async () => {
      const house = await open()
      const [mine, other] = [await house.put({ lane: 'a', subjects: 3 }), await house.put({ lane: 'b', subjects: 3 })]
      const [one, two] = [house.taker(30), house.taker(30)]
      await one.take('a', 1, 'usual')
      await two.take('b', 1, 'usual')

      expect(await one.begin([mine, other].map(id => ({ id, takes: 1, begun: 2 })))).toEqual(new Set([mine]))
      expect(await one.begin([{ id: mine, takes: 2, begun: 3 }])).toEqual(new Set())
    })

    test('a ticket whose take got no answer is freed by its process, as if never taken; those it knows are not', async () => {
      const house = await open()
      const one = house.taker(3)
      const [known, lost, fresh] = [
        await house.put({ lane: 'a' }),
        await house.put({ lane: 'b', takes: 1 }),
        await house.put({ lane: 'c' }),
      ]
      await one.take('a', 1, 'usual')
      await one.take('b', 1, 'usual')
      // The answer to a take may be on its way for a while.
      await one.freeUnknown(['a', 'b', 'c'], [known])
      expect(await house.takesOf(lost)).toBe(2)
      await expect
        .poll(async () => {
          await one.freeUnknown(['a', 'b', 'c'], [known])
          return house.takesOf(lost)
        })
        .toBe(1)
      await one.take('c', 1, 'usual')
      await one.freeUnknown(['a', 'b', 'c'], [known])

      expect([await house.takesOf(known), await house.takesOf(fresh)]).toEqual([1, 1])
      expect(ids(await house.taker(30).take('b', 1, 'usual'))).toEqual([lost])
    })

    test('returns when the next ticket of each lane is due', async () => {
      const house = await open()
      await house.put({ lane: 'now' })
      await house.put({ lane: 'soon', dueInMs: 5_000 })
      await house.put({ lane: 'taken' })
      const taker = house.taker(30)
      await taker.take('taken', 1, 'usual')

      const due = await taker.nextDue(['now', 'soon', 'taken', 'empty'])

      expect([...due.keys()].sort()).toEqual(['now', 'soon'])
      expect(due.get('now')).toBe(0)
      expect(due.get('soon')).toBeGreaterThan(3_000)
      expect(due.get('soon')).toBeLessThanOrEqual(5_000)
    })
  })
}
