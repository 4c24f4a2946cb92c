// All messages that match, as CSV: streamed, a page in memory. Recipients only for those who may have them; recorded with the count.
import { may, type PersonActor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import { type Timestamp, zulu } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import type { Service } from '../services/service.ts'
import { type BrowseApp, type ExportedMessage, everyMessage, type Filters } from './browse.ts'

/** The names of the columns. */
const HEADER = [
  'id',
  'to',
  'type',
  'status',
  'status_description',
  'reference',
  'template',
  'template_id',
  'template_version',
  'job',
  'sent_by',
  'key_type',
  'created_at',
  'scheduled_for',
  'sent_at',
  'completed_at',
] as const

const time = (at: Timestamp | null) => at && zulu(at)

const cellsOf = (m: ExportedMessage, withRecipients: boolean) => [
  m.id,
  ...(withRecipients ? [m.to] : []),
  m.channel,
  m.status,
  m.description,
  m.reference,
  m.template_name,
  m.template_id,
  m.template_version,
  m.job_name,
  m.person ?? m.key_name,
  m.key_type,
  ...[time(m.created_at), time(m.scheduled_for), time(m.sent_at), time(m.completed_at)],
]

export async function* exportMessages(
  app: BrowseApp,
  actor: PersonActor,
  service: Service,
  filters: Filters,
): AsyncGenerator<string> {
  requirePermission(actor, 'see-messages', service.id)
  const withRecipients = may(actor, 'export-recipients', service.id)
  let messages = 0
  try {
    yield `${csvRow(HEADER.filter(name => withRecipients || name !== 'to'))}\r\n`
    for await (const rows of everyMessage(app, service, filters, { withRecipients })) {
      messages += rows.length
      yield rows.map(row => `${csvRow(cellsOf(row, withRecipients))}\r\n`).join('')
    }
  } finally {
    // Also when the download ends early: these rows were on their way.
    await record(app.db.sql, 'messages exported', actor, service.id, service.id, {
      messages,
      recipients: withRecipients,
    })
  }
}
