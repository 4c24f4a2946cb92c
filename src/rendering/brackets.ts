// Links of the forms `[text](target "title")`, `[text][key]` and `[key]`: where their parts begin and end. The next bracket of
// each kind is looked up in tables that are built once per text.

import { isSpace } from './characters.ts'

export type Link = { text: string; target: string; title: string; end: number }

/** `[text][key]`: a link only if the key is defined. */
export type Reference = { text: string; key: string; end: number }

// The most brackets inside a link text. Text with more is not a link; without a limit, `[[[…[a][a][a]…` takes quadratic time.
const mostInside = 16

const none = 0x7fffffff

/** A text with, for every index, the position of the next bracket of each kind. */
export type Brackets = {
  readonly text: string
  readonly opens: Int32Array
  readonly closes: Int32Array
  readonly rounds: Int32Array
  readonly carets: Int32Array
  /** The last result of the search for the end of a title, and where it started. */
  titleFrom: number
  titleEnd: number
}

export function findBrackets(text: string): Brackets {
  const size = text.length + 1
  const opens = new Int32Array(size)
  const closes = new Int32Array(size)
  const rounds = new Int32Array(size)
  const carets = new Int32Array(size)
  let open = none
  let close = none
  let round = none
  let caret = none
  for (let i = text.length; i >= 0; i--) {
    const code = text.charCodeAt(i)
    if (code === 91) open = i
    else if (code === 93) close = i
    else if (code === 41) round = i
    else if (code === 94) caret = i
    opens[i] = open
    closes[i] = close
    rounds[i] = round
    carets[i] = caret
  }
  return { text, opens, closes, rounds, carets, titleFrom: 0, titleEnd: -1 }
}

function at(next: Int32Array, index: number): number {
  return next[index] ?? none
}

/** The position of the next closing bracket, or -1. */
export function closingBracket({ closes }: Brackets, from: number): number {
  const found = at(closes, from)
  return found === none ? -1 : found
}

/** `[text](target "title")` */
export function linkAt(brackets: Brackets, open: number): Link | null {
  const { text, rounds } = brackets
  const close = lastEnd(brackets, open, end => text[end + 1] === '(' && at(rounds, end + 2) !== none)
  if (close === -1) return null
  return { text: text.slice(open + 1, close), ...targetAt(brackets, close + 2) }
}

/** `[text][key]`, or `[text][]` where the text is the key. */
export function referenceAt(brackets: Brackets, open: number): Reference | null {
  const { text, closes, carets } = brackets
  let key = -1
  const close = lastEnd(brackets, open, end => {
    let next = end + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (text[next] !== '[' || at(closes, next) === none || at(carets, next) < at(closes, next)) return false
    key = next
    return true
  })
  if (close === -1) return null
  const end = at(closes, key)
  const inside = text.slice(open + 1, close)
  return { text: inside, key: text.slice(key + 1, end) || inside, end: end + 1 }
}

/** `[key]` */
export function keyAt({ text, opens, closes }: Brackets, open: number): Reference | null {
  let i = open + 1
  for (let inside = 0; inside < mostInside; inside++) {
    const close = at(closes, i)
    if (close === none) return null
    if (at(opens, i) > close) {
      const key = text.slice(open + 1, close)
      return { text: key, key, end: close + 1 }
    }
    i = close + 1
  }
  return null
}

/** The last bracket that can close the text opened here and matches what follows, or -1. */
function lastEnd({ opens, closes, carets }: Brackets, open: number, suits: (close: number) => boolean): number {
  let found = -1
  let i = open + 1
  for (let inside = 0; inside < mostInside; inside++) {
    const nextOpen = at(opens, i)
    const close = at(closes, i)
    if (close === none) break
    if (nextOpen < close) {
      // A nested bracket is skipped with its contents, unless it is a footnote's.
      if (at(carets, nextOpen) < close) break
    } else {
      if (suits(close)) found = close
      // The text continues after this bracket only if another one closes before the next one opens.
      if (at(closes, close + 1) >= at(opens, close + 1)) break
    }
    i = close + 1
  }
  return found
}

/** Target and title inside the round brackets; the target ends at the first `)` or before a title. */
function targetAt(brackets: Brackets, from: number): { target: string; title: string; end: number } {
  const { text } = brackets
  const round = at(brackets.rounds, from)
  let start = from
  while (start < round && isSpace(text.charCodeAt(start))) start++
  for (let i = start; i < round; i++) {
    if (!isSpace(text.charCodeAt(i))) continue
    let quote = i
    while (isSpace(text.charCodeAt(quote))) quote++
    const close = text[quote] === '"' || text[quote] === "'" ? titleEnd(brackets, quote + 1) : none
    if (close !== none) {
      const end = at(brackets.rounds, close) + 1
      return { target: unwrap(text.slice(start, i)), title: text.slice(quote + 1, close), end }
    }
    i = quote
  }
  let stop = round
  while (stop > start && isSpace(text.charCodeAt(stop - 1))) stop--
  return { target: unwrap(text.slice(start, stop)), title: '', end: round + 1 }
}

/** The next quote with only spaces between it and a closing bracket. Searched from left to right, so the result is cached. */
function titleEnd(brackets: Brackets, from: number): number {
  if (brackets.titleFrom <= from && from <= brackets.titleEnd) return brackets.titleEnd
  brackets.titleFrom = from
  brackets.titleEnd = none
  const { text } = brackets
  for (let i = from; i < text.length; i++) {
    if (text[i] !== '"' && text[i] !== "'") continue
    let next = i + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (text[next] !== ')') continue
    brackets.titleEnd = i
    break
  }
  return brackets.titleEnd
}

/** The target inside `<target>`, escaped or not. */
function unwrap(target: string): string {
  if (target.startsWith('<') && target.endsWith('>')) return target.slice(1, -1)
  if (target.startsWith('&lt;') && target.endsWith('&gt;')) return target.slice(4, -4)
  return target
}
