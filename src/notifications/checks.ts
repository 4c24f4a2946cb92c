// The checks of one message, in the order of the contract. They are lists that are made one by one: a send stops at the first
// refusal, a check before sending goes on to the end. A check that needs what an earlier one could not find is left out, and named in
// `skipped`.
import { CHANNELS, type Channel, type Compiled } from '../channels/index.ts'
import { type Id, readId } from '../core/id.ts'
import type { Refusal } from '../core/refusal.ts'
import { addressOf, bytesOf, type GivenFile, givenFiles, TEST_TOKEN, typed, valuesWith } from '../files/attach.ts'
import { isFile, MOST_BYTES } from '../files/file.ts'
import type { ScannedFile } from '../files/keep.ts'
import { refuse as refuseFile } from '../files/refusals.ts'
import type { Scanning } from '../files/scanner.ts'
import type { FileThread } from '../files/thread.ts'
import type { KeyType } from '../keys/key.ts'
import { homePlan } from '../recipients/plans.ts'
import type { Values } from '../rendering/placeholders.ts'
import { smsLimit } from '../rendering/sms.ts'
import { storable } from '../rendering/values.ts'
import { after } from '../runtime/after.ts'
import { mayReceive, type RecipientVerdict } from '../services/allowed.ts'
import { chooseOrigin } from '../services/senders.ts'
import { maySend } from '../services/service.ts'
import type { Simulated } from '../services/simulated.ts'
import type { LoadedService, ReplyTo, Sender } from '../services/sql.ts'
import type { Head, Templates } from '../templates/cache.ts'
import type { Field } from './body.ts'
import { refuse } from './refusals.ts'
import type { SendInput } from './schemas.ts'

export type ChecksApp = {
  templates: Templates
  simulated: Simulated
  files: { scanning: Scanning; thread: FileThread }
}

/** A message that somebody wants to send. `unread`: fields of the input that have no usable value; a send has none. */
export type Asked = {
  service: LoadedService
  key_type: KeyType
  channel: Channel
  input: SendInput
  unread: ReadonlySet<Field>
  /** The public URL, for links to files. */
  base: string
}

export type Recipient = { key: string; international: boolean }

/** What could not be checked, because something it needs is missing or wrong. */
export type Skipped = 'template' | 'content' | 'daily limit' | 'sender' | 'recipient' | 'files'

/** What the checks find out; later checks use it. Null: not known (yet). */
export type Known = {
  template: Head | null
  version: Compiled | null
  recipient: Recipient | null
  isSmokeTest: boolean
  given: readonly GivenFile[]
  values: Values | null
  /** As answers of the interface show it. */
  content: { body: string; subject?: string } | null
  /** Files, subject and body together. */
  bytes: number | null
  origin: { chosen: ReplyTo | Sender | null } | null
  verdict: RecipientVerdict | null
  scanned: readonly ScannedFile[]
  skipped: readonly Skipped[]
}

/** For the checks of one message. What needs no check is known from the start. */
export function createKnown(app: Pick<ChecksApp, 'simulated'>, { service, channel, input, unread }: Asked): Known {
  const recipient = unread.has('to') ? null : readRecipient(channel, input.to, service.home_country)
  return {
    template: null,
    version: null,
    recipient,
    isSmokeTest: recipient !== null && app.simulated.isSmokeTest(recipient.key),
    given: [],
    values: null,
    content: null,
    bytes: null,
    origin: null,
    verdict: null,
    scanned: [],
    skipped: [],
  }
}

// The body was validated before, so a recipient that cannot be read here is a bug.
function readRecipient(channel: Channel, text: string, country: string): Recipient {
  const reading = CHANNELS[channel].recipient.read(text, { international: true, plan: homePlan(country) })
  if (reading.ok) return reading
  throw new Error('a recipient that was checked cannot be read')
}

/** Steps 6 and 7, before the request is counted. */
export function* serviceProblems(service: LoadedService, channel: Channel): Generator<Refusal, void> {
  if (service.state === 'suspended') yield refuse.suspended()
  if (!maySend(service, channel)) yield refuse[CHANNELS[channel].refusals.send]()
}

/** Loads what the checks of the content need. */
export function loadTemplate(
  { templates }: Pick<ChecksApp, 'templates'>,
  { service, input, unread }: Asked,
  known: Known,
): undefined | Promise<undefined> {
  if (unread.has('template_id')) return
  return after(templates.head(service.id, readId(input.template_id) as Id), head => {
    if (!head) return
    known.template = head
    return after(templates.version(head.id, head.version), version => {
      known.version = version
      return undefined
    })
  })
}

