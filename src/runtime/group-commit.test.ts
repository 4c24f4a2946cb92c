import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { type BatchingDelay, createGroupCommit, type GroupCommitOptions, runSplitting } from './group-commit.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

/** Doubles numbers, each batch in 5 ms or when `written` is resolved. */
function doubling({ written, ...options }: Partial<GroupCommitOptions> & { written?: Promise<void> } = {}) {
  const batches: number[][] = []
  const commit = createGroupCommit<number, number>(
    async items => {
      batches.push([...items])
      await (written ?? sleep(5))
      if (items.includes(13)) throw new RangeError('13 is rejected')
      if (items.includes(99)) throw new Error('outage')
      return items.map(item => item * 2)
    },
    { maxItems: 10, maxInFlight: 1, ...options },
  )
  return { batches, sizes: () => batches.map(batch => batch.length), ...commit }
}

function untilWritten() {
  let write = () => {}
  const written = new Promise<void>(resolve => {
    write = resolve
  })
  return { written, write: () => write() }
}

describe('batches', () => {
  test('items that arrive while a batch is written share the next one', async () => {
    const { written, write } = untilWritten()
    const { batches, add, pending } = doubling({ maxItems: 3, written })
    const first = add(1)
    await vi.waitUntil(() => batches.length === 1)
    const results = Promise.all([first, ...[2, 3, 4, 5].map(add)])
    expect(pending()).toBe(5)
    write()
    expect(await results).toEqual([2, 4, 6, 8, 10])
    expect(batches).toEqual([[1], [2, 3, 4], [5]])
    expect(pending()).toBe(0)
  })

  test('items of one turn of the event loop share a batch', async () => {
    const { batches, add } = doubling()
    await Promise.all([add(1), Promise.resolve().then(() => add(2)), add(3)])
    expect(batches).toEqual([[1, 3, 2]])
  })

  test('a batch that fails rejects its own items only', async () => {
    const { add } = doubling()
    const failed = await Promise.allSettled([add(99), add(2)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await add(3)).toBe(6)
  })

  test('as many batches as allowed are in flight', async () => {
    const { written, write } = untilWritten()
    const { batches, add } = doubling({ maxItems: 1, maxInFlight: 2, written })
    const results = Promise.all([1, 2, 3].map(add))
    await sleep(3)
    expect(batches).toEqual([[1], [2]])
    write()
    expect(await results).toEqual([2, 4, 6])
  })

  test('the next batch is sent before the last one is answered, or after it', async () => {
    for (const answerFirst of [false, true]) {
      const events: string[] = []
      const commit = createGroupCommit<number, void>(
        async ([first]) => {
          events.push(`sent ${first}`)
          await sleep(5)
          return []
        },
        { maxItems: 1, maxInFlight: 1, answerFirst },
      )
      const done = (item: number) => commit.add(item).then(() => events.push(`answered ${item}`))
      await Promise.all([done(1), done(2)])
      expect(events).toEqual(
        answerFirst
          ? ['sent 1', 'answered 1', 'sent 2', 'answered 2']
          : ['sent 1', 'sent 2', 'answered 1', 'answered 2'],
      )
    }
  })

  test('with answerFirst, items that the callbacks push are part of the next batch', async () => {
    const batches: string[][] = []
    const commit = createGroupCommit<string, void>(
      async items => {
        batches.push([...items])
        return []
      },
      { maxItems: 10, maxInFlight: 1, answerFirst: true },
    )
    await new Promise<void>((resolve, reject) => {
      const settle = () => commit.push('settle', resolve, reject)
      commit.push('result', settle, reject)
      setImmediate(() => commit.push('other', () => {}, reject))
    })
    expect(batches).toEqual([['result'], ['settle', 'other']])
  })
})

describe('a delay', () => {
  const delay = (more: Partial<BatchingDelay>): BatchingDelay => ({
    afterItems: 3,
    ms: 60_000,
    skipAtItems: 100,
    ...more,
  })

  test('does not apply to single items', async () => {
    const { sizes, add } = doubling({ delay: delay({}) })
    for (const item of numbers(5)) await add(item)
    expect(sizes()).toEqual([1, 1, 1, 1, 1])
  })

  test('after a larger batch, the next one waits to be filled', async () => {
    const { sizes, add } = doubling({ delay: delay({ ms: 1_000 }) })
    await Promise.all([1, 2, 3].map(add))
    const first = add(4)
    await sleep(20)
    await Promise.all([first, add(5)])
    expect(sizes()).toEqual([3, 2])
  })

  test('ends early when enough items wait', async () => {
    const { sizes, add } = doubling({ delay: delay({ skipAtItems: 4 }) })
    await Promise.all([1, 2, 3].map(add))
    await Promise.all([1, 2, 3, 4].map(add))
    expect(sizes()).toEqual([3, 4])
  })
})

test('with sendAtItems, the first of many items are sent before the last is added', async () => {
  const { sizes, add } = doubling({ sendAtItems: 3 })
  expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(add))).toEqual([2, 4, 6, 8, 10, 12, 14])
  expect(sizes()).toEqual([3, 4])
})

test('with isDataError, a rejected item fails alone, and the halves are run in order', async () => {
  const { batches, add } = doubling({ isDataError: error => error instanceof RangeError })
  const results = await Promise.allSettled([1, 2, 13, 4].map(add))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(batches).toEqual([[1, 2, 13, 4], [1, 2], [13, 4], [13], [4]])
  const outage = await Promise.allSettled([1, 99].map(add))
  expect(outage.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

describe('runSplitting', () => {
  /** Doubles numbers; `rejected` ones are rejected, and so is every batch that contains one. */
  function splitting(rejected: readonly number[], outageAt?: number) {
    const runs: number[][] = []
    const run = async (items: readonly number[]) => {
      runs.push([...items])
      if (runs.length === outageAt) throw new Error('outage')
      if (items.some(item => rejected.includes(item))) throw new RangeError('rejected')
      return items.map(item => item * 2)
    }
    return { runs, split: (items: readonly number[]) => runSplitting(items, run, error => error instanceof RangeError) }
  }

  test('a batch without a rejected item is run once', async () => {
    const { runs, split } = splitting([])
    expect(await split(numbers(3))).toEqual([0, 2, 4].map(value => ({ status: 'fulfilled', value })))
    expect(runs).toHaveLength(1)
    expect(await split([])).toEqual([])
  })

  test('rejected items are found, all others are run, and order is kept', async () => {
    for (const rejected of [[0], [255], [100], [7, 8], numbers(256)]) {
      const { runs, split } = splitting(rejected)
      const results = await split(numbers(256))
      expect(results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual(rejected)
      expect(results.every((one, at) => one.status === 'rejected' || one.value === at * 2)).toBe(true)
      // By halves: two runs on each of eight levels for one rejected item.
      if (rejected.length === 1) expect(runs.length).toBeLessThanOrEqual(1 + 2 * 8)
      const succeeded = runs.filter(items => !items.some(item => rejected.includes(item))).flat()
      expect(succeeded).toEqual([...succeeded].sort((a, b) => a - b))
    }
  })

  test('an outage is not split: it is the result of every item of its run', async () => {
    const whole = splitting([], 1)
    expect((await whole.split(numbers(8))).every(one => one.status === 'rejected')).toBe(true)
    expect(whole.runs).toHaveLength(1)

    // The database is away during the first half, and back for the second.
    const half = splitting([3], 2)
    const results = await half.split([3, 1, 2, 4])
    expect(results.map(one => one.status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  })
})
