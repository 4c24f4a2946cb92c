// Lines of messages, as the database writes them (notifications/sql/lines.ts), become lines of a report. Runs in the report thread.

import type { Channel } from '../channels/plain.ts'
import { fromMicros, zulu } from '../core/clock.ts'
import { csvCell, csvRow } from '../core/csv.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { describe, type Status } from '../notifications/status.ts'

export const REPORT_FORMATS = ['csv', 'ndjson'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

export type ReportRow = Readonly<Record<string, string | number | null>>

/** The header, if the format has one. */
export const headOf = (names: readonly string[], format: ReportFormat) =>
  format === 'csv' ? `${csvRow(names)}\r\n` : ''

export const writerOf = (names: readonly string[], format: ReportFormat): ((row: ReportRow) => string) =>
  format === 'csv' ? row => `${csvRow(names.map(name => row[name] ?? null))}\r\n` : row => `${JSON.stringify(row)}\n`

export const MESSAGE_COLUMNS = [
  'id',
  'recipient',
  'type',
  'status',
  'status_description',
  'reference',
  'template_id',
  'template_version',
  'template_name',
  'job_id',
  'job_name',
  'text_parts',
  'created_at',
  'scheduled_for',
  'sent_at',
  'completed_at',
] as const

export type MessageLines = {
  messages: string
  states: string
  /** Only messages with this id or a higher one; null: all. */
  from: Id | null
  /** By `id/version`, and by id. */
  templateNames: ReadonlyMap<string, string>
  jobNames: ReadonlyMap<string, string>
  format: ReportFormat
}

/** The rows of a report as UTF-8. */
export function reportMessageLines(seal: Pick<Seal, 'open'>, page: MessageLines): Uint8Array {
  const write = page.format === 'csv' ? csvWriter(page) : jsonWriter(page)
  const createdAt = createTimes()
  const stateLines = page.states.split('\n')
  let at = 0
  const lines: string[] = []
  for (const line of page.messages.split('\n')) {
    const [id = '', channel, template = '', version = '', job = '', scheduled = '', reference = '', sealed = ''] =
      line.split('\t')
    if (id === '' || (page.from !== null && id < page.from)) break
    // Both are in the order of ids; a message without a state is being deleted.
    while (at < stateLines.length && (stateLines[at] ?? '').slice(0, id.length) > id) at++
    const [stateId, status, detail = '', sent = '', completed = '', parts = ''] = stateLines[at]?.split('\t') ?? []
    if (stateId !== id) continue
    lines.push(
      write({
        id,
        channel: channel as Channel,
        status: status as Status,
        template,
        version,
        job,
        reference,
        parts,
        recipient: recipientIn(seal.open('message', Buffer.from(sealed, 'hex'))),
        description: describe(status as Status, channel as Channel, detail || null),
        created: createdAt(id as Id),
        scheduled: scheduled && zulu(scheduled),
        sent: sent && zulu(sent),
        completed: completed && zulu(completed),
      }),
    )
  }
  return Buffer.from(lines.join(''))
}

/** Texts; empty: null. `reference` is JSON. */
type Line = {
  id: string
  recipient: string
  channel: Channel
  status: Status
  description: string
  reference: string
  template: string
  version: string
  job: string
  parts: string
  created: string
  scheduled: string
  sent: string
  completed: string
}

// Both are written out, because they take half of the time that lists of cells or objects take. Ids, statuses and times need no escaping.

function csvWriter({ templateNames, jobNames }: MessageLines): (line: Line) => string {
  const [templates, jobs] = [mapped(templateNames, csvCell), mapped(jobNames, csvCell)]
  return m =>
    `"${m.id}",${csvCell(m.recipient)},"${m.channel}","${m.status}","${m.description}",${
      m.reference === '' ? '""' : csvCell(JSON.parse(m.reference) as string)
    },"${m.template}","${m.version}",${templates.get(`${m.template}/${m.version}`) ?? '""'},"${m.job}",${
      m.job === '' ? '""' : (jobs.get(m.job) ?? `"${m.job}"`)
    },"${m.parts}","${m.created}","${m.scheduled}","${m.sent}","${m.completed}"\r\n`
}

function jsonWriter({ templateNames, jobNames }: MessageLines): (line: Line) => string {
  const [templates, jobs] = [
    mapped(templateNames, one => JSON.stringify(one)),
    mapped(jobNames, one => JSON.stringify(one)),
  ]
  const quoted = (text: string) => (text === '' ? 'null' : `"${text}"`)
  return m =>
    `{"id":"${m.id}","recipient":${JSON.stringify(m.recipient)},"type":"${m.channel}","status":"${m.status}","status_description":"${
      m.description
    }","reference":${m.reference || 'null'},"template_id":"${m.template}","template_version":${m.version},"template_name":${
      templates.get(`${m.template}/${m.version}`) ?? '""'
    },"job_id":${quoted(m.job)},"job_name":${m.job === '' ? 'null' : (jobs.get(m.job) ?? `"${m.job}"`)},"text_parts":${
      m.parts || 'null'
    },"created_at":"${m.created}","scheduled_for":${quoted(m.scheduled)},"sent_at":${quoted(m.sent)},"completed_at":${quoted(m.completed)}}\n`
}

const mapped = (names: ReadonlyMap<string, string>, write: (text: string) => string) =>
  new Map([...names].map(([key, name]) => [key, write(name)]))

const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/** The first text in personal data as it is stored: `["recipient",…]`. Only that is read, unless it has escapes. */
export function recipientIn(clear: Buffer): string {
  const end = clear.indexOf(QUOTE, 2)
  for (let at = 2; at < end; at++)
    if (clear[at] === BACKSLASH) return (JSON.parse(clear.toString('utf8')) as [string])[0]
  return clear.toString('utf8', 2, end)
}

/** When a message was accepted. Messages of one second share its text. */
function createTimes(): (id: Id) => string {
  let second = -1
  let text = ''
  return id => {
    const micros = microsOf(id)
    const now = Math.floor(micros / 1_000_000)
    if (now !== second) {
      second = now
      text = fromMicros(now * 1_000_000).slice(0, 20)
    }
    return `${text}${String(micros - now * 1_000_000).padStart(6, '0')}Z`
  }
}
