// Formatting inside a line: emphasis, links, code, bare URLs, line breaks. One walk; where a mark is closed is asked of
// a search that remembers its last answer, so marks that are never closed cost nothing more.

import type { Definitions } from './blocks.ts'
import { type Brackets, createBrackets } from './brackets.ts'
import { endOfText, isSpace, isWordAt } from './characters.ts'
import { keyOfDefinition } from './lines.ts'
import { createRawIndex, type RawIndex } from './raw.ts'

/** How the pieces of a line are written for one kind of output. */
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

// Emphasis cannot hold itself and a link text holds at most one more, so real nesting stays far below this.
const deepest = 24

const special = new Uint8Array(128)
for (const char of '\\<![_*`~\nh') special[char.charCodeAt(0)] = 1

export function renderInline(source: string, context: InlineContext, inLink = false, depth = 0): string {
  const { to } = context
  let text = source
  while (text.endsWith('\n')) text = text.slice(0, -1)
  if (depth > deepest) return to.text(text)
  let walk: ReturnType<typeof createWalk> | undefined
  const end = endOfText(text)
  let out = ''
  let from = 0
  let i = 0
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code >= 128 || special[code] === 0) {
      i++
      continue
    }
    if (code === 10) {
      // Trailing newlines are text: no line break without something behind it.
      if (i < end) {
        let stop = i
        while (stop > from && text[stop - 1] === ' ') stop--
        out += to.text(text.slice(from, stop)) + to.lineBreak
        from = i + 1
      }
      i++
      continue
    }
    if (code === 104 && text.charCodeAt(i + 1) !== 116) {
      i++
      continue
    }
    walk ??= createWalk(text, context, inLink, depth)
    const taken = walk.take(i)
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

type Taken = { out: string; end: number }

function createWalk(text: string, context: InlineContext, inLink: boolean, depth: number) {
  const { to } = context
  let brackets: Brackets | undefined
  let raw: RawIndex | undefined
  let code: ((start: number) => Taken | null) | undefined
  const stars = createEmphasis(text, '*')
  const lines = createEmphasis(text, '_')
  const strikes = remembered(from => nextStrike(text, from))
  const inner = (inside: string, isLink = inLink) => renderInline(inside, context, isLink, depth + 1)

  function take(i: number): Taken | null {
    switch (text[i]) {
      case '\\':
        return takeEscape(i)
      case '<':
        return to.isHtml ? takeMarker(text, i) : takeRaw(i)
      case 'h':
        return takeUrl(i)
      case '!':
        return text[i + 1] === '[' ? takeLink(i + 1, true) : null
      case '[':
        return takeNote(i) ?? takeLink(i, false)
      case '*':
        return takeEmphasis(stars, i)
      case '_':
        return takeEmphasis(lines, i)
      case '~':
        return takeStrike(i)
      default:
        code ??= createCode(text, to)
        return code(i)
    }
  }

  function takeEscape(i: number): Taken | null {
    const next = text.charAt(i + 1)
    return next !== '' && '\\`*{}[]()#+-.!_>~|'.includes(next) ? { out: to.text(next), end: i + 2 } : null
  }

  function takeRaw(i: number): Taken | null {
    raw ??= createRawIndex(text)
    const end = raw.inline(i)
    return end === -1 ? takeAngle(text, i) : { out: text.slice(i, end), end }
  }

  function takeUrl(i: number): Taken | null {
    const end = urlEnd(text, i, to.isHtml)
    if (end === -1) return null
    const url = text.slice(i, end)
    return { out: inLink ? to.text(url) : to.url(url), end }
  }

  function takeNote(i: number): Taken | null {
    if (text[i + 1] !== '^' || context.isNote || context.definitions.footnotes.size === 0) return null
    brackets ??= createBrackets(text)
    const close = brackets.close(i)
    const key = close > i + 2 ? keyOfDefinition(text.slice(i + 2, close)) : ''
    if (!context.definitions.footnotes.has(key) || context.cited.has(key)) return null
    context.cited.add(key)
    return { out: '', end: close + 1 }
  }

  function takeLink(open: number, isImage: boolean): Taken | null {
    brackets ??= createBrackets(text)
    const direct = brackets.link(open)
    if (direct) return linked(direct.text, direct.target, direct.title, direct.end, isImage)
    const { links } = context.definitions
    if (links.size === 0) return null
    for (const found of [brackets.reference(open), brackets.key(open)]) {
      const definition = found && links.get(keyOfDefinition(found.key))
      if (definition) return linked(found.text, definition.target, definition.title, found.end, isImage)
    }
    return null
  }

  function linked(label: string, target: string, title: string, end: number, isImage: boolean): Taken {
    if (isImage) return { out: '', end }
    const shown = inner(label, true)
    // A link inside a link is no HTML; the outer one stays.
    return { out: inLink && to.isHtml ? shown : to.link(shown, target, title), end }
  }

  function takeEmphasis(marks: Emphasis, i: number): Taken | null {
    const bold = marks.bold(i)
    if (bold !== -1) return { out: to.bold(inner(text.slice(i + 2, bold))), end: bold + 2 }
    const italic = marks.italic(i)
    return italic === -1 ? null : { out: to.italic(inner(text.slice(i + 1, italic))), end: italic + 1 }
  }

  function takeStrike(i: number): Taken | null {
    if (text[i + 1] !== '~' || i + 2 >= text.length || isSpace(text.charCodeAt(i + 2))) return null
    const close = strikes(i + 3)
    return close === none ? null : { out: inner(text.slice(i + 2, close)), end: close + 2 }
  }

  return { take }
}

