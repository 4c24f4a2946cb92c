// What a check of a bulk file finds: everything that is wrong with it, and what it would send.
import type { Id } from '../core/id.ts'
import type { Problem } from '../core/refusal.ts'
import type { Alphabet, Daily } from '../notifications/check.ts'

/** What is wrong with a row. */
export const ROW_PROBLEMS = ['missing', 'recipient', 'too-large', 'not-allowed', 'too-long', 'reference'] as const
export type RowProblem = (typeof ROW_PROBLEMS)[number]

/** `column`: the header as written; null for a problem of the whole row. Values are left out: they are personal. */
export type RowError = {
  /** From 1: the first row after the header. */
  row: number
  column: string | null
  problem: RowProblem
  message: string
}

/** What could not be checked because of a problem. */
export type BulkSkipped = 'template' | 'sender' | 'daily limit' | 'rows' | 'recipients'

/** A row as its recipient would get it. Placeholders without a value show as marks. */
export type RowExample = {
  row: number
  to: string | null
  subject: string | null
  body: string
  /** Of a text message. */
  parts: number | null
}

/** Null: not known, or not of this channel. */
export type BulkReport = {
  /** A send with this body would be accepted now. */
  ok: boolean
  /** In the order of the contract; the first is the one that a send would be refused with. */
  problems: readonly Problem[]
  skipped: readonly BulkSkipped[]
  template: { id: Id; version: number; type: 'email' | 'sms' } | null
  rows: {
    total: number
    /** Rows without an error, and rows with one or more. */
    ok: number
    bad: number
    /** Refused because the service is in trial mode, or the key is a team key. */
    not_allowed: number
    /** To recipients of smoke tests. */
    simulated: number
  } | null
  /** How many errors there are, and the first 1,000, by row. */
  error_count: number
  errors: readonly RowError[]
  /** `rows`: how many have a recipient of an earlier row. `first`: the first 20 recipients with up to 10 of their rows. */
  duplicates: { rows: number; recipients: number; first: readonly { count: number; rows: readonly number[] }[] } | null
  columns: {
    recipient: string | null
    /** Headers that the template uses, the recipient's among them, and those that it does not. */
    used: readonly string[]
    unused: readonly string[]
    missing: readonly string[]
    duplicate: readonly string[]
  } | null
  /** Text messages that the job would be charged as, of rows with all values; by alphabet. */
  parts: number | null
  alphabets: Readonly<Record<Alphabet, number>> | null
  lane: string | null
  /** `needed`: how much of it the job would use. */
  daily: (Daily & { needed: number }) | null
  /** The first three rows. */
  examples: readonly RowExample[]
  /** From the pace of the last jobs of the service; null: there is none in the last week. */
  estimated_seconds: number | null
}

/** The most errors in a report; the others are in the list that is streamed. */
export const MOST_ERRORS = 1_000
