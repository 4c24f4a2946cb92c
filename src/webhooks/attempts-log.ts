// The attempts of a turn, as they are stored: requests with one event each and the same answer share a row.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { EventToSend } from './body.ts'
import type { Posted } from './post.ts'
import type { Attempt } from './sql/deliver.ts'

export type AttemptLog = {
  /** `at`: when the request was started, in milliseconds since 1970. */
  add(events: readonly EventToSend[], posted: Posted, at: number): void
  rows(): Attempt[]
}

/** An endpoint that gives a different answer to every request must not cost a row each: then the answers are not kept. */
const MOST_ANSWERS = 32
const MOST_EVENTS = 1_000

type Row = Omit<Attempt, 'answer' | 'events' | 'took'> & { events: Id[]; took: number[]; text: string }

export function createAttemptLog(app: { ids: { next(): Id }; seal: Seal }): AttemptLog {
  const rows: Row[] = []
  const open = new Map<string, Row>()
  return {
    add(events, { status, error, answer, tookMs }, at) {
      const ids = events.map(event => event.id)
      const stamp = events.reduce((highest, event) => higher(highest, event.position.stamp), '0')
      const text = open.size < MOST_ANSWERS ? answer : ''
      const key = JSON.stringify([status, error, text])
      const row = ids.length === 1 ? open.get(key) : undefined
      if (row && row.events.length < MOST_EVENTS) {
        row.events.push(...ids)
        row.took.push(tookMs)
        row.stamp = higher(row.stamp, stamp)
        return
      }
      const added: Row = { id: app.ids.next(), at, events: ids, stamp, took: [tookMs], status, error, text }
      rows.push(added)
      if (ids.length === 1) open.set(key, added)
    },
    rows: () =>
      rows.map(({ text, ...row }) => ({ ...row, answer: text === '' ? null : app.seal.seal('webhook answer', text) })),
  }
}

/** Of two numbers as text. */
const higher = (a: string, b: string) => (a.length > b.length || (a.length === b.length && a > b) ? a : b)
