// Applies receipts to messages. A receipt whose message is unknown is retried: it may have arrived before our own record.
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { delaySeconds } from '../engine/backoff.ts'
import type { Entry, Work } from '../engine/work.ts'
import type { EventHints } from '../events/hints.ts'
import { retriesOf } from '../notifications/deliver.ts'
import { currentStates, type Move, move, type Note, type StateRow } from '../notifications/sql/apply.ts'
import { type CurrentStatus, isFinal, statusAfter } from '../notifications/status.ts'
import type { Note as LogNote } from '../telemetry/log.ts'
import { inMemory } from './in-memory.ts'
import { load, type StoredReceipt, withoutDiagnosis } from './sql.ts'

export type ApplyApp = {
  db: Database
  ids: { next(): Id }
  owner: Id
  hints: Pick<EventHints, 'announce'>
  note: LogNote
  random(): number
}

const KEPT_SECONDS = 72 * 3600

/** A receipt and the older ones of its message before it. */
type ReceiptHistory = readonly StoredReceipt[]

export function apply(app: ApplyApp): Work<ReceiptHistory, ReceiptHistory> {
  return {
    async load(tickets) {
      const histories = new Map(tickets.flatMap(ticket => [...(inMemory(ticket) ?? [])]))
      const others = tickets.filter(ticket => !inMemory(ticket)).flatMap(ticket => ticket.subjects)
      for (const row of others.length > 0 ? await load(app.db.sql, others) : []) {
        const list = histories.get(row.asked)
        if (list) list.push(row)
        else histories.set(row.asked, [row])
      }
      return histories
    },
    async handle(history, ticket) {
      const receipt = history.at(-1)
      if (!receipt || receipt.notification !== null || receipt.age_seconds > KEPT_SECONDS)
        return { kind: 'done', result: history }
      // The first retries are quick: our own commit may be only a moment late.
      const delay = ticket.attempts < 5 ? 0.2 * 2 ** ticket.attempts : delaySeconds(ticket.attempts, 300, app.random())
      return { kind: 'again', result: null, delaySeconds: delay }
    },
    setAside: () => [],
    traceOf: history => history.at(-1)?.notification ?? null,
  }
}

/**
 * Reduces all receipts of a batch to one change of status for each message. Receipts are applied with optimistic concurrency: when a
 * message was changed meanwhile, everything is computed again from its new status.
 */
export const writeMoves =
  (app: ApplyApp) =>
  async (entries: readonly Entry<ReceiptHistory>[]): Promise<void> => {
    const { sql } = app.db
    const receipts = new Map<Id, Map<Id, StoredReceipt>>()
    for (const receipt of entries.flatMap(({ result }) => result ?? [])) {
      if (!receipt.notification) continue
      const list = receipts.get(receipt.notification)
      if (list) list.set(receipt.id, receipt)
      else receipts.set(receipt.notification, new Map([[receipt.id, receipt]]))
    }
    const inOrder = (id: Id) => [...(receipts.get(id)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))
    const diagnosed = [...receipts.values()]
      .flatMap(list => [...list.values()])
      .filter(one => one.diagnosis)
      .map(one => one.id)
    const leased = [...new Map(entries.map(({ ticket: { id, takes } }) => [id, { id, takes }])).values()]
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(entry => retriesOf(app, entry))
    const ticketOf = new Map(entries.flatMap(({ id, ticket }) => (id ? [[id, ticket.id] as const] : [])))
    // Of messages that were written by an attempt that failed for others: their receipts have been decided about.
    const noted = new Map<Id, Note[]>()
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const states = receipts.size === 0 ? [] : await currentStates(sql, [...receipts.keys()])
      const folded = states.map(state => fold(state, inOrder(state.id), ticketOf))
      const notes = folded.flatMap(({ move, notes }) => noted.get(move.id) ?? notes)
      const moves = folded.map(({ move }) => move)
      const written = await move(sql, app.owner, leased, moves, notes, settled, again, withoutDiagnosis(diagnosed))
      app.hints.announce(new Set(states.map(state => state.service_id)))
      if (written.allMoved) return noteReceipts(app, entries, moves)
      const done = new Set(written.moved)
      for (const { move, notes } of folded) if (done.has(move.id) && !noted.has(move.id)) noted.set(move.id, notes)
    }
    throw new Error('messages were changed concurrently too often to apply their receipts')
  }

/** Receipts that were decided about. One whose message is unknown gets its line when it is given up or its message is known. */
function noteReceipts({ note }: ApplyApp, entries: readonly Entry<ReceiptHistory>[], moves: readonly Move[]) {
  const statuses = new Map(moves.map(({ id, status }) => [id, status]))
  for (const { id, result } of entries) {
    const receipt = result?.at(-1)
    if (!id || !receipt) continue
    const { notification, provider } = receipt
    const about = { receipt: id, message: notification, provider, result: receipt.result }
    note({ ...about, status: notification && statuses.get(notification) }, 'receipt applied')
  }
}

/** An attempt fails only when a message was changed concurrently. After the last one the engine retries later. */
const MOST_TRIES = 20

/**
 * The change of a message after all its receipts, and those of its new receipts that do not decide it. `tickets`: by receipt, of the
 * new ones; older ones were applied before.
 */
function fold(state: StateRow, receipts: readonly StoredReceipt[], tickets: ReadonlyMap<Id, Id>) {
  let current: CurrentStatus = { status: state.status, at: state.receipt_at }
  let { provider_response: response, failure_detail: detail } = state
  let decisive: StoredReceipt | null = null
  const moves: string[] = []
  for (const receipt of receipts) {
    // Only receipts of the provider that sent the message count.
    if (state.provider !== null && receipt.provider !== state.provider) continue
    const next = statusAfter(state.channel, current, receipt)
    if (!next) continue
    if (next.status !== current.status) moves.push(next.status)
    current = next
    response = next.status === 'technical-failure' ? receipt.response : null
    detail = receipt.detail
    decisive = receipt
  }
  const { status, at } = current
  const isMoved = status !== state.status
  const move: Move = {
    ...{ id: state.id, from: state, status, at, isFinal: isFinal(status), response, detail, moves },
    changes: isMoved || at !== state.receipt_at,
    diagnosis: decisive?.diagnosis ?? null,
    provider: decisive?.provider ?? null,
    decidedAt: decisive?.at ?? null,
  }
  const notes = receipts.flatMap(receipt => {
    const ticket = tickets.get(receipt.id)
    return ticket && !(isMoved && receipt === decisive) ? [noteOf(state, receipt, ticket)] : []
  })
  return { move, notes }
}

const noteOf = (
  { id, service_id, key_type, channel }: StateRow,
  { provider, result, at, diagnosis }: StoredReceipt,
  ticket: Id,
): Note => ({ id, service_id, key_type, channel, ticket, provider, result, at, diagnosis })
