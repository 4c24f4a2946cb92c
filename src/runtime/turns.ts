// Limits how much work runs at the same time, fairly: work that waits is started in round-robin order of its owners, however much one
// owner has waiting.

export type Turns = {
  /** Starts `work` when it is its turn, and settles as it does. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>
  running(): number
  waiting(): number
}

const LONGEST_REST_MS = 250
/** Work that is shorter does not delay others. */
const LONG_MS = 20

/**
 * At most `atOnce` run in total, and `ofOne` of one owner, so that one owner cannot occupy all places. When long work ends and its
 * owner has more waiting, that owner pauses for as long as the work took: a loop of long requests gets half of the time it could have.
 * Others may use its place meanwhile.
 */
export function createTurns({ atOnce, ofOne }: { atOnce: number; ofOne: number }): Turns {
  /** Owners in round-robin order: the one that had a turn is moved to the end. */
  const queues = new Map<string, (() => void)[]>()
  const runningOf = new Map<string, number>()
  let running = 0
  let waiting = 0

  function next() {
    for (const [owner, queue] of queues) {
      if (running >= atOnce) return
      if ((runningOf.get(owner) ?? 0) >= ofOne) continue
      queues.delete(owner)
      const first = queue.shift()
      if (queue.length > 0) queues.set(owner, queue)
      waiting--
      first?.()
    }
  }

  function begin(owner: string) {
    running++
    runningOf.set(owner, (runningOf.get(owner) ?? 0) + 1)
  }

  function end(owner: string, tookMs: number) {
    running--
    if (queues.has(owner) && tookMs > LONG_MS) setTimeout(rested, Math.min(tookMs, LONGEST_REST_MS), owner)
    else rested(owner)
    next()
  }

  function rested(owner: string) {
    const left = (runningOf.get(owner) ?? 1) - 1
    if (left === 0) runningOf.delete(owner)
    else runningOf.set(owner, left)
    next()
  }

  return {
    async run(owner, work) {
      await new Promise<void>(resolve => {
        const queue = queues.get(owner) ?? []
        queue.push(() => {
          begin(owner)
          resolve()
        })
        queues.set(owner, queue)
        waiting++
        next()
      })
      const since = performance.now()
      try {
        return await work()
      } finally {
        end(owner, performance.now() - since)
      }
    },
    running: () => running,
    waiting: () => waiting,
  }
}
