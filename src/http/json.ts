// A strict JSON reader. Input that JSON.parse accepts silently (duplicate keys, lone surrogates, endless nesting, broken UTF-8,
// infinite numbers) is refused, so that two readers of one request always see the same. Input that JSON.parse changes silently
// (the order of integer-like names, integers beyond 2^53) is kept as the caller wrote it.
import { types } from 'node:util'
import { refuse } from './refusals.ts'

/** The field whose names are chosen by the caller: it has limits and error sentences of its own (contract 22.20). */
const FREE_FIELD = 'personalisation'
const MOST_NAMES = 1_000
/** The depth of nested objects; a list at the bottom does not count. */
const MOST_LEVELS = 3

const MAX_DEPTH = 32
/** The most fields of one object. No object of the interface has more than seven. */
const MOST_FIELDS = 1_000
/** The longest name: templates are too short to contain a longer placeholder. */
const LONGEST_NAME = 50_000

/** Limits of a body, counted before anything is built from it. */
export type Bounds = {
  /** Names in all objects together. */
  names: number
  /** Commas outside strings: names and items of lists together. */
  values: number
}

/** A longer list exceeds the 51,200 characters of all values three times. */
const SINGLE: Bounds = { names: 52_000, values: 52_000 }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** An object with an integer-like name becomes a Proxy whose keys have the caller's order; a large integer becomes a bigint. */
export function readJson(body: Buffer, bounds = SINGLE): unknown {
  const text = decoded(body)
  const { names, isOrdinary } = scan(text, bounds)
  const value = isOrdinary ? parsed(text) : readAsWritten(text)
  if (survivors(value) !== names) throw refuse.unreadable()
  if (/\\u[dD][89abAB]|\\u[dD][c-fC-F]/.test(text) && hasLoneSurrogate(value)) throw refuse.unreadable()
  return value
}

function decoded(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw refuse.unreadable()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refuse.unreadable()
  }
}

type Scanned = {
  /** Colons outside strings: the number of names in the text. */
  names: number
  /** JSON.parse changes nothing in this text. */
  isOrdinary: boolean
}

/** Counts in one pass over text that may not even be JSON. */
function scan(text: string, bounds: Bounds): Scanned {
  const fields = [0, 0, 0]
  let names = 0
  let values = 0
  let depth = 0
  let objects = 0
  let isOrdinary = true
  let isFree = false
  let start = 0
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c <= SPACE) continue
    if (c === QUOTE) {
      start = at + 1
      end = at = endOfString(text, start)
    } else if (c === COLON) {
      if (depth === 1) isFree = isFreeField(text, start, end)
      if (isOrdinary && looksLikeInteger(text, start, end)) isOrdinary = false
      const count = (fields[depth] ?? 0) + 1
      fields[depth] = count
      if (++names > bounds.names || count > (isFree && depth > 1 ? MOST_NAMES : MOST_FIELDS))
        throw tooMany(isFree && depth > 1)
      if (end - start > LONGEST_NAME) throw refuse.unreadable()
    } else if (c === COMMA) {
      if (++values > bounds.values) throw tooMany(isFree && depth > 1)
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth++
      if (c === OPEN_BRACE) objects++
      if (isFree && (objects > MOST_LEVELS + 1 || depth > MOST_LEVELS + 2)) throw refuse.tooDeep()
      if (depth > MAX_DEPTH) throw refuse.unreadable()
      fields[depth] = 0
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth--
      if (c === CLOSE_BRACE) objects--
    } else if (c >= ZERO && c <= NINE) {
      const from = at
      at = endOfDigits(text, at)
      if (isPartOfNumber(text.charCodeAt(at))) at = endOfNumber(text, at)
      else if (at - from > 15) isOrdinary = false
      at--
    }
  }
  return { names, isOrdinary }
}

const tooMany = (isFree: boolean) => (isFree ? refuse.tooManyValues() : refuse.unreadable())

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

function endOfDigits(text: string, at: number): number {
  for (;;) {
    const c = text.charCodeAt(at)
    if (!(c >= ZERO && c <= NINE)) return at
    at++
  }
}

function endOfNumber(text: string, at: number): number {
  while (isPartOfNumber(text.charCodeAt(at))) at++
  return at
}

const isPartOfNumber = (c: number) =>
  (c >= ZERO && c <= NINE) || c === DOT || c === LOWER_E || c === UPPER_E || c === PLUS || c === MINUS

