// How many events there were in the last minute, in constant memory: a count for each second.

export type RecentCount = {
  add(): void
  /** In the last minute, to the second. */
  lastMinute(): number
}

const SECONDS = 60

export function createRecentCount(): RecentCount {
  const counts = new Array<number>(SECONDS).fill(0)
  const second = () => Math.floor(performance.now() / 1000)
  let current = second()

  /** Empties the seconds that have passed since the last call. */
  function advance() {
    const now = second()
    const passed = Math.min(now - current, SECONDS)
    for (let at = 1; at <= passed; at++) counts[(now - passed + at) % SECONDS] = 0
    current = now
  }

  return {
    add() {
      advance()
      const at = current % SECONDS
      counts[at] = (counts[at] ?? 0) + 1
    },
    lastMinute() {
      advance()
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}
