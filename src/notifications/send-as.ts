// A person or an operator sends a message by hand: the same checks and limits as for a key of the service. It is recorded with them.
import { type Operator, type PersonActor, requirePermission } from '../audit/actor.ts'
import type { SenderAct } from '../audit/sql.ts'
import type { Channel } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Contents } from '../files/file.ts'
import type { KeyType } from '../keys/key.ts'
import type { Replay, Replays, SendAnswer } from '../replays/replay.ts'
import type { Services } from '../services/load.ts'
import { readersOf } from './body.ts'
import { refuse } from './refusals.ts'
import { type SendApp, type Sent, send } from './send.ts'
import { exists } from './sql/read.ts'

export type SendAsApp = SendApp & { services: Services; db: { sql: Sql } }

export type HandSent = {
  channel: Channel
  to: string
  template_id: Id
  personalisation: Readonly<Record<string, unknown>>
  reference?: string | null
  /** ISO 8601. */
  scheduled_for?: string | null
  /** A reply-to address or a text sender of the service. */
  sender_id?: Id | null
  contents?: Contents
}

/** `base`: the public address, for links to files. A copy of a message of a test key is of a test key too. */
type Manner = {
  base: string
  act?: Pick<SenderAct, 'action' | 'detail'>
  keyType?: KeyType
  /** A key of one form: a second submit of it sends nothing and returns the id of the first message. */
  once?: { replays: Replays; key: string }
}

/** Returns the id of the message; null: the recipient is one for smoke tests, whose messages are not stored. */
export async function sendAs(
  app: SendAsApp,
  actor: PersonActor | Operator,
  serviceId: Id,
  given: HandSent,
  { base, act = { action: 'message sent', detail: null }, keyType = 'normal', once }: Manner,
): Promise<Id | null> {
  requirePermission(actor, 'send-messages', serviceId)
  const service = await app.services.get(serviceId)
  if (!service) throw refuse.notFound()
  const { channel, contents = new Map() } = given
  const written = bodyOf[channel](given)
  const isOperator = actor.kind === 'operator'
  const by = { person_id: isOperator ? null : actor.id, operator: isOperator ? actor.name : null }
  const person = { name: actor.name, act: { ...by, ...act } }
  const sender = { service, key_id: null, key_type: keyType, person }
  const first = (replay: Replay | null) => {
    const input = readersOf(app.clock)[channel](service.home_country)(written, contents)
    return send(app, sender, channel, input, { base, replay })
  }
  if (!once || isOperator) return storedId(await first(null))
  const scope = { service: serviceId, keyType }
  // Of its own scope: no key of a caller can be the same.
  const request = { route: `console ${actor.id}`, body: Buffer.from(JSON.stringify(written)), waits: true }
  let isStored = true as boolean
  const answer = await once.replays.once(scope, formKey(actor, once.key), request, async replay => {
    const sent = await first(replay)
    isStored = sent.isStored
    return { status: 201, body: sent.body }
  })
  if (answer.replayed) return storedBefore(app, serviceId, answer)
  return isStored ? idIn(answer) : null
}

/**
 * What a submit of this form has sent before; null: nothing. Asked first, because what was right then may be refused now: the time is
 * past, or the limit is reached.
 */
export async function sentBefore(
  app: Pick<SendAsApp, 'db'> & { replays: Replays },
  actor: PersonActor,
  serviceId: Id,
  key: string,
): Promise<{ id: Id | null } | null> {
  requirePermission(actor, 'send-messages', serviceId)
  const answer = await app.replays.answerOf({ service: serviceId, keyType: 'normal' }, formKey(actor, key))
  return answer && { id: await storedBefore(app, serviceId, answer) }
}

const formKey = (actor: PersonActor, key: string) => `console:${actor.id}:${key}`

const idIn = ({ body }: SendAnswer) => (JSON.parse(body) as { id: Id }).id

/** The answer to a smoke test has an id, too, but there is no message with it. */
async function storedBefore({ db }: Pick<SendAsApp, 'db'>, service: Id, answer: SendAnswer): Promise<Id | null> {
  const id = idIn(answer)
  return (await exists(db.sql, service, id)) ? id : null
}

const storedId = ({ id, isStored }: Sent): Id | null => (isStored ? id : null)

const common = ({ template_id, personalisation, reference, scheduled_for }: HandSent) => ({
  template_id,
  personalisation,
  ...(reference != null && { reference }),
  ...(scheduled_for != null && { scheduled_for }),
})

/** As a caller of the interface would write it, by channel. */
export const bodyOf: Readonly<Record<Channel, (given: HandSent) => object>> = {
  email: given => ({
    ...common(given),
    email_address: given.to,
    ...(given.sender_id != null && { email_reply_to_id: given.sender_id }),
  }),
  sms: given => ({
    ...common(given),
    phone_number: given.to,
    ...(given.sender_id != null && { sms_sender_id: given.sender_id }),
  }),
}
