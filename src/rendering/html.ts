// HTML as we write it: escaping, character references, link targets.

import { dropInvisible, isAsciiLetter, isDigit, isSpace } from './characters.ts'
import { namedReference } from './references.ts'

const needsEscape = /[<>&\r\x00-\x08\x0b\x0c\x0e-\x1f\uee00-\uee80]/

/**
 * Text without markup: `<` and `>` become references, and so does every `&` that does not start a known one. Line ends
 * become LF, NUL disappears and other control characters become `?`, because mail clients disagree about them. The private
 * characters that literal.ts swaps for signs are taken out, or one of them would come back as a `<`.
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
  return namedReference(text.slice(start + 1, i)) === undefined ? -1 : i + 1
}

/** Replaces character references by what they stand for. References without a semicolon are text: see defect 3. */
export function decodeReferences(text: string): string {
  let i = text.indexOf('&')
  if (i === -1) return text
  let out = ''
  let from = 0
  for (; i !== -1; i = text.indexOf('&', i)) {
    const common = commonReference(text, i + 1)
    const end = common === '' ? referenceEnd(text, i) : text.indexOf(';', i) + 1
    if (end === -1) {
      i++
      continue
    }
    out += text.slice(from, i) + (common || reference(text.slice(i + 1, end - 1)))
    from = end
    i = end
  }
  return out + text.slice(from)
}

// The three that escaping writes need not be looked up.
function commonReference(text: string, from: number): string {
  if (text.startsWith('amp;', from)) return '&'
  if (text.startsWith('lt;', from)) return '<'
  return text.startsWith('gt;', from) ? '>' : ''
}

// What the numbers 128 to 159 mean by the HTML standard, since pages once wrote windows-1252.
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function reference(name: string): string {
  if (name.charCodeAt(0) !== 35) return namedReference(name) ?? ''
  const isHex = (name.charCodeAt(1) | 32) === 120
  const code = isHex ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd'
  if (code >= 128 && code <= 159) return windows1252.charAt(code - 128)
  if (code < 32 && code !== 9 && code !== 10 && code !== 13) return ''
  return String.fromCodePoint(code)
}

/** The inside of a double-quoted attribute, from text that `escapeText` has already treated. */
export function attribute(escaped: string): string {
  if (!/["'<>]/.test(escaped)) return escaped
  return escaped.replace(/["'<>]/g, char => attributeReferences[char] ?? char)
}

const attributeReferences: Readonly<Record<string, string>> = { '"': '&quot;', "'": '&#39;', '<': '&lt;', '>': '&gt;' }

const allowedSchemes = new Set(['http', 'https', 'mailto', 'tel'])

/**
 * The `href` of an explicit link, from an escaped target. The scheme is looked for the way a browser would see it: with
 * references decoded and everything invisible taken out. Anything but our four schemes becomes `#`.
 */
export function safeTarget(target: string): string {
  // Without a colon, written or referred to, there is no scheme.
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

/**
 * The `href` of a bare URL: everything outside the kept characters is percent-encoded. Escapes already there keep their
 * meaning: only those of letters, digits and `-._~`, which mean the same either way, are written out.
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
