// Messages of a period as a table, newest first. Streamed: a page in memory, and a page takes some milliseconds.
import { createPartsMeasure } from '../bulk/measure.ts'
import { CHANNELS } from '../channels/index.ts'
import { type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Caller } from '../keys/key.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Templates } from '../templates/cache.ts'
import {
  type BrowseApp,
  type CountParts,
  type ExportedMessage,
  everyMessage,
  NO_FILTERS,
  type StatusFilter,
} from '../timeline/browse.ts'
import { ahead, type Format, headOf, type ReportRow, writerOf } from './lines.ts'
import type { Period } from './period.ts'

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

export type MessagesWanted = { period: Period; status: StatusFilter | null; template: Id | null; format: Format }

/** Rows that are read and written at once. */
const PAGE = 500

/** Messages of keys of the caller's type, as in `GET /v2/notifications`, those of jobs among them. */
export async function* reportMessages(
  app: BrowseApp,
  { service, key }: Caller,
  { period, status, template, format }: MessagesWanted,
): AsyncGenerator<string> {
  const write = writerOf(MESSAGE_COLUMNS, format)
  yield headOf(MESSAGE_COLUMNS, format)
  const filters = { ...NO_FILTERS, ...period, status, template, keyType: key.key_type }
  const options = { withRecipients: true, size: PAGE, countParts: partsIn(app.templates, service) }
  for await (const rows of ahead(everyMessage(app, service, filters, options)))
    yield rows.map(row => write(reported(row))).join('')
}

/** Parts are not stored: they are counted from the template and the values, as when the message was sent. */
export function partsIn(templates: Templates, service: LoadedService): CountParts {
  const measures = new Map<string, ReturnType<typeof createPartsMeasure>>()
  const prefix = service.sms_prefix ? service.name : null
  const keyOf = (row: { template_id: Id; template_version: number }) => `${row.template_id}/${row.template_version}`
  return async rows => {
    const texts = rows.filter(row => !CHANNELS[row.channel].template.hasSubject && !measures.has(keyOf(row)))
    await templates.warm(texts)
    for (const row of texts) {
      if (measures.has(keyOf(row))) continue
      const { source } = await templates.version(row.template_id, row.template_version)
      measures.set(keyOf(row), createPartsMeasure(source.content, prefix))
    }
    return (row, values) =>
      CHANNELS[row.channel].template.hasSubject
        ? null
        : (measures.get(keyOf(row))?.(values as Parameters<ReturnType<typeof createPartsMeasure>>[0]).fragments ?? null)
  }
}

const time = (at: Timestamp | null) => at && zulu(at)

const reported = (m: ExportedMessage): ReportRow => ({
  id: m.id,
  recipient: m.to,
  type: m.channel,
  status: m.status,
  status_description: m.description,
  reference: m.reference,
  template_id: m.template_id,
  template_version: m.template_version,
  template_name: m.template_name,
  job_id: m.job_id,
  job_name: m.job_name,
  text_parts: m.text_parts,
  created_at: time(m.created_at),
  scheduled_for: time(m.scheduled_for),
  sent_at: time(m.sent_at),
  completed_at: time(m.completed_at),
})
