// Admission control: how many messages may be sent at the same time, and how fast. Two limits, and no third: a message passes its
// lane's share, then its provider's capacity. docs/admission.md has the picture.
import { createGate, createPlaces, type Gate, type Places } from './places.ts'
import { createRate, type Rate } from './rate.ts'
import type { Recall } from './recall.ts'

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
          // A lane without a free slot asks again when one of its items is answered.
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

// 2. The provider's capacity: its rate, the messages inside, and its connections or window. Part of it is reserved for urgent
// messages, so that a slow provider full of newsletters still has room for a one-time code.

/** Part of a provider's places that ordinary messages may not use. */
const URGENT_RESERVE = 0.25

const ordinaryPart = (places: number) => Math.max(1, Math.floor(places * (1 - URGENT_RESERVE)))

export type Capacity = {
  readonly perSecond: number | null
  /**
   * Admits a message: waits for the rate, then for room among the messages inside. Undefined: admitted at once. False: it was recalled
   * while it waited, and is not inside.
   */
  enter(cost: number, urgent: boolean, recall?: Recall): Promise<boolean> | undefined
  /** Call once for every message admitted, when the provider has answered. */
  leave(urgent: boolean): void
  /** For an adapter that is paced by part: it waits for a turn before every part. */
  rate: Rate
}

export type CapacityLimits = {
  /** Messages or parts per second; null: no limit. */
  perSecond: number | null
  /** Messages inside the adapter at the same time; more would only wait there. Absent: no limit. */
  messages?: number
  /** message: `enter` waits for the rate; urgent messages use it up, but do not wait. part: the adapter waits for every part. */
  pacedBy?: 'message' | 'part'
}

export function createCapacity({ perSecond, messages, pacedBy = 'message' }: CapacityLimits): Capacity {
  const rate = createRate(perSecond)
  // Urgent messages are not limited here. They have the connections that ordinary ones may not use, and go first.
  const ordinary = messages === undefined ? null : createGate(Number.POSITIVE_INFINITY, ordinaryPart(messages))
  const admit = (recall?: Recall) => ordinary?.enter(false, undefined, recall)
  return {
    perSecond,
    rate,
    enter(cost, urgent, recall) {
      if (urgent) {
        if (pacedBy === 'message') rate.charge(cost)
        return undefined
      }
      const turn = pacedBy === 'message' ? rate.turn(cost, false, recall) : undefined
      return turn === undefined ? admit(recall) : turn.then(isTurn => isTurn && (admit(recall) ?? true))
    },
    leave(urgent) {
      if (!urgent) ordinary?.leave(false)
    },
  }
}

/** The connections of a provider and the jobs that wait for one. */
export const createConnectionPlaces = <Job>(connections: number): Places<Job> =>
  createPlaces(connections, ordinaryPart(connections))

/** A window of unanswered requests on one connection. It has no reserve: `messages` of the capacity limits ordinary ones already. */
export const createWindow = (size: number): Gate => createGate(size, size)
