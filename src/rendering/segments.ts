// A body cut at blank lines into segments that are rendered one by one, so that a value that affects the text around it costs the
// rendering of its own segment and not of the whole e-mail. A segment is rendered between two guard paragraphs wherever it has a neighbour. It is
// independent of its neighbours if both guards come out unchanged, and if it does not begin like something that continues a list,
// an inset or a code block across a blank line.

import { trimStart } from './characters.ts'
import { preheaderLimit } from './email.ts'
import { bulletEnd } from './lines.ts'
import { fill, isAbsent, type Keyed, type Parts, type Slot } from './placeholders.ts'
import { createPrepared, type Fill, type Limits, mark, type Outputs, type RenderInFull } from './prepared.ts'

/** `after`: the blank lines before the next segment. */
type Segment = { readonly parts: Parts; readonly after: string }

/** Fills a content segment by segment; subject and title are empty. Null for contents that cannot be cut. */
export function createSegments(content: Parts, render: RenderInFull, limits: Limits): Fill {
  const segments = cutAtBlankLines(content.map(withLineFeeds))
  const source = content.map(part => (typeof part === 'string' ? part : mark)).join('')
  if (segments.length < 2 || !isConfined(source, limits.hasLiterals)) return () => null
  const guards = render({ subject: none, content: [guard] }, new Map())
  const last = segments.length - 1
  const guarded = (parts: Parts, from: number, to: number): Parts => [
    ...(from > 0 ? [guard + segments[from - 1]?.after] : []),
    ...parts,
    ...(to < last ? [segments[to]?.after + guard] : []),
  ]
  const renderGuarded = (content: Parts, from: number, to: number, values: Keyed) =>
    between(render({ subject: none, content }, values), guards, from > 0, to < last)
  const prepared = segments.map((segment, at) => {
    const parts = guarded(segment.parts, at, at)
    return {
      parts,
      fill: createPrepared(
        { subject: none, content: segment.parts },
        (_, values) => renderGuarded(parts, at, at, values),
        limits,
      ),
    }
  })

  return values => {
    const done: { from: number; outputs: Outputs }[] = []
    for (const [at, segment] of prepared.entries()) {
      let from = at
      let outputs = segment.fill(values)
      if (outputs === null) {
        let parts = segments[at]?.parts ?? []
        if (isAnyAbsent(parts, values)) return null
        let source = sourceOf(parts, values)
        // What could continue the segment before it is rendered together with it.
        while (from > 0 && !isBlockStart(source)) {
          from = done.pop()?.from ?? 0
          if (at - from > mostTogether) return null
          parts = segments
            .slice(from, at + 1)
            .flatMap((one, i) => [...one.parts, ...(from + i < at ? [one.after] : [])])
          source = sourceOf(parts, values)
        }
        if (!isConfined(source, limits.hasLiterals)) return null
        outputs = isParagraph.test(source)
          ? alone(render({ subject: none, content: parts }, values), from > 0)
          : renderGuarded(from === at ? segment.parts : guarded(parts, from, at), from, at, values)
        if (outputs === null) return null
      }
      done.push({ from, outputs })
    }
    return joined(done.map(one => one.outputs))
  }
}

// Always the same list, because the renderer keeps the escaped form of each.
const none: Parts = []

const withLineFeeds = (part: string | Slot) =>
  typeof part === 'string' && part.includes('\r') ? part.replace(/\r\n?/g, '\n') : part

function cutAtBlankLines(content: Parts): Segment[] {
  const segments: Segment[] = []
  let parts: (string | Slot)[] = []
  const cut = (after: string) => {
    const before = segments.at(-1)
    // Without placeholders in either, two segments are one.
    if (before && isFixed(before.parts) && isFixed(parts))
      segments[segments.length - 1] = { parts: [...before.parts, before.after, ...parts], after }
    else segments.push({ parts, after })
    parts = []
  }
  for (const [index, part] of content.entries()) {
    if (typeof part !== 'string') {
      parts.push(part)
      continue
    }
    let from = 0
    for (const { 0: blank, index: at } of part.matchAll(/\n{2,}/g)) {
      const next = part.slice(at + blank.length)
      const isStart = next === '' ? index < content.length - 1 : isBlockStart(next)
      const text = part.slice(from, at)
      if (!isStart || !(parts.some(one => typeof one !== 'string') || /\S/.test(text))) continue
      parts.push(text)
      cut(blank)
      from = at + blank.length
    }
    if (from < part.length) parts.push(part.slice(from))
  }
  cut('')
  return segments
}

