// Renders a message and hands it to the providers of its channel.
import type { Channel, Compiled } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Fetched } from '../files/fetch.ts'
import { isFile } from '../files/file.ts'
import type { ProviderGroup, SendResult } from '../providers/failover.ts'
import type { Attachment, Messages, Outcome } from '../providers/port.ts'
import type { Email, EmailTemplate } from '../rendering/compile.ts'
import type { Values } from '../rendering/placeholders.ts'
import { largeEmail } from '../rendering/thread.ts'
import type { Recall } from '../runtime/recall.ts'
import type { LoadedService } from '../services/sql.ts'
import type { DueMessage } from './in-memory.ts'
import { emailOf, textOf, versionOf } from './message.ts'
import { openPersonal, type Personal } from './notification.ts'
import { markHandingOver } from './sql/record.ts'

/** The providers of each channel. */
export type ProviderGroups = { readonly [C in keyof Messages]: ProviderGroup<Messages[C]> }

export type HandOverApp = {
  sql: Sql
  seal: Seal
  groups: ProviderGroups
  sendingDomain: string
  /** Renders an e-mail too large for the event loop. */
  renderLarge: RenderLarge
  /** Reads the attachments of a message just before it is sent. */
  fetchAttachments(message: Id): Promise<Fetched>
}

/** `release` is called after the e-mail was handed over: only a few large e-mails may be in memory at the same time. */
export type RenderLarge = (template: EmailTemplate, values: Values) => Promise<{ email: Email; release(): void }>

export type HandedItem = Pick<DueMessage, 'id' | 'channel' | 'sender_id' | 'sealed' | 'personal'> & {
  version: Compiled
}

/** `isSuspect`: a process may have crashed on this message, so its hand-over is marked before it begins. */
type Turn = { urgent: boolean; isSuspect: boolean; recall: Recall }

type Unhanded = { kind: 'answered'; provider: null; outcome: Outcome; took: null }
/** `parts`: of a text message. */
type Handed = (SendResult | Unhanded) & { parts?: number }

type HandOver = (app: HandOverApp, item: HandedItem, service: LoadedService, turn: Turn) => Promise<Handed>

export const HAND_OVER: Readonly<Record<Channel, HandOver>> = { email: handOverEmail, sms: handOverText }

async function handOverEmail(app: HandOverApp, item: HandedItem, service: LoadedService, turn: Turn) {
  const personal = personalOf(app, item)
  const { compiled, source } = versionOf(item.version, 'email')
  if (compiled.isBlank(personal.values)) return unsendable('empty message')
  if (compiled.mergedUnits(personal.values) <= largeEmail)
    return sendEmail(app, item, service, personal, compiled.renderInPieces(personal.values), turn)
  // It was accepted by a version without this limit.
  if (compiled.isTooLarge(personal.values)) return unsendable('message is too large')
  const { email, release } = await app.renderLarge(source, personal.values)
  return sendEmail(app, item, service, personal, email, turn).finally(release)
}

async function sendEmail(
  app: HandOverApp,
  item: HandedItem,
  service: LoadedService,
  personal: Personal,
  email: Email,
  turn: Turn,
): Promise<SendResult | Unhanded> {
  const send = (attachments: readonly Attachment[]) =>
    sendTo(app, app.groups.email, emailOf(app, item, service, personal.to, email, attachments), 1, turn)
  if (!Object.values(personal.values).some(isFile)) return send([])

  const fetched = await app.fetchAttachments(item.id)
  switch (fetched.kind) {
    case 'here':
      return send(fetched.attachments).finally(fetched.release)
    case 'later':
      return { kind: 'answered', provider: null, outcome: { kind: 'deferred', detail: fetched.detail }, took: null }
    case 'gone':
      return unsendable(fetched.detail)
  }
}

async function handOverText(app: HandOverApp, item: HandedItem, service: LoadedService, turn: Turn): Promise<Handed> {
  const personal = personalOf(app, item)
  const version = versionOf(item.version, 'sms')
  if (version.compiled.isBlank(personal.values)) return unsendable('empty message')
  const message = textOf({ ...item, version }, service, personal)
  return { ...(await sendTo(app, app.groups.sms, message, message.parts, turn)), parts: message.parts }
}

async function sendTo<M extends { id: Id }>(
  { sql }: Pick<HandOverApp, 'sql'>,
  group: ProviderGroup<M>,
  message: M,
  cost: number,
  { urgent, isSuspect, recall }: Turn,
): Promise<SendResult> {
  if (isSuspect) await markHandingOver(sql, message.id)
  return group.send(message, { cost, urgent, recall })
}

const unsendable = (detail: string): Unhanded => ({
  kind: 'answered',
  provider: null,
  outcome: { kind: 'rejected', detail },
  took: null,
})

const personalOf = ({ seal }: HandOverApp, { personal, sealed }: HandedItem) => personal ?? openPersonal(seal, sealed)
