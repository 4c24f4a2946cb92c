// An operator grants a request to go live, or declines it with a reason. Who asked gets a mail.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { sealedMails, wakeMails } from '../mails/send.ts'
import { queue } from '../mails/sql.ts'
import { trustedConsole } from '../people/links.ts'
import { personOf } from '../people/sql/people.ts'
import { change } from '../services/change.ts'
import { reasonFrom } from '../services/checks.ts'
import { shownService } from '../services/sql.ts'
import { type App, livePath } from './ask.ts'
import { refuse } from './refusals.ts'
import { decide, type LiveRequest } from './sql.ts'

/** Also without a request: an operator may make any service live. */
export async function grantLive(app: App, actor: Actor, service: Id, console: string): Promise<void> {
  requirePermission(actor, 'manage-installation', service)
  const mails = await app.db.transaction(async sql => {
    const { name } = await change({ db: { sql } }, actor, service, { mode: 'live' })
    const decided = await decide(sql, service, { decision: 'granted', reason: null, by: personIn(actor) }, actor)
    return decided ? letterAbout(app, sql, decided, console, `${name} is live`, GRANTED) : []
  })
  wakeMails(app, mails)
}

export async function declineLive(app: App, actor: Actor, service: Id, input: { reason: string; console: string }) {
  requirePermission(actor, 'manage-installation', service)
  const reason = reasonFrom(input.reason)
  const mails = await app.db.transaction(async sql => {
    const decided = await decide(sql, service, { decision: 'declined', reason, by: personIn(actor) }, actor)
    if (!decided) throw refuse.noOpenRequest()
    const { name = '' } = (await shownService(sql, service)) ?? {}
    return letterAbout(app, sql, decided, input.console, `${name} stays in trial`, `${DECLINED}\n\n${reason}`)
  })
  wakeMails(app, mails)
}

/** From the next request on it sends to its team and its safelist only. */
export async function backToTrial(app: { db: { sql: Sql } }, actor: Actor, service: Id): Promise<void> {
  await change(app, actor, service, { mode: 'trial' })
}

const GRANTED = 'Your service is live: it may send to anyone, within its limits.'
const DECLINED = 'The operator has not made your service live. This is why:'

const personIn = (actor: Actor) => (actor.kind === 'person' ? actor.id : null)

/** To who asked, if they are still there. */
async function letterAbout(
  app: App,
  sql: Sql,
  { asked_by, service_id }: LiveRequest,
  console: string,
  subject: string,
  text: string,
) {
  const person = asked_by === null ? null : await personOf(sql, asked_by)
  if (!person) return []
  const link = trustedConsole(app.config, console) + livePath(service_id)
  const mails = sealedMails(app, service_id, [
    { to: person.email_address, subject, text: [text, link, ''].join('\n\n') },
  ])
  await queue(sql, mails)
  return mails
}