const isFixed = (parts: Parts) => parts.every(part => typeof part === 'string')

/** Whether this text after a blank line starts a new block, whatever is before it. */
function isBlockStart(text: string): boolean {
  return /^[^\s^]/.test(text) && bulletEnd(text, 0) === -1
}

const isAnyAbsent = (parts: Parts, values: Keyed) =>
  parts.some(part => typeof part !== 'string' && isAbsent(values.get(part.key)))

const sourceOf = (parts: Parts, values: Keyed) =>
  fill(parts, values, { html: 'passthrough', lists: 'markdown', markers: 'plain' })

/**
 * Whether nothing in this text has an effect beyond blank lines: no definition, fence, typed HTML, language tag, and no character
 * that is deleted before parsing.
 */
function isConfined(source: string, hasLiterals: boolean): boolean {
  if (/[\0-\x09\x0b\x0c\x0e-\x1f\u2028]|\r(?!\n)|\]:|```|~~~|<(?! )|\[\[/.test(source)) return false
  if (hasLiterals && source.includes('<')) return false
  // A list of one or two characters includes the next paragraph, and an escaped character counts as several.
  return !/[<>&]/.test(source) || !/^ *(?:[•*-]|[0-9]+\.) .{0,2}$/m.test(source)
}

// A segment in a group is rendered again with each one that joins, so large groups cost more than the whole e-mail.
const mostTogether = 3

const guard = mark + mark

// One line that begins with a letter is always a paragraph, so it needs no guards.
const isParagraph = /^\p{L}[^\r\n]*$/u

/** The outputs of a paragraph that was rendered without neighbours, or null if they could affect it. */
function alone(outputs: Outputs, hasLeft: boolean): Outputs | null {
  const text = outputs.text.slice(0, -1)
  // A dash and the whitespace after it would be changed together with the line ends before the next paragraph.
  if (hasOpenEnd(text, outputs.preheader) || /[-–—][\s\x85]*$/.test(text)) return null
  return { ...outputs, text: hasLeft ? `\n\n${text}` : text }
}

/** The outputs without the guards, or null if rendering has changed a guard. */
function between(outputs: Outputs, guards: Outputs, hasLeft: boolean, hasRight: boolean): Outputs | null {
  let text = outputs.text.slice(0, -1)
  let { preheader, body } = outputs
  if (hasRight) {
    if (!text.endsWith(`\n\n${guard}`) || !body.endsWith(guards.body)) return null
    text = text.slice(0, -guard.length - 2)
    body = body.slice(0, -guards.body.length)
    if (preheader.endsWith(` ${guard}`)) preheader = preheader.slice(0, -guard.length - 1)
    // The end of a long preheader is not rendered.
    else if (preheader.length <= 2 * preheaderLimit) return null
  }
  if (hasLeft) {
    if (!text.startsWith(guard) || !body.startsWith(guards.body) || !preheader.startsWith(guard)) return null
    text = text.slice(guard.length)
    body = body.slice(guards.body.length)
    preheader = preheader.slice(guard.length + 1)
    if (text !== '' && !text.startsWith('\n')) return null
  }
  // The typography of a quote alone in an element depends on the element before it.
  if (hasOpenEnd(text, preheader) || /^(?:<[^>]*>)*["'“”‘’](?:<|$)/.test(body)) return null
  return { ...outputs, text, preheader, body }
}

// Typography of a dash reaches across line ends, and that of a quote after no word, or after 's, depends on whether text follows.
function hasOpenEnd(text: string, preheader: string): boolean {
  return /^[-–—]|[-–—]$/.test(preheader) || looseQuote.test(preheader) || looseQuote.test(text)
}

const looseQuote = /(?:^|[\s([{"'“”‘’-]|['’]s)["'“”‘’]$/

function joined(segments: readonly Outputs[]): Outputs {
  let text = ''
  let preheader = ''
  let body = ''
  for (const segment of segments) {
    text += segment.text
    body += segment.body
    if (preheader.length <= 2 * preheaderLimit && segment.preheader !== '')
      preheader += (preheader === '' ? '' : ' ') + segment.preheader
  }
  return { subject: '', title: '', text: `${trimStart(text)}\n`, preheader, body }
}