const none = 0x7fffffff

/** A search that moves forward only, and need not look again while its last answer is still ahead. */
function remembered(find: (from: number) => number): (from: number) => number {
  let asked = -1
  let answer = -1
  return from => {
    if (asked <= from && from <= answer) return answer
    asked = from
    answer = find(from)
    return answer
  }
}

type Emphasis = { bold: (i: number) => number; italic: (i: number) => number }

/** Where bold or italic that opens at an index closes, or -1. */
function createEmphasis(text: string, mark: '*' | '_'): Emphasis {
  const nextPair = remembered(from => {
    const pair = text.indexOf(mark + mark, from)
    return pair === -1 ? none : runEnd(text, pair) - 2
  })
  const nextOdd = remembered(from => {
    for (let i = text.indexOf(mark, from); i !== -1; i = text.indexOf(mark, i)) {
      const end = runEnd(text, i)
      if ((end - i) % 2 === 1) return end - 1
      i = end
    }
    return none
  })
  return {
    bold(i) {
      if (text[i + 1] !== mark) return -1
      const close = nextPair(i + 3)
      return close === none ? -1 : close
    },
    italic(i) {
      // Marks inside count in pairs; the first one left over closes, or nothing does.
      const end = runEnd(text, i)
      const more = end - i - 1
      if (more === 1) return -1
      const close = more % 2 === 1 ? end - 1 : nextOdd(end)
      if (close === none || close <= i + 1) return -1
      return mark === '_' && isWordAt(text, close + 1) ? -1 : close
    },
  }
}

function runEnd(text: string, start: number): number {
  const code = text.charCodeAt(start)
  let end = start + 1
  while (text.charCodeAt(end) === code) end++
  return end
}

function nextStrike(text: string, from: number): number {
  for (let i = text.indexOf('~~', from); i !== -1; i = text.indexOf('~~', i + 1)) {
    if (!isSpace(text.charCodeAt(i - 1))) return i
  }
  return none
}

/** Code spans: a run of backticks is closed by the next run of the same length, or failing that by a shorter one. */
function createCode(text: string, to: InlineTarget): (start: number) => Taken | null {
  const runs = new Map<number, number[]>()
  for (let i = text.indexOf('`'); i !== -1; i = text.indexOf('`', i)) {
    const end = runEnd(text, i)
    const same = runs.get(end - i)
    if (same) same.push(i)
    else runs.set(end - i, [i])
    i = end
  }
  // Asked from left to right, so the runs behind us can be thrown away.
  for (const starts of runs.values()) starts.reverse()
  return start => {
    const end = runEnd(text, start)
    for (let length = end - start; length > 0; length--) {
      const starts = runs.get(length)
      while (starts && (starts.at(-1) ?? none) < end) starts.pop()
      const close = starts?.at(-1)
      if (close === undefined) continue
      const inside = text.slice(start + length, close)
      return { out: to.text(inside.trim() || inside.slice(-1)), end: close + length }
    }
    return null
  }
}

/** The end of a bare URL, or -1. In HTML it also stops at an escaped angle bracket. */
function urlEnd(text: string, start: number, isHtml: boolean): number {
  if (!text.startsWith('http', start)) return -1
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

/** `<scheme:…>` and `<name@host>`, where nothing is HTML: the brackets go. */
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

/** In escaped text the only real tags are our own marks for missing values; they pass through whole. */
function takeMarker(text: string, start: number): Taken | null {
  const end = markerEnd(text, start)
  return end === -1 ? null : { out: text.slice(start, end), end }
}

/** The index after a `mark`, or after a `div` with the divs inside it. */
export function markerEnd(text: string, start: number): number {
  if (text.startsWith('<mark>', start)) return text.indexOf('</mark>', start) + 7
  if (!text.startsWith('<div>', start)) return -1
  let open = 0
  for (let i = start; i !== -1; i = text.indexOf('div', i + 3)) {
    if (text.startsWith('<div', i)) open++
    else if (text[i - 1] === '<') open++
    else if (text[i - 1] === '/' && text[i - 2] === '<') open--
    if (open === 0) return i + 4
  }
  return -1
}
