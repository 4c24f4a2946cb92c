// HTML that somebody typed into text which is not HTML: it is kept as typed, so we must know where it ends.
// Where each element closes is looked up in an index made once per text; searching from every `<` would cost a square.

import { endOfText, isAsciiLetter, isSpace, isWordAt } from './characters.ts'

export type RawIndex = {
  /** The index after the inline element, comment or tag that starts at this `<`, or -1. */
  inline: (start: number) => number
  /** The same for a block, which must stand alone: behind it only a blank line or the end. */
  block: (start: number) => number
}

// Elements that live inside a line; everything else is a block.
const inlineElements = new Set(
  `a em strong small s cite q dfn abbr data time code var samp kbd sub sup i b u mark ruby rt rp bdi bdo span br wbr ins
  del img font`.split(/\s+/),
)

export function createRawIndex(text: string): RawIndex {
  const closers = new Map<string, number[]>()
  const commentEnds: number[] = []
  let open = -1
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '<') open = i
    if (text[i] !== '>') continue
    if (text.startsWith('--', i - 2)) commentEnds.push(i + 1)
    if (open === -1 || text[open + 1] !== '/' || i - open > 64) continue
    const name = text.slice(open + 2, i)
    const ends = closers.get(name)
    if (ends) ends.push(i + 1)
    else closers.set(name, [i + 1])
  }
  const textEnd = endOfText(text)
  const standsAlone = (end: number) => {
    while (text[end] === ' ') end++
    return end >= textEnd || text.startsWith('\n\n', end)
  }
  const aloneCloser = memo((name: string) => (closers.get(name) ?? []).filter(standsAlone))
  const aloneComment = memo(() => commentEnds.filter(standsAlone))

  return {
    inline(start) {
      if (text.startsWith('<!--', start)) return firstAfter(commentEnds, start + 6)
      const tag = openTag(text, start)
      if (tag === null) return -1
      const close = tag.isVoid ? -1 : firstAfter(closers.get(tag.name) ?? [], tag.end)
      return close === -1 ? tag.end : close
    },
    block(start) {
      if (text.startsWith('<!--', start)) return firstAfter(aloneComment(''), start + 6)
      const tag = openTag(text, start)
      if (tag === null || inlineElements.has(tag.name)) return -1
      const close = tag.isVoid ? -1 : firstAfter(aloneCloser(tag.name), tag.end)
      if (close !== -1) return close
      return standsAlone(tag.end) ? tag.end : -1
    },
  }
}

/** Whether a block element opens at this index, closed or not: it ends a paragraph. */
export function opensBlock(line: string): boolean {
  if (line[0] !== '<') return false
  const name = tagName(line, 1)
  return name !== '' && !inlineElements.has(name)
}

function memo<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>()
  return key => {
    const old = made.get(key)
    if (old !== undefined) return old
    const fresh = make(key)
    made.set(key, fresh)
    return fresh
  }
}

/** The first of the sorted ends that is greater than `from`, or -1. */
function firstAfter(ends: readonly number[], from: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ends[middle] ?? 0) > from) high = middle
    else low = middle + 1
  }
  return ends[low] ?? -1
}

function openTag(text: string, start: number): { name: string; end: number; isVoid: boolean } | null {
  const name = tagName(text, start + 1)
  if (name === '') return null
  let i = start + 1 + name.length
  for (;;) {
    while (isSpace(text.charCodeAt(i))) i++
    const char = text[i]
    if (char === '>') return { name, end: i + 1, isVoid: false }
    if (char === '/' && text[i + 1] === '>') return { name, end: i + 2, isVoid: true }
    const code = text.charCodeAt(i)
    if (!isAsciiLetter(code) && code !== 45) return null
    i = attributeEnd(text, i + 1)
    if (i === -1) return null
  }
}

function attributeEnd(text: string, i: number): number {
  let next = i
  while (isSpace(text.charCodeAt(next))) next++
  if (text[next] !== '=') return i
  next++
  while (isSpace(text.charCodeAt(next))) next++
  const quote = text[next]
  if (quote === '"' || quote === "'") {
    const close = text.indexOf(quote, next + 1)
    return close === -1 ? -1 : close + 1
  }
  const start = next
  while (next < text.length && !isSpace(text.charCodeAt(next)) && !`'"<>`.includes(text.charAt(next))) next++
  return next === start ? -1 : next
}

/** The name that could open a tag here; not the start of an address (`<name@host>`) or of a URL. */
function tagName(text: string, start: number): string {
  let end = start
  while (end - start <= 64 && isWordAt(text, end)) end++
  if (end === start || end - start > 64 || text.startsWith(':/', end)) return ''
  let i = end
  // Only a few signs can stand between a name and an `@`.
  while (i - end < 16 && i < text.length && text[i] !== '@' && !isWordAt(text, i) && !isSpace(text.charCodeAt(i))) i++
  return text[i] === '@' ? '' : text.slice(start, end)
}
