// How much a process may have begun and not yet written down, over all lanes that send: what a sudden end leaves uncertain.
// Every lane keeps a few places for itself, so that none is held up by the others; the rest is for whoever comes.

/** What counts: hand-overs in flight, and results that are not on disk yet. */
const MOST = 64

export type Share = {
  /** Whether another may begin; if not, `onRoom` is called when it is worth asking again. */
  mayBegin(): boolean
  began(): void
  /** It has been answered: its result is to be recorded, or there is none. */
  answered(): void
  toRecord(): void
  recorded(): void
}

export type Ceiling = { share(kept: number, onRoom: () => void): Share }

export function createCeiling(most = MOST): Ceiling {
  const refused = new Set<() => void>()
  let keptByAll = 0
  const inFlight = createCount()
  const unrecorded = createCount()

  /** Beyond what its owner keeps, each takes from what all share. */
  function createCount() {
    let shared = 0
    return {
      of(kept: number) {
        let mine = 0
        return {
          hasRoom: () => mine < kept || shared < most - keptByAll,
          more() {
            if (++mine > kept) shared++
          },
          less() {
            if (mine-- > kept) shared--
            if (refused.size > 0) ask()
          },
        }
      },
    }
  }

  function ask() {
    const all = [...refused]
    refused.clear()
    for (const onRoom of all) onRoom()
  }

  return {
    share(kept, onRoom) {
      keptByAll += kept
      const [sends, results] = [inFlight.of(kept), unrecorded.of(kept)]
      return {
        mayBegin() {
          const may = sends.hasRoom() && results.hasRoom()
          if (!may) refused.add(onRoom)
          return may
        },
        began: sends.more,
        answered: sends.less,
        toRecord: results.more,
        recorded: results.less,
      }
    },
  }
}
