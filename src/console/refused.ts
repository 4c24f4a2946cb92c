// What a form shows instead of a page of its own: the sentence of a refusal about what the person entered.
import { Refusal } from '../core/refusal.ts'
import type { FieldErrors } from './components/form.tsx'
import { known } from './words/nouns.tsx'

const ENTERED = new Set(['BadRequestError', 'ValidationError', 'TooManyRequestsError'])

/** In the language of the person where there is a translation. */
export const sentencesOf = ({ messages }: Refusal): string => messages.map(known).join(' ')

/** Anything else is thrown on: its page says what to do. */
export function problemOf(error: unknown): string {
  if (error instanceof Refusal && ENTERED.has(error.kind)) return sentencesOf(error)
  throw error
}

/** The sentence at the field that it is about; at the first field when it is about none of the form. */
export function errorsAt(
  error: unknown,
  fields: readonly [first: string, ...others: string[]],
  wordsOf: (refusal: Refusal) => string = sentencesOf,
): FieldErrors {
  if (!(error instanceof Refusal && ENTERED.has(error.kind))) throw error
  return { [fields.find(field => field === error.field) ?? fields[0]]: wordsOf(error) }
}
