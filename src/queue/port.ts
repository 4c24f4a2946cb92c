// The port between queue and engine. Tickets are always inserted and deleted in PostgreSQL together with the rows they are for;
// an adapter only decides how they reach an engine.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'

export type Ticket = {
  id: Id
  lane: string
  service_id: Id
  subjects: Id[]
  /** How often the work was deferred. */
  attempts: number
  /** How often the work failed: it threw, or a subject could not be loaded. Absent: never. */
  faults?: number
  /** When the work was deferred for the first time. */
  tried_at?: Timestamp | null
  /** Leases since the last recorded result: more than one means that an earlier owner ended without recording one. */
  takes: number
  /** Of a ticket that is leased at its insert: its first subjects that may be handed over (`begin`). Absent: none. */
  begun?: number
}

/** A ticket that was leased more often than this without a result is a suspect: it may crash the process that takes it. */
export const SUSPECT_TAKES = 2

/** Tickets of one service that a lane may lease at the same time. Fewer than a lane can lease in all, so that other services get a place. */
export const MOST_OF_ONE = 12

export type Taker = {
  /**
   * Leases at most `most` due tickets of a lane, shared fairly between services. Suspects (SUSPECT_TAKES leases without a result)
   * are taken separately, so that no other ticket is lost with them. `leased` is how many tickets the caller already has of each
   * service: the service with the fewest comes first, and none gets more than `mostOfOne`, usually MOST_OF_ONE.
   */
  take(
    lane: string,
    most: number,
    which: 'usual' | 'suspects',
    leased?: ReadonlyMap<Id, number>,
    mostOfOne?: number,
  ): Promise<Ticket[]>
  /** Extends our leases; returns the tickets that are still ours, with their takes. */
  renew(ids: readonly Id[]): Promise<Map<Id, number>>
  /**
   * Writes down that the first `begun` subjects of these tickets may be handed over from now on: after a crash these are uncertain, and
   * no others. Returns the tickets that are still ours.
   */
  begin(tickets: readonly { id: Id; takes: number; begun: number }[]): Promise<Set<Id>>
  /**
   * Frees tickets that are leased to us and that we do not know, because the answer of the statement that leased them was lost: as if
   * they had never been taken. No take of these lanes is in progress.
   */
  freeUnknown(lanes: readonly string[], known: readonly Id[]): Promise<void>
  /** Frees tickets whose lease has expired. The caller knows that their owners could have renewed it (engine/answers.ts). */
  reap(): Promise<void>
  /** Returns tickets of which nothing is in flight or unrecorded, as if they had never been taken. */
  giveBack(ids: readonly Id[]): Promise<void>
  /**
   * For each lane, in how many milliseconds its next ticket is due (0: now); lanes without tickets are absent. An answer also says
   * that the queue can be written: with a synchronous standby, it comes after a commit.
   */
  nextDue(lanes: readonly string[]): Promise<Map<string, number>>
}
