import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Random } from '../../faults/support/random.ts'
import { withSeeds } from '../../test/support/seeds.ts'
import { type Announcer, createAnnouncer } from './announce.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const REST_MS = 50
type Sent = { at: number; by: number; keys: readonly string[] }

/** Several processes: all hear a notification `delay` ms after it was sent, in the order in which they were sent. */
function processes(count: number, random: () => number, delay = () => 1): { all: Announcer<string>[]; sent: Sent[] } {
  const sent: Sent[] = []
  const all = Array.from({ length: count }, (_, by) => {
    return createAnnouncer<string>({
      restMs: REST_MS,
      random,
      send(keys) {
        sent.push({ at: performance.now(), by, keys })
        for (const one of hearers) {
          one.heardAt = Math.max(one.heardAt, performance.now() + delay())
          setTimeout(() => one.announcer.hear(keys), one.heardAt - performance.now())
        }
      },
    })
  })
  const hearers = all.map(announcer => ({ announcer, heardAt: 0 }))
  return { all, sent }
}

describe('the promises hold for every seed', () => {
  test('after each commit a notification is sent within the rest and 50 ms, whatever the processes, commits and delays', () =>
    withSeeds(5, random => {
      const { all, sent } = processes(random.between(1, 8), random.next, () => random.between(0, 9))
      const commits: { at: number; key: string }[] = []
      const busy = random.between(1, 60)
      for (let ms = 0; ms < 1_000; ms++) {
        for (const one of all)
          if (random.between(0, busy) === 0) {
            const key = random.pick(['anna', 'bert', 'carl'])
            commits.push({ at: performance.now(), key })
            one.announce([key])
          }
        vi.advanceTimersByTime(1)
      }
      vi.advanceTimersByTime(1_000)
      const late = commits.filter(
        ({ at, key }) => !sent.some(one => one.at >= at && one.at <= at + REST_MS + 50 && one.keys.includes(key)),
      )
      expect(late).toEqual([])
      expect(closerThanARest(sent)).toEqual([])
    }))

  test('a process that all hear late still sends at most once in a rest', () =>
    withSeeds(5, random => {
      const { all, sent } = processes(3, random.next, () => random.between(0, 200))
      for (let ms = 0; ms < 500; ms++) {
        for (const one of all) one.announce([random.pick(['anna', 'bert'])])
        vi.advanceTimersByTime(1)
      }
      expect(closerThanARest(sent)).toEqual([])
    }))

  test('eight processes with one busy key send about as many as one', () =>
    withSeeds(5, random => {
      const { all, sent } = processes(8, random.next)
      busyFor(2_000, all, random)
      // One in a rest, and at most two more for each process: all of them send at the beginning, and a few again until one is alone.
      expect(sent.length).toBeLessThanOrEqual(2_000 / REST_MS + 3 * all.length)
      expect(new Set(sent.filter(({ at }) => at > performance.now() - 500).map(one => one.by)).size).toBe(1)
    }))

  test('eight processes with a commit now and then send at most twice as many as one could', () =>
    withSeeds(5, random => {
      const { all, sent } = processes(8, random.next)
      busyFor(2_000, all, random, random.between(2, 200))
      expect(sent.length).toBeLessThanOrEqual((2_000 / REST_MS) * 2)
    }))
})

/** A commit in each process in every millisecond, or in one of `pause`. */
function busyFor(ms: number, all: readonly Announcer<string>[], random: Random, pause = 1): void {
  for (let passed = 0; passed < ms; passed++) {
    for (const one of all) if (pause === 1 || random.between(1, pause) === 1) one.announce(['anna'])
    vi.advanceTimersByTime(1)
  }
}

/** Notifications that the same process sent too soon after each other. */
function closerThanARest(sent: readonly Sent[]): Sent[] {
  const last = new Map<number, number>()
  return sent.filter(({ by, at }) => {
    const before = last.get(by)
    last.set(by, at)
    return before !== undefined && at - before < REST_MS
  })
}
