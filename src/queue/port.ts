// How tickets travel. They are always born and settled in PostgreSQL with the rows they serve; an adapter only decides how
// they reach an engine.
import type { Id } from '../core/id.ts'

export type Ticket = {
  id: Id
  lane: string
  service_id: Id
  subjects: Id[]
  /** Hand-overs answered with "not now" so far. */
  attempts: number
  /** Leases since the last answer: more than one means that an earlier owner ended without one. */
  takes: number
}

/** Taken more often than this without an answer, a ticket is suspected of ending whoever takes it. */
export const SUSPECT_TAKES = 2

/** Tickets of one service that a lane holds at the same time: fewer than it can hold, so that another finds room at once. */
export const MOST_OF_ONE = 12

export type Taker = {
  /**
   * Due tickets of a lane, now ours; not more than `most`, and fairly from all services that have some. Suspects are those
   * that have lost their owner SUSPECT_TAKES times; they are taken apart, so that others are not held beside them. `held` is
   * what the caller has of each service already: who has least comes first, and nobody gets more than MOST_OF_ONE.
   */
  take(lane: string, most: number, which: 'usual' | 'suspects', held?: ReadonlyMap<Id, number>): Promise<Ticket[]>
  /** Makes our leases longer; returns the tickets that are still ours. */
  renew(ids: readonly Id[]): Promise<Set<Id>>
  /** Tickets of owners that have ended become free again. */
  reap(): Promise<void>
  /** Gives tickets back unhandled, as if they had never been taken. */
  giveBack(ids: readonly Id[]): Promise<void>
  /** For each lane, in how many milliseconds its next ticket is due (0: now); lanes without tickets are absent. */
  nextDue(lanes: readonly string[]): Promise<Map<string, number>>
}
