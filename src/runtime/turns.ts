// Admission control with fair turns: so many pieces of work run at the same time, and those that wait get the next place in
// round robin order of their owners, however many one owner has waiting.

export type Turns = {
  /** Settles as `work` does, which begins when it is its turn. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>
  running(): number
  waiting(): number
}

/** One owner has at most `ofOne` running, so that another's first never waits for it alone. */
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
      const begin = queue.shift()
      if (queue.length > 0) queues.set(owner, queue)
      waiting--
      begin?.()
    }
  }

  function begun(owner: string, change: 1 | -1) {
    running += change
    const now = (runningOf.get(owner) ?? 0) + change
    if (now === 0) runningOf.delete(owner)
    else runningOf.set(owner, now)
  }

  return {
    async run(owner, work) {
      await new Promise<void>(resolve => {
        const queue = queues.get(owner) ?? []
        queue.push(() => {
          begun(owner, 1)
          resolve()
        })
        queues.set(owner, queue)
        waiting++
        next()
      })
      try {
        return await work()
      } finally {
        begun(owner, -1)
        next()
      }
    },
    running: () => running,
    waiting: () => waiting,
  }
}
