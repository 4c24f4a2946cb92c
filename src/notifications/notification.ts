// One message to one recipient, as it is kept.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { KeyType } from '../keys/key.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { Channel } from '../services/service.ts'
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

/** What is personal in a message: whom it goes to, as written by the caller, and the values. Kept only sealed. */
export type Personal = { to: string; values: Values }

export const sealPersonal = (seal: Seal, { to, values }: Personal) => seal.seal(JSON.stringify([to, values]))

export function openPersonal(seal: Seal, sealed: Buffer): Personal {
  const [to, values] = JSON.parse(seal.open(sealed).toString('utf8')) as [string, Values]
  return { to, values }
}
