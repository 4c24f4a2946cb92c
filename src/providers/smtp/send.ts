// E-mail over SMTP to any relay: compose, sign, send, translate the reply.
import { createCapacity } from '../../runtime/admission.ts'
import type { Recall } from '../../runtime/recall.ts'
import { type EmailMessage, type EmailProvider, type Outcome, type ProviderWorld, RECALLED } from '../port.ts'
import { createBounceReceiver } from './bounces/receiver.ts'
import { byteString } from './client/reply.ts'
import { compose, encodedLong, isLong } from './compose.ts'
import { mapTexts, textsOf } from './content.ts'
import { createSigner, type DkimSettings } from './dkim.ts'
import { createPool, type PoolSettings } from './pool.ts'
import { cleaned, outcomeOf } from './replies.ts'
import type { SmtpSettings } from './settings.ts'
import { createReturnPaths } from './verp.ts'

export function createSmtp(settings: SmtpSettings, world: ProviderWorld, name = 'smtp'): EmailProvider {
  const { bounces } = settings
  const paths = bounces && createReturnPaths(bounces.domain, bounces.secrets)
  const receiver =
    bounces && paths && createBounceReceiver(bounces, paths, receipts => world.accept(name, receipts), world)
  const sender = createSender({
    name,
    pool: settings,
    dkim: settings.dkim,
    headers: [],
    returnPath: message => paths?.of(message.id) ?? null,
    // Bounces identify the message by its return path, so the relay's queue id is not needed.
    refOf: (_reply, message) => message.id,
    world,
  })
  return {
    channel: 'email',
    name,
    // A relay does not report delivery, so acceptance counts as delivered; a later bounce still changes that.
    reports: false,
    capacity: relayCapacity(settings, settings.perSecond),
    send: sender.send,
    probe: sender.probe,
    async stop() {
      await Promise.all([sender.stop(), receiver?.stop()])
    },
  }
}

/** The next message may be sent behind the one in flight. With CHUNKING a connection may get more, and another one less. */
const MESSAGES_PER_CONNECTION = 2

export const relayCapacity = ({ connections }: Pick<PoolSettings, 'connections'>, perSecond: number | null) =>
  createCapacity({ perSecond, messages: connections * MESSAGES_PER_CONNECTION })

export type SenderSettings = {
  name: string
  pool: PoolSettings
  dkim: DkimSettings | null
  /** Header lines that this provider adds. */
  headers: readonly string[]
  /** The sender in the envelope; null: the From address. */
  returnPath(message: EmailMessage): string | null
  /** The reference that receipts will use; null: the reply has none, so it is uncertain what was accepted. */
  refOf(reply: string, message: EmailMessage): string | null
  world: ProviderWorld
}

/** Shared by every provider that is reached over SMTP. */
export function createSender(settings: SenderSettings): Pick<EmailProvider, 'send' | 'probe' | 'stop'> {
  const { name, world } = settings
  const sign = settings.dkim && createSigner(settings.dkim)
  let wasDown = false
  const pool = createPool(settings.pool, fault => {
    if (fault && !wasDown) {
      const { reply, reason, problem } = fault
      world.warn({ provider: name, code: reply?.slice(0, 3) ?? null, ...(reason !== undefined && { reason }) }, problem)
    }
    wasDown = fault !== null
  })

  async function send(message: EmailMessage, urgent: boolean, recall?: Recall): Promise<Outcome> {
    const at = world.now()
    const composed = compose(message, at, settings.headers, isLong(message) ? await encodedLong(message) : null)
    if ('refused' in composed) return { kind: 'rejected', detail: composed.refused }
    const envelope = {
      from: settings.returnPath(message) ?? composed.from.wire,
      to: composed.to.wire,
      utf8: composed.to.needsUtf8,
    }
    const { headers, body } = composed
    const lines = sign ? [await sign(headers, body, at), ...headers] : headers
    const head = `${lines.join('\r\n')}\r\n\r\n`
    const data = typeof body === 'string' ? head + body : [head, ...body]
    // Without attachments the body consists of fixed lines and the encoder's output, which property tests cover.
    if (!isWireSafe(message.attachments.length === 0 ? head : textsOf(data), envelope))
      return { kind: 'rejected', detail: 'The message cannot be put into SMTP' }

    const sent = await pool.send({ envelope, data: envelope.utf8 ? mapTexts(data, byteString) : data }, urgent, recall)
    if (sent === null) return RECALLED
    if (!sent.ok)
      return outcomeOf({ ...sent.fault, reply: withoutAddresses(sent.fault.reply, message.to, envelope.to) })
    const ref = settings.refOf(sent.reply, message)
    if (ref !== null) return { kind: 'accepted', ref }
    return { kind: 'deferred', detail: cleaned(sent.reply), uncertain: true }
  }

  return {
    // Never rejects. An error can only come from before the pool, so nothing has been sent.
    send: (message, urgent = false, recall) =>
      send(message, urgent, recall).catch((error: unknown) => {
        world.warn(
          { provider: name, error: error instanceof Error ? error.name : 'unknown' },
          'A message failed to compose',
        )
        return { kind: 'deferred', detail: 'The message could not be composed' }
      }),
    async probe() {
      const fault = await pool.probe()
      if (!fault) return { ok: true }
      return { ok: false, detail: outcomeOf(fault).detail, ...(fault.reason !== undefined && { reason: fault.reason }) }
    },
    stop: pool.stop,
  }
}

/** Removes the address from a reply: servers repeat it, and replies are stored unencrypted (reliability S-32). */
function withoutAddresses(reply: string | null, ...addresses: string[]): string | null {
  const spellings = new Set(addresses.flatMap(address => [address, address.toLowerCase()]))
  return reply && [...spellings].reduce((text, spelling) => text.replaceAll(spelling, '…'), reply)
}

/** The last check before sending (reliability S-11, S-12): no bare CR or LF, no NUL, one sender and one recipient, ASCII unless SMTPUTF8. */
function isWireSafe(data: string, { from, to, utf8 }: { from: string; to: string; utf8: boolean }): boolean {
  if (
    !/^[^\s<>,:;"\\()[\]\x00-\x1f\x7f]+@[a-z0-9.-]+$/.test(to) ||
    !/^[\x21-\x3b\x3d\x3f-\x7e]+@[a-z0-9.-]+$/.test(from)
  )
    return false
  if (/[^\r]\n|\r(?!\n)|\x00/.test(data) || !data.endsWith('\r\n')) return false
  return utf8 || !/[^\x00-\x7f]/.test(data)
}
