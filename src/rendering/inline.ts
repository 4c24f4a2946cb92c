// Formatting inside a line: emphasis, links, code, bare URLs, line breaks. One pass from mark to mark.

import type { Definitions } from './blocks.ts'
import { type Brackets, closingBracket, findBrackets, keyAt, linkAt, type Reference, referenceAt } from './brackets.ts'
import { endOfText, isSpace } from './characters.ts'
import { boldEnd, codeAt, italicEnd, type Marks, marksOf, runEnd, strikeEnd } from './emphasis.ts'
import { keyOfDefinition } from './lines.ts'
import { type RawIndex, rawIndex, rawInlineEnd } from './raw.ts'

/** Writes inline elements for one kind of output. */
export type InlineTarget = {
  readonly isHtml: boolean
  readonly lineBreak: string
  readonly text: (text: string) => string
  readonly bold: (text: string) => string
  readonly italic: (text: string) => string
  readonly link: (text: string, target: string, title: string) => string
  readonly url: (url: string) => string
}

export type InlineContext = {
  readonly to: InlineTarget
  readonly definitions: Definitions
  /** Keys of footnotes in the order in which the text refers to them. */
  readonly cited: Set<string>
  readonly isNote: boolean
}

// Emphasis cannot contain itself and a link text contains at most one more, so real nesting stays far below this.
const deepest = 24

const special = new Uint8Array(128)
for (const char of '\\<![_*`~\nh') special[char.charCodeAt(0)] = 1

export function renderInline(source: string, context: InlineContext, inLink = false, depth = 0): string {
  const { to } = context
  const text = withoutLineEnds(source)
  if (depth > deepest) return to.text(text)
  let walk: Walk | undefined
  const end = endOfText(text)
  let out = ''
  let from = 0
  let i = 0
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code >= 128 || special[code] === 0 || (code === 104 && !text.startsWith('http', i))) {
      i++
      continue
    }
    if (code === 10) {
      // Trailing newlines are text: no line break without something after it.
      if (i < end) {
        let stop = i
        while (stop > from && text[stop - 1] === ' ') stop--
        out += to.text(text.slice(from, stop)) + to.lineBreak
        from = i + 1
      }
      i++
      continue
    }
    walk ??= { text, context, inLink, depth, marks: marksOf(text), brackets: null, raw: null }
    const taken = take(walk, i)
    if (taken === null) {
      i = code === 96 ? runEnd(text, i) : i + 1
      continue
    }
    if (i > from) out += to.text(text.slice(from, i))
    out += taken.out
    from = taken.end
    i = taken.end
  }
  return from === 0 ? to.text(text) : out + (from < text.length ? to.text(text.slice(from)) : '')
}

function withoutLineEnds(source: string): string {
  let end = source.length
  while (source[end - 1] === '\n') end--
  return end === source.length ? source : source.slice(0, end)
}

type Walk = {
  readonly text: string
  readonly context: InlineContext
  readonly inLink: boolean
  readonly depth: number
  readonly marks: Marks
  brackets: Brackets | null
  raw: RawIndex | null
}

type Taken = { out: string; end: number }

function take(walk: Walk, i: number): Taken | null {
  switch (walk.text[i]) {
    case '\\':
      return takeEscape(walk, i)
    case '<':
      return walk.context.to.isHtml ? takeMarker(walk.text, i) : takeRaw(walk, i)
    case 'h':
      return takeUrl(walk, i)
    case '!':
      return walk.text[i + 1] === '[' ? takeLink(walk, i + 1, true) : null
    case '[':
      return takeNote(walk, i) ?? takeLink(walk, i, false)
    case '*':
      return takeEmphasis(walk, '*', i)
    case '_':
      return takeEmphasis(walk, '_', i)
    case '~':
      return takeStrike(walk, i)
    default:
      return takeCode(walk, i)
  }
}

function inner(walk: Walk, from: number, to: number, inLink = walk.inLink): string {
  return renderInline(walk.text.slice(from, to), walk.context, inLink, walk.depth + 1)
}

function takeEscape({ text, context }: Walk, i: number): Taken | null {
  const next = text.charAt(i + 1)
  return next !== '' && '\\`*{}[]()#+-.!_>~|'.includes(next) ? { out: context.to.text(next), end: i + 2 } : null
}

function takeRaw(walk: Walk, i: number): Taken | null {
  walk.raw ??= rawIndex(walk.text)
  const end = rawInlineEnd(walk.raw, i)
  return end === -1 ? takeAngle(walk.text, i) : { out: walk.text.slice(i, end), end }
}

