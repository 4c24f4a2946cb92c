// A provider's word: stored first, applied later. Providers that tell one thing at a time tell many at the same moment: what
// waits together is stored together.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { createBatch } from '../engine/batch.ts'
import type { Outlet } from '../notifications/accept.ts'
import type { AcceptReceipts } from '../providers/port.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { keepFresh } from './fresh.ts'
import { type NewReceipt, NOBODY, accept as store } from './sql.ts'

/** A ticket names 500 at most. */
const MOST = 500
const CALLS = 100
const IN_FLIGHT = 1

export function createAcceptReceipts(app: {
  sql: Sql
  ids: { next(): Id }
  /** Null while the house is being built. */
  outlet(): Outlet | null
}): AcceptReceipts {
  const batch = createBatch<NewReceipt[], undefined>(
    async calls => {
      const receipts = calls.flat()
      for (let at = 0; at < receipts.length; at += MOST) await accept(receipts.slice(at, at + MOST))
      return calls.map(() => undefined)
    },
    { most: CALLS, inFlight: IN_FLIGHT },
  )

  async function accept(receipts: readonly NewReceipt[]) {
    const outlet = app.outlet()
    if (!outlet) throw new Error('still starting')
    const birth = outlet.birth(['receipt'])
    const kept = await store(app.sql, receipts, birth)
    const subjects = kept.map(row => row.id)
    crashPoint('after-receipt-stored', () => subjects)
    const [first] = subjects
    if (!first) return
    const ticket = { id: first, lane: 'receipt', service_id: NOBODY, subjects, attempts: 0, takes: birth ? 1 : 0 }
    if (birth) keepFresh(ticket, receipts, kept)
    outlet.hand([ticket], birth)
  }

  return (provider, receipts) => batch.add(receipts.map(receipt => ({ ...receipt, id: app.ids.next(), provider })))
}
