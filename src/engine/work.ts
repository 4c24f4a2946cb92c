// What a lane is given to do, and what comes of it. Work is read–act–write: `load` reads, `handle` talks to the outside world and
// does not use the database, and the result is recorded later together with others.
import type { Id } from '../core/id.ts'
import type { Ticket } from '../queue/port.ts'
import { createRecall, type Recall } from '../runtime/recall.ts'

export type Work<Item, Result> = {
  /** The open items of these tickets by subject. Subjects that are done already are left out. */
  load(tickets: readonly Ticket[]): Promise<Map<Id, Item>>
  handle(item: Item, ticket: Ticket, recall: Recall): Promise<Handled<Result>>
  /** Its items go to the outside world: before one starts, its ticket says in the database that it may have (windows.ts). */
  isHandedOver?: true
  /** The final result of an item that ended the process, or threw, every time it was tried. */
  setAside(item: Item): Result
  /** The same for a subject that could never be loaded. Absent: it is retried at long intervals. */
  setAsideUnseen?(): Result
  /** The message or the job whose trace shows the work on an item; null: none. Absent: the subject itself. */
  traceOf?(item: Item): Id | null
  /** Recorded instead of a result whose data the database rejects. Absent: the ticket is left until its lease expires. */
  unrecordable?(result: Result): Result
}

/**
 * done: recorded. again: recorded, and retried later; `isFault`: because it failed, not because it was deferred. wait: nothing was
 * sent; the lane pauses until `until` resolves. recalled: nothing was sent; the item goes back to the queue.
 */
export type Handled<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'again'; result: Result | null; delaySeconds: number; isFault?: true }
  | { kind: 'wait'; until: Promise<void> }
  | { kind: 'recalled' }

/** One result to write. The last entry of a ticket settles it and carries the subjects to retry. */
export type Entry<Result> = { ticket: Ticket; id: Id | null; result: Result | null; settle: Retry[] | null }

/** A subject that continues under a new ticket, with the attempts, faults and takes that ticket starts with. */
export type Retry = { id: Id; delaySeconds: number; attempts: number; faults?: number | undefined; takes: number }

/** A ticket leased to this process, and its items. */
export type Leased<Item> = {
  ticket: Ticket
  /** By performance.now(); 0 once the lease is given up or lost. */
  leasedUntil: number
  /** Items that have not been started, in order. */
  items: [Id, Item][]
  /** How many items were loaded. */
  total: number
  /** Items without a final result: not started, or in flight. */
  open: number
  retries: Retry[]
  group: Group
  window: Window
  /** Sending was held, its service suspended, or the process stops: what has not been handed over goes back to the queue. */
  recall: ReturnType<typeof createRecall>
}

/** How many of the items may be started, from the first one (windows.ts). */
export type Window = {
  open: number
  /** Items that the next write opens, and when the last one was asked for, by performance.now(). */
  size: number
  askedAt: number
  isAsking: boolean
}

/** Progress of a suspect ticket, which is handled group by group (suspects.ts). */
export type Group = {
  /** Items of the current group that were started, and those of them that are not recorded yet. */
  started: number
  unrecorded: number
  /** Items of all earlier groups. */
  passed: number
}

export const leasedOf = <Item>(ticket: Ticket, items: [Id, Item][], leasedUntil: number): Leased<Item> => ({
  ticket,
  leasedUntil,
  items,
  total: items.length,
  open: items.length,
  retries: [],
  group: { started: 0, unrecorded: 0, passed: 0 },
  window: { open: Number.POSITIVE_INFINITY, size: LEAST_WINDOW, askedAt: 0, isAsking: false },
  recall: createRecall(),
})

/** The first window of a ticket. */
export const LEAST_WINDOW = 8
