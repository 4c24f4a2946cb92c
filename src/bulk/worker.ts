// The bulk thread: parses a body of up to 64 MiB, checks up to 50,000 rows and cuts them into chunks, off the event loop. Bodies
// of several services are scheduled fairly; parsed rows never leave the thread.

import { parentPort, workerData } from 'node:worker_threads'
import { CHANNELS } from '../channels/index.ts'
import { createClock } from '../core/clock.ts'
import { createIds } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { readJson } from '../http/json.ts'
import { examiner, invalid, plain, show } from '../http/validation.ts'
import { scheduleProblem } from '../notifications/schedule.ts'
import { homePlan } from '../recipients/plans.ts'
import { codePoints } from '../rendering/characters.ts'
import { keyOf } from '../rendering/placeholders.ts'
import { type CheckedRow, checkRows, type RowRules, type RowValues, rowErrorsSentence } from './check.ts'
import { type Columns, matchColumns } from './columns.ts'
import { createErrorTable, type RowFlags } from './error-table.ts'
import { type BulkRow, CHUNK_CHARACTERS, CHUNK_ROWS, LONGEST_REFERENCE, MOST_COLUMNS, MOST_ROWS } from './job.ts'
import { createMeasures, createPartsMeasure } from './measure.ts'
import { refuse } from './refusals.ts'
import { type Sheet, sheetOfCsv, sheetOfRows } from './rows.ts'
import { type BulkBody, bulkBody } from './schemas.ts'
import { createSliceScheduler, type Sliced } from './slices.ts'
import {
  type BulkHead,
  type CheckedFile,
  type FileProblem,
  type FileRules,
  type FoundInFile,
  type FoundInRows,
  RUNNING,
  type ThreadReply,
  type ThreadRequest,
} from './thread.ts'

/** CPU time of one body; an ordinary one of 50,000 rows takes a second or two. */
const BUDGET_MS = 60_000

/** A pause costs as much as checking half a row; the slowest rows take half a millisecond each. */
const PAUSE_ROWS = 32

/** A body that was read and waits to be checked, and the time it has used. */
type ParsedBody = { body: Pick<Partial<BulkBody>, 'rows' | 'csv'> | null; usedMs: number }

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
  parentPort?.postMessage(answer, answer.kind === 'checked' ? payloadsOf(answer) : [])
}

/** Transferred, not copied. */
function payloadsOf({ chunks, found }: CheckedFile): ArrayBuffer[] {
  const packed = found?.rows?.errors.packed
  return [...chunks.map(chunk => chunk.buffer as ArrayBuffer), ...(packed ? [packed.buffer] : [])]
}

function* reading(known: ParsedBody, ask: Extract<ThreadRequest, { kind: 'read' }>): Sliced<ThreadReply> {
  const { job } = ask
  known.body = null
  let parsed: unknown
  try {
    // Copied: shared memory cannot be decoded.
    const text = Buffer.from(ask.body)
    if (text.length > 2 * MOST_LISTS && hasTooManyLists(text)) throw refuse.tooManyRows()
    yield
    parsed = readJson(text, { names: MOST_LISTS, values: Number.POSITIVE_INFINITY })
    yield
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { kind: 'head', job, head: { ok: false, kind: error.kind, messages: error.messages, sound: null } }
  }
  const { problems, sound } = examinerAt(ask.now)(parsed)
  const { rows, csv, ...fields } = sound
  known.body = { rows, csv }
  const found = { fields, hasRows: rows !== undefined && rows.length > 0, hasCsv: csv !== undefined && csv !== '' }
  if (problems.length === 0) return { kind: 'head', job, head: { ok: true, ...found } as BulkHead }
  const unread = Object.keys(Object(parsed)).filter(name => !Object.hasOwn(sound, name))
  const { kind, messages } = invalid(problems)
  return { kind: 'head', job, head: { ok: false, kind, messages, sound: { ...found, unread } } }
}

