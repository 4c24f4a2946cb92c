// JSON as the interface reads it: what JSON.parse lets pass quietly (duplicate keys, lone surrogates, endless nesting,
// broken UTF-8, numbers without end) is unreadable here, so that two readers of one request can never see two things.
import { refuse } from './refusals.ts'

const MAX_DEPTH = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })

export function readJson(body: Buffer): unknown {
  let value: unknown
  let text: string
  let members: number
  try {
    text = utf8.decode(body)
    members = countMembers(text)
    value = JSON.parse(text)
  } catch {
    throw refuse.unreadable()
  }
  if (members < 0 || survivors(value) !== members) throw refuse.unreadable()
  if (/\\u[dD][89abAB]|\\u[dD][c-fC-F]/.test(text) && hasLoneSurrogate(value)) throw refuse.unreadable()
  return value
}

/** Colons outside strings are the members the caller wrote; -1 when the nesting is too deep to follow. */
function countMembers(text: string): number {
  let members = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) {
      at = endOfString(text, at + 1)
    } else if (c === COLON) {
      members++
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return -1
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth--
    }
  }
  return members
}

function endOfString(text: string, from: number): number {
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}

/**
 * Members that are still there after parsing: fewer than were written means that one replaced another. No number at all when
 * one was too large: 1e400 would be shown as Infinity and stored as null.
 */
function survivors(value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + survivors(item), 0)
  const items = Object.values(value)
  return items.reduce((sum: number, item) => sum + survivors(item), items.length)
}

/** Whether any text in the value, keys included, is true of `test`. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(item => someText(item, test))
  return Object.entries(value).some(([key, item]) => test(key) || someText(item, test))
}

const hasLoneSurrogate = (value: unknown) => someText(value, text => !text.isWellFormed())

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
