// Admission control with fair turns: so many pieces of work run at the same time, and those that wait get the next place in
// round robin order of their owners, however many one owner has waiting.

export type Turns = {
  /** Settles as `work` does, which begins when it is its turn. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>
  running(): number
  waiting(): number
}

const LONGEST_REST_MS = 250
/** Shorter pieces hold nobody up. */
const LONG_MS = 20

/**
 * One owner has at most `ofOne` running, so that another's first never waits for it alone. An owner that has more waiting when
 * a long piece ends rests for as long as that piece took: a loop of long requests gets half of the time it could have. Others
 * may use its place meanwhile.
 */
export function createTurns({ atOnce, ofOne }: { atOnce: number; ofOne: number }): Turns {
  /** Owners in the order of their turns: whoever has had one goes to the end. */
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
