// Webhooks: endpoints of a service that are sent the events of the log. An endpoint follows the log by its position; what it has
// not taken yet is not copied.
import { randomBytes } from 'node:crypto'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { EVENT_TYPES, type EventType, type Position, STATUS_TYPES } from '../events/event.ts'
import type { KeyType } from '../keys/key.ts'

/** standard: Standard Webhooks 1.0, signed. callback: one message per request, with a bearer token. */
export const FORMATS = ['standard', 'callback'] as const
export type Format = (typeof FORMATS)[number]

/** paused: by its owner. disabled: by Herald; `reason` says why. Both keep the position. */
export type State = 'active' | 'paused' | 'disabled'

/** failing: no success for 72 hours. gone: it answered 410. */
export type Reason = 'failing' | 'gone'

/** `until`: milliseconds since 1970; an earlier secret signs until then. Null: the current one. */
export type Secret = { secret: string; until: number | null }

/** What is sealed. `secrets`: the current one first; none for the format callback. `token`: of the format callback. */
export type Target = { url: string; secrets: readonly Secret[]; token: string | null }

type Common = {
  id: Id
  service_id: Id
  key_type: KeyType
  format: Format
  /** Null: every type. */
  types: EventType[] | null
  with_recipient: boolean
  batch: number
  state: State
  reason: Reason | null
  created_at: Timestamp
  updated_at: Timestamp | null
  /**
   * Its ticket. A turn records its result only while its own ticket is here: a change of the endpoint writes null, and the next
   * look at idle endpoints gives it a new ticket, which is due at once.
   */
  ticket: Id | null
  failing_since: Timestamp | null
  failures: number
  succeeded_at: Timestamp | null
}

/** A row of the table. Numbers of 64 bits are text. */
export type StoredWebhook = Common & { sealed: Buffer; stamp: string; seq: string; n: number }

/** Everything up to `position` was sent or set aside. */
export type Webhook = Common & Target & { position: Position }

export function readWebhook(seal: Seal, { sealed, stamp, seq, n, ...row }: StoredWebhook): Webhook {
  return { ...row, ...openTarget(seal, sealed), position: { stamp, seq, n } }
}

export const sealTarget = (seal: Seal, { url, secrets, token }: Target): Buffer =>
  seal.seal('webhook target', JSON.stringify({ url, secrets, token }))

export const openTarget = (seal: Seal, sealed: Buffer): Target =>
  JSON.parse(seal.open('webhook target', sealed).toString('utf8'))

export const MOST_WEBHOOKS = 20
export const MOST_IN_BATCH = 100
export const LONGEST_URL = 2_000
export const TOKEN_LENGTH = { least: 10, most: 500 } as const
export const OVERLAP_HOURS = { usual: 24, most: 168 } as const

const SECRET_BYTES = 32
export const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/** Secrets that sign now, the current one first. */
export const signingSecrets = ({ secrets }: Pick<Target, 'secrets'>, now: number): string[] =>
  secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret)

/** A new secret, and the one before it until the overlap ends. Of two rotations in a row both earlier secrets stay valid. */
export function rotated({ secrets }: Pick<Target, 'secrets'>, now: number, overlapHours: number): readonly Secret[] {
  const end = now + overlapHours * 3_600_000
  const earlier = secrets
    .map(({ secret, until }) => ({ secret, until: Math.min(until ?? end, end) }))
    .filter(({ until }) => until > now)
  return [{ secret: newSecret(), until: null }, ...earlier.slice(0, MOST_EARLIER)]
}
/** Each secret makes every request longer. */
const MOST_EARLIER = 2

/** The final statuses: what a callback is sent unless it asks for others. */
export const CALLBACK_TYPES = [
  'notification.sent',
  'notification.delivered',
  'notification.permanent-failure',
  'notification.temporary-failure',
  'notification.technical-failure',
  'notification.virus-scan-failed',
] as const satisfies readonly EventType[]

/** The types that a format can carry: a callback describes a message and its status. */
export const typesOf = (format: Format): readonly EventType[] => (format === 'callback' ? STATUS_TYPES : EVENT_TYPES)
