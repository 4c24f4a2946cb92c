// Text from outside, made fit to be stored and shown: no NUL (which PostgreSQL refuses), no other control or format characters, no
// lone surrogates, and not longer than we keep.
import { createHash } from 'node:crypto'

const UNFIT = /[\p{C}\u2028\u2029\ufffd]+/gu
const LONGEST_LINE = 500
const LONGEST_REF = 200

/** A provider's words for a person: one line. */
export const cleanLine = (text: string, longest = LONGEST_LINE): string =>
  [
    ...text
      .slice(0, 8 * longest)
      .replace(UNFIT, ' ')
      .trim(),
  ]
    .slice(0, longest)
    .join('')

/**
 * A reference or an event id. It has to be recognised when it comes again, so the same text always becomes the same: what does not
 * fit is left out, and one that is too long is known by its digest. Empty: there is nothing to recognise it by.
 */
export function cleanRef(text: string): string {
  const ref = text.replace(UNFIT, '').trim()
  return ref.length <= LONGEST_REF ? ref : createHash('sha256').update(ref).digest('base64url')
}

/** Milliseconds since 1970, where they are a moment that a timestamp can hold. */
export const cleanTime = (at: number | null): number | null =>
  at !== null && at > 0 && at < 253_402_300_800_000 ? at : null
