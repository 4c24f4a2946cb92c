// The measure of reliability S-28: 100 kB of hostile text in at most 20 ms, twice the text in at most 2.5 times the time.

import { expect } from 'vitest'

const size = 100_000
const mostMs = 20
const mostGrowth = 2.5
// Below this a clock tick decides about the quotient.
const floorMs = 0.5

export function expectLinear<Input>(parse: (input: Input) => unknown, make: (size: number) => Input): void {
  let once = Number.POSITIVE_INFINITY
  let twice = Number.POSITIVE_INFINITY
  // Other work on the machine only ever makes it slower, so the best of all tries is the truth.
  for (let attempt = 0; attempt < 12; attempt++) {
    once = Math.min(once, best(parse, make(size)))
    twice = Math.min(twice, best(parse, make(2 * size)))
    if (once <= mostMs && twice <= mostGrowth * Math.max(once, floorMs)) return
  }
  expect({ once, twice }, `at most ${mostMs} ms, and ${mostGrowth} times that for twice the size`).toBeUndefined()
}

function best<Input>(parse: (input: Input) => unknown, input: Input): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const start = performance.now()
    parse(input)
    least = Math.min(least, performance.now() - start)
  }
  return least
}

/** `unit` again and again, between `head` and `tail`. */
export const repeated =
  (unit: string, head = '', tail = '') =>
  (length: number) =>
    head + unit.repeat(Math.ceil(length / unit.length)) + tail
