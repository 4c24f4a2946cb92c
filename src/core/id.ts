// UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the millisecond's fraction, 62 random bits.
// The id contains the creation time to the microsecond: it orders pages and determines the partition of the day.
import { randomFillSync, randomUUID } from 'node:crypto'
import { type Clock, STEP_MS } from './clock.ts'

export type Id = string & { readonly __id: true }

/** Ids of one process strictly increase, except when the clock was set back. */
export function createIds(clock: Clock): { next(): Id } {
  // Cached: random digits for 512 ids, and the first two groups of digits of the current millisecond.
  const entropy = Buffer.alloc(8 * 512)
  let digits = ''
  let used = 0
  let millis = 0
  let time = ''
  let fraction = 0
  const enter = (next: number) => {
    millis = next
    const hex = next.toString(16).padStart(12, '0')
    time = `${hex.slice(0, 8)}-${hex.slice(8)}`
  }
  return {
    next() {
      const at = split(clock.micros())
      if (at.millis > millis || at.millis < millis - STEP_MS / 2) {
        enter(at.millis)
        fraction = at.fraction
      } else if (at.millis === millis && at.fraction > fraction) {
        fraction = at.fraction
      } else if (fraction < 4095) {
        fraction += 1
      } else {
        enter(millis + 1)
        fraction = 0
      }
      if (used === digits.length) {
        digits = randomFillSync(entropy).toString('hex')
        used = 0
      }
      const from = used
      used += 16
      // Two bits of the first random digit, which is not part of the id otherwise.
      const variant = VARIANTS[((entropy[from >> 1] ?? 0) >> 4) & 3]
      const version = (0x7000 | fraction).toString(16)
      return `${time}-${version}-${variant}${digits.slice(from + 1, from + 4)}-${digits.slice(from + 4, used)}` as Id
    },
  }
}

/** A random id (version 4): published clients expect it for services (contract 22.19). */
export const randomId = () => randomUUID() as Id

const VARIANTS = ['8', '9', 'a', 'b'] as const

/** The creation time in an id, in microseconds since 1970. */
export function microsOf(id: Id): number {
  const millis = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const fraction = Number.parseInt(id.slice(15, 18), 16)
  return millis * 1000 + Math.floor((fraction * 1000) / 4096)
}

export const isTimed = (id: Id) => id[14] === '7'

/** The smallest id of a time: `id >= floorOf(t)` means "created at t or later". */
export function floorOf(micros: number): Id {
  const { millis, fraction } = split(micros)
  const time = millis.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${(0x7000 | fraction).toString(16)}-0000-000000000000` as Id
}

// An id has a resolution of 1/4096 ms. Rounding up makes `microsOf` return the same microsecond.
function split(micros: number): { millis: number; fraction: number } {
  const millis = Math.floor(micros / 1000)
  return { millis, fraction: Math.ceil(((micros - millis * 1000) * 4096) / 1000) }
}

const HEX = /^[0-9a-f]{32}$/
const AS_PRINTED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Converts any spelling that the interface accepts (contract 1.6) to the one we print; null: not an id. */
export function readId(text: unknown): Id | null {
  if (typeof text !== 'string' || text.length > 100) return null
  if (AS_PRINTED.test(text)) return text as Id
  let rest = text.toLowerCase()
  if (rest.startsWith('urn:uuid:')) rest = rest.slice(9)
  if (rest.startsWith('{') !== rest.endsWith('}')) return null
  if (rest.startsWith('{')) rest = rest.slice(1, -1)
  const hex = rest.replaceAll('-', '')
  if (!HEX.test(hex)) return null
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Id
}
