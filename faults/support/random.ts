// A seeded random generator (mulberry32): a run can be repeated with the seed it prints.
export type Random = {
  seed: number
  next(): number
  between(from: number, to: number): number
  pick<T>(list: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    seed,
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: list => {
      const chosen = list[Math.floor(next() * list.length)]
      if (chosen === undefined) throw new Error('nothing to pick from')
      return chosen
    },
  }
}
