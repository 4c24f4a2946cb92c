// News that a process has just stored goes to its own engine with its ticket and need not be read again, as messages do
// (notifications/fresh.ts): unless a message has older news, which has to be looked at first.
import type { Id } from '../core/id.ts'
import type { Ticket } from '../queue/port.ts'
import type { Kept, NewReceipt, StoredReceipt } from './sql.ts'

const news = new WeakMap<Ticket, ReadonlyMap<Id, StoredReceipt[]>>()

export const freshOf = (ticket: Ticket) => news.get(ticket)

export function keepFresh(ticket: Ticket, receipts: readonly NewReceipt[], kept: readonly Kept[]): void {
  const named = new Set(receipts.map(receipt => `${receipt.provider} ${receipt.ref}`))
  if (named.size < receipts.length || kept.some(row => row.has_older)) return
  const told = new Map(receipts.map(receipt => [receipt.id, receipt]))
  const fresh = new Map<Id, StoredReceipt[]>()
  for (const { id, at, notification } of kept) {
    const receipt = told.get(id)
    if (receipt) fresh.set(id, [{ ...receipt, asked: id, at, age_seconds: 0, notification }])
  }
  news.set(ticket, fresh)
}
