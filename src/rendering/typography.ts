// The typography pass over rendered text: spaces before punctuation, curly quotes, straight quotes in e-mail
// addresses, dashes. Each step is one walk, and a text that holds nothing for a step is handed on untouched.

import { isDigit, isSpace, isWordAt, isWordBefore } from './characters.ts'

/** Typography of HTML works on the text between tags and leaves attributes alone. */
export function typographyOfHtml(html: string): string {
  const quotes = createQuotes()
  let out = ''
  let from = 0
  while (from < html.length) {
    const open = html.indexOf('<', from)
    const end = open === -1 ? html.length : open
    if (end > from) out += dashes(straightInAddresses(quotes.text(spacesBeforePunctuation(html.slice(from, end)))))
    if (open === -1) break
    const close = html.indexOf('>', open)
    from = close === -1 ? html.length : close + 1
    quotes.tag(html, open)
    out += html.slice(open, from)
  }
  return out
}

/** Typography of plain text; only the quotes look at tags somebody typed. */
export function typographyOfText(text: string): string {
  return dashes(straightInAddresses(curlyOutsideTags(spacesBeforePunctuation(text))))
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

/** Curls the quotes of one piece of text after another, told of the tags between them. */
function createQuotes() {
  const inside: string[] = []
  let last = ''
  return {
    tag(html: string, open: number): void {
      const isClosing = html[open + 1] === '/'
      let end = open + (isClosing ? 2 : 1)
      const start = end
      while (isTagNameCode(html.charCodeAt(end))) end++
      // No name in the list is longer, and typed text can hold a very long "name".
      if (end === start || end - start > 6) return
      const name = html.slice(start, end).toLowerCase()
      if (!untouched.has(name)) return
      if (!isClosing) inside.push(name)
      else if (inside.at(-1) === name) inside.pop()
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

/** The ten steps of content-rules 3.1 on one piece of text. */
function curl(piece: string): string {
  const { text, literal } = takeEscapes(piece)
  const at: number[] = []
  for (let i = 0; i < text.length; i++) if (text[i] === "'" || text[i] === '"') at.push(i)
  if (at.length === 0) return write(text, [], [], literal)
  const curled: (string | undefined)[] = new Array(at.length).fill(undefined)
  for (let n = 0; n + 1 < at.length; n++) curlPair(text, at, curled, n, `"'`, '“', '‘')
  for (let n = 0; n + 1 < at.length; n++) curlPair(text, at, curled, n, `'"`, '‘', '“')
  singles(text, at, curled)
  doubles(text, at, curled)
  return write(text, at, curled, literal)
}

/** Backslash escapes taken out; a character with no meaning for the steps stands in for each of them. */
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

function curlPair(
  text: string,
  at: readonly number[],
  curled: (string | undefined)[],
  n: number,
  pair: string,
  first: string,
  second: string,
): void {
  const i = at[n] ?? 0
  if (curled[n] !== undefined || curled[n + 1] !== undefined) return
  if (!text.startsWith(pair, i) || !isWordAt(text, i + 2)) return
  curled[n] = first
  curled[n + 1] = second
}

// A step of the reference is one pass over the text in which a match uses up its characters, so `free` remembers where
// the unused text begins; that decides what becomes of two quotes in a row.
function singles(text: string, at: readonly number[], curled: (string | undefined)[]): void {
  const each = (curl: (i: number) => string | undefined) => {
    for (const [n, i] of at.entries()) if (text[i] === "'" && curled[n] === undefined) curled[n] = curl(i)
  }
  each(i => (isWordBefore(text, i) && isDecade(text, i + 1) ? '’' : undefined))
  each(i => (opens(text, i) ? '‘' : undefined))
  let free = 0
  each(i => {
    if (i - 1 < free || !closesAfter(text, i - 1)) return undefined
    if (isSpace(text.charCodeAt(i + 1)) || isFinalS(text, i + 1) || isDigit(text.charCodeAt(i + 1))) return undefined
    free = i + 1
    return '’'
  })
  free = 0
  each(i => {
    if (i - 1 < free || !closesAfter(text, i - 1)) return undefined
    if (!isSpace(text.charCodeAt(i + 1)) && !isFinalS(text, i + 1)) return undefined
    free = i + 2
    return '’'
  })
  each(() => '‘')
}

function doubles(text: string, at: readonly number[], curled: (string | undefined)[]): void {
  const each = (curl: (i: number) => string | undefined) => {
    for (const [n, i] of at.entries()) if (text[i] === '"' && curled[n] === undefined) curled[n] = curl(i)
  }
  each(i => (opens(text, i) ? '“' : undefined))
  each(i => (isSpace(text.charCodeAt(i + 1)) ? '”' : undefined))
  let free = 0
  each(i => {
    if (i - 1 < free || !closesAfter(text, i - 1)) return undefined
    free = i + 1
    return '”'
  })
  each(() => '“')
}

function isDecade(text: string, i: number): boolean {
  return isDigit(text.charCodeAt(i)) && isDigit(text.charCodeAt(i + 1)) && text[i + 2] === 's'
}

function isFinalS(text: string, i: number): boolean {
  return text[i] === 's' && !isWordAt(text, i + 1)
}

const dashReferences = ['&nbsp;', '--', '&mdash;', '&ndash;', '&#8211;', '&#8212;', '&#x2013;', '&#x2014;']

function opens(text: string, i: number): boolean {
  if (!isWordAt(text, i + 1)) return false
  if (i > 0 && isSpace(text.charCodeAt(i - 1))) return true
  return dashReferences.some(reference => text.endsWith(reference, i))
}

function closesAfter(text: string, i: number): boolean {
  return i >= 0 && !' \t\r\n[{(-'.includes(text.charAt(i))
}

function write(
  text: string,
  at: readonly number[],
  curled: readonly (string | undefined)[],
  literal: ReadonlyMap<number, string>,
): string {
  const changes = [...literal, ...at.map((i, n): [number, string] => [i, curled[n] ?? ''])]
  if (literal.size > 0) changes.sort((a, b) => a[0] - b[0])
  let out = ''
  let from = 0
  for (const [i, char] of changes) {
    out += text.slice(from, i) + char
    from = i + 1
  }
  return out + text.slice(from)
}

/** Straightens single quotes in every run of non-space characters that has `@` with something on both sides. */
function straightInAddresses(text: string): string {
  if (!text.includes('@') || !(text.includes('‘') || text.includes('’'))) return text
  let out = ''
  let from = 0
  let i = 0
  while (i < text.length) {
    while (i < text.length && isSpace(text.charCodeAt(i))) i++
    const start = i
    let isAddress = false
    for (; i < text.length && !isSpace(text.charCodeAt(i)); i++) {
      if (text[i] === '@' && i > start && i + 1 < text.length && !isSpace(text.charCodeAt(i + 1))) isAddress = true
    }
    if (!isAddress) continue
    out += text.slice(from, start) + text.slice(start, i).replace(/[‘’]/g, "'")
    from = i
  }
  return from === 0 ? text : out + text.slice(from)
}

/** One to three dashes between whitespace become an en dash between spaces. */
function dashes(text: string): string {
  if (!/[-–—]\s/.test(text)) return text
  let out = ''
  let from = 0
  for (let i = 1; i < text.length; i++) {
    if (!isDash(text.charCodeAt(i)) || i === from || !isSpace(text.charCodeAt(i - 1))) continue
    let end = i
    while (isDash(text.charCodeAt(end))) end++
    if (end - i > 3 || end >= text.length || !isSpace(text.charCodeAt(end))) {
      i = end - 1
      continue
    }
    let start = i
    while (start > from && isSpace(text.charCodeAt(start - 1))) start--
    while (end < text.length && isSpace(text.charCodeAt(end))) end++
    out += `${text.slice(from, start)} – `
    from = end
    i = end - 1
  }
  return from === 0 ? text : out + text.slice(from)
}

function isDash(code: number): boolean {
  return code === 45 || code === 0x2013 || code === 0x2014
}