/** A name may contain escapes. */
function isFreeField(text: string, start: number, end: number): boolean {
  if (end - start === FREE_FIELD.length) return text.startsWith(FREE_FIELD, start)
  return end - start > FREE_FIELD.length && unescaped(text, start, end) === FREE_FIELD
}

function unescaped(text: string, start: number, end: number): string {
  const plain = text.slice(start, end)
  return plain.includes('\\') ? String(parsed(`"${plain}"`)) : plain
}

/** JavaScript sorts integer-like names before all others. A name with an escape may be integer-like after decoding. */
function looksLikeInteger(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c === BACKSLASH) return true
    if (!(c >= ZERO && c <= NINE)) return false
  }
  return end > start
}

/** Slower than JSON.parse, and only for text that JSON.parse has accepted as well-formed. */
function readAsWritten(text: string): unknown {
  parsed(text)
  let at = 0

  function value(): unknown {
    skipBlanks()
    const c = text.charCodeAt(at)
    if (c === OPEN_BRACE) return object()
    if (c === OPEN_BRACKET) return list()
    return c === QUOTE ? string() : scalar()
  }

  function object(): object {
    const made: Record<string, unknown> = {}
    const names: string[] = []
    let isReordered = false
    for (at++, skipBlanks(); text.charCodeAt(at) !== CLOSE_BRACE; skipSeparator(COMMA)) {
      const name = string()
      skipSeparator(COLON)
      names.push(name)
      if (name !== '__proto__') made[name] = value()
      else Object.defineProperty(made, name, { value: value(), writable: true, enumerable: true, configurable: true })
      isReordered ||= /^\d+$/.test(name)
    }
    at++
    return isReordered ? inOrder(made, names) : made
  }

  function list(): unknown[] {
    const made: unknown[] = []
    for (at++, skipBlanks(); text.charCodeAt(at) !== CLOSE_BRACKET; skipSeparator(COMMA)) made.push(value())
    at++
    return made
  }

  function string(): string {
    const start = at
    at = endOfString(text, start + 1) + 1
    return unescaped(text, start + 1, at - 1)
  }

  function scalar(): unknown {
    const start = at
    at = endOfNumber(text, at)
    if (at === start) {
      while (/[a-z]/.test(text.charAt(at))) at++
      return JSON.parse(text.slice(start, at))
    }
    const written = text.slice(start, at)
    const number = Number(written)
    return Number.isFinite(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(written)
      ? BigInt(written)
      : number
  }

  function skipBlanks() {
    while (text.charCodeAt(at) <= SPACE) at++
  }

  function skipSeparator(separator: number) {
    skipBlanks()
    if (text.charCodeAt(at) === separator) at++
    skipBlanks()
  }

  return value()
}

/** The object with its names in this order, which JavaScript changes for names that look like integers. */
export function inOrder<T extends object>(object: T, names: readonly string[]): T {
  const order = [...new Set(names)]
  return new Proxy(object, { ownKeys: () => order })
}

/** The value with Maps in place of ordered objects, which cannot be sent to another thread; `fromPortable` restores them. */
export function toPortable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(toPortable)
  const entries = Object.entries(value).map(([name, item]) => [name, toPortable(item)] as const)
  return types.isProxy(value) ? new Map(entries) : Object.fromEntries(entries)
}

export function fromPortable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(fromPortable)
  if (!(value instanceof Map))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fromPortable(item)]))
  const entries = [...(value as Map<string, unknown>)].map(([name, item]) => [name, fromPortable(item)] as const)
  return inOrder(
    Object.fromEntries(entries),
    entries.map(([name]) => name),
  )
}

/**
 * The number of members left after parsing: fewer than in the text means a duplicate name. NaN when a number was too large: 1e400
 * would be shown as Infinity and stored as null.
 */
function survivors(value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  const isList = Array.isArray(value)
  const items: unknown[] = isList ? value : Object.values(value)
  let sum = isList ? 0 : items.length
  for (const item of items) if (typeof item !== 'string') sum += survivors(item)
  return sum
}

/** Whether `test` is true of any text in the value, keys included. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(item => someText(item, test))
  return Object.entries(value).some(([key, item]) => test(key) || someText(item, test))
}

const hasLoneSurrogate = (value: unknown) => someText(value, text => !text.isWellFormed())

const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LOWER_E = 0x65
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
