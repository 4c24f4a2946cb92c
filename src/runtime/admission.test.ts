import { describe, expect, test } from 'vitest'
import { createCapacity, createConnectionPlaces, createLaneShares } from './admission.ts'

describe("the lane's share", () => {
  test('a lane has its slots, its reserved places, and what is left of the shared ones', () => {
    const shares = createLaneShares(10)
    const low = shares.sending(9, 2, () => {})
    const high = shares.sending(9, 4, () => {})
    const startAll = (share: typeof low) => {
      let started = 0
      for (; share.mayStart(); started++) share.started()
      return started
    }
    expect(startAll(low)).toBe(6) // its 2, and the 4 that are shared
    expect(startAll(high)).toBe(4)
    low.answered()
    expect([low.inFlight(), high.mayStart()]).toEqual([5, true])
  })

  test('unrecorded results count like messages in flight, and room is announced once', () => {
    let announced = 0
    const share = createLaneShares(2).sending(9, 0, () => announced++)
    for (let n = 0; n < 2; n++) {
      share.started()
      share.answered()
      share.recording()
    }
    expect([share.mayStart(), share.inFlight(), share.unrecorded(), announced]).toEqual([false, 0, 2, 0])
    share.recorded()
    share.recorded()
    expect([share.mayStart(), announced]).toEqual([true, 1])
  })

  test('a lane without a free slot waits for its own messages, not for room of others', () => {
    let announced = 0
    const shares = createLaneShares(10)
    const [one, other] = [shares.sending(1, 1, () => announced++), shares.sending(1, 1, () => {})]
    one.started()
    other.started()
    expect(one.mayStart()).toBe(false)
    other.answered()
    expect(announced).toBe(0)
  })

  test('a lane that sends nothing has its slots and twice as many unrecorded results', () => {
    const share = createLaneShares(1).local(2)
    for (let n = 0; n < 2; n++) share.started()
    expect(share.mayStart()).toBe(false)
    for (let n = 0; n < 2; n++) share.answered()
    for (let n = 0; n < 4; n++) share.recording()
    expect([share.mayStart(), share.inFlight(), share.unrecorded()]).toEqual([false, 0, 4])
    share.recorded()
    expect(share.mayStart()).toBe(true)
  })
})

describe("the provider's capacity", () => {
  const isAdmitted = (entered: Promise<unknown> | undefined) => entered === undefined

  test('ordinary messages use three quarters, urgent ones are never delayed', async () => {
    const capacity = createCapacity({ perSecond: null, messages: 8 })
    const entered = Array.from({ length: 8 }, () => capacity.enter(1, false))
    expect(entered.filter(isAdmitted)).toHaveLength(6)
    expect(Array.from({ length: 20 }, () => capacity.enter(1, true)).every(isAdmitted)).toBe(true)
    capacity.leave(true)
    let next = false
    void entered[6]?.then(() => {
      next = true
    })
    await Promise.resolve()
    expect(next).toBe(false)
    capacity.leave(false)
    await entered[6]
    expect(next).toBe(true)
  })

  test('one place is enough for ordinary messages', () => {
    const capacity = createCapacity({ perSecond: null, messages: 1 })
    expect([capacity.enter(1, false), capacity.enter(1, false)].map(isAdmitted)).toEqual([true, false])
    expect(createConnectionPlaces(1).take(false)).toBe(true)
  })

  test('paced by message: ordinary ones wait for the rate, urgent ones only use it up', async () => {
    const capacity = createCapacity({ perSecond: 100 })
    const since = performance.now()
    expect([capacity.enter(1, true), capacity.enter(2, true)].every(isAdmitted)).toBe(true)
    await capacity.enter(1, false)
    expect(performance.now() - since).toBeGreaterThan(28)
  })

  test('paced by part: the adapter asks for every turn itself', () => {
    const capacity = createCapacity({ perSecond: 0.01, pacedBy: 'part' })
    expect(Array.from({ length: 9 }, (_, n) => capacity.enter(1, n % 2 === 0)).every(isAdmitted)).toBe(true)
    expect(isAdmitted(capacity.rate.turn(1, false))).toBe(true)
    expect(capacity.rate.backlogMs(false)).toBeGreaterThan(40_000)
  })

  test('a quarter of the connections is for urgent messages, and a message may follow one that is as urgent', () => {
    const places = createConnectionPlaces<string>(4)
    for (const job of ['o1', 'o2', 'o3', 'o4', 'o5']) places.add(job, false)
    expect(places.startable()).toBe(3)
    expect([1, 2, 3, 4].map(() => places.next())).toEqual(['o1', 'o2', 'o3', undefined])
    places.add('u1', true)
    expect([places.startable(), places.next(), places.follow(true)]).toEqual([1, 'u1', undefined])
    expect([places.follow(false), places.next()]).toEqual(['o4', undefined])
  })
})
