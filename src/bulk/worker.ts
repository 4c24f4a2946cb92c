// Runs in a thread of its own: reads a body of up to 64 MiB, checks up to 50,000 rows and cuts them into chunks, while the
// event loop of the service goes on answering others. Bodies of several services take turns; parsed rows never leave the thread.

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
import { type Answer, type Ask, type Checked, type Head, type Problem, RUNNING, type Rules } from './thread.ts'
import { createTurns, type Sliced } from './turns.ts'

/** Time that one body may take of the thread; an honest one of 50,000 rows takes a second or two. */
const BUDGET_MS = 60_000

/** A pause costs as much as checking half a row; the slowest rows take half a millisecond each. */
const PAUSE_ROWS = 32

/** What was read and waits to be checked, and the time it has used. */
type Job = { body: BulkBody | null; usedMs: number }

const jobs = new Map<number, Job>()
const running = workerData as Int32Array
const now = () => performance.now()
const turns = createTurns(now)
let isRunning = false

parentPort?.on('message', (ask: Ask) => {
  if (ask.kind === 'forget') {
    jobs.delete(ask.job)
    return
  }
  const begin = () => {
    Atomics.store(running, RUNNING.job, ask.job)
    Atomics.add(running, RUNNING.slices, 1)
  }
  turns.add({ service: ask.service, begin, work: answering(ask) })
  if (isRunning) return
  isRunning = true
  setImmediate(slice)
})

// Messages are heard between two slices.
function slice() {
  isRunning = turns.run()
  Atomics.store(running, RUNNING.job, 0)
  if (isRunning) setImmediate(slice)
}

function* answering(ask: Exclude<Ask, { kind: 'forget' }>): Sliced<void> {
  const { job } = ask
  const known = jobs.get(job) ?? { body: null, usedMs: 0 }
  jobs.set(job, known)
  let answer: Answer
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

function* reading(known: Job, ask: Extract<Ask, { kind: 'read' }>): Sliced<Answer> {
  const { job } = ask
  known.body = null
  let body: BulkBody
  try {
    // Memory of its own: what is shared cannot be decoded.
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
  return { kind: 'head', job, head: head as Head }
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

function* checking(known: Job, { job, rules }: Extract<Ask, { kind: 'check' }>): Sliced<Answer> {
  if (!known.body) throw new Error('nothing was read')
  const { rows, csv } = known.body
  known.body = null
  return { kind: 'checked', job, ...(yield* check(rows, csv, rules)) }
}

function* check(rows: unknown[] | undefined, csv: string | undefined, rules: Rules): Sliced<Checked> {
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

const refused = (problem: Problem): Checked => ({ rowCount: 0, counted: 0, isSimulated: false, problem, chunks: [] })

function* cut(sheet: Sheet, columns: ReturnType<typeof matchColumns>, rules: Rules): Sliced<Checked> {
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
  // Twenty wrong rows are told, and whoever may not be written to decides before them: from then on a recipient, which may be
  // slow to read, changes nothing.
  const isDecided = () => failing.length >= rules.mostErrors && (allowedRecipients === null || notAllowed)

  const plan = homePlan(rules.homeCountry)
  const rowRules = { type: rules.channel, international: rules.international, plan, isDecided, ...measures }
  const homePrefix = CHANNELS[rules.channel].recipient.homePrefix(plan)
  const take = (row: CheckedRow) => {
    const isSimulated = row.key !== undefined && simulated.has(row.key)
    if (isSimulated) simulatedRows++
    // A blank or broken recipient is on no list.
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
  // Plain functions do the work: what pauses is not compiled as well.
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

function lengthOf(values: RowValues): number {
  let length = 0
  for (const key in values) {
    const value = values[key]
    length += typeof value === 'string' ? value.length : 0
  }
  return length
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
