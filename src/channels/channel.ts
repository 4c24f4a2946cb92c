// A channel is a value with everything that differs between channels. Other code looks it up by name (channels/index.ts) and never
// compares names.
import type { PhonePlan } from '../recipients/plans.ts'
import type { EmailDraft, SmsDraft } from '../rendering/draft.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { RenderThread } from '../rendering/thread.ts'

/** `key`: the normal form, equal for all spellings of a recipient. */
export type RecipientReading = { ok: true; key: string; international: boolean } | { ok: false; problem: string }

export type RecipientRules = {
  /** False refuses numbers of other countries. */
  international: boolean
  /** How numbers without a country code are read. */
  plan?: PhonePlan
}

/** The content of a template version. */
export type Content = { subject: string | null; content: string; literal_values: boolean }

/** A template version, compiled once. What else a compiled template can do depends on its channel. */
export type CompiledTemplate = {
  type: string
  source: { content: string; subject: string | null }
  compiled: {
    readonly names: readonly string[]
    /** Names without a value to send. */
    unsendable(values: Values): string[]
    isBlank(values: Values): boolean
    /** Subject and body as answers of the interface show them. */
    answer(values: Values): { body: string; subject?: string }
  }
  /** Whether the value of this name is shown somewhere, and not only asked for by a conditional. */
  isShown(name: string): boolean
  /** Why a message with these values is refused; computed from lengths, without rendering. */
  excess(values: Values, prefix: string | null): 'tooLarge' | 'tooLong' | null
  /** Subject and body of a stored message; empty when it is too large to render. */
  stored(values: Values): { body: string; subject?: string }
  /** Subject and body as the recipient reads them, with the prefix if the channel has one. */
  received(values: Values, prefix: string | null): { subject: string | null; body: string }
}

export type Preview = { body: string; html: string | null; subject: string | null }

/** What recipients would get of a template that is being written. Null: too large to render. */
export type ShownDraft = ({ kind: 'email' } & EmailDraft) | ({ kind: 'sms' } & SmsDraft) | null

export type DraftOptions = {
  /** Comes before each message, if the channel has a prefix. */
  prefix: string | null
  scheme?: 'light' | 'dark'
}

/** A lane of the engine: how many messages are handed over at the same time, and how many of these only this lane may use. */
export type ChannelLane = { pace: 'high' | 'medium' | 'low'; slots: number; reserved: number }

export type ChannelShape = {
  name: string
  /** Wording for settings, doctor and the start banner. */
  words: { one: string; many: string; title: string }
  /** Columns of a service. */
  columns: { maySend: string; dailyLimit: string; retentionDays: string }
  /** Messages a day for a service that sets no limit of its own (contract 15). */
  dailyLimits: { trial: number; live: number }
  lanes: readonly ChannelLane[]
  /** The variable that lists its providers. */
  providersVariable: string
  recipient: {
    /** Field of requests and answers. */
    field: string
    /** Header of its column in a bulk file. */
    headers: { en: string; fr: string }
    read(text: string, rules: RecipientRules): RecipientReading
    /** The normal form is stored with the message, because the text may be read differently later. */
    storesKey: boolean
    /** The prefix of normal forms of the home country; null: recipients have no country. */
    homePrefix(plan?: PhonePlan): string | null
  }
  template: {
    hasSubject: boolean
    /** Longest content of a template, in the units of `lengthOf`. */
    longest: number
    lengthOf(content: string): number
    compile(content: Content): CompiledTemplate
    preview(app: { renderThread: RenderThread }, content: Content, values: Values): Promise<Preview>
    draft(
      app: { renderThread: RenderThread },
      content: Content,
      values: Values,
      options: DraftOptions,
    ): Promise<ShownDraft>
  }
  /** Whether files can be attached or linked. */
  takesFiles: boolean
  /** The list of a service from which the sender or reply-to address is chosen. */
  origins: 'reply_tos' | 'senders'
  /** Refusals of the interface, by their names in notifications/refusals.ts and templates/refusals.ts. */
  refusals: { send: string; origin: string; template: string }
  /** Words of `status_description` that differ from the common ones. */
  labels: Readonly<Record<string, string>>
  /** The first final status stays, whatever a later receipt says. */
  isFirstFinal: boolean
  /** A bulk file may contain both simulated and other recipients. */
  mixesSimulated: boolean
}
