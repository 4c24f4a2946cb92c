// The bulk thread: parses a body of up to 64 MiB, checks up to 50,000 rows and cuts them into chunks, off the event loop. Bodies
// of several services are scheduled fairly; parsed rows never leave the thread.

import { parentPort, workerData } from 'node:worker_threads'
import { CHANNELS } from '../channels/index.ts'
import { createClock } from '../core/clock.ts'
import { createIds } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { readJson } from '../http/json.ts'
import { plain, reader, show } from '../http/validation.ts'
import { scheduleProblem } from '../notifications/schedule.ts'
import { homePlan } from '../recipients/plans.ts'
import { codePoints } from '../rendering/characters.ts'
import { type CheckedRow, checkRows, type RowValues, rowErrorsSentence } from './check.ts'
import { matchColumns } from './columns.ts'
import { type BulkRow, CHUNK_CHARACTERS, CHUNK_ROWS, LONGEST_REFERENCE, MOST_COLUMNS, MOST_ROWS } from './job.ts'
import { createMeasures } from './measure.ts'
import { refuse } from './refusals.ts'
import { type Sheet, sheetOfCsv, sheetOfRows } from './rows.ts'
import { type BulkBody, bulkBody } from './schemas.ts'
import { createSliceScheduler, type Sliced } from './slices.ts'
import {
  type BulkHead,
  type CheckedFile,
  type FileProblem,
  type FileRules,
  RUNNING,
  type ThreadReply,
  type ThreadRequest,
} from './thread.ts'

/** CPU time of one body; an ordinary one of 50,000 rows takes a second or two. */
const BUDGET_MS = 60_000

/** A pause costs as much as checking half a row; the slowest rows take half a millisecond each. */
const PAUSE_ROWS = 32

/** A body that was read and waits to be checked, and the time it has used. */
type ParsedBody = { body: BulkBody | null; usedMs: number }

const jobs = new Map<number, ParsedBody>()
const running = workerData as Int32Array
const now = () => performance.now()
const slices = createSliceScheduler(now)
let isRunning = false

parentPort?.on('message', (ask: ThreadRequest) => {
  if (ask.kind === 'forget') {
    jobs.delete(ask.job)
    return
  }
  const begin = () => {
    Atomics.store(running, RUNNING.job, ask.job)
    Atomics.add(running, RUNNING.slices, 1)
  }
  slices.add({ service: ask.service, begin, work: answering(ask) })
  if (isRunning) return
  isRunning = true
  setImmediate(slice)
})

// Messages of the host are received between two slices.
function slice() {
  isRunning = slices.run()
  Atomics.store(running, RUNNING.job, 0)
  if (isRunning) setImmediate(slice)
}

function* answering(ask: Exclude<ThreadRequest, { kind: 'forget' }>): Sliced<void> {
  const { job } = ask
  const known = jobs.get(job) ?? { body: null, usedMs: 0 }
  jobs.set(job, known)
  let answer: ThreadReply
  try {
    const work = ask.kind === 'read' ? reading(known, ask) : checking(known, ask)
    for (;;) {
      const since = now()
      const step = work.next()
      known.usedMs += now() - since
      if (step.done) {
        answer = step.value
        break
      }
      if (known.usedMs > BUDGET_MS || !jobs.has(job)) {
        answer = { kind: 'exhausted', job }
        break
      }
      yield
    }
  } catch (error) {
    answer = { kind: 'failed', job, message: error instanceof Error ? error.message : 'unknown' }
  }
  const payloads = answer.kind === 'checked' ? answer.chunks.map(chunk => chunk.buffer as ArrayBuffer) : []
  parentPort?.postMessage(answer, payloads)
}

function* reading(known: ParsedBody, ask: Extract<ThreadRequest, { kind: 'read' }>): Sliced<ThreadReply> {
  const { job } = ask
  known.body = null
  let body: BulkBody
  try {
    // Copied: shared memory cannot be decoded.
    const text = Buffer.from(ask.body)
    if (text.length > 2 * MOST_LISTS && hasTooManyLists(text)) throw refuse.tooManyRows()
    yield
    const parsed = readJson(text, { names: MOST_LISTS, values: Number.POSITIVE_INFINITY })
    yield
    const readBody = reader<BulkBody>(bulkBody, {
      checks: {
        scheduled_for: (text: string | null) => {
          const problem = text === null ? null : scheduleProblem(text, ask.now)
          return problem === null ? [] : [`scheduled_for ${problem}`]
        },
      },
    })
    body = readBody(parsed)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { kind: 'head', job, head: { ok: false, kind: error.kind, messages: error.messages } }
  }
  known.body = body
  const { rows, csv, ...fields } = body
  const head = {
    ok: true,
    fields,
    hasRows: rows !== undefined && rows.length > 0,
    hasCsv: csv !== undefined && csv !== '',
  }
  return { kind: 'head', job, head: head as BulkHead }
}

