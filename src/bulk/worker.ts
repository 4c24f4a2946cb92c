// Runs in a thread of its own: reads a body of up to 64 MiB, checks up to 50,000 rows and cuts them into chunks, while the
// event loop of the service goes on answering others. One body at a time; the parsed rows never leave the thread.
import { parentPort } from 'node:worker_threads'
import { createClock } from '../core/clock.ts'
import { createIds } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { readJson } from '../http/json.ts'
import { plain, reader, show } from '../http/validation.ts'
import { scheduleProblem } from '../notifications/schedule.ts'
import { codePoints } from '../rendering/characters.ts'
import { type CheckedRow, checkRows, rowErrorsSentence } from './check.ts'
import { matchColumns } from './columns.ts'
import { CHUNK_ROWS, LONGEST_REFERENCE, MOST_ROWS, type Row } from './job.ts'
import { createMeasures } from './measure.ts'
import { refuse } from './refusals.ts'
import { type Sheet, sheetOfCsv, sheetOfRows } from './rows.ts'
import { type BulkBody, bulkBody } from './schemas.ts'
import type { Answer, Ask, Checked, Head, Problem, Rules } from './thread.ts'

let body: BulkBody | null = null

parentPort?.on('message', (ask: Ask) => {
  if (ask.kind === 'forget') {
    body = null
    return
  }
  let answer: Answer
  try {
    answer =
      ask.kind === 'read' ? { kind: 'head', head: read(ask.body, ask.now) } : { kind: 'checked', ...check(ask.rules) }
  } catch (error) {
    answer = { kind: 'failed', message: error instanceof Error ? error.message : 'unknown' }
  }
  const payloads = answer.kind === 'checked' ? answer.chunks.map(chunk => chunk.buffer as ArrayBuffer) : []
  parentPort?.postMessage(answer, payloads)
})

function read(bytes: Uint8Array, now: number): Head {
  body = null
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (text.length > 2 * MOST_LISTS && hasTooManyLists(text)) throw refuse.tooManyRows()
    const parsed = readJson(text, { names: MOST_LISTS, values: Number.POSITIVE_INFINITY })
    const readBody = reader<BulkBody>(bulkBody, {
      checks: {
        scheduled_for: (text: string | null) => {
          const problem = text === null ? null : scheduleProblem(text, now)
          return problem === null ? [] : [`scheduled_for ${problem}`]
        },
      },
    })
    body = readBody(parsed)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ok: false, kind: error.kind, messages: error.messages }
  }
  const { rows, csv, ...fields } = body
  return { ok: true, fields, hasRows: rows !== undefined && rows.length > 0, hasCsv: csv !== undefined && csv !== '' }
}

/**
 * Twenty million empty rows fit into a body, and would take a gigabyte and half a minute before they could be refused in
 * their turn. So many lists are refused before any is built; a body that can be sent has a list for each row and no more.
 */
const MOST_LISTS = 20 * MOST_ROWS

function hasTooManyLists(text: Buffer): boolean {
  let lists = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte === 0x22) at = endOfString(text, at + 1)
    else if ((byte === 0x5b || byte === 0x7b) && ++lists > MOST_LISTS) return true
  }
  return false
}

function endOfString(text: Buffer, from: number): number {
  for (;;) {
    const quote = text.indexOf(0x22, from)
    if (quote < 0) return text.length
    let backslashes = 0
    while (text[quote - 1 - backslashes] === 0x5c) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}

function check(rules: Rules): Checked {
  if (!body) throw new Error('nothing was read')
  const { rows, csv } = body
  body = null
  const sheet = rows ? sheetOfRows(rows) : ({ ok: true, sheet: sheetOfCsv(csv ?? '') } as const)
  if (!sheet.ok) return refused({ step: 'convert', detail: sheet.problem })
  const columns = matchColumns(sheet.sheet.header, rules.channel, rules.names)
  if (columns.missing.length > 0) return refused({ step: 'missing', detail: columns.missing.join(', ') })
  if (columns.duplicates.length > 0) return refused({ step: 'duplicate', detail: columns.duplicates.join(', ') })
  const { rowCount } = sheet.sheet
  if (rowCount > MOST_ROWS) return refused({ step: 'many', detail: '' })
  if (rowCount < 1) return refused({ step: 'few', detail: '' })
  return cut(sheet.sheet, columns, rules)
}

const refused = (problem: Problem): Checked => ({ rowCount: 0, counted: 0, isSimulated: false, problem, chunks: [] })

function cut(sheet: Sheet, columns: ReturnType<typeof matchColumns>, rules: Rules): Checked {
  const friends = rules.friends && new Set(rules.friends)
  const simulated = new Set(rules.simulated)
  const ids = createIds(createClock(() => rules.dueMicros / 1000))
  const measures = createMeasures(rules)
  const failing: CheckedRow[] = []
  let notAllowed = false
  let tooLongRow: number | null = null
  let longReference: string | null = null
  let simulatedRows = 0
  const chunks: Uint8Array[] = []
  let open: Row[] = []
  const close = () => {
    chunks.push(copied(JSON.stringify(open)))
    open = []
  }

  for (const row of checkRows(sheet, columns, {
    type: rules.channel,
    international: rules.international,
    ...measures,
  })) {
    const isSimulated = row.key !== undefined && simulated.has(row.key)
    if (isSimulated) simulatedRows++
    // A blank or broken recipient is on no list.
    else if (friends && (row.key === undefined || !friends.has(row.key))) notAllowed = true
    if (row.tooLong && tooLongRow === null) tooLongRow = row.row
    if (longReference === null && isLong(row.reference)) longReference = row.reference
    if (row.errors.length > 0 && failing.length < rules.mostErrors) failing.push(row)
    if (row.key === undefined || row.recipient === null) continue
    open.push({
      id: ids.next(),
      row: row.row,
      to: row.recipient,
      key: row.key,
      values: row.personalisation,
      reference: row.reference,
      isSimulated,
    })
    if (open.length === CHUNK_ROWS) close()
  }
  if (open.length > 0) close()

  const { rowCount } = sheet
  const isMixed = rules.channel === 'sms' && !rules.isTest && simulatedRows > 0 && simulatedRows < rowCount
  const problem: Problem | null = notAllowed
    ? { step: 'not-allowed', detail: '' }
    : tooLongRow !== null
      ? { step: 'long', detail: String(tooLongRow) }
      : longReference !== null
        ? { step: 'reference', detail: plain(`reference ${show(longReference)} is too long`) }
        : failing.length > 0
          ? { step: 'rows', detail: rowErrorsSentence(failing, rules.mostErrors) }
          : isMixed
            ? { step: 'mixed', detail: '' }
            : null
  return {
    rowCount,
    counted: rowCount - simulatedRows,
    isSimulated: simulatedRows === rowCount,
    problem,
    chunks: problem ? [] : chunks,
  }
}

/** As long as the reference of a single message may be (contract 21, 21). */
const isLong = (reference: string | null) =>
  reference !== null && reference.length > LONGEST_REFERENCE && codePoints(reference) > LONGEST_REFERENCE

// A buffer of its own, so that it can be handed over without copying it once more.
function copied(text: string): Uint8Array {
  const pooled = Buffer.from(text, 'utf8')
  const own = new Uint8Array(pooled.length)
  own.set(pooled)
  return own
}
