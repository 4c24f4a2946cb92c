// What a form shows instead of a page of its own: the sentence of a refusal about what the person entered.
import { Refusal } from '../core/refusal.ts'
import { known } from './words/nouns.tsx'

const ENTERED = new Set(['BadRequestError', 'ValidationError', 'TooManyRequestsError'])

/** In the language of the person where there is a translation. */
export const sentencesOf = ({ messages }: Refusal): string => messages.map(known).join(' ')

/** Anything else is thrown on: its page says what to do. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && ENTERED.has(error.kind)) return sentencesOf(error)
  throw error
}