/**
 * A body can contain twenty million empty rows, which would take a gigabyte and half a minute to build. More lists than rows are
 * allowed are refused before any is built: a valid body has one list per row.
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

function* checking(known: ParsedBody, { job, rules }: Extract<ThreadRequest, { kind: 'check' }>): Sliced<ThreadReply> {
  if (!known.body) throw new Error('nothing was read')
  const { rows, csv } = known.body
  known.body = null
  return { kind: 'checked', job, ...(yield* check(rows, csv, rules)) }
}

function* check(rows: unknown[] | undefined, csv: string | undefined, rules: FileRules): Sliced<CheckedFile> {
  const sheet = rows ? sheetOfRows(rows) : ({ ok: true, sheet: sheetOfCsv(csv ?? '') } as const)
  if (!sheet.ok) return refused({ step: 'convert', detail: sheet.problem })
  yield
  if (sheet.sheet.header.length > MOST_COLUMNS) return refused({ step: 'columns', detail: '' })
  const columns = matchColumns(sheet.sheet.header, rules.channel, rules.names)
  if (columns.missing.length > 0) return refused({ step: 'missing', detail: columns.missing.join(', ') })
  if (columns.duplicates.length > 0) return refused({ step: 'duplicate', detail: columns.duplicates.join(', ') })
  const { rowCount } = sheet.sheet
  if (rowCount > MOST_ROWS) return refused({ step: 'many', detail: '' })
  if (rowCount < 1) return refused({ step: 'few', detail: '' })
  return yield* cut(sheet.sheet, columns, rules)
}

const refused = (problem: FileProblem): CheckedFile => ({
  rowCount: 0,
  counted: 0,
  isSimulated: false,
  problem,
  columns: [],
  chunks: [],
})

function* cut(sheet: Sheet, columns: ReturnType<typeof matchColumns>, rules: FileRules): Sliced<CheckedFile> {
  const allowedRecipients = rules.allowedRecipients && new Set(rules.allowedRecipients)
  const simulated = new Set(rules.simulated)
  const ids = createIds(createClock(() => rules.dueMicros / 1000))
  const measures = createMeasures(rules)
  const failing: CheckedRow[] = []
  let notAllowed = false
  let tooLongRow: number | null = null
  let longReference: string | null = null
  let simulatedRows = 0
  const chunks: Uint8Array[] = []
  let open: BulkRow[] = []
  let characters = 0
  const close = () => {
    chunks.push(copied(JSON.stringify(open)))
    open = []
    characters = 0
  }
  // The file will be refused whatever the remaining recipients are: twenty errors are found, and a recipient that is not allowed
  // (which takes precedence) is found or impossible. Recipients are slow to parse, so they are skipped from then on.
  const isDecided = () => failing.length >= rules.mostErrors && (allowedRecipients === null || notAllowed)

  const plan = homePlan(rules.homeCountry)
  const rowRules = { type: rules.channel, international: rules.international, plan, isDecided, ...measures }
  const homePrefix = CHANNELS[rules.channel].recipient.homePrefix(plan)
  const take = (row: CheckedRow) => {
    const isSimulated = row.key !== undefined && simulated.has(row.key)
    if (isSimulated) simulatedRows++
    // A blank or invalid recipient is never an allowed one.
    else if (allowedRecipients && (row.key === undefined || !allowedRecipients.has(row.key))) notAllowed = true
    if (row.tooLong && tooLongRow === null) tooLongRow = row.row
    if (longReference === null && isLong(row.reference)) longReference = row.reference
    if (row.errors.length > 0 && failing.length < rules.mostErrors) failing.push(row)
    if (row.key === undefined || row.recipient === null) return
    open.push({
      id: ids.next(),
      row: row.row,
      to: row.recipient,
      key: row.key,
      values: row.personalisation,
      reference: row.reference,
      isSimulated,
      isInternational: homePrefix === null ? undefined : !row.key.startsWith(homePrefix),
    })
    characters += lengthOf(row.personalisation)
    if (open.length === CHUNK_ROWS || characters > CHUNK_CHARACTERS) close()
  }
  // Plain functions do the work: generators are optimised less well.
  const rows = checkRows(sheet, columns, rowRules)
  const takeSome = (): boolean => {
    for (let taken = 0; taken < PAUSE_ROWS; taken++) {
      const next = rows.next()
      if (next.done) return false
      take(next.value)
    }
    return true
  }
  while (takeSome()) yield
  if (open.length > 0) close()

  const { rowCount } = sheet
  const isMixed =
    !CHANNELS[rules.channel].mixesSimulated && !rules.isTest && simulatedRows > 0 && simulatedRows < rowCount
  const problem: FileProblem | null = notAllowed
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
    columns: usedHeaders(columns, sheet.header),
    chunks: problem ? [] : chunks,
  }
}

/** A header may have any number of spaces; a longer one is kept as its normal form. */
const LONGEST_HEADER = 200

function usedHeaders({ used, reference }: ReturnType<typeof matchColumns>, header: readonly string[]): string[] {
  const found = used.map(({ at, key, header }) => ({ at: at[0] ?? 0, key, header }))
  const isThere = reference === undefined || found.some(column => column.at === reference)
  if (!isThere) found.push({ at: reference, key: 'reference', header: header[reference] ?? '' })
  return found
    .sort((a, b) => a.at - b.at)
    .map(({ key, header }) => (header.length > LONGEST_HEADER || header.includes('\0') ? key : header.trim()))
}

function lengthOf(values: RowValues): number {
  let length = 0
  for (const key in values) {
    const value = values[key]
    length += typeof value === 'string' ? value.length : 0
  }
  return length
}

/** The limit for the reference of a single message (contract 21, 21). */
const isLong = (reference: string | null) =>
  reference !== null && reference.length > LONGEST_REFERENCE && codePoints(reference) > LONGEST_REFERENCE

// A buffer with memory of its own can be transferred without another copy.
function copied(text: string): Uint8Array {
  const pooled = Buffer.from(text, 'utf8')
  const own = new Uint8Array(pooled.length)
  own.set(pooled)
  return own
}
