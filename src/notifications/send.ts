// Sends one message. The checks have the order of the contract. Refusals that rank after the rate limit are found first but thrown
// only after the request was counted; until then the draft carries them.
import type { PersonAct } from '../audit/sql.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import { addressOf, bytesOf, type GivenFile, givenFiles, TEST_TOKEN, typed, valuesWith } from '../files/attach.ts'
import { isFile, MOST_BYTES } from '../files/file.ts'
import { type Keeping, keeping, type ScannedFile } from '../files/keep.ts'
import { refuse as refuseFile } from '../files/refusals.ts'
import type { Scanning } from '../files/scanner.ts'
import type { FileStore } from '../files/store.ts'
import type { FileThread } from '../files/thread.ts'
import type { Caller, KeyType } from '../keys/key.ts'
import { dayOf, tooMany } from '../limits/daily.ts'
import { counted, type RateAnswer, tooFast } from '../limits/rate.ts'
import { homePlan } from '../recipients/plans.ts'
import { strip } from '../recipients/strip.ts'
import { smsLimit } from '../rendering/sms.ts'
import { storable } from '../rendering/values.ts'
import { KeyTaken, type Replay } from '../replays/replay.ts'
import { mayReceive } from '../services/allowed.ts'
import { chooseOrigin } from '../services/senders.ts'
import { dailyLimit, maySend, rateLimit } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Head, Templates } from '../templates/cache.ts'
import type { Accept } from './accept.ts'
import { laneOf } from './lane.ts'
import { personalTo, recipientDigest, sealPersonal } from './notification.ts'
import { presentSent, SENT_CONTENT, type SentMessage } from './present.ts'
import { refuse } from './refusals.ts'
import { readMoment } from './schedule.ts'
import type { SendInput } from './schemas.ts'
import type { AcceptRequest, NewMessage } from './sql/accept.ts'

export type SendApp = {
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  templates: Templates
  accept: Accept
  simulated: Simulated
  sendingDomain: string
  files: { scanning: Scanning; store: FileStore; thread: FileThread }
}

