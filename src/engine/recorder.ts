// Writes what work came to, in groups: one statement at a time, because what settles a ticket must come after the results it
// stands for. Nothing waits while nothing is written; under load a statement is worth waiting a few milliseconds for company.

export type Recorder<E> = {
  /** `then` is called when the entry is on disk, or with the reason why it never will be. */
  add(entry: E, then: (error?: unknown) => void): void
  unrecorded(): number
}

const MOST = 256
const ENOUGH = 32
const REST_MS = 4

type Waiting<E> = { entry: E; then(error?: unknown): void }

/** `write` does not give up while there is hope. */
export function createRecorder<E>(write: (entries: E[]) => Promise<void>): Recorder<E> {
  let waiting: Waiting<E>[] = []
  let writing = 0
  let rested = true
  let isDue = false

  function next() {
    if (isDue || writing > 0 || waiting.length === 0 || (!rested && waiting.length < ENOUGH)) return
    isDue = true
    // One turn of the event loop: what was answered together is written together.
    setImmediate(() => {
      isDue = false
      const group = waiting.length <= MOST ? waiting : waiting.slice(0, MOST)
      waiting = waiting.length <= MOST ? [] : waiting.slice(MOST)
      void deal(group)
    })
  }

  async function deal(group: Waiting<E>[]) {
    writing = group.length
    let failure: unknown
    try {
      await write(group.map(one => one.entry))
    } catch (error) {
      failure = error ?? new Error('not recorded')
    }
    writing = 0
    rest()
    for (const one of group) one.then(failure)
    next()
  }

  function rest() {
    rested = false
    setTimeout(() => {
      rested = true
      next()
    }, REST_MS)
  }

  return {
    add(entry, then) {
      waiting.push({ entry, then })
      next()
    },
    unrecorded: () => waiting.length + writing,
  }
}
