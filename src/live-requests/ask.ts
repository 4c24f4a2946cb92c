// A manager asks to go live. The operators get a mail; asking again replaces what the open request says.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { trustedConsole } from '../people/links.ts'
import { operatorsOf } from '../people/operators.ts'
import { reasonFrom } from '../services/checks.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { shownService } from '../services/sql.ts'
import { checklistOf, isReady } from './checklist.ts'
import { refuse } from './refusals.ts'
import { ask } from './sql.ts'

export type App = {
  db: Pick<Database, 'sql' | 'transaction'>
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  config: { baseUrl: string | null }
} & Partial<Mailing>

export type NewLiveRequest = {
  purpose: string
  email_a_day: number | null
  sms_a_day: number | null
  /** The address of the console, for links in mails. */
  console: string
}

/** Operators beyond these get no mail; all of them see the request in the console. */
const MOST_MAILS = 20
const MOST_A_DAY = 10_000_000

/** The page of the request, below the address of the console. */
export const livePath = (service: Id) => `/s/${service}/settings/live`

/** `live`: it is live already, for example because an operator was faster. */
export async function askToGoLive(
  app: App,
  actor: Actor,
  service: Id,
  input: NewLiveRequest,
): Promise<'asked' | 'live'> {
  requirePermission(actor, 'manage-service', service)
  const found = await shownService(app.db.sql, service)
  if (!found) throw refuseService.unknownService(service)
  if (found.mode === 'live') return 'live'
  const purpose = reasonFrom(input.purpose, 'description')
  checkVolume(input.email_a_day, 'e-mails', 'email_a_day')
  checkVolume(input.sms_a_day, 'text messages', 'sms_a_day')
  if (!isReady(await checklistOf(app, actor, service))) throw refuse.notReady()
  const link = trustedConsole(app.config, input.console) + livePath(service)
  const operators = (await operatorsOf(app)).slice(0, MOST_MAILS)
  const by = actor.kind === 'person' ? actor.name : 'The operator'
  const mails = sealedMails(
    app,
    service,
    operators.map(({ email_address: to }) => ({
      to,
      subject: `${found.name} asks to go live`,
      text: [
        `${by} asks to make the service "${found.name}" live.`,
        purpose,
        'Grant or decline it here:',
        link,
        '',
      ].join('\n\n'),
    })),
  )
  const { email_a_day, sms_a_day } = input
  const asked_by = actor.kind === 'person' ? actor.id : null
  const request = { id: app.ids.next(), service_id: service, purpose, email_a_day, sms_a_day, asked_by }
  await ask(app.db.sql, request, mails, actor)
  wakeMails(app, mails)
  return 'asked'
}

export function checkVolume(number: number | null, what: string, field: 'email_a_day' | 'sms_a_day'): void {
  if (number !== null && (!Number.isInteger(number) || number < 0 || number > MOST_A_DAY))
    throw refuse.notVolume(what).about(field)
}
