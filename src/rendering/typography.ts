// The typography pass over rendered text: spaces before punctuation, curly quotes, straight quotes in e-mail addresses, dashes.
// Each step is one pass; a text without the characters of a step is returned unchanged.

import { isDigit, isSpace, isWordAt, isWordBefore, mapUnits, textOf } from './characters.ts'

// The characters without which no step changes anything.
const interesting = new Uint8Array(128)
for (const char of `"'\\@,.-`) interesting[char.charCodeAt(0)] = 1

function isInteresting(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code < 128 ? interesting[code] === 1 : code === 0x2013 || code === 0x2014) return true
  }
  return false
}

/** Typography of HTML: changes the text between tags, not attributes. */
export function typographyOfHtml(html: string): string {
  const quotes = createQuotes()
  let out = ''
  let from = 0
  let i = 0
  while (i < html.length) {
    const open = html.indexOf('<', i)
    const end = open === -1 ? html.length : open
    if (end > i) {
      if (isInteresting(html, i, end)) {
        const piece = quotes.text(spacesBeforePunctuation(html.slice(i, end)))
        out += html.slice(from, i) + dashes(straightInAddresses(piece))
        from = end
      } else quotes.skip(html.charAt(end - 1))
    }
    if (open === -1) break
    const close = html.indexOf('>', open)
    i = close === -1 ? html.length : close + 1
    quotes.tag(html, open)
  }
  return from === 0 ? html : out + html.slice(from)
}

/** Typography of plain text; only the quotes depend on typed tags. */
export function typographyOfText(text: string): string {
  return dashes(straightInAddresses(curlyOutsideTags(spacesBeforePunctuation(text))))
}

/**
 * The typography of a phrase between two words. It is the same at the start and end of a text, unless the phrase begins or ends
 * with a space or a dash. Where quotes stay straight, the other steps still apply.
 */
