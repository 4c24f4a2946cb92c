// The mail to those who manage a service when Herald disables one of its endpoints.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { managersOf, sealedMails } from '../mails/send.ts'
import type { QueuedMail } from '../mails/sql.ts'
import type { Services } from '../services/load.ts'
import type { Reason } from './webhook.ts'

type App = { sql: Sql; seal: Seal; ids: { next(): Id }; services: Services }

const WHY: Readonly<Record<Reason, string>> = {
  failing: 'It has not accepted a single event for 72 hours.',
  gone: 'It answered with the status 410 (gone).',
}

export async function mailsAbout(
  app: App,
  webhook: Id,
  { service, reason, host }: { service: Id; reason: Reason; host: string },
): Promise<QueuedMail[]> {
  const [managers, found] = await Promise.all([managersOf(app.sql, service), app.services.get(service)])
  const name = found?.name ?? service
  const text = [
    `The webhook ${webhook} of the service "${name}" at ${host} is disabled.`,
    WHY[reason],
    'No event is lost: they are kept as long as messages are. When the endpoint works again, resume the webhook, and it gets everything from where it stopped:',
    `herald webhook resume ${webhook}`,
  ].join('\n\n')
  return sealedMails(
    app,
    service,
    managers.map(to => ({ to, subject: `Webhook of ${name} is disabled`, text })),
  )
}