/** Who sends. A person has no key; `act` is recorded with the message, and `name` is kept with it. */
export type MessageSender = {
  service: LoadedService
  key_id: Id | null
  key_type: KeyType
  person: { name: string; act: PersonAct } | null
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
  if (service.state === 'suspended') throw refuse.suspended()
  if (!maySend(service, channel)) throw refuse[CHANNELS[channel].refusals.send]()

  const draft = await drafted(app, sender, channel, input, base)
  const body = draft.refusal ? '' : JSON.stringify(presentSent(draft.sent, base))
  const limit = rateLimit(service)
  const now = app.clock.now()
  const due = input.scheduled_for === null ? now : (readMoment(input.scheduled_for) ?? now)
  const asked: AcceptRequest = {
    id: draft.refusal ? app.ids.next() : draft.sent.id,
    service_id: service.id,
    key_id: sender.key_id,
    key_type,
    act: sender.person?.act ?? null,
    rate_limit: limit,
    channel,
    daily: key_type === 'test' ? 'none' : draft.daily,
    day: dayOf(due),
    daily_limit: dailyLimit(service, channel),
    message: draft.refusal ? null : draft.message,
    replay:
      replay && !draft.refusal
        ? { key: replay.keyDigest, request: replay.requestDigest, answer: app.seal.seal(body) }
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

/** `daily: 'ask'`: the daily limit ranks before this refusal, so an exceeded limit is reported instead. */
type Draft =
  | { refusal: Refusal; daily: 'none' | 'ask' }
  | { refusal: null; daily: 'reserve' | 'none'; sent: SentMessage; message: NewMessage | null; files: Keeping | null }

async function drafted(
  app: SendApp,
  sender: MessageSender,
  channel: Channel,
  input: SendInput,
  base: string,
): Promise<Draft> {
  const { service, key_type } = sender
  const { takesFiles } = CHANNELS[channel]

  const template = await app.templates.head(service.id, readId(input.template_id) as Id)
  if (!template) return early(refuse.templateNotFound())
  if (template.type !== channel) return early(refuse.wrongType(template.type, channel))
  if (template.archived) return early(refuse.templateDeleted())
  if (!takesFiles && Object.values(input.personalisation).some(isFile)) return early(refuse.filesByEmailOnly())
  const recipient = readRecipient(channel, input.to, service.home_country)
  const isSmokeTest = app.simulated.isSmokeTest(recipient.key)
  const given = takesFiles ? givenFiles(input.personalisation, input.contents) : []
  const values = valuesWith(storable(input.personalisation), given, token =>
    addressOf(base, isSmokeTest ? TEST_TOKEN : token),
  )
  const version = await app.templates.version(template.id, template.version)
  const missing = version.compiled.unsendable(values)
  if (missing.length > 0) return early(refuse.missingPersonalisation(template.id, missing.join(', ')))
  // Estimated from lengths before rendering: a short request could render to gigabytes.
  const excess = version.excess(values, service.sms_prefix ? service.name : null)
  if (excess) return early(excess === 'tooLong' ? refuse.tooLong(smsLimit) : refuse.tooLarge())
  const content: { body: string; subject?: string } = version.compiled.answer(values)
  if (content.body.trim() === '') return early(refuse.blank())
  if (given.length > 0) {
    const lost = given.find(file => file.method === 'link' && !version.isShown(file.key))
    if (lost) return early(refuseFile.noPlaceholder(lost.key))
    const bytes = bytesOf(given) + Buffer.byteLength(content.subject ?? '') + Buffer.byteLength(content.body)
    if (bytes > MOST_BYTES) return early(refuseFile.tooLarge(bytes))
  }

  const lateRefusal = (refusal: Refusal): Draft => ({ refusal, daily: isSmokeTest ? 'none' : 'ask' })
  const origin = chooseOrigin(service, channel, input.sender_id)
  if (!origin.ok) return lateRefusal(unknownOrigin(channel, input.sender_id, service.id))
  const verdict = isSmokeTest ? 'allowed' : mayReceive(service, key_type, recipient.key)
  if (verdict !== 'allowed') return lateRefusal(verdict === 'team-only' ? refuse.teamOnly() : refuse.trial())
  if (recipient.international && !service.may_send_international) return lateRefusal(refuse.international())
  const scanned = given.length > 0 ? await scannedFiles(app, service.may_send_files, given) : []
  if (!Array.isArray(scanned)) return lateRefusal(scanned)

  const sent: SentMessage = {
    id: app.ids.next(),
    reference: input.reference,
    content: SENT_CONTENT[channel](app, service, content, origin.origin),
    template_id: template.id,
    template_version: template.version,
    scheduled_for: input.scheduled_for,
  }
  if (isSmokeTest) return { refusal: null, daily: 'none', sent, message: null, files: null }
  return {
    refusal: null,
    daily: 'reserve',
    sent,
    message: {
      ...message(app, sender, template, { ...input, personalisation: values }, recipient, origin.origin?.id ?? null),
      status: scanned.some(file => file.verdict === 'pending') ? 'pending-virus-check' : 'created',
    },
    files:
      scanned.length === 0
        ? null
        : keeping({ ...app, store: app.files.store }, { id: sent.id, service_id: service.id }, scanned),
  }
}

const SCAN_MS = 5_000

/** Step 15 of the contract: permission, file types, viruses; the first problem is reported. */
async function scannedFiles(
  app: SendApp,
  mayHaveFiles: boolean,
  given: readonly GivenFile[],
): Promise<ScannedFile[] | Refusal> {
  if (!mayHaveFiles) return refuseFile.notAllowed()
  const known = await typed(app.files.thread, given)
  if (!known.ok) return refuseFile.unsupported(known.type)
  const verdicts = await app.files.scanning.within(
    known.files.map(file => file.content),
    SCAN_MS,
  )
  if (verdicts.some(verdict => verdict.kind === 'virus')) return refuseFile.virus()
  return known.files.map((file, at) => ({ ...file, verdict: verdicts[at]?.kind === 'clean' ? 'clean' : 'pending' }))
}

const early = (refusal: Refusal): Draft => ({ refusal, daily: 'none' })

type Recipient = { key: string; international: boolean }

// The body was validated before, so a recipient that cannot be read here is a bug.
function readRecipient(channel: Channel, text: string, country: string): Recipient {
  const reading = CHANNELS[channel].recipient.read(text, { international: true, plan: homePlan(country) })
  if (reading.ok) return reading
  throw new Error('a recipient that was checked cannot be read')
}

const unknownOrigin = (channel: Channel, id: string | undefined, service: Id) =>
  refuse[CHANNELS[channel].refusals.origin](readId(id) ?? '', service)

function message(
  app: SendApp,
  { service, key_type, person }: MessageSender,
  template: Head,
  input: SendInput,
  recipient: Recipient,
  origin: Id | null,
): NewMessage {
  const due = input.scheduled_for === null ? null : readMoment(input.scheduled_for)
  const personal = {
    ...personalTo(template.type, recipient.key, strip(input.to), input.personalisation),
    ...(person && { by: person.name }),
  }
  return {
    status: 'created',
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
