// All rows of a job in the order of the file, a page in memory: those that are messages with their status, and those that still wait
// in chunks. A chunk becomes messages in one commit, so a row is always in one of the two places: what is not in a chunk when the
// next one is looked for is a message by then.
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Reads } from '../limits/reads.ts'
import { openPersonal } from '../notifications/notification.ts'
import { oldestKept } from '../notifications/read.ts'
import { type JobScope, type RowOfJob, rowsOfJob, type StateOfRow, statesOfRows } from '../notifications/sql/of-job.ts'
import { isFinal, type Status } from '../notifications/status.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { Service } from '../services/service.ts'
import { type BulkRow, idsOfJob, type Job } from './job.ts'
import { nextChunk } from './sql/rows.ts'

export type JobRowsApp = { db: { sql: Sql }; clock: Clock; seal: Seal; reads: Pick<Reads, 'giveWay'> }

export type JobRow = {
  id: Id
  /** From 1, in the order of the file. */
  row: number
  reference: string | null
  status: Status
  /** Since when it has this status. */
  statusAt: Timestamp
  /** Null: it waits for its turn. */
  state: StateOfRow | null
  /** Null unless asked for. */
  personal: { to: string; values: Values } | null
}

const PAGE = 1_000
/** Opening rows yields the event loop after this time. */
const TURN_MS = 2
const FIRST = '00000000-0000-0000-0000-000000000000' as Id

/** Where the messages of the job are, as far as they are kept. */
export function scopeOf({ clock }: Pick<JobRowsApp, 'clock'>, service: Service, job: Job): JobScope {
  const { from, below } = idsOfJob(job)
  const kept = oldestKept(clock, service, job.channel)
  return {
    job: job.id,
    service: service.id,
    key_type: job.key_type,
    channel: job.channel,
    after: kept > from ? kept : from,
    below,
  }
}

export async function* jobRows(
  app: JobRowsApp,
  service: Service,
  job: Job,
  { withPersonal }: { withPersonal: boolean },
): AsyncGenerator<JobRow[]> {
  for await (const piece of jobPieces(app, service, job))
    if (piece.kind === 'messages') yield* messagesOf(app, piece.scope, job, withPersonal)
    else yield piece.rows.map(row => waitingRow(row, job, withPersonal))
}

/** A stretch of rows that are messages, or the rows of a chunk. */
export type JobPiece = { kind: 'messages'; scope: JobScope } | { kind: 'waiting'; rows: readonly BulkRow[] }

export async function* jobPieces(app: JobRowsApp, service: Service, job: Job): AsyncGenerator<JobPiece> {
  const scope = scopeOf(app, service, job)
  for (let lastChunk = FIRST; ; ) {
    const chunk = await nextChunk(app.db.sql, job.id, lastChunk)
    const waiting = chunk ? (JSON.parse(app.seal.open('bulk rows', chunk.sealed).toString('utf8')) as BulkRow[]) : []
    const below = waiting[0]?.id ?? scope.below
    yield { kind: 'messages', scope: { ...scope, below } }
    const last = waiting.at(-1)
    if (!chunk || !last) return
    yield { kind: 'waiting', rows: waiting }
    scope.after = last.id
    lastChunk = chunk.id
    await app.reads.giveWay()
  }
}

async function* messagesOf(app: JobRowsApp, scope: JobScope, job: Job, withPersonal: boolean) {
  for (let after: Id | null = scope.after; after !== null; ) {
    const page: Awaited<ReturnType<typeof rowsOfJob>> = await rowsOfJob(app.db.sql, { ...scope, after }, PAGE)
    if (page.rows.length > 0) yield await messageRows(app, page.rows, job, withPersonal)
    after = page.last
    await app.reads.giveWay()
  }
}

async function messageRows(app: JobRowsApp, rows: readonly RowOfJob[], job: Job, withPersonal: boolean) {
  const states = await statesOfRows(
    app.db.sql,
    rows.map(row => row.id),
  )
  const byId = new Map(states.map(state => [state.id, state]))
  const made: JobRow[] = []
  let turn = performance.now()
  for (const { id, job_row, reference, sealed } of rows) {
    const state = byId.get(id)
    // Deleted meanwhile.
    if (!state) continue
    const personal = withPersonal ? openPersonal(app.seal, sealed) : null
    const { status } = state
    made.push({ id, row: job_row, reference, status, statusAt: statusTime(state, acceptedAt(job)), state, personal })
    if (performance.now() - turn < TURN_MS) continue
    await app.reads.giveWay()
    turn = performance.now()
  }
  return made
}

/** A message that was not handed over yet has its status since the job was accepted. */
export const statusTime = ({ status, sent_at, completed_at }: StateOfRow, acceptedAt: Timestamp): Timestamp =>
  (isFinal(status) ? completed_at : sent_at) ?? acceptedAt

export const acceptedAt = ({ id }: Job) => fromMicros(microsOf(id))

export const waitingRow = ({ id, row, to, values, reference }: BulkRow, job: Job, withPersonal: boolean): JobRow => ({
  ...{ id, row, reference, status: 'created', statusAt: acceptedAt(job), state: null },
  personal: withPersonal ? { to, values: values as Values } : null,
})
