// HTML output: escaping, character references, link targets.

import { decodeHTMLStrict } from 'entities/decode'
import { dropInvisible, isAsciiLetter, isDigit, isSpace } from './characters.ts'

const needsEscape = /[<>&\r\x00-\x08\x0b\x0c\x0e-\x1f\uee00-\uee80]/

/**
 * Escapes text: `<` and `>` become references, and so does every `&` that does not start a known one. Line ends become LF, NUL
 * is deleted and other control characters become `?`, because mail clients treat them differently. The private-use characters
 * of literal.ts are replaced, because one of them would be turned into a `<` later.
 */
export function escapeText(text: string): string {
  if (!needsEscape.test(text)) return text
  let out = ''
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    let instead: string
    if (code === 60) instead = '&lt;'
    else if (code === 62) instead = '&gt;'
    else if (code === 38) {
      const end = referenceEnd(text, i)
      if (end !== -1) {
        i = end - 1
        continue
      }
      instead = '&amp;'
    } else if (code === 13) instead = text.charCodeAt(i + 1) === 10 ? '' : '\n'
    else if (code === 0) instead = ''
    else if (code < 32 && code !== 9 && code !== 10) instead = '?'
    else if (code >= 0xee00 && code <= 0xee80) instead = '\ufffd'
    else continue
    out += text.slice(from, i) + instead
    from = i + 1
  }
  return out + text.slice(from)
}

const longestName = 31

/** The index after the known character reference that starts at this `&`, or -1. The semicolon is required. */
export function referenceEnd(text: string, start: number): number {
  if (text.charCodeAt(start + 1) === 35) {
    const isHex = (text.charCodeAt(start + 2) | 32) === 120
    const digits = isHex ? start + 3 : start + 2
    let i = digits
    while (isHex ? isHexDigit(text.charCodeAt(i)) : isDigit(text.charCodeAt(i))) i++
    return i > digits && text.charCodeAt(i) === 59 ? i + 1 : -1
  }
  let i = start + 1
  while (i - start <= longestName && isAlphanumeric(text.charCodeAt(i))) i++
  if (text.charCodeAt(i) !== 59) return -1
  return isKnown(text.slice(start, i + 1)) ? i + 1 : -1
}

// Escaping writes the first three, so they need no search in the library's tree.
const isKnown = (reference: string) =>
  reference === '&amp;' || reference === '&lt;' || reference === '&gt;' || decodeHTMLStrict(reference) !== reference

// References to C0 controls but tab, line feed and carriage return.
const controls = /&#(?:0*(?:[1-8]|1[124-9]|2\d|3[01])|x0*(?:[1-8bcef]|1[\da-f]));/i

/**
 * Replaces character references by what they stand for, those of control characters by nothing. References without a semicolon
 * are text: see defect 3.
 */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  if (!controls.test(text)) return decodeHTMLStrict(text)
  return text.split(controls).map(decodeHTMLStrict).join('')
}

/** The value of a double-quoted attribute, from text that `escapeText` has escaped. */
export function attribute(escaped: string): string {
  if (!/["'<>]/.test(escaped)) return escaped
  return escaped.replace(/["'<>]/g, char => attributeReferences[char] ?? char)
}

const attributeReferences: Readonly<Record<string, string>> = { '"': '&quot;', "'": '&#39;', '<': '&lt;', '>': '&gt;' }

const allowedSchemes = new Set(['http', 'https', 'mailto', 'tel'])

/**
 * The `href` of an explicit link, from an escaped target. The scheme is read as a browser would read it: with references decoded
 * and invisible characters removed. Any scheme other than the four allowed ones becomes `#`.
 */
export function safeTarget(target: string): string {
  // Without a colon, or a reference that may be one, there is no scheme.
  if (target !== '' && !/[:&]/.test(target)) return attribute(target)
  let seen = ''
  for (const char of dropInvisible(decodeReferences(target))) {
    const code = char.charCodeAt(0)
    if (code === 58) return allowedSchemes.has(seen.toLowerCase()) ? attribute(target) : '#'
    if (isSpace(code) || code < 32 || (code >= 127 && code <= 159)) continue
    const fits = isAsciiLetter(code) || (seen !== '' && (isDigit(code) || code === 43 || code === 45 || code === 46))
    if (!fits) break
    seen += char
  }
  return target === '' ? '#' : attribute(target)
}

/** Whether a link with this escaped target leads nowhere, because its scheme is not allowed. */
export const isRefusedTarget = (target: string): boolean => target !== '#' && safeTarget(target) === '#'

/**
 * The `href` of a bare URL: characters outside the allowed set are percent-encoded. Existing percent escapes are kept, except
 * those of letters, digits and `-._~`, which are decoded because both forms are equivalent.
 */
export function encodeUrl(url: string): string {
  if (!/[^A-Za-z0-9_.\-~:/?#=&;+]/.test(url)) return url
  let out = ''
  for (let i = 0; i < url.length; i++) {
    const code = url.charCodeAt(i)
    if (isKept(code)) out += url[i]
    else if (code === 37 && isHexDigit(url.charCodeAt(i + 1)) && isHexDigit(url.charCodeAt(i + 2))) {
      const byte = Number.parseInt(url.slice(i + 1, i + 3), 16)
      out += isUnreserved(byte) ? String.fromCharCode(byte) : url.slice(i, i + 3).toUpperCase()
      i += 2
    } else {
      const point = url.codePointAt(i) ?? 0
      const isLoneSurrogate = point >= 0xd800 && point <= 0xdfff
      out += percent(isLoneSurrogate ? '\ufffd' : String.fromCodePoint(point))
      if (point > 0xffff) i++
    }
  }
  return out
}

// encodeURIComponent leaves `!'()*` alone.
const percentOfAscii = Array.from({ length: 128 }, (_, code) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`)

function percent(char: string): string {
  return percentOfAscii[char.charCodeAt(0)] ?? encodeURIComponent(char)
}

function isKept(code: number): boolean {
  return isUnreserved(code) || ':/?#=&;+'.includes(String.fromCharCode(code))
}

function isUnreserved(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 46 || code === 95 || code === 126
}

function isAlphanumeric(code: number): boolean {
  return isAsciiLetter(code) || isDigit(code)
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102)
}
