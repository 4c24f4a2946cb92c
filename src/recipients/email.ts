// Parses one e-mail address by hand, in linear time, so that only a single plain address is accepted (content-rules 9.1,
// reliability S-11): no quotes, comma, colon, brackets, spaces or control characters. An accepted address can be used in an SMTP
// envelope unchanged.

import { domainToASCII } from 'node:url'
import { strip } from './strip.ts'

const notAnAddress = 'Not a valid email address'

export type EmailReading =
  | {
      ok: true
      /** As submitted, without invisible characters and outer whitespace; keeps its case. */
      address: string
      /** For comparison: lower-cased. */
      normalised: string
      /** The host in ASCII (IDNA), lower-cased, as used for DNS and SMTP. */
      host: string
    }
  | { ok: false; problem: typeof notAnAddress }

const refused: EmailReading = { ok: false, problem: notAnAddress }
const longest = 320

export function readEmail(text: string): EmailReading {
  const address = strip(text)
  if (address.length > 2 * longest || lengthOf(address) > longest || address.includes('..')) return refused
  const at = address.indexOf('@')
  if (at < 1 || !isLocalPart(address, at)) return refused
  const host = hostOf(address.slice(at + 1))
  if (host === undefined || !isHost(host)) return refused
  return { ok: true, address, normalised: address.toLowerCase(), host: host.toLowerCase() }
}

// In code points: an emoji in a host counts as one.
function lengthOf(text: string): number {
  if (text.length <= longest) return text.length
  let length = 0
  for (const _ of text) length++
  return length
}

const isLetter = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const hyphen = 0x2d
const dot = 0x2e

const localPart = new Set([...".!#$%&'*+/=?^_`{|}~-"].map(char => char.charCodeAt(0)))

function isLocalPart(address: string, end: number): boolean {
  for (let i = 0; i < end; i++) {
    const code = address.charCodeAt(i)
    const allowed = isLetter(code) || isDigit(code) || localPart.has(code) || (code >= 0xc0 && code <= 0xff)
    if (!allowed) return false
  }
  return true
}

// domainToASCII parses a URL's host: it would cut at / ? # :, decode %41, drop tabs and turn 1.2.3 into an IP address. So it is
// called only for hosts whose ASCII characters are letters, digits, hyphens and dots and whose last label is not a number. ASCII
// hosts need no conversion, and an invalid xn-- label in them is left to DNS.
function hostOf(domain: string): string | undefined {
  let ascii = true
  for (let i = 0; i < domain.length; i++) {
    const code = domain.charCodeAt(i)
    if (code > 0x7f) ascii = false
    else if (!(isLetter(code) || isDigit(code) || code === hyphen || code === dot)) return undefined
  }
  if (ascii) return domain
  if (/\s/u.test(domain)) return undefined
  const converted = domainToASCII(`${domain}.a`)
  return converted.endsWith('.a') ? converted.slice(0, -2) : undefined
}

/** At least two labels, at most 253 characters. */
function isHost(host: string): boolean {
  if (host.length > 253) return false
  const last = host.lastIndexOf('.')
  if (last < 1 || !isTopLabel(host, last + 1)) return false
  for (let start = 0; start <= last; ) {
    const end = host.indexOf('.', start)
    if (!isLabel(host, start, end)) return false
    start = end + 1
  }
  return true
}

/** 1–63 letters, digits and single inner hyphens; a double hyphen only in the `xn--` prefix. */
function isLabel(host: string, start: number, end: number): boolean {
  if (end === start || end - start > 63) return false
  let letterBefore = false
  for (let i = isPunycode(host, start) ? start + 4 : start; i < end; i++) {
    const isHyphen = host.charCodeAt(i) === hyphen
    if (isHyphen && !letterBefore) return false
    if (!isHyphen && !isLetter(host.charCodeAt(i)) && !isDigit(host.charCodeAt(i))) return false
    letterBefore = !isHyphen
  }
  return letterBefore
}

/** 2–63 letters, or an `xn--` label: so IP addresses fail. */
function isTopLabel(host: string, start: number): boolean {
  if (isPunycode(host, start)) return isLabel(host, start, host.length)
  const length = host.length - start
  if (length < 2 || length > 63) return false
  for (let i = start; i < host.length; i++) if (!isLetter(host.charCodeAt(i))) return false
  return true
}

const isPunycode = (host: string, start: number) =>
  host.charCodeAt(start + 2) === hyphen &&
  host.charCodeAt(start + 3) === hyphen &&
  (host.charCodeAt(start) | 0x20) === 0x78 &&
  (host.charCodeAt(start + 1) | 0x20) === 0x6e
