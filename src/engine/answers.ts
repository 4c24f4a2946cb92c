// How long the database has answered this process without a gap, by the monotonic timer. An expired lease says that its owner has
// ended only if the owner could have renewed it: so long the database must have answered. The database itself cannot tell: a promoted
// standby, and a server that hung, have been up all the time.

export type Answers = {
  answered(): void
  failed(): void
  /** What is missing to a whole lease of answers; 0: expired leases may be freed. */
  leftMs(): number
}

/** An owner renews three times in a lease, so a gap of this length does not end its lease. The database is asked every second. */
const gapOf = (leaseMs: number) => Math.max(2_000, Math.min(5_000, leaseMs / 2))

export function createAnswers(leaseMs: number, now: () => number = () => performance.now()): Answers {
  const gapMs = gapOf(leaseMs)
  let stretch: { from: number; to: number } | null = null
  const isUnbroken = (at: number) => stretch !== null && at - stretch.to <= gapMs
  return {
    answered() {
      const at = now()
      if (stretch && isUnbroken(at)) stretch.to = at
      else stretch = { from: at, to: at }
    },
    failed() {
      stretch = null
    },
    leftMs: () => (stretch && isUnbroken(now()) ? Math.max(0, leaseMs - (stretch.to - stretch.from)) : leaseMs),
  }
}
