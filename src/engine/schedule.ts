// The order in which a lane starts its items: round robin between services, alternating between two rules within one. Nothing is
// started while the lane is paused or the lane's share (runtime/admission.ts) has no room.
import type { Id } from '../core/id.ts'
import type { LaneShare } from '../runtime/admission.ts'
import { mayStart } from './suspects.ts'
import type { Leased } from './work.ts'

export type Turn<Item> = { leased: Leased<Item>; id: Id; item: Item }

const isOpen = <Item>({ window }: Leased<Item>) => window.open > 0

export type Schedule<Item> = {
  add(leased: Leased<Item>): void
  remove(leased: Leased<Item>): void
  /** The next item to start. Null: none waits, none may start, or there is no room. */
  next(): Turn<Item> | null
  /** Returns an item that was not sent; it is the next one of its ticket. */
  putBack(turn: Turn<Item>): void
  /** Starts nothing until the promise settles; then calls `onResume`. A second pause during the first changes nothing. */
  pause(until: Promise<void>, onResume: () => void): void
  isPaused(): boolean
}

/** `onShut`: the ticket whose turn it is has items, but none that may be handed over yet (windows.ts). */
export function createSchedule<Item>(
  share: Pick<LaneShare, 'mayStart'>,
  onShut: (leased: Leased<Item>) => void = () => {},
): Schedule<Item> {
  /** Tickets with items to start, by service. The service whose turn is next comes first. */
  const queues = new Map<Id, Leased<Item>[]>()
  let isPaused = false
  let turns = 0

  function add(leased: Leased<Item>) {
    const queue = queues.get(leased.ticket.service_id)
    if (queue) queue.push(leased)
    else queues.set(leased.ticket.service_id, [leased])
  }

  // Every other turn goes to the ticket with the fewest items, so that a single message does not wait for a large ticket of its own
  // service; the others go to the oldest ticket, so that it ends.
  function choose(queue: readonly Leased<Item>[]): Leased<Item> | undefined {
    const [oldest] = queue
    if (!oldest || turns++ % 2 === 0) return oldest
    return queue.reduce((least, leased) => (leased.items.length < least.items.length ? leased : least), oldest)
  }

  return {
    add,
    remove(leased) {
      const queue = queues.get(leased.ticket.service_id)?.filter(other => other !== leased) ?? []
      if (queue.length > 0) queues.set(leased.ticket.service_id, queue)
      else queues.delete(leased.ticket.service_id)
    },
    next() {
      if (isPaused || queues.size === 0 || !share.mayStart()) return null
      // A suspect ticket that waits for its group to end is skipped.
      for (const [service, queue] of queues) {
        const wanted = queue.length === 1 ? queue.find(mayStart) : choose(queue.filter(mayStart))
        if (wanted && !isOpen(wanted)) onShut(wanted)
        const leased = wanted && !isOpen(wanted) ? queue.find(one => isOpen(one) && mayStart(one)) : wanted
        const entry = leased?.items.shift()
        if (!leased || !entry) continue
        queues.delete(service)
        const rest = leased.items.length > 0 ? queue : queue.filter(other => other !== leased)
        if (rest.length > 0) queues.set(service, rest)
        return { leased, id: entry[0], item: entry[1] }
      }
      return null
    },
    putBack({ leased, id, item }) {
      leased.items.unshift([id, item])
      if (leased.items.length === 1) add(leased)
    },
    pause(until, onResume) {
      if (isPaused) return
      isPaused = true
      const resume = () => {
        isPaused = false
        onResume()
      }
      until.then(resume, resume)
    },
    isPaused: () => isPaused,
  }
}
