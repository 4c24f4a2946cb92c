// What a form shows instead of a page of its own: the sentence of a refusal about what the person entered.
import { Refusal } from '../core/refusal.ts'

const ENTERED = new Set(['BadRequestError', 'ValidationError', 'TooManyRequestsError'])

/** Anything else is thrown on: its page says what to do. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && ENTERED.has(error.kind)) return error.messages.join(' ')
  throw error
}
