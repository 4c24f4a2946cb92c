// Cursors of the feed: a position as text. Callers do not look into it.
import type { Position } from '../events/event.ts'

const FORM = /^[0-9a-z]{1,13}\.[0-9a-z]{1,13}\.[0-9a-z]{1,4}$/
const HIGHEST = 2n ** 63n - 1n
const RADIX = 36

export const writeCursor = ({ stamp, seq, n }: Position): string =>
  `${BigInt(stamp).toString(RADIX)}.${BigInt(seq).toString(RADIX)}.${(n + 1).toString(RADIX)}`

/** Null: not a cursor. */
export function readCursor(text: string): Position | null {
  if (!FORM.test(text)) return null
  const [stamp, seq, n] = text.split('.').map(numberOf)
  if (stamp === undefined || seq === undefined || n === undefined) return null
  if (stamp > HIGHEST || seq > HIGHEST || n > 65_536n) return null
  return { stamp: String(stamp), seq: String(seq), n: Number(n) - 1 }
}

const numberOf = (digits: string) =>
  [...digits].reduce((sum, digit) => sum * BigInt(RADIX) + BigInt(Number.parseInt(digit, RADIX)), 0n)
