// Reads a large body with files in the memory of the body itself. A file of 6 MB would otherwise be in memory five times: as
// bytes of JSON, as part of the text of the body, as a text of its own, decoded, and as shared memory. Here the long base64 texts are
// left out of the text that is parsed, and each is decoded where it stands.
import { randomBytes } from 'node:crypto'
import { fileTexts, takeContents } from './decode.ts'
import type { Contents } from './file.ts'

/** Shorter texts are decoded as in a small body. */
const LONG = 64 * 1024
/** A body with more texts is read as a small one is; no body with so many is valid. */
const MOST_TEXTS = 110_000

/** The same result as `parse` and `takeContents`. Long contents are parts of `body`, whose other bytes are undefined afterwards. */
export function readInPlace(body: Buffer, parse: (json: Buffer) => unknown): { value: unknown; contents: Contents } {
  const ranges = longTexts(body)
  const mark = randomBytes(16).toString('hex')
  const value = parse(ranges.length === 0 ? body : withMarks(body, ranges, mark))
  const marked = fileTexts(value).filter(({ text }) => text.startsWith(mark))
  if (marked.length < ranges.length) return readWhole(body, parse) // a long text is no file: the validation error quotes it
  const long = new Map<string, Buffer | null>()
  for (const { key, file, text } of marked) {
    const range = ranges[Number(text.slice(mark.length))]
    if (!range) throw new Error('a mark without a text')
    long.set(key, decodeInPlace(body, range))
    file.file = ''
  }
  const contents = [...takeContents(value)].map(
    ([key, short]) => [key, long.get(key) === undefined ? short : (long.get(key) ?? null)] as const,
  )
  return { value, contents: new Map(contents) }
}

function readWhole(body: Buffer, parse: (json: Buffer) => unknown): { value: unknown; contents: Contents } {
  const value = parse(body)
  return { value, contents: takeContents(value) }
}

type Range = { start: number; end: number }

/** Long texts between quotation marks that are base64, or nearly so: `decodeInPlace` decides. */
function longTexts(body: Buffer): Range[] {
  const ranges: Range[] = []
  let start = body.indexOf(QUOTE) + 1
  for (let texts = 0; start !== 0 && texts < MOST_TEXTS; texts++) {
    const end = endOfText(body, start)
    if (end - start >= LONG && isBase64(body, start, end)) ranges.push({ start, end })
    start = body.indexOf(QUOTE, end + 1) + 1
  }
  return start === 0 ? ranges : []
}

function endOfText(body: Buffer, from: number): number {
  for (;;) {
    const quote = body.indexOf(QUOTE, from)
    if (quote === -1) return body.length
    let backslashes = 0
    while (body[quote - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}

/** Only letters of base64, spaces, and escapes that stand for these or for line breaks. Anything else could be an error of JSON. */
function isBase64(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (IS_LETTER[body[at] as number] === 1 || body[at] === SPACE) continue
    const sequence = body[at] === BACKSLASH ? escapeAt(body, at) : null
    if (sequence === null) return false
    at += sequence.length - 1
  }
  return end < body.length
}

/** Null: an escape that base64 does not have. `letter` is null for a line break, which is skipped. */
function escapeAt(body: Buffer, at: number): { length: number; letter: number | null } | null {
  const kind = body[at + 1]
  if (kind === SLASH) return { length: 2, letter: SLASH }
  if (kind === LOWER_N || kind === LOWER_R || kind === LOWER_T) return { length: 2, letter: null }
  if (kind !== LOWER_U) return null
  // Some libraries write + and = in this form.
  const isAscii = body[at + 2] === ZERO && body[at + 3] === ZERO
  const letter = hexDigit(body[at + 4]) * 16 + hexDigit(body[at + 5])
  return isAscii && IS_LETTER[letter] === 1 ? { length: 6, letter } : null
}

/** NaN: not a digit. */
const hexDigit = (octet = 0) => HEX[octet] ?? Number.NaN

/** The body with `mark` and a number in place of each long text. */
function withMarks(body: Buffer, ranges: readonly Range[], mark: string): Buffer {
  const parts: Buffer[] = []
  let from = 0
  ranges.forEach(({ start, end }, n) => {
    parts.push(body.subarray(from, start), Buffer.from(`${mark}${n}`))
    from = end
  })
  return Buffer.concat([...parts, body.subarray(from)])
}

/** A multiple of four letters, which become a multiple of three bytes. */
const STEP = 64 * 1024

/** The same result as `decode`; null: not base64. Bytes are never written beyond those that have been read. */
function decodeInPlace(body: Buffer, { start, end: written }: Range): Buffer | null {
  const end = withoutBlanks(body, start, written)
  const length = end - start
  const padding = body[end - 1] !== EQUALS ? 0 : body[end - 2] !== EQUALS ? 1 : 2
  let to = start
  for (let from = start; from < end; from += STEP)
    to += body.write(body.toString('latin1', from, Math.min(from + STEP, end)), to, 'base64')
  // Node's decoder skips what is not in its place, so a result of full length is exact, as in `decode`.
  return length % 4 === 0 && to - start === (length / 4) * 3 - padding ? body.subarray(start, to) : null
}

/** Resolves escapes and removes blanks, in place. Returns the new end. */
function withoutBlanks(body: Buffer, start: number, end: number): number {
  const text = body.subarray(start, end)
  if (!text.includes(BACKSLASH) && !text.includes(SPACE)) return end
  let to = start
  for (let at = start; at < end; at++) {
    const octet = body[at] as number
    if (octet === SPACE) continue
    const sequence = octet === BACKSLASH ? escapeAt(body, at) : null
    if (sequence) at += sequence.length - 1
    const letter = sequence ? sequence.letter : octet
    if (letter !== null) body[to++] = letter
  }
  return to
}

const SPACE = 0x20
const QUOTE = 0x22
const SLASH = 0x2f
const ZERO = 0x30
const EQUALS = 0x3d
const BACKSLASH = 0x5c
const LOWER_N = 0x6e
const LOWER_R = 0x72
const LOWER_T = 0x74
const LOWER_U = 0x75
const IS_LETTER = new Uint8Array(256)
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='))
  IS_LETTER[letter] = 1
/** The value of a hexadecimal digit, by its character code. */
const HEX: (number | undefined)[] = []
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = Number.parseInt(digit, 16)