const examinerAt = (now: number) =>
  examiner<BulkBody>(bulkBody, {
    checks: {
      scheduled_for: (text: string | null) => {
        const problem = text === null ? null : scheduleProblem(text, now)
        return problem === null ? [] : [`scheduled_for ${problem}`]
      },
    },
  })

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
  if (!sheet.ok) return refused([{ step: 'convert', detail: sheet.problem }])
  yield
  const { header, rowCount } = sheet.sheet
  const isWide = header.length > MOST_COLUMNS
  const columns = matchColumns(header, rules.channel, rules.names)
  const problems: FileProblem[] = [
    ...(isWide ? [{ step: 'columns', detail: '' } as const] : []),
    ...(columns.missing.length > 0 ? [{ step: 'missing', detail: columns.missing.join(', ') } as const] : []),
    ...(columns.duplicates.length > 0 ? [{ step: 'duplicate', detail: columns.duplicates.join(', ') } as const] : []),
    ...(rowCount > MOST_ROWS ? [{ step: 'many', detail: '' } as const] : []),
    ...(rowCount < 1 ? [{ step: 'few', detail: '' } as const] : []),
  ]
  if (!rules.isReport) return problems.length > 0 ? refused(problems) : yield* cut(sheet.sheet, columns, rules)
  // Of a header that is too long the end was not read: columns that seem to be missing may be there.
  if (isWide) return refused(problems.slice(0, 1))
  const found = { columns: shownColumns(columns), rows: null }
  if (rowCount > MOST_ROWS || rowCount < 1) return { ...refused(problems), rowCount, found }
  const whole = yield* collect(sheet.sheet, columns, rules)
  return { ...whole, problems: [...problems, ...whole.problems], found: { ...found, rows: whole.rows } }
}

const refused = (problems: readonly FileProblem[]): CheckedFile => ({
  rowCount: 0,
  counted: 0,
  isSimulated: false,
  problems,
  columns: [],
  chunks: [],
  found: null,
})

function shownColumns(columns: Columns): FoundInFile['columns'] {
  const known = new Set([
    ...columns.used.map(column => column.key),
    ...(columns.reference === undefined ? [] : ['reference']),
  ])
  return {
    recipient: columns.used.find(column => column.isRecipient)?.header ?? null,
    used: columns.used.map(column => column.header),
    unused: columns.headers.filter(text => !known.has(keyOf(text))),
    missing: columns.missing,
    duplicate: columns.duplicates,
  }
}