export function typographyOfPhrase(phrase: string, isCurly: boolean): string {
  if (!/['"\u2013\u2014-]|[ \t][,.]/.test(phrase)) return phrase
  const text = spacesBeforePunctuation(`x ${phrase} x`)
  return dashes(isCurly && hasQuotes.test(text) ? curl(text) : text).slice(2, -2)
}

/** Deletes spaces and tabs directly before `,` and `.`. */
export function spacesBeforePunctuation(text: string): string {
  if (!/[ \t][,.]/.test(text)) return text
  let out = ''
  let from = 0
  for (let i = 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code !== 44 && code !== 46) continue
    let start = i
    while (start > from && isBlankCode(text.charCodeAt(start - 1))) start--
    if (start === i) continue
    out += text.slice(from, start)
    from = i
  }
  return from === 0 ? text : out + text.slice(from)
}

function isBlankCode(code: number): boolean {
  return code === 32 || code === 9
}

function curlyOutsideTags(text: string): string {
  if (!hasQuotes.test(text)) return text
  const quotes = createQuotes()
  let out = ''
  let from = 0
  while (from < text.length) {
    const open = text.indexOf('<', from)
    const close = open === -1 ? -1 : text.indexOf('>', open)
    const end = close === -1 ? text.length : open
    if (end > from) out += quotes.text(text.slice(from, end))
    if (close === -1) break
    quotes.tag(text, open)
    out += text.slice(open, close + 1)
    from = close + 1
  }
  return out
}

const hasQuotes = /["'\\]/
const untouched = new Set(['a', 'pre', 'code', 'samp', 'kbd', 'tt', 'script', 'style', 'math'])

/** Curls the quotes of one piece of text after another, with the tags between them. */
function createQuotes() {
  const inside: string[] = []
  let last = ''
  return {
    tag(html: string, open: number): void {
      const isClosing = html[open + 1] === '/'
      const start = open + (isClosing ? 2 : 1)
      if (!'apcsktmAPCSKTM'.includes(html.charAt(start))) return
      let end = start
      while (isTagNameCode(html.charCodeAt(end))) end++
      // No name in the list is longer, and typed text can contain a very long "name".
      if (end === start || end - start > 6) return
      const name = html.slice(start, end).toLowerCase()
      if (!untouched.has(name)) return
      if (!isClosing) inside.push(name)
      else if (inside.at(-1) === name) inside.pop()
    },
    /** Only the last character of a piece without quotes matters. */
    skip(lastCharacter: string): void {
      last = lastCharacter
    },
    text(piece: string): string {
      const before = last
      last = piece.slice(-1)
      if (inside.length > 0 || !hasQuotes.test(piece)) return piece
      if (piece === "'" || piece === '"') {
        const isClosing = before !== '' && !isSpace(before.charCodeAt(0))
        return piece === "'" ? (isClosing ? '’' : '‘') : isClosing ? '”' : '“'
      }
      return curl(piece)
    },
  }
}

function isTagNameCode(code: number): boolean {
  return ((code | 32) >= 97 && (code | 32) <= 122) || isDigit(code)
}

/** The ten steps of content-rules 3.1 on one piece of text. Every change replaces one code unit by another. */
function curl(piece: string): string {
  const { text, literal } = takeEscapes(piece)
  const units = new Uint16Array(text.length)
  const at: number[] = []
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    units[i] = unit
    if (unit === single || unit === double) at.push(i)
  }
  pairs(text, at, units, `"'`, 0x201c, 0x2018)
  pairs(text, at, units, `'"`, 0x2018, 0x201c)
  singles(text, at, units)
  doubles(text, at, units)
  for (const [i, char] of literal) units[i] = char.charCodeAt(0)
  return textOf(units)
}

const single = 39
const double = 34

/** Backslash escapes removed; each is replaced by a character without a meaning for the steps. */
function takeEscapes(piece: string): { text: string; literal: Map<number, string> } {
  const literal = new Map<number, string>()
  if (!piece.includes('\\')) return { text: piece, literal }
  let text = ''
  let from = 0
  let taken = 0
  for (let i = piece.indexOf('\\'); i !== -1; i = piece.indexOf('\\', i)) {
    const next = piece[i + 1]
    if (next === undefined || !`"'.-\`\\`.includes(next)) {
      i++
      continue
    }
    literal.set(i - taken, next)
    text += `${piece.slice(from, i)};`
    taken++
    i += 2
    from = i
  }
  return { text: text + piece.slice(from), literal }
}

function pairs(
  text: string,
  at: readonly number[],
  units: Uint16Array,
  pair: string,
  first: number,
  second: number,
): void {
  for (const i of at) {
    if (units[i] !== pair.charCodeAt(0) || units[i + 1] !== pair.charCodeAt(1) || !isWordAt(text, i + 2)) continue
    units[i] = first
    units[i + 1] = second
  }
}

// Each loop is one step. In the reference a step is a pass in which a match consumes its characters, so `free` is where the
// unconsumed text begins; this determines the result for two quotes in a row.
function singles(text: string, at: readonly number[], units: Uint16Array): void {
  for (const i of at) {
    if (units[i] !== single) continue
    if (isWordBefore(text, i) && isDecade(text, i + 1)) units[i] = 0x2019
    else if (opens(text, i)) units[i] = 0x2018
  }
  let free = 0
  for (const i of at) {
    if (units[i] !== single || i - 1 < free || !closesAfter(text, i - 1)) continue
    const next = text.charCodeAt(i + 1)
    if (isSpace(next) || isDigit(next) || isFinalS(text, i + 1)) continue
    free = i + 1
    units[i] = 0x2019
  }
  free = 0
  for (const i of at) {
    if (units[i] !== single || i - 1 < free || !closesAfter(text, i - 1)) continue
    if (!isSpace(text.charCodeAt(i + 1)) && !isFinalS(text, i + 1)) continue
    free = i + 2
    units[i] = 0x2019
  }
  for (const i of at) if (units[i] === single) units[i] = 0x2018
}

function doubles(text: string, at: readonly number[], units: Uint16Array): void {
  for (const i of at) {
    if (units[i] !== double) continue
    if (opens(text, i)) units[i] = 0x201c
    else if (isSpace(text.charCodeAt(i + 1))) units[i] = 0x201d
  }
  let free = 0
  for (const i of at) {
    if (units[i] !== double) continue
    const closes = i - 1 >= free && closesAfter(text, i - 1)
    if (closes) free = i + 1
    units[i] = closes ? 0x201d : 0x201c
  }
}

function isDecade(text: string, i: number): boolean {
  return isDigit(text.charCodeAt(i)) && isDigit(text.charCodeAt(i + 1)) && text[i + 2] === 's'
}

function isFinalS(text: string, i: number): boolean {
  return text[i] === 's' && !isWordAt(text, i + 1)
}

const openingReferences = ['&nbsp;', '&mdash;', '&ndash;', '&#8211;', '&#8212;', '&#x2013;', '&#x2014;']

function opens(text: string, i: number): boolean {
  if (i === 0 || !isWordAt(text, i + 1)) return false
  const before = text.charCodeAt(i - 1)
  if (before === 45) return text.charCodeAt(i - 2) === 45
  if (before === 59) return openingReferences.some(reference => text.endsWith(reference, i))
  return isSpace(before)
}

function closesAfter(text: string, i: number): boolean {
  const code = text.charCodeAt(i)
  if (i < 0 || code === 32 || code === 9 || code === 10 || code === 13) return false
  return code !== 91 && code !== 123 && code !== 40 && code !== 45
}

/** Makes single quotes straight in every run of non-space characters that has text on both sides of an `@`. */
function straightInAddresses(text: string): string {
  if (!text.includes('@') || !(text.includes('‘') || text.includes('’'))) return text
  let addressEnd = 0
  let runEnd = 0
  return mapUnits(text, (unit, i) => {
    if (i >= runEnd) {
      const run = runAt(text, i)
      runEnd = run.end
      if (run.isAddress) addressEnd = run.end
    }
    return i < addressEnd && (unit === 0x2018 || unit === 0x2019) ? single : unit
  })
}

function runAt(text: string, start: number): { end: number; isAddress: boolean } {
  if (isSpace(text.charCodeAt(start))) return { end: start + 1, isAddress: false }
  let end = start
  let isAddress = false
  for (; end < text.length && !isSpace(text.charCodeAt(end)); end++) {
    const isInside = end > start && end + 1 < text.length && !isSpace(text.charCodeAt(end + 1))
    if (isInside && text.charCodeAt(end) === 64) isAddress = true
  }
  return { end, isAddress }
}

const dashBetweenSpaces =
  /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][-–—]{1,3}[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** One to three dashes between whitespace become an en dash between spaces. */
function dashes(text: string): string {
  if (!dashBetweenSpaces.test(text)) return text
  const pattern = new RegExp(dashBetweenSpaces, 'g')
  let out = ''
  let from = 0
  // The pattern matches one space on each side; the rest of both runs is found by scanning. Two dashes cannot share the
  // whitespace between them: the first one consumes it.
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    let start = match.index
    while (start > from && isSpace(text.charCodeAt(start - 1))) start--
    out += `${text.slice(from, start)} – `
    from = pattern.lastIndex
    while (from < text.length && isSpace(text.charCodeAt(from))) from++
    pattern.lastIndex = from
  }
  return out + text.slice(from)
}
