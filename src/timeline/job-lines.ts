// Rows of a job as lines of its report. Those that are messages are written in the report thread, from the lines of the database.
import { type JobRow, statusTime } from '../bulk/job-rows.ts'
import type { Channel } from '../channels/plain.ts'
import { type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { describe, FAILURES, type Status } from '../notifications/status.ts'
import { type ReportFormat, type ReportRow, recipientIn, writerOf } from './lines.ts'
import { meaningOf } from './reply.ts'

const HEADER = [
  'row',
  'recipient',
  'reference',
  'status',
  'status_description',
  'status_at',
  'reason',
  'notification_id',
] as const

/** What the rows of a job have in common. `recipient` is left out for those who may not have it. */
export type ShownJobRows = { channel: Channel; acceptedAt: Timestamp; withRecipients: boolean; format: ReportFormat }

export type JobLines = ShownJobRows & { messages: string; states: string }

export const jobColumns = (withRecipients: boolean) => HEADER.filter(name => withRecipients || name !== 'recipient')

export const jobWriter = ({ withRecipients, format }: ShownJobRows) => writerOf(jobColumns(withRecipients), format)

/** The rows of a report as UTF-8. */
export function reportJobLines(seal: Pick<Seal, 'open'>, { messages, states, ...shown }: JobLines): Uint8Array {
  const write = jobWriter(shown)
  const stateLines = states.split('\n')
  let at = 0
  const lines: string[] = []
  for (const line of messages.split('\n')) {
    const [id = '', row, reference = '', sealed = ''] = line.split('\t')
    if (id === '') break
    while (at < stateLines.length && (stateLines[at] ?? '').slice(0, id.length) < id) at++
    const [stateId, status, detail = '', sent = '', completed = '', response = '', diagnosis = ''] =
      stateLines[at]?.split('\t') ?? []
    // Deleted meanwhile.
    if (stateId !== id) continue
    const state = {
      id: id as Id,
      status: status as Status,
      sent_at: sent || null,
      completed_at: completed || null,
      failure_detail: detail || null,
      provider_response: response === '' ? null : (JSON.parse(response) as string),
      diagnosis: diagnosis === '' ? null : Buffer.from(diagnosis, 'hex'),
    }
    lines.push(
      write(
        reportedRow(seal, shown, {
          id: state.id,
          row: Number(row),
          reference: reference === '' ? null : (JSON.parse(reference) as string),
          status: state.status,
          statusAt: statusTime(state, shown.acceptedAt),
          state,
          personal: shown.withRecipients ? { to: recipientIn(seal.open('message', Buffer.from(sealed, 'hex'))) } : null,
        }),
      ),
    )
  }
  return Buffer.from(lines.join(''))
}

type ShownRow = Omit<JobRow, 'personal'> & { personal: { to: string } | null }

// Written out: an object that is put together of others takes longer than everything else in a row.
export function reportedRow(
  seal: Pick<Seal, 'open'>,
  { channel, withRecipients }: ShownJobRows,
  { id, row, reference, status, statusAt, state, personal }: ShownRow,
): ReportRow {
  const status_description = describe(status, channel, state?.failure_detail ?? null)
  const status_at = zulu(statusAt)
  const reason = reasonOf(seal, channel, status, state)
  return withRecipients
    ? {
        row,
        recipient: personal?.to ?? null,
        reference,
        status,
        status_description,
        status_at,
        reason,
        notification_id: id,
      }
    : { row, reference, status, status_description, status_at, reason, notification_id: id }
}

/** Why it failed; null: it did not, or nobody said. */
function reasonOf(seal: Pick<Seal, 'open'>, channel: Channel, status: Status, state: ShownRow['state']): string | null {
  if (!state || !FAILURES.some(one => one === status)) return null
  const reply = state.diagnosis && seal.open('provider reply', state.diagnosis).toString('utf8')
  return meaningOf(channel, reply, state.failure_detail, state.provider_response)?.is ?? null
}
