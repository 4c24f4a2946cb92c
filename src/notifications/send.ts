// Sends one message. The checks have the order of the contract (checks.ts). Refusals that rank after the rate limit are found first
// but thrown only after the request was counted; until then the draft carries them.
import type { SenderAct } from '../audit/sql.ts'
import type { Channel } from '../channels/plain.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import { type Keeping, keeping } from '../files/keep.ts'
import type { FileStore } from '../files/store.ts'
import type { Caller, KeyType } from '../keys/key.ts'
import { dayOf, tooMany } from '../limits/daily.ts'
import { counted, type RateAnswer, tooFast } from '../limits/rate.ts'
import { strip } from '../recipients/strip.ts'
import type { Values } from '../rendering/placeholders.ts'
import { KeyTaken, type Replay } from '../replays/replay.ts'
import { dailyLimit, rateLimit } from '../services/service.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head } from '../templates/cache.ts'
import type { Accept } from './accept.ts'
import {
  type Asked,
  type ChecksApp,
  contentProblems,
  createKnown,
  fileProblems,
  loadTemplate,
  type Recipient,
  recipientProblems,
  serviceProblems,
} from './checks.ts'
import { laneOf } from './lane.ts'
import { personalTo, recipientDigest, sealPersonal } from './notification.ts'
import { presentSent, SENT_CONTENT, type SentMessage } from './present.ts'
import { readMoment } from './schedule.ts'
import type { SendInput } from './schemas.ts'
import type { AcceptRequest, NewMessage } from './sql/accept.ts'

export type SendApp = ChecksApp & {
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  accept: Accept
  sendingDomain: string
  files: { store: FileStore }
}

/** Who sends. A person or an operator has no key; `act` is recorded with the message, and `name` is kept with it. */
export type MessageSender = {
  service: LoadedService
  key_id: Id | null
  key_type: KeyType
  person: { name: string; act: SenderAct } | null
}

export const byKey = ({ service, key }: Caller): MessageSender => ({
  service,
  key_id: key.id,
  key_type: key.key_type,
  person: null,
})

/** `isStored`: false for a smoke test. */
export type Sent = { id: Id; isStored: boolean; body: string; rate: RateAnswer }

/** Returns the body of the 201 response. `base` is the public URL, `replay` the caller's idempotency key, if any. */
export async function send(
  app: SendApp,
  sender: MessageSender,
  channel: Channel,
  input: SendInput,
  { base, replay }: { base: string; replay: Replay | null },
): Promise<Sent> {
  const { service, key_type } = sender
  for (const refusal of serviceProblems(service, channel)) throw refusal

  const draft = await drafted(app, sender, { service, key_type, channel, input, unread: NONE, base })
  const body = draft.refusal ? '' : JSON.stringify(presentSent(draft.sent, base))
  const limit = rateLimit(service)
  const now = app.clock.now()
  const asked: AcceptRequest = {
    id: draft.refusal ? app.ids.next() : draft.sent.id,
    service_id: service.id,
    key_id: sender.key_id,
    key_type,
    act: sender.person?.act ?? null,
    rate_limit: limit,
    channel,
    daily: key_type === 'test' ? 'none' : draft.daily,
    day: dayOf(dueOf(input, now)),
    daily_limit: dailyLimit(service, channel),
    message: draft.refusal ? null : draft.message,
    replay:
      replay && !draft.refusal
        ? { key: replay.keyDigest, request: replay.requestDigest, answer: app.seal.seal('idempotency answer', body) }
        : null,
  }
  const decision = await (!draft.refusal && draft.files
    ? app.accept.addWithFiles(asked, draft.files)
    : app.accept.add(asked))
  const { verdict, remaining, free_in } = decision
  const rate = { limit, remaining, freeInSeconds: free_in }
  if (verdict === 'too fast') throw tooFast(key_type, rate)
  if (verdict === 'seen') throw new KeyTaken()
  if (draft.refusal && draft.daily === 'none') throw counted(draft.refusal, rate)
  if (verdict === 'too many') throw counted(tooMany(asked.daily_limit, now), rate)
  if (draft.refusal) throw counted(draft.refusal, rate)
  return { id: asked.id, isStored: asked.message !== null, body, rate }
}

const NONE: Asked['unread'] = new Set()

/** When the message is due, in milliseconds since 1970. */
export const dueOf = ({ scheduled_for }: Pick<SendInput, 'scheduled_for'>, now: number): number =>
  scheduled_for === null ? now : (readMoment(scheduled_for) ?? now)

/** `daily: 'ask'`: the daily limit ranks before this refusal, so an exceeded limit is reported instead. */
type Draft =
  | { refusal: Refusal; daily: 'none' | 'ask' }
  | { refusal: null; daily: 'reserve' | 'none'; sent: SentMessage; message: NewMessage | null; files: Keeping | null }

async function drafted(app: SendApp, sender: MessageSender, asked: Asked): Promise<Draft> {
  const known = createKnown(app, asked)
  await loadTemplate(app, asked, known)
  for (const refusal of contentProblems(asked, known)) return { refusal, daily: 'none' }
  const daily = known.isSmokeTest ? 'none' : 'ask'
  for (const refusal of recipientProblems(asked, known)) return { refusal, daily }
  if (known.given.length > 0) for await (const refusal of fileProblems(app, asked, known)) return { refusal, daily }

  const { service, channel, input } = asked
  const { template, recipient, values, content, origin, scanned } = known
  if (!template || !recipient || !values || !content || !origin)
    throw new Error('a message passed all checks, but not all of it is known')
  const sent: SentMessage = {
    id: app.ids.next(),
    reference: input.reference,
    content: SENT_CONTENT[channel](app, service, content, origin.chosen),
    template_id: template.id,
    template_version: template.version,
    scheduled_for: input.scheduled_for,
  }
  if (known.isSmokeTest) return { refusal: null, daily: 'none', sent, message: null, files: null }
  return {
    refusal: null,
    daily: 'reserve',
    sent,
    message: message(
      app,
      sender,
      template,
      input,
      values,
      recipient,
      origin.chosen?.id ?? null,
      scanned.some(file => file.verdict === 'pending') ? 'pending-virus-check' : 'created',
    ),
    files:
      scanned.length === 0
        ? null
        : keeping({ ...app, store: app.files.store }, { id: sent.id, service_id: service.id }, scanned),
  }
}

function message(
  app: SendApp,
  { service, key_type, person }: MessageSender,
  template: Head,
  input: SendInput,
  values: Values,
  recipient: Recipient,
  origin: Id | null,
  status: NewMessage['status'],
): NewMessage {
  const due = input.scheduled_for === null ? null : readMoment(input.scheduled_for)
  const known = personalTo(template.type, recipient.key, strip(input.to), values)
  const personal = person ? { ...known, by: person.name } : known
  return {
    status,
    template_id: template.id,
    template_version: template.version,
    lane: laneOf(template.type, template.pace, key_type),
    reference: input.reference,
    sender_id: origin,
    scheduled_for: due === null ? null : fromMicros(Math.round(due * 1000)),
    is_international: recipient.international,
    sealed: sealPersonal(app.seal, personal),
    digest: recipientDigest(app.seal, service.id, template.type, recipient.key),
    personal,
  }
}
