// What arrives while a statement is in flight shares the next one: a busy service costs one commit per group, not per message.
// Nobody waits when nothing is in flight; but where several come at a time, a few milliseconds later more have come.

export type Batch<I, R> = {
  /** Settles when the group this item travelled with has been dealt with. */
  add(item: I): Promise<R>
  /** Items waiting for their turn. */
  waiting(): number
}

/**
 * After a group of several the next one waits so long, unless enough are there before, or this process is itself what everybody
 * waits for: then the database would only be idle meanwhile. Many do not even wait for those who are being read with them.
 */
export type Rest = { several: number; ms: number; enough: number; many: number; isBusy(): boolean }

type Entry<I, R> = { item: I; resolve(result: R): void; reject(error: unknown): void }

/** `run` gives a result for every item, in order; when it throws, every item of the group fails with it. */
export function createBatch<I, R>(
  run: (items: I[]) => Promise<R[]>,
  { most, inFlight, rest = null }: { most: number; inFlight: number; rest?: Rest | null },
): Batch<I, R> {
  let queue: Entry<I, R>[] = []
  let running = 0
  let scheduled = false
  let isResting = false

  function next() {
    scheduled = false
    if (isResting && queue.length < (rest?.enough ?? 0)) return
    while (queue.length > 0 && running < inFlight) {
      const group = queue.length <= most ? queue : queue.slice(0, most)
      queue = queue.length <= most ? [] : queue.slice(most)
      running++
      void deal(group)
    }
  }

  function endRest() {
    isResting = false
    next()
  }

  async function deal(group: Entry<I, R>[]) {
    let answer: () => void
    try {
      const results = await run(group.map(entry => entry.item))
      answer = () => {
        group.forEach((entry, at) => {
          entry.resolve(results[at] as R)
        })
      }
    } catch (error) {
      answer = () => {
        for (const entry of group) entry.reject(error)
      }
    }
    running--
    if (rest && group.length >= rest.several && !isResting && !rest.isBusy()) {
      isResting = true
      setTimeout(endRest, rest.ms)
    }
    if (queue.length === 0) return answer()
    // The next group is sent before these are answered: the database works while we write, not after.
    next()
    setImmediate(answer)
  }

  return {
    add: item =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        if (running >= inFlight) return
        // Where all callers have been answered together, they come back together: the first of them leave while the others are
        // read. If all left as one group, the database and this process would work in turns from then on.
        if (queue.length >= (rest?.many ?? Number.POSITIVE_INFINITY)) next()
        // One turn of the event loop: requests that were read together leave together.
        else if (!scheduled) {
          scheduled = true
          setImmediate(next)
        }
      }),
    waiting: () => queue.length,
  }
}