/** Steps 9 and 10, before the daily limit. The template is loaded (loadTemplate). */
export function* contentProblems(asked: Asked, known: Known): Generator<Refusal, void> {
  const { service, channel, input, unread } = asked
  const { takesFiles } = CHANNELS[channel]
  const skip = (...names: Skipped[]) => {
    known.skipped = [...known.skipped, ...names]
  }

  const { template, version } = known
  if (unread.has('template_id')) skip('template')
  else if (!template) yield refuse.templateNotFound()
  if (template && template.type !== channel) yield refuse.wrongType(template.type, channel)
  if (template?.archived) yield refuse.templateDeleted()
  const hasFiles = Object.values(input.personalisation).some(isFile)
  if (!takesFiles && hasFiles) yield refuse.filesByEmailOnly()
  known.given = takesFiles && !unread.has('contents') ? givenFiles(input.personalisation, input.contents) : []
  if (!template || !version || template.type !== channel || unread.has('personalisation')) return skip('content')

  const values = valuesWith(storable(input.personalisation), known.given, token =>
    addressOf(asked.base, known.isSmokeTest ? TEST_TOKEN : token),
  )
  known.values = values
  const missing = version.compiled.unsendable(values)
  if (missing.length > 0) yield refuse.missingPersonalisation(template.id, missing.join(', '))
  // Estimated from lengths before rendering: a short request could render to gigabytes.
  const excess = version.excess(values, service.sms_prefix ? service.name : null)
  if (excess) {
    yield excess === 'tooLong' ? refuse.tooLong(smsLimit) : refuse.tooLarge()
    return skip('content')
  }
  const content: { body: string; subject?: string } = version.compiled.answer(values)
  known.content = content
  if (content.body.trim() === '') yield refuse.blank()
  for (const file of known.given)
    if (file.method === 'link' && !version.isShown(file.key)) yield refuseFile.noPlaceholder(file.key)
  if (unread.has('contents')) return
  known.bytes = bytesOf(known.given) + Buffer.byteLength(content.subject ?? '') + Buffer.byteLength(content.body)
  if (known.given.length > 0 && known.bytes > MOST_BYTES) yield refuseFile.tooLarge(known.bytes)
}

/** Steps 12 to 14, after the daily limit. */
export function* recipientProblems(asked: Asked, known: Known): Generator<Refusal, void> {
  const { service, key_type, channel, input, unread } = asked
  const { recipient, isSmokeTest } = known
  const skip = (name: Skipped) => {
    known.skipped = [...known.skipped, name]
  }

  if (unread.has('sender_id')) skip('sender')
  else {
    const found = chooseOrigin(service, channel, input.sender_id)
    if (found.ok) known.origin = { chosen: found.origin }
    else yield refuse[CHANNELS[channel].refusals.origin](readId(input.sender_id) ?? '', service.id)
  }
  if (recipient) {
    known.verdict = isSmokeTest ? 'allowed' : mayReceive(service, key_type, recipient.key)
    if (known.verdict !== 'allowed') yield known.verdict === 'team-only' ? refuse.teamOnly() : refuse.trial()
    if (recipient.international && !service.may_send_international) yield refuse.international()
  } else skip('recipient')
  if (unread.has('contents')) skip('files')
}

const SCAN_MS = 5_000

/** Step 15, for a message with files: permission, types, viruses. */
export async function* fileProblems(app: ChecksApp, asked: Asked, known: Known): AsyncGenerator<Refusal, void> {
  if (known.given.length === 0 || asked.unread.has('contents')) return
  if (!asked.service.may_send_files) yield refuseFile.notAllowed()
  const files = []
  for (const file of known.given) {
    const found = await typed(app.files.thread, file)
    if (found.ok) files.push(found.file)
    else yield refuseFile.unsupported(found.type)
  }
  const verdicts = await app.files.scanning.within(
    files.map(file => file.content),
    SCAN_MS,
  )
  if (verdicts.some(verdict => verdict.kind === 'virus')) yield refuseFile.virus()
  else
    known.scanned = files.map((file, at) => ({
      ...file,
      verdict: verdicts[at]?.kind === 'clean' ? 'clean' : 'pending',
    }))
}
