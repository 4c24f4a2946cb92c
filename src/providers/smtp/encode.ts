// Transfer encodings (RFC 2045, 6): the result is ASCII, has CRLF line ends only and no line over 998 characters.
// It runs over every octet of every message, so it compares numbers: ten times as fast as regular expressions.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Pieces } from '../../core/pieces.ts'

export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const LONGEST_PLAIN = 900
const LONGEST_QUOTED = 75
const BASE64_LINE = 76
const HEX = Buffer.from('0123456789ABCDEF')

/** 7bit where allowed, quoted-printable where the text is mostly ASCII, else base64. */
export function encodeText(text: string): Encoded {
  // A lone surrogate becomes U+FFFD here.
  const octets = octetsOf(text)
  if (octets.length === text.length && isPlain(octets)) return { encoding: '7bit', body: withCrLf(text) }
  // Every octet outside ASCII takes three characters quoted and 1.33 in base64.
  if (octets.length - text.length > octets.length / 5)
    return { encoding: 'base64', body: base64Lines(Buffer.from(withCrLf(text))) }
  return { encoding: 'quoted-printable', body: quotedPrintable(octets) }
}

/**
 * The same for a text in pieces. Those that many messages have in common are encoded once; a soft line break between two pieces makes
 * the encoding of each independent of the others.
 */
export function encodePieces(whole: string, pieces: Pieces | null | undefined): Encoded {
  const fixed = pieces && fixedOf(pieces.fixed)
  if (!pieces || !fixed) return encodeText(whole)
  let body = fixed.quoted[0] ?? ''
  let beyondAscii = fixed.beyondAscii
  for (let i = 0; i < pieces.values.length; i++) {
    const value = pieces.values[i] ?? ''
    if (isLiteral(value)) body += `${value}=\r\n`
    // Together with the next piece its last character could be one line end or one pair of surrogates.
    else if (value.includes('\r') || !value.isWellFormed()) return encodeText(whole)
    else {
      const octets = octetsOf(value)
      beyondAscii += octets.length - value.length
      body += softlyEnded(quotedPrintable(octets))
    }
    body += fixed.quoted[i + 1] ?? ''
  }
  const octets = whole.length + beyondAscii
  return beyondAscii > octets / 5 ? encodeText(whole) : { encoding: 'quoted-printable', body }
}

/** `beyondAscii`: octets that these texts have more than characters. */
type EncodedFixed = { quoted: readonly string[]; beyondAscii: number }
const encodedFixed = new WeakMap<readonly string[], EncodedFixed | null>()

function fixedOf(fixed: readonly string[]): EncodedFixed | null {
  const known = encodedFixed.get(fixed)
  if (known !== undefined) return known
  const made = encodeFixed(fixed)
  encodedFixed.set(fixed, made)
  return made
}

/** Null: the text may be 7bit with some values, or cannot be cut into pieces. */
function encodeFixed(fixed: readonly string[]): EncodedFixed | null {
  const beyondAscii = fixed.reduce((sum, text) => sum + Buffer.byteLength(text) - text.length, 0)
  const mayBeCut = fixed.every(text => text.isWellFormed() && !text.includes('\r')) && fixed.at(-1) !== ''
  if (beyondAscii === 0 || !mayBeCut) return null
  const quoted = fixed.map((text, i) => {
    const piece = quotedPrintable(Buffer.from(text))
    return i < fixed.length - 1 ? softlyEnded(piece) : piece
  })
  return { quoted, beyondAscii }
}

const softlyEnded = (quoted: string) => (quoted === '' || quoted.endsWith('\n') ? quoted : `${quoted}=\r\n`)

/** A value that is a line of its own in quoted-printable as it stands, as most names are. */
const isLiteral = (value: string) => value.length < LONGEST_QUOTED && LITERAL_LINE.test(value)
const LITERAL_LINE = /^[0-9A-EG-Za-z](?:[!-<>-~ ]*[!-<>-~])?$/

/** Texts of this length and longer are encoded in pieces: the longest e-mail takes 100 ms. */
export const LONG = 256 * 1024
const PIECE = 57 * 2_048

/** The same for a long text, yielding to the event loop between pieces. */
export async function encodeLong(text: string): Promise<Encoded> {
  const octets = Buffer.from(text)
  if (isPlain(octets)) return { encoding: '7bit', body: withCrLf(text) }
  await yieldToEventLoop()
  const pieces: string[] = []
  if (octets.length - text.length > octets.length / 5) {
    const lines = Buffer.from(withCrLf(text))
    for (let at = 0; at < lines.length; at += PIECE) {
      pieces.push(base64Lines(lines.subarray(at, at + PIECE)))
      await yieldToEventLoop()
    }
    return { encoding: 'base64', body: pieces.join('\r\n') }
  }
  for (let at = 0; at < octets.length; ) {
    const end = endOfPiece(octets, at)
    const isLineEnd = end === octets.length || octets[end - 1] === 10
    pieces.push(quotedPrintable(octets.subarray(at, end)), isLineEnd ? '' : '=\r\n')
    at = end
    await yieldToEventLoop()
  }
  return { encoding: 'quoted-printable', body: pieces.join('') }
}

