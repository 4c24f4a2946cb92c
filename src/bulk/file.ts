// The file of a job as CSV: the columns that the template uses, with the headers of the file, in its order. It is made from the
// messages, so it lasts as long as they do and is not stored a second time.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import { csvRow } from '../core/csv.ts'
import { keyOf, type Values } from '../rendering/placeholders.ts'
import type { Service } from '../services/service.ts'
import type { Job } from './job.ts'
import { type JobRowsApp, jobRows } from './job-rows.ts'
import { fileOf } from './sql/rows.ts'

/** Only for those who may have recipients. Recorded with the number of rows. */
export async function* jobFile(
  app: JobRowsApp,
  actor: PersonActor,
  service: Service,
  job: Job,
): AsyncGenerator<string> {
  requirePermission(actor, 'export-recipients', service.id)
  const { columns } = await fileOf(app.db.sql, job.id)
  let header = columns
  let messages = 0
  try {
    for await (const rows of jobRows(app, service, job, { withPersonal: true })) {
      const isFirst = messages === 0
      header ??= headersOf(job.channel, rows[0]?.personal?.values ?? {})
      messages += rows.length
      const cells = rows.map(({ personal, reference }) =>
        cellsOf(header ?? [], job.channel, personal?.to ?? '', personal?.values ?? {}, reference),
      )
      yield [...(isFirst ? [header] : []), ...cells].map(row => `${csvRow(row)}\r\n`).join('')
    }
    if (messages === 0 && header) yield `${csvRow(header)}\r\n`
  } finally {
    // Also when the download ends early: these rows were on their way.
    await record(app.db.sql, 'messages exported', actor, service.id, job.id, {
      messages,
      recipients: true,
      values: true,
    })
  }
}

/** Of a job of an earlier version, whose headers are not known: names of values in their normal form. */
export function headersOf(channel: Channel, values: Values): string[] {
  const { en, fr } = CHANNELS[channel].recipient.headers
  const names = Object.keys(values).filter(name => name !== keyOf(en) && name !== keyOf(fr) && name !== 'reference')
  return [en, ...names, 'reference']
}

/** The cells of a row under these headers. */
export function cellsOf(
  headers: readonly string[],
  channel: Channel,
  to: string,
  values: Values,
  reference: string | null,
): string[] {
  const { en, fr } = CHANNELS[channel].recipient.headers
  const recipients = [keyOf(en), keyOf(fr)]
  return headers.map(header => {
    const key = keyOf(header)
    if (recipients.includes(key)) return to
    const value = Object.hasOwn(values, key) ? values[key] : key === 'reference' ? reference : null
    return typeof value === 'string' ? value : value == null ? '' : String(value)
  })
}
