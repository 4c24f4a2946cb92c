// Receipts that this process has just stored stay in memory with their ticket, as messages do (notifications/in-memory.ts), so that
// its engine need not read them. Not if a message has older receipts, which must be applied first.
import type { Id } from '../core/id.ts'
import type { Ticket } from '../queue/port.ts'
import type { InsertedReceipt, NewReceipt, StoredReceipt } from './sql.ts'

const stored = new WeakMap<Ticket, ReadonlyMap<Id, StoredReceipt[]>>()

export const inMemory = (ticket: Ticket) => stored.get(ticket)

export function keepInMemory(ticket: Ticket, receipts: readonly NewReceipt[], kept: readonly InsertedReceipt[]): void {
  const named = new Set(receipts.map(receipt => `${receipt.provider} ${receipt.ref}`))
  if (named.size < receipts.length || kept.some(row => row.has_older)) return
  const byId = new Map(receipts.map(receipt => [receipt.id, receipt]))
  const fresh = new Map<Id, StoredReceipt[]>()
  for (const { id, at, notification } of kept) {
    const receipt = byId.get(id)
    if (receipt) fresh.set(id, [{ ...receipt, asked: id, at, age_seconds: 0, notification }])
  }
  stored.set(ticket, fresh)
}
