import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createCircuitBreaker } from './circuit-breaker.ts'

test('it opens once, probes until one succeeds, and then closes', async () => {
  const failed: number[] = []
  const answers = [false, new Error('no connection'), true]
  let closed = 0
  const breaker = createCircuitBreaker({
    async probe() {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer ?? false
    },
    pauseMs(probes) {
      failed.push(probes)
      return 5
    },
    onClose: () => closed++,
  })
  await breaker.whenClosed()
  breaker.trip()
  breaker.trip()
  expect([breaker.isOpen(), breaker.openings()]).toEqual([true, 1])
  await breaker.whenClosed()
  expect([breaker.isOpen(), closed, answers]).toEqual([false, 1, []])
  expect(failed).toEqual([0, 1, 2])
  await sleep(30)
  expect(failed).toEqual([0, 1, 2])

  answers.push(true)
  breaker.trip()
  await breaker.whenClosed()
  expect([breaker.openings(), closed]).toEqual([2, 2])
})

test('after stop no probe begins, and one under way closes nothing', async () => {
  let probes = 0
  let finish = (_isUp: boolean) => {}
  const breaker = createCircuitBreaker({
    probe() {
      probes++
      return new Promise<boolean>(resolve => {
        finish = resolve
      })
    },
    pauseMs: 1,
  })
  breaker.trip()
  await vi.waitUntil(() => probes === 1)
  const stopped = breaker.stop()
  finish(true)
  await stopped
  await sleep(20)
  expect([probes, breaker.isOpen()]).toEqual([1, true])

  const other = createCircuitBreaker({ probe: async () => ++probes > 0, pauseMs: 1 })
  await other.stop()
  other.trip()
  await sleep(20)
  expect([probes, other.isOpen()]).toEqual([1, true])
})
