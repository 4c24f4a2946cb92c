// Receipts of providers are stored first and applied later. Receipts that arrive at the same time are stored together.
import type { Id } from '../core/id.ts'
import { type Seal, sealsEqualOnce } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { isDataError } from '../db/errors.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import { cleanLine, cleanRef, cleanTime } from '../providers/clean.ts'
import type { AcceptReceipts, Receipt } from '../providers/port.ts'
import { createGroupCommit } from '../runtime/group-commit.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { keepInMemory } from './in-memory.ts'
import { accept as insert, type NewReceipt, NOBODY, RECEIPT_LANE } from './sql.ts'

/** A ticket has 500 subjects at most. */
const MAX_ITEMS = 500

export function createAcceptReceipts(app: {
  sql: Sql
  ids: { next(): Id }
  seal: Seal
  /** Null during the start. */
  dispatcher(): Dispatcher | null
  onFault(error: unknown, sentence: string): void
}): AcceptReceipts {
  const commit = createGroupCommit<NewReceipt, undefined>(accept, { maxItems: MAX_ITEMS, maxInFlight: 1, isDataError })

  // A receipt that the database rejects for its data would be rejected whenever it came again: it is set aside and acknowledged.
  const store = (receipt: NewReceipt) =>
    commit.add(receipt).catch(error => {
      if (!isDataError(error)) throw error
      app.onFault(error, 'a receipt was refused by the database; it is set aside')
    })

  async function accept(receipts: readonly NewReceipt[]): Promise<undefined[]> {
    const dispatcher = app.dispatcher()
    if (!dispatcher) throw new Error('still starting')
    const initialLease = dispatcher.initialLease([RECEIPT_LANE])
    const kept = await insert(app.sql, receipts, initialLease)
    const subjects = kept.map(row => row.id)
    crashPoint('after-receipt-stored', () => subjects)
    const [first] = subjects
    if (!first) return []
    const ticket = {
      id: first,
      lane: RECEIPT_LANE,
      service_id: NOBODY,
      subjects,
      attempts: 0,
      takes: initialLease ? 1 : 0,
    }
    if (initialLease) keepInMemory(ticket, receipts, kept)
    dispatcher.hand([ticket], initialLease)
    return []
  }

  return async (provider, receipts) => {
    const sealed = sealsEqualOnce(app.seal, 'provider reply')
    const cleanedReceipts = receipts.flatMap(receipt => {
      const kept = cleaned(receipt)
      if (!kept) return []
      const diagnosis = receipt.diagnosis ? sealed(cleanLine(receipt.diagnosis)) : null
      return { ...kept, diagnosis, id: app.ids.next(), provider }
    })
    await Promise.all(cleanedReceipts.map(store))
  }
}

/** Every provider validates its own input; this is the last check. Null: there is no reference. */
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
