// Turns a chunk of rows into up to 500 messages. Workers share the chunks; after a crash a chunk is repeated as a whole or not at
// all, so there is no state to resume.
import { CHANNELS, type Channel } from '../channels/index.ts'
import { zulu } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { type Database, isDatabaseError, type Sql } from '../db/connect.ts'
import { hasNoPartition } from '../db/partitions.ts'
import type { Entry, Work } from '../engine/work.ts'
import type { EventHints } from '../events/hints.ts'
import { retriesOf } from '../notifications/deliver.ts'
import { personalTo, recipientDigest, sealPersonal } from '../notifications/notification.ts'
import { makePartitionsOf } from '../notifications/partitions.ts'
import type { Services } from '../services/load.ts'
import { isActive } from '../services/service.ts'
import { crashPoint } from '../telemetry/crash.ts'
import type { Note } from '../telemetry/log.ts'
import type { Tracer } from '../telemetry/trace.ts'
import type { BulkRow } from './job.ts'
import { stop } from './sql/cancel.ts'
import { find } from './sql/read.ts'
import { type Chunk, loadChunks, type SpreadRow, stall, spread as store } from './sql/spread.ts'

export type SpreadApp = {
  sql: Sql
  db: Database
  seal: Seal
  ids: { next(): Id }
  services: Services
  owner: Id
  /** Notifies the lanes that have tickets due now. */
  wake(lane: string): void
  hints: Pick<EventHints, 'announce'>
  note: Note
  trace: Tracer | null
  onFault(error: unknown, sentence: string, fields?: Record<string, unknown>): void
}

/** Rows are null when the chunk repeatedly could not be prepared. */
type PreparedChunk = { chunk: Chunk; rows: SpreadRow[] | null; isOrphan: boolean }

export function spread(app: SpreadApp): Work<Chunk, PreparedChunk> {
  return {
    async load(tickets) {
      const chunks = await loadChunks(
        app.sql,
        tickets.flatMap(ticket => ticket.subjects),
      )
      return new Map(chunks.map((chunk): [Id, Chunk] => [chunk.id, chunk]))
    },
    async handle(chunk) {
      const service = await app.services.get(chunk.service_id)
      const isOrphan = !isActive(service)
      return { kind: 'done', result: { chunk, rows: prepared(app, chunk), isOrphan } }
    },
    setAside: chunk => ({ chunk, rows: null, isOrphan: false }),
    traceOf: chunk => chunk.job_id,
  }
}

function prepared({ seal }: SpreadApp, chunk: Chunk): SpreadRow[] {
  const rows = JSON.parse(seal.open('bulk rows', chunk.sealed).toString('utf8')) as BulkRow[]
  return rows.map(({ id, row, to, key, values, reference, isSimulated, isInternational }) => ({
    id,
    row,
    reference,
    lane: isSimulated ? 'simulation' : chunk.lane,
    is_international: isInternational ?? isAbroad(chunk.channel, key),
    sealed: sealPersonal(seal, personalTo(chunk.channel, key, to, values)),
    digest: recipientDigest(seal, chunk.service_id, chunk.channel, key),
  }))
}

/** For rows that were stored by an earlier version, without this field. */
function isAbroad(channel: Channel, key: string): boolean {
  const prefix = CHANNELS[channel].recipient.homePrefix()
  return prefix !== null && !key.startsWith(prefix)
}

/** Stores the messages and settles the ticket in one transaction. */
export const writeChunks =
  (app: SpreadApp) =>
  async (entries: readonly Entry<PreparedChunk>[]): Promise<void> => {
    for (const entry of entries) await writeChunk(app, entry)
    app.hints.announce(new Set(entries.map(({ ticket }) => ticket.service_id)))
  }

async function writeChunk(app: SpreadApp, entry: Entry<PreparedChunk>) {
  const { ticket, result, settle } = entry
  const leased = [{ id: ticket.id, takes: ticket.takes }]
  const isStopped = result?.isOrphan === true && (await stop(app.sql, result.chunk.job_id))
  const chunk = isStopped ? null : (result?.chunk ?? null)
  const rows = isStopped ? [] : (result?.rows ?? [])
  if (chunk && result?.rows === null) return setBack(app, entry, chunk, new Error('a chunk cannot be prepared'))
  const write = () => store(app.sql, app.owner, leased, chunk, rows, settle ? [ticket.id] : [], retriesOf(app, entry))
  let written: { is_finished: boolean }[]
  try {
    written = await write().catch(async error => {
      // Ids contain the time a job was due; if no process ran on that day, its partition does not exist yet.
      if (!hasNoPartition(error)) throw error
      await makePartitionsOf(
        app.db,
        rows.map(row => row.id),
      )
      return write()
    })
  } catch (error) {
    // Data that the database always rejects must not block the chunks of other jobs.
    if (chunk && isDatabaseError(error) && NEVER.test(error.code ?? '')) return setBack(app, entry, chunk, error)
    throw error
  }
  if (chunk) crashPoint('mid-chunk', () => [chunk.id, chunk.job_id])
  for (const lane of new Set(rows.map(row => row.lane))) app.wake(lane)
  if (chunk) noteMessages(app, chunk, rows)
  // The chunk is stored, so an error here must not set it back: only the line of the log is missing.
  if (chunk && written.some(one => one.is_finished)) await noteEnd(app, chunk).catch(() => {})
}

/** When all its rows are messages. `seconds`: since it was accepted, or since the time that was asked for. */
async function noteEnd({ sql, note }: SpreadApp, { job_id, service_id }: Chunk) {
  const job = await find(sql, service_id, job_id)
  if (!job?.processing_finished) return
  const from = job.scheduled_for === null ? microsOf(job_id) / 1000 : Date.parse(zulu(job.scheduled_for))
  const seconds = Math.max(0, Math.round(Date.parse(zulu(job.processing_finished)) - from) / 1000)
  const counts = Object.fromEntries(job.counts.map(({ status, count }) => [status, count]))
  note({ job: job_id, service: service_id, rows: job.notification_count, seconds, counts }, 'job finished')
}

/** With every id: a message is found by its job, and the job by its message. */
function noteMessages({ note, trace }: SpreadApp, { id, job_id, service_id }: Chunk, rows: readonly SpreadRow[]) {
  note({ job: job_id, service: service_id, chunk: id, messages: rows.map(row => row.id) }, 'rows became messages')
  if (!trace) return
  const now = trace.now()
  for (const row of rows)
    trace.accepted(
      ...([row.id, now, false] as const),
      { 'herald.id': row.id, 'herald.job_id': job_id, 'herald.service_id': service_id, 'herald.lane': row.lane },
      job_id,
    )
}

/** Invalid data, a violated constraint, a limit of the database. */
const NEVER = /^(22|23|54)/
const STALLED_SECONDS = 1_800

/** The job gets the status `error`, and the reason is logged. */
function setBack(app: SpreadApp, { ticket }: Entry<PreparedChunk>, chunk: Chunk, error: unknown) {
  app.onFault(error, 'a chunk of a bulk job cannot become messages: it is tried again in half an hour', {
    job: chunk.job_id,
    chunk: chunk.id,
  })
  return stall(app.sql, app.owner, [{ id: ticket.id, takes: ticket.takes }], chunk.job_id, [
    {
      from: ticket.id,
      ticket: app.ids.next(),
      lane: ticket.lane,
      service_id: ticket.service_id,
      id: chunk.id,
      delaySeconds: STALLED_SECONDS,
      attempts: 0,
      takes: 0,
    },
  ])
}
