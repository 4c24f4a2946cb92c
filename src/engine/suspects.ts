// Poison isolation: finds the item that ends the process, without blaming the other items of its ticket.
//
// A ticket that lost its owner SUSPECT_TAKES times is suspect. A process handles one suspect ticket at a time, group by group; a
// group is recorded before the next one starts. If the process ends again, the poison is in the first group that was not
// recorded, and the next take handles that part in smaller groups: 64, then 8, then 1. After MOST_TAKES takes the first open item
// is the poison and is set aside; the others go on. An item that throws or cannot be loaded is set aside after as many faults; deferrals
// do not count.
import type { Id } from '../core/id.ts'
import { SUSPECT_TAKES, type Ticket } from '../queue/port.ts'
import type { Leased, Retry } from './work.ts'

const MOST_TAKES = 5
const GROUP_SIZES = [64, 8, 1] as const
export const FAILED_SECONDS = 5
/** For subjects that cannot be loaded and whose work has no result for that case. */
const UNLOADABLE_SECONDS = 1_800

export const isSuspect = (ticket: Ticket): boolean => ticket.takes > SUSPECT_TAKES

/** The first open item of this ticket ended its owner: no other one was in flight. */
export const hasPoison = (ticket: Ticket): boolean => ticket.takes > MOST_TAKES

const faultsAfter = ({ faults = 0 }: Ticket) => faults + 1

/** Whether an item that fails now has failed often enough to be set aside. */
export const isLastFault = (ticket: Ticket): boolean => faultsAfter(ticket) >= MOST_TAKES

/** One suspect ticket per process, over all lanes; with two, one could be blamed for what the other did. */
export type SuspectSlot = {
  tryAcquire(): boolean
  release(): void
}

export function createSuspectSlot(): SuspectSlot {
  let isTaken = false
  return {
    tryAcquire() {
      if (isTaken) return false
      isTaken = true
      return true
    },
    release() {
      isTaken = false
    },
  }
}

export const mayStart = <Item>({ ticket, group }: Leased<Item>): boolean =>
  !isSuspect(ticket) || group.started < groupSize(ticket, group.passed)

export function countStart<Item>({ ticket, group }: Leased<Item>): void {
  if (!isSuspect(ticket)) return
  group.started++
  group.unrecorded++
}

/** Call when an item is recorded, or needs no record. True: it was the last one of its group, and the next group may start. */
export function countEnd<Item>({ ticket, group }: Leased<Item>): boolean {
  if (!isSuspect(ticket) || --group.unrecorded > 0) return false
  group.passed += group.started
  group.started = 0
  return true
}

/** How many items of a suspect are in flight at the same time. The part that the last owner did not finish gets the smaller size. */
export function groupSize({ takes }: Ticket, passed: number): number {
  const step = Math.min(takes - SUSPECT_TAKES, GROUP_SIZES.length) - 1
  const smaller = GROUP_SIZES.findLast((_size, at) => at > 0 && at <= step && passed < (GROUP_SIZES[at - 1] ?? 0))
  return smaller ?? GROUP_SIZES[0]
}

/** The first open item; all others continue under a ticket that is not suspect. */
export function isolate<Item>(leased: Leased<Item>): [Id, Item] | undefined {
  const [poison, ...others] = leased.items
  const { attempts, faults } = leased.ticket
  for (const [id] of others) leased.retries.push({ id, delaySeconds: 0, attempts, faults, takes: 0 })
  return poison
}

/**
 * Moves the items that have not been started to a new ticket that is as suspect as this one; this take is not counted twice. Used
 * when an item was deferred: it was answered, so it is not the poison, and if it stayed the first open item it would be blamed. Also
 * used when a ticket gives up its place (take.ts): then some of its items may be in flight.
 */
export function splitOff<Item>(leased: Leased<Item>): void {
  const { attempts, faults, takes } = leased.ticket
  leased.open -= leased.items.length
  for (const [id] of leased.items.splice(0))
    leased.retries.push({ id, delaySeconds: 0, attempts, faults, takes: takes - 1 })
}

export const retryFailed = (id: Id, ticket: Ticket, delaySeconds: number): Retry => ({
  id,
  delaySeconds,
  attempts: ticket.attempts,
  faults: faultsAfter(ticket),
  takes: 0,
})

export const retryUnloadable = (id: Id, ticket: Ticket): Retry =>
  retryFailed(id, ticket, isLastFault(ticket) ? UNLOADABLE_SECONDS : FAILED_SECONDS)
