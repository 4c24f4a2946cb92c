// Group commit: items that arrive while a batch is being written share the next one, so that a busy service pays for one commit
// per batch and not per item. While nothing is being written, an item waits for one turn of the event loop only.

export type GroupCommit<Item, Result> = {
  /** Settles when the batch of this item has been written. */
  add(item: Item): Promise<Result>
  /** The same with callbacks, for callers who need no promise per item. */
  push(item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void): void
  /** Items that wait or are being written. */
  pending(): number
}

export type GroupCommitOptions = {
  maxItems: number
  /** Batches being written at the same time. */
  maxInFlight: number
  delay?: BatchingDelay
  /** With this many items a batch does not even wait for the end of this turn of the event loop. Absent: it does. */
  sendAtItems?: number
  /**
   * The next batch is normally sent before the last one is answered, so that the database works meanwhile. With `answerFirst` it
   * is sent after the answers: what they add goes with it.
   */
  answerFirst?: boolean
  /** A batch that fails with such an error is split (see runSplitting). All other errors fail every item of the batch. */
  isDataError?(error: unknown): boolean
}

/** After a batch of at least `afterItems` the next one waits for `ms`, because a larger batch costs less per item. */
export type BatchingDelay = {
  afterItems: number
  ms: number
  /** With this many items the batch does not wait for the end of the delay. */
  skipAtItems: number
}

type BatchEntry<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void }

/** `run` returns one result for each item, in order; an empty list where there is nothing to return. */
export function createGroupCommit<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  {
    maxItems,
    maxInFlight,
    delay,
    sendAtItems: sendAt = Number.POSITIVE_INFINITY,
    answerFirst = false,
    isDataError = () => false,
  }: GroupCommitOptions,
): GroupCommit<Item, Result> {
  let queue: BatchEntry<Item, Result>[] = []
  let inFlight = 0
  let writing = 0
  let isScheduled = false
  let isDelayed = false
  const skipAt = delay?.skipAtItems ?? 0

  function schedule() {
    if (isScheduled || queue.length === 0 || (isDelayed && queue.length < skipAt)) return
    // One turn of the event loop: requests that were read together are written together.
    isScheduled = true
    setImmediate(send)
  }

  function send() {
    isScheduled = false
    if (isDelayed && queue.length < skipAt) return
    while (queue.length > 0 && inFlight < maxInFlight) {
      const batch = queue.length <= maxItems ? queue : queue.slice(0, maxItems)
      queue = queue.length <= maxItems ? [] : queue.slice(maxItems)
      void write(batch)
    }
  }

  async function write(batch: BatchEntry<Item, Result>[]) {
    inFlight++
    writing += batch.length
    const answer = await answerOf(batch)
    inFlight--
    writing -= batch.length
    if (delay && batch.length >= delay.afterItems && !isDelayed) startDelay(delay.ms)
    if (answerFirst || queue.length === 0) {
      answer()
      if (inFlight < maxInFlight) schedule()
    } else {
      send()
      setImmediate(answer)
    }
  }

  /** Runs a batch; returns what answers its items. */
  async function answerOf(batch: readonly BatchEntry<Item, Result>[]): Promise<() => void> {
    const items = batch.map(entry => entry.item)
    try {
      const results = await run(items)
      return () => {
        for (const [at, entry] of batch.entries()) entry.resolve(results[at] as Result)
      }
    } catch (error) {
      const results = await splitAfter(error, items, run, isDataError)
      return () => {
        for (const [at, entry] of batch.entries()) {
          const result = results[at]
          if (result?.status === 'fulfilled') entry.resolve(result.value)
          else entry.reject(result?.reason)
        }
      }
    }
  }

  function startDelay(ms: number) {
    isDelayed = true
    setTimeout(() => {
      isDelayed = false
      send()
    }, ms)
  }

  function push(item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void) {
    queue.push({ item, resolve, reject })
    if (inFlight >= maxInFlight) return
    // Callers that were answered together send their next requests together: the first of them are sent to the database while the
    // others are still read. If all were sent as one batch, the database would be idle while this process works, and the reverse.
    if (queue.length >= sendAt) send()
    else schedule()
  }

  return {
    add: item => new Promise((resolve, reject) => push(item, resolve, reject)),
    push,
    pending: () => queue.length + writing,
  }
}

/**
 * Runs `run` on all items. When it fails because of the data of an item, each half is run separately, in order, down to single
 * items: one refused item among n costs about 2 log2 n further runs. Any other failure (an outage) is the result of every item
 * of that run, and nothing is split. Returns one result for each item, in order; never rejects.
 */
export async function runSplitting<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  isDataError: (error: unknown) => boolean,
): Promise<PromiseSettledResult<Result>[]> {
  if (items.length === 0) return []
  try {
    const results = await run(items)
    return items.map((_item, at) => ({ status: 'fulfilled', value: results[at] as Result }))
  } catch (error) {
    return await splitAfter(error, items, run, isDataError)
  }
}

async function splitAfter<Item, Result>(
  reason: unknown,
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  isDataError: (error: unknown) => boolean,
): Promise<PromiseSettledResult<Result>[]> {
  if (items.length === 1 || !isDataError(reason)) return items.map(() => ({ status: 'rejected', reason }))
  const middle = Math.ceil(items.length / 2)
  const first = await runSplitting(items.slice(0, middle), run, isDataError)
  const second = await runSplitting(items.slice(middle), run, isDataError)
  return [...first, ...second]
}
