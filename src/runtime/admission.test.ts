import { describe, expect, test } from 'vitest'
import { createLaneShares } from './admission.ts'

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
