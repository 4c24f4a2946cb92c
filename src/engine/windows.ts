// Which items of a ticket may start. Before an item is handed over, its ticket says in the database that it may have been: after a crash
// these items are uncertain, and no others. A statement for each item would be too expensive, so one opens a window: the next items in
// order, of all tickets that ask at the same moment. A window grows until it lasts for the time that a statement takes.
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'
import { createGroupCommit, type GroupCommit } from '../runtime/group-commit.ts'
import { LEAST_WINDOW, type Leased } from './work.ts'

const MOST_WINDOW = 64
/** A window that lasts shorter than this is doubled; one that lasts longer than four times this is halved. */
const WINDOW_MS = 20
const MOST_AT_ONCE = 256

/** True: the ticket is still ours, and the first `begun` of its subjects may be handed over. */
export type Windows = Pick<GroupCommit<{ id: Id; takes: number; begun: number }, boolean>, 'push'>

export const createWindows = (taker: Pick<Taker, 'begin'>): Windows =>
  createGroupCommit(
    async asked => {
      const ours = await taker.begin(asked)
      return asked.map(({ id }) => ours.has(id))
    },
    { maxItems: MOST_AT_ONCE, maxInFlight: 1 },
  )

/** How many of the loaded items may start without a statement: those that the insert of the ticket has opened. */
export function openedAtInsert(ticket: Ticket, items: readonly (readonly [Id, unknown])[]): number {
  const begun = ticket.begun ?? 0
  if (begun >= ticket.subjects.length) return items.length
  const opened = new Set(ticket.subjects.slice(0, begun))
  return items.filter(([id]) => opened.has(id)).length
}

/** Whether the window of a ticket should be renewed, so that the next items need not wait for it. */
export const isNarrow = <Item>({ window, items }: Leased<Item>): boolean =>
  window.open < items.length && window.open <= window.size / 2

export type NextWindow = { begun: number; items: number }

/** The window after this one; null: everything is open, or it is asked for already. */
export function nextWindow<Item>({ ticket, items, window }: Leased<Item>, now: number): NextWindow | null {
  if (window.isAsking || window.open >= items.length) return null
  const lastedMs = now - window.askedAt
  if (window.askedAt > 0 && lastedMs < WINDOW_MS) window.size = Math.min(MOST_WINDOW, window.size * 2)
  else if (lastedMs > 4 * WINDOW_MS) window.size = Math.max(LEAST_WINDOW, window.size / 2)
  window.askedAt = now
  const until = Math.min(items.length, Math.max(window.size, window.open + 1))
  const last = items[until - 1]
  return last ? { begun: ticket.subjects.indexOf(last[0]) + 1, items: until - window.open } : null
}
