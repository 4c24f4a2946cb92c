// The bound of reliability S-28: 100 kB of hostile text in at most 20 ms, and linear, not quadratic time.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { cpuMilliseconds } from './cpu.ts'

const size = 100_000
const mostMs = 20
// Over three doublings, because one is hard to distinguish from noise: quadratic time grows 64-fold. Twice the text may take 2.5
// times as long, and half as long again when it no longer fits the CPU caches.
const longer = 8
const mostGrowth = 2.5 ** 3 * 1.5
// Below this the resolution of the clock dominates the quotient.
const floorMs = 3
const patienceMs = 20_000

/** Other work on the machine only makes it slower, so the best of all attempts counts, and slow phases are waited out. */
export async function expectLinear<Input>(parse: (input: Input) => unknown, make: (size: number) => Input) {
  const [short, long] = [make(size), make(longer * size)]
  parse(short)
  let once = Number.POSITIVE_INFINITY
  let grown = Number.POSITIVE_INFINITY
  for (const until = performance.now() + patienceMs; ; await sleep(200)) {
    once = Math.min(once, millisecondsOf(parse, short))
    if (once <= mostMs || once <= mostMs * slowness()) grown = Math.min(grown, millisecondsOf(parse, long))
    if (grown <= mostGrowth * Math.max(once, floorMs)) return
    if (performance.now() > until) break
  }
  expect({ once, grown }, `at most ${mostMs} ms, and in proportion to the size`).toBeUndefined()
}

function millisecondsOf<Input>(parse: (input: Input) => unknown, input: Input): number {
  const start = cpuMilliseconds()
  let runs = 0
  let spent = 0
  while (spent < 12 && runs < 24) {
    parse(input)
    runs++
    spent = cpuMilliseconds() - start
  }
  return spent / runs
}

/** How much slower than the idle two-core machine this one is now, by similar work: small strings. */
function slowness(): number {
  const idleMs = 3
  const start = cpuMilliseconds()
  const items = Array.from({ length: 15_000 }, (_, index) => ({ text: `item ${index}` }))
  let out = ''
  for (const item of items) out += `<li class="item">${item.text}</li>`
  let tags = 0
  for (let i = 0; i < out.length; i++) if (out.charCodeAt(i) === 60) tags++
  expect(tags).toBe(30_000)
  return Math.max(1, (cpuMilliseconds() - start) / idleMs)
}

/** `unit` repeated, between `head` and `tail`. */
export const repeated =
  (unit: string, head = '', tail = '') =>
  (length: number) =>
    head + unit.repeat(Math.ceil(length / unit.length)) + tail
