// Sanitises text from providers for storage and display: removes NUL (which PostgreSQL refuses), other control and format characters
// and lone surrogates, and cuts it to a maximum length.
import { createHash } from 'node:crypto'

const UNFIT = /[\p{C}\u2028\u2029\ufffd]+/gu
const LONGEST_LINE = 500
const LONGEST_REF = 200

/** A provider's reply for display: one line. */
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
 * A reference or an event id. The same text always gives the same result, so that a repeat is recognised: characters that cannot be
 * stored are removed, and a text that is too long is replaced by its digest. Empty: no usable characters.
 */
export function cleanRef(text: string): string {
  const ref = text.replace(UNFIT, '').trim()
  return ref.length <= LONGEST_REF ? ref : createHash('sha256').update(ref).digest('base64url')
}

/** Milliseconds since 1970; null when a timestamp column cannot hold them. */
export const cleanTime = (at: number | null): number | null =>
  at !== null && at > 0 && at < 253_402_300_800_000 ? at : null
