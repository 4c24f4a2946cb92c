// What a form shows instead of a page of its own: the sentence of a refusal that the person can mend.
import { Refusal } from '../core/refusal.ts'

const MENDED = new Set(['BadRequestError', 'ValidationError', 'TooManyRequestsError'])

/** Anything else is thrown on: its page says what to do. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && MENDED.has(error.kind)) return error.messages.join(' ')
  throw error
}
