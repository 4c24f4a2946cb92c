import { describe, expect, test } from 'vitest'
import { runSplitting } from './split.ts'

/** Doubles numbers; `refused` ones are refused, and so is every batch that holds one. */
function doubling(refused: readonly number[], outageAt?: number) {
  const runs: number[][] = []
  const run = async (items: readonly number[]) => {
    runs.push([...items])
    if (runs.length === outageAt) throw new Error('outage')
    if (items.some(item => refused.includes(item))) throw new RangeError('refused')
    return items.map(item => item * 2)
  }
  const split = (items: readonly number[]) => runSplitting(items, run, error => error instanceof RangeError)
  return { runs, split }
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('runSplitting', () => {
  test('a batch without a refusal is run once', async () => {
    const { runs, split } = doubling([])
    expect(await split(numbers(3))).toEqual([0, 2, 4].map(value => ({ status: 'fulfilled', value })))
    expect(runs).toHaveLength(1)
    expect(await split([])).toEqual([])
  })

  test('refused items are found, all others are run, and order is kept', async () => {
    for (const refused of [[0], [255], [100], [7, 8], numbers(256)]) {
      const { runs, split } = doubling(refused)
      const results = await split(numbers(256))
      expect(results.map(({ status }, at) => (status === 'rejected' ? at : -1)).filter(at => at >= 0)).toEqual(refused)
      expect(results.every((one, at) => one.status === 'rejected' || one.value === at * 2)).toBe(true)
      // By halves: two runs on each of eight levels for one refused item.
      if (refused.length === 1) expect(runs.length).toBeLessThanOrEqual(1 + 2 * 8)
      const succeeded = runs.filter(items => !items.some(item => refused.includes(item))).flat()
      expect(succeeded).toEqual([...succeeded].sort((a, b) => a - b))
    }
  })

  test('an outage is not split: it is the result of every item of its run', async () => {
    const whole = doubling([], 1)
    expect((await whole.split(numbers(8))).every(one => one.status === 'rejected')).toBe(true)
    expect(whole.runs).toHaveLength(1)

    // The database is away while the first half is tried, and back for the second.
    const half = doubling([3], 2)
    const results = await half.split([3, 1, 2, 4])
    expect(results.map(one => one.status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  })
})