/** Where a piece ends: after the last whole line that fits, else inside the line, but never inside a CRLF. */
function endOfPiece(octets: Buffer, from: number): number {
  const most = from + PIECE
  if (most >= octets.length) return octets.length
  const line = octets.lastIndexOf(10, most - 1)
  if (line >= from) return line + 1
  return octets[most - 1] === 13 ? most + 1 : most
}

/** Reused, because allocating buffers for each text costs more than encoding it. Nothing is awaited between write and read. */
const scratch = { octets: Buffer.allocUnsafeSlow(32_768), quoted: Buffer.allocUnsafeSlow(98_304 + 4_096 + 3) }

function octetsOf(text: string): Buffer {
  if (text.length * 3 > scratch.octets.length) return Buffer.from(text)
  return scratch.octets.subarray(0, scratch.octets.write(text))
}

/** Printable ASCII in lines that are not too long, none of which begins with "From ". */
function isPlain(octets: Uint8Array): boolean {
  let start = 0
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] as number
    if (octet >= 32 && octet < 127) {
      if (i === start && isFromLine(octets, i)) return false
    } else if (octet === 10 || octet === 13) {
      if (i - start > LONGEST_PLAIN) return false
      start = i + 1
    } else if (octet !== 9) return false
  }
  return octets.length - start <= LONGEST_PLAIN
}

/** Every CR, LF or CRLF becomes CRLF: a lenient server could take a bare one for the end of the data (reliability S-12). */
const withCrLf = (text: string) =>
  // A pattern of one character takes 0.6 of the time.
  text.includes('\r') ? text.replace(/\r\n|\r|\n/g, '\r\n') : text.replace(/\n/g, '\r\n')

/** How quoted-printable treats an octet. LITERAL and BLANK are copied, but a BLANK at the end of a line is quoted. */
const LITERAL = 0
const BLANK = 1
const LINE_END = 2
const QUOTED = 3
const F = 70
const DOT = 46
const KINDS = Uint8Array.from({ length: 256 }, (_, octet) => {
  if (octet === 10 || octet === 13) return LINE_END
  if (octet === 32 || octet === 9) return BLANK
  return octet > 32 && octet < 127 && octet !== 61 ? LITERAL : QUOTED
})

/** RFC 2045, 6.7; every line end becomes CRLF. */
function quotedPrintable(octets: Uint8Array): string {
  // At most three characters for each octet, and three more for a soft line break after every 73 or more.
  const most = octets.length * 3 + Math.ceil(octets.length / 24) * 3 + 3
  const out = most > scratch.quoted.length ? Buffer.allocUnsafe(most) : scratch.quoted
  let at = 0
  let column = 0
  let i = 0
  for (;;) {
    // Most octets are copied, so most of the time is spent in this loop.
    const stop = column === 0 ? i : Math.min(octets.length, i + LONGEST_QUOTED - column)
    const from = i
    while (i < stop && (KINDS[octets[i] as number] as number) <= BLANK) out[at++] = octets[i++] as number
    column += i - from

    const octet = i < octets.length ? (octets[i] as number) : 10
    const kind = KINDS[octet] as number
    if (kind === LINE_END) {
      // A blank may not be the last of its line: its copy is replaced by the quoted form.
      const last = column === 0 ? 0 : (out[at - 1] as number)
      if (KINDS[last] === BLANK) {
        at--
        if (column + 2 > LONGEST_QUOTED) at = softBreak(out, at)
        at = quote(out, at, last)
      }
      if (i === octets.length) return out.toString('latin1', 0, at)
      i += octet === 13 && octets[i + 1] === 10 ? 2 : 1
      out[at++] = 13
      out[at++] = 10
      column = 0
      continue
    }
    // A quoted dot at the start of a line does not have to be doubled for DATA; a page of HTML has several in its style sheet.
    const isCopied = kind <= BLANK && (column > 0 || (octet !== DOT && !isFromLine(octets, i)))
    if (column + (isCopied ? 1 : 3) > LONGEST_QUOTED) {
      at = softBreak(out, at)
      column = 0
      continue
    }
    if (isCopied) out[at++] = octet
    else at = quote(out, at, octet)
    column += isCopied ? 1 : 3
    i++
  }
}

function softBreak(out: Buffer, at: number): number {
  out[at] = 61
  out[at + 1] = 13
  out[at + 2] = 10
  return at + 3
}

function quote(out: Buffer, at: number, octet: number): number {
  out[at] = 61
  out[at + 1] = HEX[octet >> 4] as number
  out[at + 2] = HEX[octet & 15] as number
  return at + 3
}

/** Servers that store mail in mbox files change "From " at the start of a line to ">From ", which breaks signatures (RFC 4155). */
const isFromLine = (octets: Uint8Array, i: number) =>
  octets[i] === F &&
  i + 4 < octets.length &&
  octets[i + 1] === 114 &&
  octets[i + 2] === 111 &&
  octets[i + 3] === 109 &&
  octets[i + 4] === 32

export function base64Lines(content: Buffer): string {
  // Encoded at once and then cut: encoding line by line takes two to three times as long.
  const all = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < all.length; at += BASE64_LINE) lines.push(all.slice(at, at + BASE64_LINE))
  return lines.join('\r\n')
}
