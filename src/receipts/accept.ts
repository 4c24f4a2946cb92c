// A provider's word: stored first, applied later. Providers that tell one thing at a time tell many at the same moment: what
// waits together is stored together.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { isDataError } from '../db/errors.ts'
import { createBatch } from '../engine/batch.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import { cleanLine, cleanRef, cleanTime } from '../providers/clean.ts'
import type { AcceptReceipts, Receipt } from '../providers/port.ts'
import { runSplitting } from '../runtime/split.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { keepFresh } from './fresh.ts'
import { type NewReceipt, NOBODY, RECEIPT_LANE, accept as store } from './sql.ts'

/** A ticket names 500 at most. */
const MOST = 500
const CALLS = 100
const IN_FLIGHT = 1

export function createAcceptReceipts(app: {
  sql: Sql
  ids: { next(): Id }
  seal: Seal
  /** Null while the house is being built. */
  dispatcher(): Dispatcher | null
  onFault(error: unknown, sentence: string): void
}): AcceptReceipts {
  const batch = createBatch<NewReceipt[], undefined>(
    async calls => {
      const receipts = calls.flat()
      for (let at = 0; at < receipts.length; at += MOST) await acceptAll(receipts.slice(at, at + MOST))
      return calls.map(() => undefined)
    },
    { most: CALLS, inFlight: IN_FLIGHT },
  )

  // A receipt that the database refuses for its data would be refused again whenever it came: it is set aside, and acknowledged.
  async function acceptAll(receipts: readonly NewReceipt[]) {
    const stored = await runSplitting(receipts, batch => accept(batch).then(() => batch), isDataError)
    for (const one of stored) {
      if (one.status === 'fulfilled') continue
      if (!isDataError(one.reason)) throw one.reason
      app.onFault(one.reason, 'a receipt was refused by the database; it is set aside')
    }
  }

  async function accept(receipts: readonly NewReceipt[]) {
    const dispatcher = app.dispatcher()
    if (!dispatcher) throw new Error('still starting')
    const initialLease = dispatcher.initialLease([RECEIPT_LANE])
    const kept = await store(app.sql, receipts, initialLease)
    const subjects = kept.map(row => row.id)
    crashPoint('after-receipt-stored', () => subjects)
    const [first] = subjects
    if (!first) return
    const ticket = {
      id: first,
      lane: RECEIPT_LANE,
      service_id: NOBODY,
      subjects,
      attempts: 0,
      takes: initialLease ? 1 : 0,
    }
    if (initialLease) keepFresh(ticket, receipts, kept)
    dispatcher.hand([ticket], initialLease)
  }

  return (provider, receipts) =>
    batch.add(
      receipts.flatMap(receipt => {
        const kept = cleaned(receipt)
        if (!kept) return []
        const diagnosis = receipt.diagnosis ? app.seal.seal(cleanLine(receipt.diagnosis)) : null
        return { ...kept, diagnosis, id: app.ids.next(), provider }
      }),
    )
}

/** Every adapter has its own border; this is the last one. Null: it does not say of what it speaks. */
function cleaned({ ref, eventId, at, result, detail, response }: Receipt): Omit<Receipt, 'diagnosis'> | null {
  const known = cleanRef(ref)
  if (known === '') return null
  return {
    ref: known,
    eventId: cleanRef(eventId) || known,
    at: cleanTime(at),
    result,
    detail: detail === null ? null : cleanLine(detail),
    response: response === null ? null : cleanLine(response),
  }
}
