// How the fault tests judge: time bounds scale with a slow machine, up to a limit, and the factor is always printed.
import { describe, expect, test } from 'vitest'
import { factorOf, verdict } from '../faults/support/promise.ts'

const judged = (factor?: number) => verdict('L0', 'a promise', '≤ 1 s', '0.5 s', { 'in time': true }, [], factor)

describe('a bound that scales with the slowness of the machine', () => {
  test('is reported with the factor that was used, also when it is 1', () => {
    expect(judged(1)).toMatchObject({ holds: true, measured: '0.5 s; bounds × 1.00' })
    expect(judged(2.5)).toMatchObject({ holds: true, measured: '0.5 s; bounds × 2.50' })
    expect(judged()).toMatchObject({ holds: true, measured: '0.5 s' })
  })

  test('is never below the promise, and never above three times the promise', () => {
    expect([factorOf(20, 5), factorOf(20, 20), factorOf(20, 50)]).toEqual([1, 1, 2.5])
    expect([factorOf(20, 60), factorOf(20, 61), factorOf(20, 800), factorOf(20, Infinity)]).toEqual([3, 3, 3, 3])
  })
})
