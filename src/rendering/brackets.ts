// Links of the forms `[text](target "title")`, `[text][key]` and `[key]`: where their parts begin and end. The next bracket of
// each kind is looked up in tables that are built once per text.

import { isSpace } from './characters.ts'

export type Link = { text: string; target: string; title: string; end: number }

/** `[text][key]`: a link only if the key is defined. */
export type Reference = { text: string; key: string; end: number }

// The most brackets inside a link text. Text with more is not a link; without a limit, `[[[…[a][a][a]…` takes quadratic time.
const mostInside = 16

const none = 0x7fffffff

/** A text with the position of the next bracket of each kind for every index. */
export type Brackets = {
  readonly text: string
  /** Four positions for every index, in one array: allocating four costs more than filling them for a short text. */
  readonly next: Int32Array
  /** The last result of the search for the end of a title, and where it started. */
  titleFrom: number
  titleEnd: number
}

export function findBrackets(text: string): Brackets {
  const next = new Int32Array(4 * (text.length + 1))
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
    next[4 * i] = open
    next[4 * i + 1] = close
    next[4 * i + 2] = round
    next[4 * i + 3] = caret
  }
  return { text, next, titleFrom: 0, titleEnd: -1 }
}

const openAt = ({ next }: Brackets, from: number) => next[4 * from] ?? none
const closeAt = ({ next }: Brackets, from: number) => next[4 * from + 1] ?? none
const roundAt = ({ next }: Brackets, from: number) => next[4 * from + 2] ?? none
const caretAt = ({ next }: Brackets, from: number) => next[4 * from + 3] ?? none

/** The position of the next closing bracket, or -1. */
export function closingBracket(brackets: Brackets, from: number): number {
  const found = closeAt(brackets, from)
  return found === none ? -1 : found
}

/** `[text](target "title")` */
export function linkAt(brackets: Brackets, open: number): Link | null {
  const { text } = brackets
  const close = lastEnd(brackets, open, end => text[end + 1] === '(' && roundAt(brackets, end + 2) !== none)
  if (close === -1) return null
  return { text: text.slice(open + 1, close), ...targetAt(brackets, close + 2) }
}

/** `[text][key]`, or `[text][]` where the text is the key. */
export function referenceAt(brackets: Brackets, open: number): Reference | null {
  const { text } = brackets
  let key = -1
  const close = lastEnd(brackets, open, end => {
    let next = end + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (text[next] !== '[' || closeAt(brackets, next) === none || caretAt(brackets, next) < closeAt(brackets, next))
      return false
    key = next
    return true
  })
  if (close === -1) return null
  const end = closeAt(brackets, key)
  const inside = text.slice(open + 1, close)
  return { text: inside, key: text.slice(key + 1, end) || inside, end: end + 1 }
}

/** `[key]` */
export function keyAt(brackets: Brackets, open: number): Reference | null {
  const { text } = brackets
  let i = open + 1
  for (let inside = 0; inside < mostInside; inside++) {
    const close = closeAt(brackets, i)
    if (close === none) return null
    if (openAt(brackets, i) > close) {
      const key = text.slice(open + 1, close)
      return { text: key, key, end: close + 1 }
    }
    i = close + 1
  }
  return null
}

/** The last bracket that can close the text opened here and matches what follows, or -1. */
function lastEnd(brackets: Brackets, open: number, suits: (close: number) => boolean): number {
  let found = -1
  let i = open + 1
  for (let inside = 0; inside < mostInside; inside++) {
    const nextOpen = openAt(brackets, i)
    const close = closeAt(brackets, i)
    if (close === none) break
    if (nextOpen < close) {
      // A nested bracket is skipped with its contents, unless it is a footnote's.
      if (caretAt(brackets, nextOpen) < close) break
    } else {
      if (suits(close)) found = close
      // The text continues after this bracket only if another one closes before the next one opens.
      if (closeAt(brackets, close + 1) >= openAt(brackets, close + 1)) break
    }
    i = close + 1
  }
  return found
}

/** Target and title inside the round brackets; the target ends at the first `)` or before a title. */
function targetAt(brackets: Brackets, from: number): { target: string; title: string; end: number } {
  const { text } = brackets
  const round = roundAt(brackets, from)
  let start = from
  while (start < round && isSpace(text.charCodeAt(start))) start++
  for (let i = start; i < round; i++) {
    if (!isSpace(text.charCodeAt(i))) continue
    let quote = i
    while (isSpace(text.charCodeAt(quote))) quote++
    const close = text[quote] === '"' || text[quote] === "'" ? titleEnd(brackets, quote + 1) : none
    if (close !== none) {
      const end = roundAt(brackets, close) + 1
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
