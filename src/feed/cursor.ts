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

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/

/** Microseconds since 1970 of a time in ISO 8601, UTC if it names no zone; null: not a time. */
export function readTime(text: string): number | null {
  const [, day, time = '00:00', zone = 'Z'] = TIME.exec(text.replace(/ (?=\d\d:?\d\d$)/, '+')) ?? []
  if (day === undefined) return null
  const millis = Date.parse(`${day}T${time}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  if (Number.isNaN(millis) || millis < 0) return null
  const micros = (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(6, '0').slice(3, 6)
  return millis * 1000 + Number(micros)
}
