// What a provider is to us: something that takes one message and answers at once with an outcome, and may tell more later
// with a receipt. Providers answer, they do not throw; they know no database.
import type { Id } from '../core/id.ts'
import type { Capacity } from '../runtime/admission.ts'

/** What a provider answered at once. Closed on purpose: whoever handles it must handle every case. */
export type Outcome =
  /** It is theirs now. `ref` is what later receipts will name. */
  | { kind: 'accepted'; ref: string }
  /**
   * It will never take this message. `detail` is shown to the caller as provider_response, so it holds no secrets. `permanent`: the
   * recipient or the content is the reason, so the message ends as a permanent failure, with these words of contract 6.4.
   */
  | { kind: 'rejected'; detail: string; permanent?: string }
  /** Not now. */
  | {
      kind: 'deferred'
      detail: string
      /** The provider's own wish, e.g. a Retry-After. */
      retryAfterSeconds?: number
      /** The message may have been taken all the same: the line broke between the end of data and the answer. */
      uncertain?: true
      /** Not this message is the trouble but the provider: others would fare no better. */
      down?: true
    }

export type Attachment = { filename: string; mediaType: string; content: Buffer }

export type EmailMessage = {
  id: Id
  /** The same on every attempt, so that whoever gets a message twice can tell: `<id@sending domain>`. */
  messageId: string
  from: { name: string; address: string }
  replyTo: string | null
  /** Validated by recipients/email.ts; the host may be non-ASCII. */
  to: string
  subject: string
  text: string
  html: string
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
  /** How many parts it will be charged as. */
  parts: number
}

/** What providers of each channel take. */
export type Messages = { email: EmailMessage; sms: TextMessage }

/** What a provider tells later about a message it took. */
export type Receipt = {
  /** The `ref` of its outcome. */
  ref: string
  /** Unique for this piece of news: a repeat is recognised by it. A digest of the body where the provider gives none. */
  eventId: string
  /** When it happened, by the provider's clock, in milliseconds since 1970; null when it does not say. */
  at: number | null
  result: 'delivered' | 'pending' | 'permanent-failure' | 'temporary-failure' | 'technical-failure' | 'complaint'
  /** `blocked` changes the label of a permanent failure; other details are kept for people. */
  detail: string | null
  /** Shown as provider_response, only with technical-failure. */
  response: string | null
  /** The words of the server that refused the message. They may name a person: kept sealed, for operators. */
  diagnosis?: string
}

/** Stores receipts; resolves when they are on disk, so that an adapter may acknowledge only then. Never loses, may reject. */
export type AcceptReceipts = (provider: string, receipts: readonly Receipt[]) => Promise<void>

/** A web address at which a provider delivers receipts: POST /receipts/<name>. */
export type WebhookEndpoint = {
  name: string
  /** Checks who speaks and reads what is said. A refusal changes nothing. */
  read(request: {
    url: string
    headers: Readonly<Record<string, string | string[] | undefined>>
    body: Buffer
  }): Promise<
    | { ok: true; receipts: readonly Receipt[]; answer?: { type: string; body: string } }
    | { ok: false; status: 400 | 401 | 403; why: string }
  >
}

type Common = {
  readonly name: string
  /** Whether news comes later. If not, acceptance counts as delivery. */
  readonly reports: boolean
  readonly webhook?: WebhookEndpoint
  /** How much it takes at the same time and per second. The provider group admits every message by it. */
  readonly capacity: Capacity
  /** Asks without sending anything whether the provider would answer; for doctor and for a probe of an open circuit. */
  probe(): Promise<{ ok: true } | { ok: false; detail: string }>
  stop(): Promise<void>
}

export type EmailProvider = Common & {
  channel: 'email'
  send(message: EmailMessage, urgent?: boolean): Promise<Outcome>
}
export type TextProvider = Common & { channel: 'sms'; send(message: TextMessage, urgent?: boolean): Promise<Outcome> }
export type Provider = EmailProvider | TextProvider

/** What every adapter is given. */
export type ProviderWorld = {
  accept: AcceptReceipts
  /** Milliseconds since 1970. */
  now(): number
  /** A fixed sentence and codes; never a recipient, a text or a credential. */
  warn(fields: Record<string, unknown>, sentence: string): void
}