function takeUrl({ text, context, inLink }: Walk, i: number): Taken | null {
  const end = urlEnd(text, i, context.to.isHtml)
  if (end === -1) return null
  const url = text.slice(i, end)
  return { out: inLink ? context.to.text(url) : context.to.url(url), end }
}

function takeNote(walk: Walk, i: number): Taken | null {
  const { text, context } = walk
  if (text[i + 1] !== '^' || context.isNote || context.definitions.footnotes.size === 0) return null
  walk.brackets ??= findBrackets(text)
  const close = closingBracket(walk.brackets, i)
  const key = close > i + 2 ? keyOfDefinition(text.slice(i + 2, close)) : ''
  if (!context.definitions.footnotes.has(key) || context.cited.has(key)) return null
  context.cited.add(key)
  return { out: '', end: close + 1 }
}

function takeLink(walk: Walk, open: number, isImage: boolean): Taken | null {
  walk.brackets ??= findBrackets(walk.text)
  const direct = linkAt(walk.brackets, open)
  if (direct) return linked(walk, direct.text, direct.target, direct.title, direct.end, isImage)
  if (walk.context.definitions.links.size === 0) return null
  return (
    takeReference(walk, referenceAt(walk.brackets, open), isImage) ??
    takeReference(walk, keyAt(walk.brackets, open), isImage)
  )
}

function takeReference(walk: Walk, found: Reference | null, isImage: boolean): Taken | null {
  const definition = found && walk.context.definitions.links.get(keyOfDefinition(found.key))
  return definition ? linked(walk, found.text, definition.target, definition.title, found.end, isImage) : null
}

function linked(walk: Walk, label: string, target: string, title: string, end: number, isImage: boolean): Taken {
  if (isImage) return { out: '', end }
  const { to } = walk.context
  const shown = renderInline(label, walk.context, true, walk.depth + 1)
  // HTML does not allow a link inside a link; the outer one is kept.
  return { out: walk.inLink && to.isHtml ? shown : to.link(shown, target, title), end }
}

function takeEmphasis(walk: Walk, mark: '*' | '_', i: number): Taken | null {
  const { to } = walk.context
  const bold = boldEnd(walk.marks, mark, i)
  if (bold !== -1) return { out: to.bold(inner(walk, i + 2, bold)), end: bold + 2 }
  const italic = italicEnd(walk.marks, mark, i)
  return italic === -1 ? null : { out: to.italic(inner(walk, i + 1, italic)), end: italic + 1 }
}

function takeStrike(walk: Walk, i: number): Taken | null {
  const close = strikeEnd(walk.marks, i)
  return close === -1 ? null : { out: inner(walk, i + 2, close), end: close + 2 }
}

function takeCode(walk: Walk, i: number): Taken | null {
  const found = codeAt(walk.marks, i)
  if (found === null) return null
  return { out: walk.context.to.text(found.inside.trim() || found.inside.slice(-1)), end: found.end }
}

/** The end of a bare URL, or -1. In HTML it also stops at an escaped angle bracket. */
function urlEnd(text: string, start: number, isHtml: boolean): number {
  const from = text.startsWith('://', start + 4) ? start + 7 : text.startsWith('s://', start + 4) ? start + 8 : -1
  if (from === -1) return -1
  let end = from
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === 60 || isSpace(code)) break
    if (isHtml && code === 38 && (text.startsWith('&lt;', end) || text.startsWith('&gt;', end))) break
  }
  while (end > from && `.,:"')]`.includes(text.charAt(end - 1))) end--
  return end - from >= 2 ? end : -1
}

/** `<scheme:…>` and `<name@host>` in plain text: the brackets are removed. */
function takeAngle(text: string, start: number): Taken | null {
  let mark = -1
  for (let i = start + 1; i < text.length; i++) {
    const char = text[i]
    if (char === ' ' || char === '<') return null
    if ((char === '@' || char === ':') && mark === -1 && i > start + 1) mark = i
    if (char !== '>') continue
    return mark !== -1 && i > mark + 1 ? { out: text.slice(start + 1, i), end: i + 1 } : null
  }
  return null
}

/** In escaped text the only real tags are our own marks for missing values; they are protected and pass through unchanged. */
function takeMarker(text: string, start: number): Taken | null {
  for (const name of ['mark', 'div']) {
    if (!text.startsWith(`<${name}>`, start)) continue
    const end = text.indexOf(`</${name}>`, start) + name.length + 3
    return { out: text.slice(start, end), end }
  }
  return null
}
