// The bulk request that a sheet is: its header by the match, then its rows as they are stored. A chunk is copied as text; only one
// with rows that are left out is parsed.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { bulkHeader } from './match.ts'
import type { LoadedSheet } from './read.ts'
import { chunksOf, opened } from './rows.ts'
import type { StoredRows } from './sql.ts'

export type BulkOptions = {
  /** Of the job. */
  name: string
  /** ISO 8601. */
  scheduled_for?: string | null
  /** A reply-to address or a text sender of the service. */
  sender_id?: Id | null
}

/** `lines`: of the rows in the request, in order. */
export type BulkRequest = { body: Buffer; lines: number[] }

export async function bulkRequestOf(
  app: { db: { sql: Sql }; seal: Seal },
  loaded: LoadedSheet,
  options: BulkOptions,
): Promise<BulkRequest> {
  const { record } = loaded
  const pieces: Buffer[] = [Buffer.from(beginning(loaded, options))]
  const lines: number[] = []
  const leftOut = new Set(record.left_out)
  for await (const chunk of chunksOf(app.db.sql, record.id, 0)) {
    const rows = rowsIn(app.seal, chunk, leftOut)
    if (rows.lines.length === 0) continue
    pieces.push(COMMA, rows.json)
    for (const line of rows.lines) lines.push(line)
  }
  pieces.push(END)
  return { body: await joined(pieces), lines }
}

/** The request with a blank row instead of its rows. */
export const bulkHead = (loaded: LoadedSheet, options: BulkOptions) =>
  Buffer.from(`${beginning(loaded, options)}${loaded.sheet.rowCount > 0 ? ',[""]' : ''}]}`)

function beginning({ record, header, match, template }: LoadedSheet, { name, scheduled_for, sender_id }: BulkOptions) {
  const fields = {
    template_id: record.template_id,
    name,
    ...(scheduled_for != null && { scheduled_for }),
    ...(sender_id != null && { reply_to_id: sender_id }),
  }
  return `${JSON.stringify(fields).slice(0, -1)},"rows":[${JSON.stringify(bulkHeader(header, match, template))}`
}

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** The rows of a chunk, without the brackets around them. */
function rowsIn(seal: Seal, chunk: StoredRows, leftOut: ReadonlySet<number>): { json: Buffer; lines: number[] } {
  if (!chunk.lines.some(line => leftOut.has(line)))
    return { json: seal.open('sheet rows', chunk.sealed).subarray(1, -1), lines: chunk.lines }
  const rows = opened(seal, chunk).filter(row => !leftOut.has(row.line))
  const json = Buffer.from(JSON.stringify(rows.map(row => row.cells)).slice(1, -1))
  return { json, lines: rows.map(row => row.line) }
}

const STEP_BYTES = 4 * 1024 * 1024

/** Copied in steps, because many megabytes at once would block the event loop. */
async function joined(pieces: readonly Buffer[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let [at, since] = [0, 0]
  for (const piece of pieces) {
    at += piece.copy(whole, at)
    since += piece.length
    if (since < STEP_BYTES) continue
    since = 0
    await new Promise(resume => setImmediate(resume))
  }
  return whole
}