/** Cuts the rows into chunks, to be stored. */
function* cut(sheet: Sheet, columns: Columns, rules: FileRules): Sliced<CheckedFile> {
  const ids = createIds(createClock(() => rules.dueMicros / 1000))
  const chunks: Uint8Array[] = []
  let open: BulkRow[] = []
  let characters = 0
  const close = () => {
    chunks.push(copied(JSON.stringify(open)))
    open = []
    characters = 0
  }
  const homePrefix = CHANNELS[rules.channel].recipient.homePrefix(homePlan(rules.homeCountry))
  const findings = createFindings(rules, columns)
  const take = (row: CheckedRow) => {
    const { isSimulated } = findings.add(row)
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
  yield* eachRow(sheet, columns, { ...rowRules(rules, columns), isDecided: findings.isDecided }, take)
  if (open.length > 0) close()
  const checked = findings.whole(sheet.rowCount)
  return {
    ...checked,
    columns: usedHeaders(columns, sheet.header),
    chunks: checked.problems.length > 0 ? [] : chunks,
    found: null,
  }
}

/** Collects what a check before sending reports. */
function* collect(
  sheet: Sheet,
  columns: Columns,
  rules: FileRules,
): Sliced<Omit<CheckedFile, 'found'> & { rows: FoundInRows }> {
  const findings = createFindings(rules, columns)
  const referenceHeader = columns.reference === undefined ? '' : (sheet.header[columns.reference] ?? '').trim()
  const errors = createErrorTable(columns.used, referenceHeader)
  const repeated = createRepeated()
  const first: { row: number; to: string | null; values: RowValues }[] = []
  const parts = rules.subject === null ? createPartsMeasure(rules.content, rules.prefix) : null
  const alphabets = { 'GSM-7': 0, 'UCS-2': 0 }
  let [total, bad, notAllowed, simulated] = [0, 0, 0, 0]
  const take = (row: CheckedRow) => {
    const found = findings.add(row)
    if (found.isSimulated) simulated++
    if (found.notAllowed) notAllowed++
    if (errors.add(row, found)) bad++
    if (row.key !== undefined) repeated.add(row.key, row.row)
    if (first.length < EXAMPLES) first.push({ row: row.row, to: row.recipient, values: row.personalisation })
    if (!parts || row.tooLong || (row.errors.length > 0 && row.errors.some(error => error.problem === 'missing')))
      return
    const { encoding, fragments } = parts(row.personalisation)
    alphabets[encoding] += fragments
    total += fragments
  }
  yield* eachRow(sheet, columns, rowRules(rules, columns), take)
  const { rowCount } = sheet
  return {
    ...findings.whole(rowCount),
    columns: [],
    chunks: [],
    rows: {
      counts: { total: rowCount, ok: rowCount - bad, bad, not_allowed: notAllowed, simulated },
      duplicates: repeated.whole(),
      errors: errors.whole(),
      first,
      parts: parts && total,
      alphabets: parts && alphabets,
    },
  }
}

const EXAMPLES = 3

function rowRules(rules: FileRules, columns: Columns): RowRules {
  const plan = homePlan(rules.homeCountry)
  // Without all columns a message cannot be measured.
  const measures = columns.missing.length > 0 ? {} : createMeasures(rules)
  return { type: rules.channel, international: rules.international, plan, ...measures }
}

function* eachRow(sheet: Sheet, columns: Columns, rules: RowRules, take: (row: CheckedRow) => void): Sliced<void> {
  // Plain functions do the work: generators are optimised less well.
  const rows = checkRows(sheet, columns, rules)
  const takeSome = (): boolean => {
    for (let taken = 0; taken < PAUSE_ROWS; taken++) {
      const next = rows.next()
      if (next.done) return false
      take(next.value)
    }
    return true
  }
  while (takeSome()) yield
}

/** What the rows of a file are refused for, in the order of the contract. */
function createFindings(rules: FileRules, { hasRecipient }: Columns) {
  const allowedRecipients = rules.allowedRecipients && new Set(rules.allowedRecipients)
  const simulated = new Set(rules.simulated)
  const failing: CheckedRow[] = []
  let anyNotAllowed = false
  let tooLongRow: number | null = null
  let longReference: string | null = null
  let simulatedRows = 0

  function add(row: CheckedRow): RowFlags & { isSimulated: boolean } {
    const isSimulated = row.key !== undefined && simulated.has(row.key)
    // A blank or invalid recipient is never an allowed one.
    const isStranger = !isSimulated && allowedRecipients !== null && hasRecipient && !isIn(allowedRecipients, row.key)
    const hasLongReference = isLong(row.reference)
    if (isSimulated) simulatedRows++
    if (isStranger) anyNotAllowed = true
    if (row.tooLong && tooLongRow === null) tooLongRow = row.row
    if (longReference === null && hasLongReference) longReference = row.reference
    if (row.errors.length > 0 && failing.length < rules.mostErrors) failing.push(row)
    return { isSimulated, notAllowed: isStranger && row.key !== undefined, longReference: hasLongReference }
  }

  // The file will be refused whatever the remaining recipients are: twenty errors are found, and a recipient that is not allowed
  // (which takes precedence) is found or impossible. Recipients are slow to parse, so they are skipped from then on.
  const isDecided = () => failing.length >= rules.mostErrors && (allowedRecipients === null || anyNotAllowed)

  function whole(rowCount: number): Omit<CheckedFile, 'columns' | 'chunks' | 'found'> {
    const isMixed =
      !CHANNELS[rules.channel].mixesSimulated && !rules.isTest && simulatedRows > 0 && simulatedRows < rowCount
    const problems: FileProblem[] = [
      ...(anyNotAllowed ? [{ step: 'not-allowed', detail: '' } as const] : []),
      ...(tooLongRow !== null ? [{ step: 'long', detail: String(tooLongRow) } as const] : []),
      ...(longReference !== null
        ? [{ step: 'reference', detail: plain(`reference ${show(longReference)} is too long`) } as const]
        : []),
      ...(failing.length > 0 ? [{ step: 'rows', detail: rowErrorsSentence(failing, rules.mostErrors) } as const] : []),
      ...(isMixed ? [{ step: 'mixed', detail: '' } as const] : []),
    ]
    return { rowCount, counted: rowCount - simulatedRows, isSimulated: simulatedRows === rowCount, problems }
  }

  return { add, isDecided, whole }
}

const isIn = (keys: ReadonlySet<string>, key: string | undefined) => key !== undefined && keys.has(key)

/** Recipients that occur more than once. */
function createRepeated() {
  const firstRows = new Map<string, number>()
  const groups = new Map<string, { count: number; rows: number[] }>()
  let rows = 0
  return {
    add(key: string, row: number) {
      const firstRow = firstRows.get(key)
      if (firstRow === undefined) {
        firstRows.set(key, row)
        return
      }
      rows++
      const known = groups.get(key)
      if (!known) groups.set(key, { count: 2, rows: [firstRow, row] })
      else {
        known.count++
        if (known.rows.length < MOST_ROWS_SHOWN) known.rows.push(row)
      }
    },
    whole: () => ({ rows, recipients: groups.size, first: [...groups.values()].slice(0, MOST_GROUPS_SHOWN) }),
  }
}

const MOST_GROUPS_SHOWN = 20
const MOST_ROWS_SHOWN = 10

/** A header may have any number of spaces; a longer one is kept as its normal form. */
const LONGEST_HEADER = 200

function usedHeaders({ used, reference }: Columns, header: readonly string[]): string[] {
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
