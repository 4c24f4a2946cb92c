// One message to one recipient, as it is stored.
import { CHANNELS, type Channel } from '../channels/index.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { KeyType } from '../keys/key.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { Status } from './status.ts'

export type Notification = {
  id: Id
  channel: Channel
  key_type: KeyType
  status: Status
  reference: string | null
  template_id: Id
  template_version: number
  scheduled_for: Timestamp | null
  sent_at: Timestamp | null
  completed_at: Timestamp | null
  provider_response: string | null
  failure_detail: string | null
  sealed: Buffer
}

/** The personal data of a message: recipient, as written by the caller, and values. Stored only sealed. */
export type Personal = {
  to: string
  values: Values
  /** The number in E.164, if it was written differently: its meaning would change with the home country. */
  e164?: string
  /** The name of the person who sent it by hand, as it was then. */
  by?: string
}

export const sealPersonal = (seal: Seal, { to, values, e164, by }: Personal) =>
  seal.seal(
    'message',
    JSON.stringify(
      by !== undefined ? [to, values, e164 ?? null, by] : e164 === undefined ? [to, values] : [to, values, e164],
    ),
  )

/** `key` is the recipient in its normal form. */
export const personalTo = (channel: Channel, key: string, to: string, values: Values): Personal =>
  !CHANNELS[channel].recipient.storesKey || key === to ? { to, values } : { to, values, e164: key }

export function openPersonal(seal: Seal, sealed: Buffer): Personal {
  const [to, values, e164, by] = JSON.parse(seal.open('message', sealed).toString('utf8')) as [
    string,
    Values,
    (string | null)?,
    string?,
  ]
  return { to, values, ...(typeof e164 === 'string' && { e164 }), ...(by !== undefined && { by }) }
}

// Seven bytes: with the id an entry of the index has 32 bytes, with eight 40. A recipient that nobody wrote to is found by mistake in
// one of 7 × 10^8 searches among 100,000,000 recipients.
const DIGEST_BYTES = 7

/** How the messages of a recipient are found without opening any. `key` is the recipient in its normal form. */
export const recipientDigest = (seal: Pick<Seal, 'mark'>, service: Id, channel: Channel, key: string): Buffer =>
  seal.mark('recipient', digested(service, channel, key)).subarray(0, DIGEST_BYTES)

/** All digests under which the recipient may be stored: one for each sealing secret, cipher and format. */
export const recipientDigests = (seal: Pick<Seal, 'marks'>, service: Id, channel: Channel, key: string): Buffer[] =>
  seal.marks('recipient', digested(service, channel, key)).map(digest => digest.subarray(0, DIGEST_BYTES))

const digested = (service: Id, channel: Channel, key: string) => `recipient ${service} ${channel} ${key}`
