// A chunk of rows becomes up to 500 messages. Workers share the chunks; a crash repeats one chunk or nothing, so there is
// nothing to resume.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Entry, Work } from '../engine/loop.ts'
import { travelOn } from '../notifications/deliver.ts'
import { sealPersonal } from '../notifications/notification.ts'
import type { Services } from '../services/load.ts'
import type { Row } from './job.ts'
import { type Chunk, loadChunks, type SpreadRow, stopJob, spread as store } from './sql.ts'

export type SpreadApp = {
  sql: Sql
  seal: Seal
  ids: { next(): Id }
  services: Services
  owner: Id
  /** Tells the lanes that have something due now. */
  wake(lane: string): void
}

type Prepared = { chunk: Chunk; rows: SpreadRow[]; isStopped: boolean }

export function spread(app: SpreadApp): Work<Chunk, Prepared> {
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
      const isStopped = !service || service.state === 'archived'
      return { kind: 'done', result: { chunk, rows: isStopped ? [] : prepared(app, chunk), isStopped } }
    },
    setAside: chunk => ({ chunk, rows: [], isStopped: true }),
  }
}

function prepared({ seal }: SpreadApp, chunk: Chunk): SpreadRow[] {
  const rows = JSON.parse(seal.open(chunk.sealed).toString('utf8')) as Row[]
  return rows.map(({ id, row, to, key, values, reference, isSimulated }) => ({
    id,
    row,
    reference,
    lane: isSimulated ? 'simulation' : chunk.lane,
    is_international: chunk.channel === 'sms' && !key.startsWith('+1'),
    sealed: sealPersonal(seal, { to, values }),
    recipient_digest: seal.digest(key),
  }))
}

/** One statement for each chunk: what was prepared is stored and its ticket settled, or neither. */
export const writeChunks =
  (app: SpreadApp) =>
  async (entries: readonly Entry<Prepared>[]): Promise<void> => {
    for (const entry of entries) {
      const { ticket, result, settle } = entry
      if (result?.isStopped) await stopJob(app.sql, result.chunk.job_id)
      await store(
        app.sql,
        app.owner,
        [{ id: ticket.id, takes: ticket.takes }],
        result?.isStopped ? null : (result?.chunk ?? null),
        result?.rows ?? [],
        settle ? [ticket.id] : [],
        travelOn(app, entry),
      )
      for (const lane of new Set(result?.rows.map(row => row.lane))) app.wake(lane)
    }
  }
