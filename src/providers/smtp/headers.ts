// Header lines: RFC 5322 folding, RFC 2047 words, RFC 2231 parameters. Any input gives exactly
// one header: characters that could end a line are removed first (reliability S-10).
import { isAscii } from './address.ts'

const FOLD_AT = 76
// An encoded word may have 75 characters (RFC 2047, 2): 45 octets are 60 characters of base64, and its delimiters are 12.
const WORD_OCTETS = 45

// C0, DEL, C1 (NEL is U+0085) and the two Unicode line ends.
const BREAKING = /[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g

const clean = (text: string) => text.toWellFormed().replace(BREAKING, ' ').trim()

/** Unstructured text, as in Subject. */
export function textHeader(name: string, text: string): string {
  const value = clean(text)
  if (
    isAscii(value) &&
    !value.includes('=?') &&
    (value.length < 900 || value.split(' ').every(word => word.length < 900))
  )
    return fold(`${name}: ${value}`)
  return `${name}: ${encodeWords(value)}`
}

/** A mailbox with an optional display name (RFC 5322, 3.4). `address` must have been read by readAddress. */
export function mailboxHeader(name: string, display: string, address: string): string {
  const shown = clean(display)
  if (shown === '') return `${name}: ${address}`
  return fold(`${name}: ${phrase(shown)} <${address}>`)
}

const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?: [A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/

function phrase(shown: string): string {
  if (!isAscii(shown) || shown.includes('=?') || shown.length > 200) return encodeWords(shown)
  return ATOMS.test(shown) ? shown : `"${shown.replace(/["\\]/g, '\\$&')}"`
}

/** Encoded words in base64, split between characters, never inside one. */
function encodeWords(text: string): string {
  const words: string[] = []
  let start = 0
  let octets = 0
  let at = 0
  for (const char of text) {
    const size = Buffer.byteLength(char)
    if (octets + size > WORD_OCTETS) {
      words.push(text.slice(start, at))
      start = at
      octets = 0
    }
    octets += size
    at += char.length
  }
  words.push(text.slice(start))
  return words.map(word => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ')
}

/** Folds a long line at spaces. A line without spaces is not folded, because that would change its value. */
function fold(line: string): string {
  if (line.length <= FOLD_AT) return line
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?= )/)) {
    // A line may not consist of a space alone (RFC 5322, 3.2.2), hence the trim.
    if (current.trim() !== '' && current.length + word.length > FOLD_AT && word !== ' ') {
      lines.push(current)
      current = word
    } else current += word
  }
  lines.push(current)
  return lines.join('\r\n')
}

/** `; name=value` of a MIME header: quoted when ASCII, else RFC 2231 percent octets in pieces that fit a line. */
export function parameter(name: string, given: string): string {
  const value = clean(given)
  if (isAscii(value) && value.length <= 60) return `;\r\n ${name}="${value.replace(/["\\]/g, '\\$&')}"`
  const encoded = percentOctets(value)
  if (encoded.length <= 60) return `;\r\n ${name}*=UTF-8''${encoded}`
  const pieces = encoded.match(/(?:%[0-9A-F]{2}|[^%]){1,50}/g) ?? []
  return pieces.map((piece, i) => `;\r\n ${name}*${i}*=${i === 0 ? "UTF-8''" : ''}${piece}`).join('')
}

// attribute-char of RFC 5987 without the characters that some mail programs misread.
const percentOctets = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function dateHeader(millis: number): string {
  const second = Math.floor(millis / 1000)
  if (second !== lastDate.second) lastDate = { second, header: dateOf(new Date(second * 1000)) }
  return lastDate.header
}

/** Thousands of messages are sent in the same second. */
let lastDate = { second: Number.NaN, header: '' }

function dateOf(at: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${DAYS[at.getUTCDay()]}, ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`
  return `Date: ${day} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`
}
