// The provider interface: `send` takes one message and returns an outcome; later a provider may report more in a receipt. Providers
// return errors as outcomes and never throw. They do not use the database.
import type { Id } from '../core/id.ts'
import type { Pieces } from '../core/pieces.ts'
import type { Capacity } from '../runtime/admission.ts'
import type { Recall } from '../runtime/recall.ts'

/** The immediate result of a send. A closed union: handlers must handle every case. */
export type Outcome =
  /** The provider accepted the message. `ref` is its id in later receipts. */
  | { kind: 'accepted'; ref: string }
  /**
   * The provider rejects this message permanently. `detail` is shown to the caller as provider_response, so it contains no secrets.
   * `permanent`: the reason is the recipient or the content; the message ends as a permanent failure with this detail (contract 6.4).
   */
  | { kind: 'rejected'; detail: string; permanent?: string }
  /** The send failed for now and is retried. */
  | {
      kind: 'deferred'
      detail: string
      /** The delay that the provider asks for, e.g. Retry-After. */
      retryAfterSeconds?: number
      /** The provider may have accepted the message: the connection broke after the data and before the reply. */
      uncertain?: true
      /** The provider is down: other messages would fail too. Opens its circuit breaker. */
      down?: true
      /** Why it cannot be reached (unreachable.ts). For operators and the log, never for the caller. */
      reason?: string
      /** It was recalled before the provider got anything of it. */
      recalled?: true
    }

export const RECALLED = { kind: 'deferred', detail: 'recalled before it was sent', recalled: true } satisfies Outcome

export type Attachment = { filename: string; mediaType: string; content: Buffer }

export type EmailMessage = {
  id: Id
  /** The same on every attempt, so that a recipient can recognise a duplicate: `<id@sending domain>`. */
  messageId: string
  from: { name: string; address: string }
  replyTo: string | null
  /** Validated by recipients/email.ts; the host may be non-ASCII. */
  to: string
  subject: string
  text: string
  /** Empty: plain text only. */
  html: string
  /** Text and HTML in pieces, where they were made in this way. */
  pieces?: { text: Pieces; html: Pieces } | null
  attachments: readonly Attachment[]
}

export type TextMessage = {
  id: Id
  /** E.164. */
  to: string
  /** Alphanumeric sender or a number; null: the provider's own. */
  from: string | null
  text: string
  encoding: 'GSM-7' | 'UCS-2'
  /** The number of parts that the provider charges for. */
  parts: number
}

/** The message type of each channel. */
export type Messages = { email: EmailMessage; sms: TextMessage }

/** A later report about an accepted message. */
export type Receipt = {
  /** The `ref` of its outcome. */
  ref: string
  /** Unique for this receipt, so that a repeat is recognised. A digest of the body if the provider gives none. */
  eventId: string
  /** The time of the event by the provider's clock, in milliseconds since 1970; null: unknown. */
  at: number | null
  result: 'delivered' | 'pending' | 'permanent-failure' | 'temporary-failure' | 'technical-failure' | 'complaint'
  /** `blocked` changes the label of a permanent failure; other details are for operators. */
  detail: string | null
  /** Shown as provider_response, only with technical-failure. */
  response: string | null
  /** The reply of the server that refused the message. It may name a person: stored sealed, for operators. */
  diagnosis?: string
}

/** Stores receipts. Resolves when they are on disk: an adapter acknowledges only then. Rejects when they are not stored. */
export type AcceptReceipts = (provider: string, receipts: readonly Receipt[]) => Promise<void>

/** The endpoint to which a provider posts receipts: POST /receipts/<name>. */
export type WebhookEndpoint = {
  name: string
  /** Authenticates the request and parses its receipts. */
  read(request: {
    url: string
    headers: Readonly<Record<string, string | string[] | undefined>>
    body: Buffer
  }): Promise<
    | { ok: true; receipts: readonly Receipt[]; answer?: { type: string; body: string } }
    | { ok: false; status: 400 | 401 | 403; why: string }
  >
}

/** A provider that lets messages wait answers RECALLED for one that is recalled meanwhile. */
export type Send<M> = (message: M, urgent?: boolean, recall?: Recall) => Promise<Outcome>

type Common = {
  readonly name: string
  /** Whether the provider sends receipts. If not, acceptance counts as delivery. */
  readonly reports: boolean
  readonly webhook?: WebhookEndpoint
  /** How much it takes at the same time and per second. The provider group admits every message by it. */
  readonly capacity: Capacity
  /** Checks, without sending, whether the provider answers; for doctor and for an open circuit breaker. */
  probe(): Promise<{ ok: true } | { ok: false; detail: string; reason?: string }>
  stop(): Promise<void>
}

export type EmailProvider = Common & {
  channel: 'email'
  send: Send<EmailMessage>
}
export type TextProvider = Common & { channel: 'sms'; send: Send<TextMessage> }
export type Provider = EmailProvider | TextProvider

/** What every provider gets from Herald. */
export type ProviderWorld = {
  accept: AcceptReceipts
  /** Milliseconds since 1970. */
  now(): number
  /** Logs a fixed sentence and codes; never a recipient, a text or a credential. */
  warn(fields: Record<string, unknown>, sentence: string): void
}
