// Limits how much work runs at the same time, fairly: work that waits is started in round-robin order of its owners, however much one
// owner has waiting.

export type Turns = {
  /** Starts `work` when it is its turn, and settles as it does. Long work starts before other work of its owner that waits. */
  run<T>(owner: string, work: () => Promise<T>, length?: 'short' | 'long'): Promise<T>
  running(): number
  waiting(): number
}

const LONGEST_REST_MS = 250
/** Work that is shorter does not delay others. */
const LONG_MS = 20

/**
 * At most `atOnce` run in total, and `ofOne` of one owner, so that one owner cannot occupy all places; of the long ones at most `ofLong`
 * in total. Long work takes both of its places at the moment it starts: while it waits for its owner's turn it keeps no others from
 * theirs. When work that took long ends and its owner has more waiting, that owner pauses for as long as the work took: a loop of long
 * requests gets half of the time it could have. Others may use its place meanwhile.
 */
export function createTurns({
  atOnce,
  ofOne,
  ofLong = atOnce,
}: {
  atOnce: number
  ofOne: number
  ofLong?: number
}): Turns {
  /** Owners in round-robin order: the one that had a turn is moved to the end. */
  const queues = new Map<string, Queue>()
  const all = createPlaces(atOnce, ofOne)
  const long = createPlaces(ofLong, ofLong)
  let waiting = 0

  function next() {
    for (const [owner, queue] of queues) {
      if (!all.isFree()) return
      if (!all.isFree(owner)) continue
      const start = (long.isFree(owner) && queue.long.shift()) || queue.short.shift()
      if (!start) continue
      queues.delete(owner)
      if (queue.long.length + queue.short.length > 0) queues.set(owner, queue)
      waiting--
      start()
    }
  }

  function end(owner: string, places: Places[], tookMs: number) {
    const release = () => {
      for (const place of places) place.release(owner)
      next()
    }
    for (const place of places) place.end()
    if (queues.has(owner) && tookMs > LONG_MS) setTimeout(release, Math.min(tookMs, LONGEST_REST_MS))
    else release()
    next()
  }

  return {
    async run(owner, work, length = 'short') {
      const places = length === 'long' ? [all, long] : [all]
      await new Promise<void>(resolve => {
        const queue = queues.get(owner) ?? { short: [], long: [] }
        queue[length].push(() => {
          for (const place of places) place.begin(owner)
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
        end(owner, places, performance.now() - since)
      }
    },
    running: all.running,
    waiting: () => waiting,
  }
}

type Queue = Record<'short' | 'long', (() => void)[]>
type Places = ReturnType<typeof createPlaces>

/** An owner that pauses keeps its own place, which counts for `ofOne` only. */
function createPlaces(most: number, ofOne: number) {
  const byOwner = new Map<string, number>()
  let running = 0
  return {
    isFree: (owner?: string) => running < most && (owner === undefined || (byOwner.get(owner) ?? 0) < ofOne),
    begin(owner: string) {
      running++
      byOwner.set(owner, (byOwner.get(owner) ?? 0) + 1)
    },
    end() {
      running--
    },
    release(owner: string) {
      const left = (byOwner.get(owner) ?? 1) - 1
      if (left === 0) byOwner.delete(owner)
      else byOwner.set(owner, left)
    },
    running: () => running,
  }
}

/** The pieces of a source, each read when `run` starts it: the time that the consumer takes for a piece uses up no turn. */
export async function* inTurns<T>(
  run: (read: () => Promise<IteratorResult<T>>) => Promise<IteratorResult<T>>,
  source: AsyncIterable<T>,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await run(() => iterator.next())
      if (done) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}
