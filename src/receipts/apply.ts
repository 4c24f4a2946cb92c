// From a provider's word to a message's move. News of a message that is not known yet waits: it may have outrun our own write.
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { delaySeconds } from '../engine/backoff.ts'
import type { Entry, Work } from '../engine/work.ts'
import { travelOn } from '../notifications/deliver.ts'
import { type Move, move, type StateRow, standing } from '../notifications/sql/apply.ts'
import { after, isFinal, type Standing } from '../notifications/status.ts'
import { freshOf } from './fresh.ts'
import { load, type StoredReceipt, withoutDiagnosis } from './sql.ts'

export type ApplyApp = { db: Database; ids: { next(): Id }; owner: Id; random(): number }

const KEPT_SECONDS = 72 * 3600

/** A receipt, after the older ones of its message. */
type News = readonly StoredReceipt[]

export function apply(app: ApplyApp): Work<News, News> {
  return {
    async load(tickets) {
      const news = new Map(tickets.flatMap(ticket => [...(freshOf(ticket) ?? [])]))
      const others = tickets.filter(ticket => !freshOf(ticket)).flatMap(ticket => ticket.subjects)
      for (const row of others.length > 0 ? await load(app.db.sql, others) : []) {
        const list = news.get(row.asked)
        if (list) list.push(row)
        else news.set(row.asked, [row])
      }
      return news
    },
    async handle(news, ticket) {
      const receipt = news.at(-1)
      if (!receipt || receipt.notification !== null || receipt.age_seconds > KEPT_SECONDS)
        return { kind: 'done', result: news }
      // The first looks come quickly, for news that was only faster than our own commit.
      const delay = ticket.attempts < 5 ? 0.2 * 2 ** ticket.attempts : delaySeconds(ticket.attempts, 300, app.random())
      return { kind: 'again', result: null, delaySeconds: delay }
    },
    setAside: () => [],
  }
}

/**
 * All news of a group is folded into one move for each message. Nothing is locked meanwhile: whoever has moved one of them in
 * between has the news folded again, onto where it stands now.
 */
export const writeMoves =
  (app: ApplyApp) =>
  async (entries: readonly Entry<News>[]): Promise<void> => {
    const { sql } = app.db
    const news = new Map<Id, Map<Id, StoredReceipt>>()
    for (const receipt of entries.flatMap(({ result }) => result ?? [])) {
      if (!receipt.notification) continue
      const list = news.get(receipt.notification)
      if (list) list.set(receipt.id, receipt)
      else news.set(receipt.notification, new Map([[receipt.id, receipt]]))
    }
    const inOrder = (id: Id) => [...(news.get(id)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))
    const diagnosed = [...news.values()]
      .flatMap(list => [...list.values()])
      .filter(one => one.diagnosis)
      .map(one => one.id)
    const held = [...new Map(entries.map(({ ticket: { id, takes } }) => [id, { id, takes }])).values()]
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(entry => travelOn(app, entry))
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const states = news.size === 0 ? [] : await standing(sql, [...news.keys()])
      const moves = states.flatMap(state => fold(state, inOrder(state.id)) ?? [])
      if (await move(sql, app.owner, held, moves, settled, again, withoutDiagnosis(diagnosed))) return
    }
    throw new Error('messages moved away from under their news too often')
  }

/** Each try loses only to somebody who has moved one of the messages; then there is a pause, and it begins anew. */
const MOST_TRIES = 20

/** Where a message stands after all this news; null when it has not moved. */
function fold(state: StateRow, receipts: readonly StoredReceipt[]): Move | null {
  let standing: Standing = { status: state.status, at: state.receipt_at }
  let { provider_response: response, failure_detail: detail } = state
  let diagnosis: Buffer | null = null
  const moves: string[] = []
  for (const receipt of receipts) {
    // Only who sent a message may speak of it.
    if (state.provider !== null && receipt.provider !== state.provider) continue
    const next = after(state.channel, standing, receipt)
    if (!next) continue
    if (next.status !== standing.status) moves.push(next.status)
    standing = next
    response = next.status === 'technical-failure' ? receipt.response : null
    detail = receipt.detail
    diagnosis = receipt.diagnosis
  }
  const { status, at } = standing
  if (status === state.status && at === state.receipt_at) return null
  return { id: state.id, from: state, status, at, isFinal: isFinal(status), response, detail, diagnosis, moves }
}
