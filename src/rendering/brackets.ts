// Links of the forms `[text](target "title")`, `[text][key]` and `[key]`: where their parts begin and end.
// The next bracket of each kind is looked up in tables made once per text.

import { isSpace } from './characters.ts'

export type Link = { text: string; target: string; title: string; end: number }

/** `[text][key]`: the key decides whether it is a link at all. */
export type Reference = { text: string; key: string; end: number }

export type Brackets = {
  /** Where the next closing bracket stands, or -1. */
  close: (from: number) => number
  link: (open: number) => Link | null
  reference: (open: number) => Reference | null
  key: (open: number) => Reference | null
}

// Brackets inside a link text. More than this is not a link; without a cap, `[[[…[a][a][a]…` costs a square.
const mostInside = 16

export function createBrackets(text: string): Brackets {
  const nextOpen = positions(text, '[')
  const nextClose = positions(text, ']')
  const nextRound = positions(text, ')')
  const nextCaret = positions(text, '^')
  const titleEnd = titleEnds(text)

  /** The closing brackets that could end the link text which starts after this bracket, nearest first. */
  function* ends(open: number): Generator<number> {
    let i = open + 1
    for (let inside = 0; inside < mostInside; inside++) {
      const opens = at(nextOpen, i)
      const closes = at(nextClose, i)
      if (closes === none) return
      if (opens < closes) {
        if (at(nextCaret, opens) < closes) return
        i = closes + 1
        continue
      }
      yield closes
      // The text goes on behind this bracket only if another one closes before the next one opens.
      if (at(nextClose, closes + 1) >= at(nextOpen, closes + 1)) return
      i = closes + 1
    }
  }

  const last = (open: number, isEnd: (close: number) => boolean) => {
    let found = -1
    for (const close of ends(open)) if (isEnd(close)) found = close
    return found
  }

  return {
    close(from) {
      const found = at(nextClose, from)
      return found === none ? -1 : found
    },
    link(open) {
      const close = last(open, end => text[end + 1] === '(' && at(nextRound, end + 2) !== none)
      if (close === -1) return null
      const { target, title, end } = targetOf(text, close + 2, at(nextRound, close + 2), titleEnd)
      return { text: text.slice(open + 1, close), target, title, end }
    },
    reference(open) {
      let key = -1
      const close = last(open, end => {
        let next = end + 1
        while (isSpace(text.charCodeAt(next))) next++
        if (text[next] !== '[' || at(nextClose, next) === none) return false
        if (at(nextCaret, next) < at(nextClose, next)) return false
        key = next
        return true
      })
      if (close === -1) return null
      const end = at(nextClose, key)
      const inside = text.slice(open + 1, close)
      return { text: inside, key: text.slice(key + 1, end) || inside, end: end + 1 }
    },
    key(open) {
      let i = open + 1
      for (let inside = 0; inside < mostInside; inside++) {
        const closes = at(nextClose, i)
        if (closes === none) return null
        if (at(nextOpen, i) > closes) {
          const key = text.slice(open + 1, closes)
          return { text: key, key, end: closes + 1 }
        }
        i = closes + 1
      }
      return null
    },
  }
}

const none = 0x7fffffff

/** For every index, where the next such character stands. */
function positions(text: string, char: string): Int32Array {
  const next = new Int32Array(text.length + 1).fill(none)
  const code = char.charCodeAt(0)
  for (let i = text.length - 1; i >= 0; i--) next[i] = text.charCodeAt(i) === code ? i : (next[i + 1] ?? none)
  return next
}

function at(next: Int32Array, index: number): number {
  return next[index] ?? none
}

/** For an index, the next quote that ends a title: one with only spaces between it and a closing bracket. */
function titleEnds(text: string): (from: number) => number {
  let from = 0
  let found = -1
  return index => {
    if (from <= index && index <= found) return found
    from = index
    found = index
    for (; found < text.length; found++) {
      if (text[found] !== '"' && text[found] !== "'") continue
      let next = found + 1
      while (isSpace(text.charCodeAt(next))) next++
      if (text[next] === ')') return found
    }
    found = none
    return none
  }
}

/** Target and title from the inside of the round brackets; the target ends at the first `)` or before a title. */
function targetOf(
  text: string,
  from: number,
  round: number,
  titleEnd: (from: number) => number,
): { target: string; title: string; end: number } {
  let start = from
  while (start < round && isSpace(text.charCodeAt(start))) start++
  for (let i = start; i < round; i++) {
    if (!isSpace(text.charCodeAt(i))) continue
    let quote = i
    while (isSpace(text.charCodeAt(quote))) quote++
    if (text[quote] === '"' || text[quote] === "'") {
      const close = titleEnd(quote + 1)
      if (close !== none) {
        const end = text.indexOf(')', close) + 1
        return { target: unwrap(text.slice(start, i)), title: text.slice(quote + 1, close), end }
      }
    }
    i = quote
  }
  let stop = round
  while (stop > start && isSpace(text.charCodeAt(stop - 1))) stop--
  return { target: unwrap(text.slice(start, stop)), title: '', end: round + 1 }
}

/** `<target>`, as typed or escaped, means the target alone. */
function unwrap(target: string): string {
  if (target.startsWith('<') && target.endsWith('>')) return target.slice(1, -1)
  if (target.startsWith('&lt;') && target.endsWith('&gt;')) return target.slice(4, -4)
  return target
}
