// Calls work back that waits for its turn: it leaves the queue it waits in, and is not begun. What has begun is not affected.

export type Recall = {
  isRecalled(): boolean
  /** Calls `leave` once, when the work is recalled. Returns what to call when the work no longer waits. */
  whenRecalled(leave: () => void): () => void
}

const NOTHING = () => {}

export function createRecall(): Recall & { recall(): void } {
  // Most work never waits, so the set is created for the first that does.
  let waiting: Set<() => void> | null = null
  let isRecalled = false
  return {
    isRecalled: () => isRecalled,
    whenRecalled(leave) {
      if (isRecalled) {
        leave()
        return NOTHING
      }
      waiting ??= new Set()
      waiting.add(leave)
      return () => void waiting?.delete(leave)
    },
    recall() {
      isRecalled = true
      const all = [...(waiting ?? [])]
      waiting = null
      for (const leave of all) leave()
    },
  }
}

/**
 * Waits until `start` is called. False: it was recalled before, or given up by `leave`; `remove` has taken it out of its queue.
 * `add` gets both, and puts `start` into the queue.
 */
export function waitForTurn(
  recall: Recall | undefined,
  remove: (start: () => void) => void,
  add: (start: () => void, leave: () => void) => void,
): Promise<boolean> {
  return new Promise(resolve => {
    let forget = NOTHING
    const start = () => {
      forget()
      resolve(true)
    }
    const leave = () => {
      forget()
      remove(start)
      resolve(false)
    }
    add(start, leave)
    if (recall) forget = recall.whenRecalled(leave)
  })
}
