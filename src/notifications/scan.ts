// The lane of messages whose files had no scan result in time. The scan is retried; without a result within an hour the message
// fails. A message is never sent unscanned (contract 6.3, R18).
import type { Clock } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Entry, Handled, Work } from '../engine/work.ts'
import type { EventHints } from '../events/hints.ts'
import type { Room } from '../files/fetch.ts'
import { keyForScan, wholeOf } from '../files/keep.ts'
import type { Scanner, Verdict } from '../files/scanner.ts'
import { type FileRow, filesOfMessages } from '../files/sql.ts'
import type { FileStore } from '../files/store.ts'
import type { Note } from '../telemetry/log.ts'
import { recordVerdicts, type Verdicts, waitingForScan } from './sql/scan.ts'

export type ScanApp = {
  sql: Sql
  clock: Clock
  seal: Seal
  ids: { next(): Id }
  owner: Id
  files: { store: FileStore; scanner: Scanner; room: Room }
  wake(lane: string): void
  note: Note
  hints: Pick<EventHints, 'announce'>
}

type MessageToScan = { id: Id; lane: string; files: FileRow[] }
type ScanResult = Omit<Verdicts, 'id' | 'ticket'>

const SCAN_PERIOD_MS = 3_600_000
const FILE_TIMEOUT_MS = 60_000
/** Delays of the first retries; after them the delay of the message's own lane (contract 6.5). */
const FIRST_DELAYS_SECONDS = [10, 20, 30, 40, 50, 60]
const LANE_DELAY_SECONDS = { high: 25, other: 300 } as const

export function scan(app: ScanApp): Work<MessageToScan, ScanResult> {
  return {
    async load(tickets) {
      const subjects = tickets.flatMap(ticket => ticket.subjects)
      const waiting = await waitingForScan(app.sql, subjects)
      const rows = await filesOfMessages(
        app.sql,
        waiting.map(one => one.id),
      )
      const items = waiting.map(
        (one): MessageToScan => ({ ...one, files: rows.filter(row => row.notification_id === one.id) }),
      )
      return new Map(items.map(item => [item.id, item]))
    },

    async handle(item, ticket) {
      // Not sent without them.
      if (item.files.length === 0) return ended('technical-failure', 'a file is not there any more', [], [])
      const clean: Id[] = []
      let open = 0
      for (const file of item.files.filter(one => one.verdict === 'pending')) {
        const verdict = await verdictOn(app, file)
        if (verdict.kind === 'virus') return ended('virus-scan-failed', null, clean, [file.id])
        if (verdict.kind === 'clean') clean.push(file.id)
        else open++
      }
      if (open === 0) return ended('created', null, clean, [])
      const left = microsOf(item.id) / 1000 + SCAN_PERIOD_MS - app.clock.now()
      if (left <= 0) return ended('technical-failure', 'The virus scan gave no verdict within an hour', clean, [])
      const wait = FIRST_DELAYS_SECONDS[ticket.attempts] ?? laneSeconds(item.lane)
      const delay = Math.min(wait, Math.max(1, left / 1000))
      return { kind: 'again', result: { ...NOTHING, clean, delay }, delaySeconds: delay }
    },

    setAside: () => ({
      ...NOTHING,
      status: 'technical-failure',
      response: 'set aside after repeated faults',
    }),
  }
}

const NOTHING: ScanResult = { status: null, response: null, delay: null, clean: [], virus: [] }

const ended = (status: Verdicts['status'], response: string | null, clean: Id[], virus: Id[]): Handled<ScanResult> => ({
  kind: 'done',
  result: { ...NOTHING, status, response, clean, virus },
})

const laneSeconds = (lane: string) => (lane.endsWith('-high') ? LANE_DELAY_SECONDS.high : LANE_DELAY_SECONDS.other)

/** The file itself, and for the scanner in shared memory. */
const COPIES_SCANNED = 2

async function verdictOn({ seal, files: { store, scanner, room } }: ScanApp, file: FileRow): Promise<Verdict> {
  const release = await room(COPIES_SCANNED * file.bytes)
  try {
    const content = await wholeOf(store, file, keyForScan(seal, file))
    return await scanner.scan(content, FILE_TIMEOUT_MS)
  } catch {
    return { kind: 'none', detail: 'the file could not be read' } // the file store does not answer
  } finally {
    release()
  }
}

/** Records verdicts, moves clean messages to their lanes, and retries those without a verdict. */
export const writeVerdicts =
  (app: Pick<ScanApp, 'sql' | 'owner' | 'ids' | 'wake' | 'hints' | 'note'>) =>
  async (entries: readonly Entry<ScanResult>[]): Promise<void> => {
    const leased = new Map(entries.map(({ ticket }) => [ticket.id, { id: ticket.id, takes: ticket.takes }]))
    const results = entries.flatMap(({ id, ticket, result }) =>
      id && result ? [{ ...result, id, ticket: ticket.id }] : [],
    )
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(({ ticket, settle }) =>
      (settle ?? []).map(later => ({
        ...later,
        from: ticket.id,
        ticket: app.ids.next(),
        lane: ticket.lane,
        service_id: ticket.service_id,
      })),
    )
    const passed = await recordVerdicts(app.sql, app.owner, [...leased.values()], results, settled, again)
    app.hints.announce(new Set(entries.map(({ ticket }) => ticket.service_id)))
    for (const lane of new Set(passed.map(row => row.lane))) app.wake(lane)
    for (const { id, ticket, result } of entries)
      if (id && result) {
        const { status, delay } = result
        const about = { message: id, service: ticket.service_id, attempt: ticket.attempts + 1 }
        app.note({ ...about, status: status ?? 'pending-virus-check', retry_seconds: delay }, 'scan recorded')
      }
  }
