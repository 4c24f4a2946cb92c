// Admission control: how many messages may be sent at the same time. docs/admission.md has the picture.

// 1. The lane's share: how many messages of a lane may be in flight, and how many results may be unrecorded, in this process. What is
// in flight or unrecorded is uncertain if the process ends suddenly, so all lanes that send have one limit together.

export type LaneShare = {
  /** Whether another item may start. If not, `onRoom` is called when it is worth asking again. */
  mayStart(): boolean
  started(): void
  /** The item is no longer in flight. Its result, if any, is recorded separately. */
  answered(): void
  recording(): void
  recorded(): void
  inFlight(): number
  unrecorded(): number
}

export type LaneShares = {
  /**
   * For a lane that sends: at most `slots` in flight, and a place of the process-wide limit. `reserved` places belong to this lane
   * alone; beyond them it uses places that all lanes share.
   */
  sending(slots: number, reserved: number, onRoom: () => void): LaneShare
  /** For a lane that sends nothing: at most `slots` in flight and twice as many unrecorded. */
  local(slots: number): LaneShare
}

/** The process-wide limit, for messages in flight and for unrecorded results each. */
const MOST_SENDING = 64

export function createLaneShares(total = MOST_SENDING): LaneShares {
  let reservedByAll = 0
  const waiting = new Set<() => void>()
  const inFlight = createSharedCount()
  const unrecorded = createSharedCount()

  function createSharedCount() {
    let shared = 0
    return (reserved: number) => {
      let own = 0
      return {
        hasRoom: () => own < reserved || shared < total - reservedByAll,
        value: () => own,
        increase() {
          if (++own > reserved) shared++
        },
        decrease() {
          if (own-- > reserved) shared--
          if (waiting.size > 0) notify()
        },
      }
    }
  }

  function notify() {
    const all = [...waiting]
    waiting.clear()
    for (const onRoom of all) onRoom()
  }

  return {
    sending(slots, reserved, onRoom) {
      reservedByAll += reserved
      const [sends, results] = [inFlight(reserved), unrecorded(reserved)]
      return {
        mayStart() {
          // A lane without a free slot asks again by itself when an item is answered.
          if (sends.value() >= slots) return false
          const may = sends.hasRoom() && results.hasRoom()
          if (!may) waiting.add(onRoom)
          return may
        },
        started: sends.increase,
        answered: sends.decrease,
        recording: results.increase,
        recorded: results.decrease,
        inFlight: sends.value,
        unrecorded: results.value,
      }
    },
    local(slots) {
      let [started, results] = [0, 0]
      return {
        mayStart: () => started < slots && results < 2 * slots,
        started: () => void started++,
        answered: () => void started--,
        recording: () => void results++,
        recorded: () => void results--,
        inFlight: () => started,
        unrecorded: () => results,
      }
    },
  }
}
