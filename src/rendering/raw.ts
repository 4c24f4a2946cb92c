// HTML typed into text that is not HTML: it is kept as typed, so its end must be found. Where each element closes is looked up in
// an index that is built once per text; searching from every `<` would take quadratic time.

import { isAsciiLetter, isSpace, isWordAt } from './characters.ts'

/** A text with the ends of its elements and comments, collected when the first of them is needed. */
export type RawIndex = {
  readonly text: string
  closers: Map<string, number[]> | null
  comments: number[] | null
  /** The ends that are followed by a blank line or by nothing, by element name; comments have no name. */
  readonly alone: Map<string, number[]>
}

export function rawIndex(text: string): RawIndex {
  return { text, closers: null, comments: null, alone: new Map() }
}

// Inline elements; everything else is a block.
const inlineElements = new Set(
  `a em strong small s cite q dfn abbr data time code var samp kbd sub sup i b u mark ruby rt rp bdi bdo span br wbr ins
  del img font`.split(/\s+/),
)

/** The index after the inline element, comment or tag that starts at this `<`, or -1. */
export function rawInlineEnd(index: RawIndex, start: number): number {
  if (index.text.startsWith('<!--', start)) return firstAfter(commentsOf(index), start + 6)
  const tag = openTag(index.text, start)
  if (tag === null) return -1
  const close = tag.isVoid ? -1 : firstAfter(closersOf(index).get(tag.name), tag.end)
  return close === -1 ? tag.end : close
}

/** The same for a block element, which must be alone. */
export function rawBlockEnd(index: RawIndex, start: number): number {
  if (index.text.startsWith('<!--', start)) return firstAfter(aloneOf(index, ''), start + 6)
  const tag = openTag(index.text, start)
  if (tag === null || inlineElements.has(tag.name)) return -1
  const close = tag.isVoid ? -1 : firstAfter(aloneOf(index, tag.name), tag.end)
  if (close !== -1) return close
  return standsAlone(index.text, tag.end) ? tag.end : -1
}

function closersOf(index: RawIndex): ReadonlyMap<string, number[]> {
  if (index.closers) return index.closers
  const { text } = index
  const closers = new Map<string, number[]>()
  for (let open = text.indexOf('</'); open !== -1; open = text.indexOf('</', open + 2)) {
    let end = open + 2
    while (end - open < 64 && isWordAt(text, end)) end++
    if (text[end] !== '>') continue
    const name = text.slice(open + 2, end)
    const ends = closers.get(name)
    if (ends) ends.push(end + 1)
    else closers.set(name, [end + 1])
  }
  index.closers = closers
  return closers
}

function commentsOf(index: RawIndex): readonly number[] {
  if (index.comments) return index.comments
  const ends: number[] = []
  for (let i = index.text.indexOf('-->'); i !== -1; i = index.text.indexOf('-->', i + 1)) ends.push(i + 3)
  index.comments = ends
  return ends
}

function aloneOf(index: RawIndex, name: string): readonly number[] {
  const known = index.alone.get(name)
  if (known) return known
  const ends = (name === '' ? commentsOf(index) : closersOf(index).get(name)) ?? []
  const alone = ends.filter(end => standsAlone(index.text, end))
  index.alone.set(name, alone)
  return alone
}

function standsAlone(text: string, end: number): boolean {
  while (text[end] === ' ') end++
  return end >= text.length || text.startsWith('\n\n', end)
}

/** Whether a block element opens at this index, closed or not. It ends a paragraph. */
export function opensBlock(line: string): boolean {
  if (line[0] !== '<') return false
  const name = tagName(line, 1)
  return name !== '' && !inlineElements.has(name)
}

/** The first of the sorted ends that is greater than `from`, or -1. */
function firstAfter(ends: readonly number[] | undefined, from: number): number {
  if (!ends) return -1
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

/** The name of a tag that may open here; empty for an address (`<name@host>`) or a URL. */
function tagName(text: string, start: number): string {
  let end = start
  while (end - start <= 64 && isWordAt(text, end)) end++
  if (end === start || end - start > 64 || text.startsWith(':/', end)) return ''
  let i = end
  // Only a few characters are allowed between a name and an `@`.
  while (i - end < 16 && i < text.length && text[i] !== '@' && !isWordAt(text, i) && !isSpace(text.charCodeAt(i))) i++
  return text[i] === '@' ? '' : text.slice(start, end)
}
