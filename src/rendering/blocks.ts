// The block structure of an e-mail body: one pass over the lines; at each line the first matching rule applies. The dialect is
// that of content-rules 5.2, quirks included; it is not CommonMark.

import { codePoints, isBlank } from './characters.ts'
import {
  breaksLikeList,
  bulletEnd,
  closingRun,
  fence,
  footnoteDefinition,
  heading,
  indentOf,
  isRule,
  isTable,
  type LinkDefinition,
  linkDefinition,
  underline,
} from './lines.ts'
import { opensBlock, rawBlockEnd, rawIndex } from './raw.ts'

export type Block =
  | { readonly type: 'newline' | 'rule' }
  | { readonly type: 'code' | 'raw' | 'paragraph' | 'text'; readonly text: string }
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'inset'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly ListItem[] }

export type ListItem = { readonly isLoose: boolean; readonly blocks: readonly Block[] }

/** Shared by the blocks of one body: definitions may be anywhere and apply everywhere. */
export type Definitions = {
  readonly links: Map<string, LinkDefinition>
  readonly footnotes: Map<string, readonly Block[]>
}

export function createDefinitions(): Definitions {
  return { links: new Map(), footnotes: new Map() }
}

/** Line ends become LF, tabs advance to the next multiple of four columns, lines of spaces become empty. */
export function prepareLines(text: string): string {
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n')
  if (text.includes('\t')) text = expandTabs(text)
  if (!/^ |\n /.test(text)) return text
  const lines = text.split('\n')
  return lines.map(line => (indentOf(line) === line.length ? '' : line)).join('\n')
}

function expandTabs(text: string): string {
  let out = ''
  let from = 0
  let column = 0
  for (let tab = text.indexOf('\t'); tab !== -1; tab = text.indexOf('\t', from)) {
    const between = text.slice(from, tab)
    const line = between.lastIndexOf('\n') + 1
    column = line > 0 ? codePoints(between.slice(line)) : column + codePoints(between)
    const width = 4 - (column % 4)
    out += between + '    '.slice(0, width)
    column += width
    from = tab + 1
  }
  return out + text.slice(from)
}

// Which rules apply: everywhere, inside a list item, or inside a footnote.
type Where = 'body' | 'item' | 'note'

type Depth = { readonly lists: number; readonly insets: number }

const deepest = 6

export function parseBlocks(text: string, definitions: Definitions): Block[] {
  return parse(text.split('\n'), 'body', definitions, { lists: 0, insets: 0 })
}

type BodyContext = {
  readonly lines: readonly string[]
  readonly blocks: Block[]
  readonly where: Where
  readonly definitions: Definitions
  readonly depth: Depth
  /** Where typed HTML ends, by line; computed when the first `<` needs it. */
  raw: ((line: number) => { text: string; next: number } | null) | null
  /** The next line that closes a fence of this mark and length, cached per fence. */
  fences: Map<string, { from: number; at: number }> | null
}

function parse(lines: string[], where: Where, definitions: Definitions, depth: Depth): Block[] {
  while (lines.length > 0 && lines.at(-1) === '') lines.pop()
  const page: BodyContext = { lines, blocks: [], where, definitions, depth, raw: null, fences: null }
  let at = 0
  while (at < lines.length) at = take(page, at)
  return page.blocks
}

/** Reads the block that starts at this line and returns the line after it. */
function take(page: BodyContext, at: number): number {
  const line = page.lines[at] ?? ''
  if (line === '') return takeBlank(page, at)
  if (page.where === 'item') {
    return (
      takeCode(page, at, line) ||
      takeFence(page, at, line) ||
      takeUnderlined(page, at, line) ||
      takeRule(page, at, line) ||
      takeInset(page, at, line) ||
      takeList(page, at, line) ||
      takeRaw(page, at, line) ||
      takeText(page, at, line)
    )
  }
  const isBody = page.where === 'body'
  return (
    (isBody && takeRule(page, at, line)) ||
    takeCode(page, at, line) ||
    takeFence(page, at, line) ||
    takeHeading(page, at, line) ||
    takeTable(page, at, line, false) ||
    takeUnderlined(page, at, line) ||
    (!isBody && takeRule(page, at, line)) ||
    takeInset(page, at, line) ||
    takeList(page, at, line) ||
    takeRaw(page, at, line) ||
    (isBody && (takeLinkDefinition(page, at, line) || takeFootnote(page, at, line))) ||
    takeTable(page, at, line, true) ||
    takeParagraph(page, at, line)
  )
}

function skipBlank(page: BodyContext, at: number): number {
  while (page.lines[at] === '') at++
  return at
}

function takeBlank(page: BodyContext, at: number): number {
  const next = skipBlank(page, at)
  // Text in an item ends with its own line end, so there one blank line is two newlines.
  const isAfterText = page.blocks.at(-1)?.type === 'text' && page.where === 'item'
  if (next - at + (isAfterText ? 1 : 0) > 1) page.blocks.push({ type: 'newline' })
  return next
}

function takeRule(page: BodyContext, at: number, line: string): number {
  const indent = indentOf(line)
  if (indent > 3 || !isRule(line, indent)) return 0
  page.blocks.push({ type: 'rule' })
  return skipBlank(page, at + 1)
}

function takeCode(page: BodyContext, at: number, line: string): number {
  if (!line.startsWith('    ')) return 0
  let end = at + 1
  for (let i = at; i < page.lines.length; i++) {
    const next = page.lines[i] ?? ''
    if (next.startsWith('    ')) end = i + 1
    else if (next !== '') break
  }
  const text = page.lines.slice(at, end).map(each => each.slice(4))
  page.blocks.push({ type: 'code', text: text.join('\n') })
  return skipBlank(page, end)
}

function takeFence(page: BodyContext, at: number, line: string): number {
  const found = fenced(page, at, line)
  if (found === null) return 0
  page.blocks.push({ type: 'code', text: found.text })
  return skipBlank(page, found.end + 1)
}

function fenced(page: BodyContext, at: number, line: string): { end: number; text: string } | null {
  const open = fence(line)
  if (open === null) return null
  page.fences ??= new Map()
  const known = page.fences.get(open)
  let end = known && known.from <= at && at < known.at ? known.at : -1
  if (end === -1) {
    end = at + 1
    while (end < page.lines.length && !closesFence(page, at, end, open)) end++
    page.fences.set(open, { from: at, at: end })
  }
  if (end >= page.lines.length || !closesFence(page, at, end, open)) return null
  const last = (page.lines[end] ?? '').trimEnd().slice(0, -open.length)
  const text = [...page.lines.slice(at + 1, end), last].join('\n').trimEnd()
  return { end, text }
}

function closesFence(page: BodyContext, at: number, end: number, open: string): boolean {
  const line = page.lines[end] ?? ''
  const run = closingRun(line, open.charAt(0))
  // There must be something between the two fences, if only an empty line.
  return run >= open.length && (end > at + 1 || line.trimEnd().length > open.length)
}

function takeHeading(page: BodyContext, at: number, line: string): number {
  const found = heading(line)
  if (found === null) return 0
  page.blocks.push({ type: 'heading', ...found })
  return skipBlank(page, at + 1)
}

function takeUnderlined(page: BodyContext, at: number, line: string): number {
  const level = underline(page.lines[at + 1])
  if (level === 0) return 0
  page.blocks.push({ type: 'heading', level, text: line })
  return at + 2
}

/** Tables are dropped; only their end is needed. */
function takeTable(page: BodyContext, at: number, line: string, outer: boolean): number {
  if (!isTable(line, page.lines[at + 1], outer) || at + 2 >= page.lines.length) return 0
  let next = at + 2
  const isRow = (row: string | undefined) => row?.includes('|') && (!outer || row[indentOf(row)] === '|')
  while (isRow(page.lines[next])) next++
  return skipBlank(page, next)
}

function isInset(line: string | undefined): boolean {
  if (line === undefined) return false
  const start = indentOf(line)
  return line[start] === '^' && line.length > start + 1
}

function takeInset(page: BodyContext, at: number, line: string): number {
  if (!isInset(line)) return 0
  let end = at
  let next = at
  while (isInset(page.lines[next])) {
    end = next
    while (page.lines[end] !== undefined && page.lines[end] !== '') end++
    next = skipBlank(page, end)
  }
  const lines = page.lines.slice(at, end)
  if (page.depth.insets >= deepest) pushText(page, lines.join('\n'))
  else {
    const depth = { ...page.depth, insets: page.depth.insets + 1 }
    page.blocks.push({ type: 'inset', blocks: parse(lines.map(unmark), 'body', page.definitions, depth) })
  }
  return next
}

function unmark(line: string): string {
  const start = indentOf(line)
  if (line[start] !== '^') return line
  return line.slice(line[start + 1] === ' ' ? start + 2 : start + 1)
}

function takeList(page: BodyContext, at: number, line: string): number {
  const indent = indentOf(line)
  const bullet = bulletEnd(line, indent)
  if (bullet === -1) return 0
  const end = listEnd(page, at, line, indent, bullet + 1)
  if (end === 0) return 0
  const lines = page.lines.slice(at, end)
  if (page.depth.lists >= deepest) pushText(page, lines.join('\n'))
  else page.blocks.push({ type: 'list', isOrdered: line[bullet - 1] === '.', items: itemsOf(page, lines, indent) })
  return skipBlank(page, end)
}

/**
 * The line after the end of a list, or 0 when there is no list. `content` is where the text of the first item starts. The first
 * two characters of that text (three after `**`) belong to the list whatever they are, line ends included: a newline among them
 * cannot end it. That is why `- a` alone is no list, and `- a` includes the paragraph behind it.
 */
function listEnd(page: BodyContext, at: number, line: string, indent: number, content: number): number {
  const { lines } = page
  const startsBold = line.startsWith('**', content)
  if (line[content] === '*' && !startsBold) return 0
  const sure = startsBold ? 3 : 2
  let position = line.length - content
  let last = at
  for (;;) {
    const next = skipBlank(page, last + 1)
    if (next >= lines.length) return position >= sure ? last + 1 : 0
    const newlines = next - last - Math.min(next - last, Math.max(0, sure - position))
    const follows = lines[next] ?? ''
    if (newlines >= 1 && (endsListAt(follows, indent) || newlines >= 3)) return last + 1
    if (newlines === 2 && follows[0] !== ' ' && !isItem(follows, indent)) return last + 1
    position += next - last + follows.length
    last = next
  }
}

function endsListAt(line: string, indent: number): boolean {
  const start = indentOf(line)
  if ((start === 0 || start === indent) && isRule(line, start)) return true
  return linkDefinition(line) !== null || footnoteDefinition(line) !== null
}

function isItem(line: string, indent: number): boolean {
  return indentOf(line) === indent && bulletEnd(line, indent) !== -1
}

function itemsOf(page: BodyContext, lines: readonly string[], indent: number): ListItem[] {
  const items: ListItem[] = []
  const depth = { ...page.depth, lists: page.depth.lists + 1 }
  let start = 0
  let follows = false
  for (let i = 1; i <= lines.length; i++) {
    if (i < lines.length && !isItem(lines[i] ?? '', indent)) continue
    const own = lines.slice(start, i)
    const isLast = i === lines.length
    // A blank line before the next item makes both of them loose.
    const precedes = !isLast && own.at(-1) === ''
    const isLoose = follows || precedes || hasGap(own)
    if (!isLast) follows = precedes
    items.push({ isLoose, blocks: itemBlocks(page, own, indent, depth) })
    start = i
  }
  return items
}

function itemBlocks(page: BodyContext, lines: readonly string[], indent: number, depth: Depth): Block[] {
  const [first = ''] = lines
  const only =
    lines.length === 1 || (lines.length === 2 && lines[1] === '') ? first.slice(bulletEnd(first, indent)) : ''
  // Fast path: nearly every item is one line that starts with a letter, and no rule begins with a letter.
  if (/^ {0,3}[A-Za-z]/.test(only)) return [{ type: 'text', text: only }]
  return parse(outdent(lines, indent), 'item', page.definitions, depth)
}

function hasGap(lines: readonly string[]): boolean {
  let end = lines.length
  while (end > 0 && isBlank(lines[end - 1] ?? '')) end--
  return lines.lastIndexOf('', end - 1) > 0
}

/** An item without its bullet. Its other lines lose as many spaces as the bullet is wide. */
function outdent(lines: readonly string[], indent: number): string[] {
  const [first = '', ...rest] = lines
  const width = bulletEnd(first, indent)
  const own = [first.slice(width), ...rest]
  if (!rest.some(line => line[0] === ' ')) return own
  return own.map(line => line.slice(Math.min(indentOf(line), width)))
}

function takeRaw(page: BodyContext, at: number, line: string): number {
  if (line[indentOf(line)] !== '<') return 0
  page.raw ??= rawBlocks(page.lines)
  const found = page.raw(at)
  if (found === null) return 0
  page.blocks.push({ type: 'raw', text: found.text })
  return skipBlank(page, found.next)
}

function rawBlocks(lines: readonly string[]) {
  const text = lines.join('\n')
  const starts: number[] = []
  let offset = 0
  for (const line of lines) {
    starts.push(offset)
    offset += line.length + 1
  }
  const index = rawIndex(text)
  return (at: number) => {
    const start = (starts[at] ?? 0) + indentOf(lines[at] ?? '')
    const end = rawBlockEnd(index, start)
    if (end === -1) return null
    let next = at
    while (next < lines.length && (starts[next] ?? 0) < end) next++
    return { text: text.slice(start, end), next }
  }
}

function takeLinkDefinition(page: BodyContext, at: number, line: string): number {
  const found = linkDefinition(line)
  if (found === null) return 0
  page.definitions.links.set(found.key, found)
  return skipBlank(page, at + 1)
}

function takeFootnote(page: BodyContext, at: number, line: string): number {
  const found = footnoteDefinition(line)
  if (found === null) return 0
  let end = at + 1
  let next = skipBlank(page, end)
  while (page.lines[next]?.[0] === ' ') {
    end = next + 1
    next = skipBlank(page, end)
  }
  if (page.definitions.footnotes.has(found.key)) return next
  const rest = page.lines.slice(at + 1, end)
  const indent = rest.reduce((least, each) => (indentOf(each) > 0 ? Math.min(least, indentOf(each)) : least), Infinity)
  const text = [line.slice(found.from), ...rest.map(each => each.slice(indent === Infinity ? 0 : indent))]
  // Registered before its text is parsed, so that a note inside a note cannot define it again.
  page.definitions.footnotes.set(found.key, [])
  page.definitions.footnotes.set(found.key, parse(text, 'note', page.definitions, page.depth))
  return next
}

function takeText(page: BodyContext, at: number, line: string): number {
  pushText(page, line)
  return at + 1
}

function pushText(page: BodyContext, text: string): void {
  const last = page.blocks.at(-1)
  if (last?.type === 'text') page.blocks[page.blocks.length - 1] = { type: 'text', text: `${last.text}\n${text}` }
  else page.blocks.push({ type: 'text', text })
}

function takeParagraph(page: BodyContext, at: number, line: string): number {
  let text = line
  let next = at + 1
  while (next < page.lines.length && page.lines[next] !== '' && !endsParagraph(page, next)) {
    text += `\n${page.lines[next]}`
    next++
  }
  page.blocks.push({ type: 'paragraph', text })
  return skipBlank(page, next)
}

function endsParagraph(page: BodyContext, at: number): boolean {
  const line = page.lines[at] ?? ''
  const indent = indentOf(line)
  return (
    fenced(page, at, line) !== null ||
    breaksLikeList(line, at + 1 < page.lines.length) ||
    (indent <= 3 && isRule(line, indent)) ||
    heading(line) !== null ||
    underline(page.lines[at + 1]) !== 0 ||
    (line[indent] === '>' && line.length > indent + 1) ||
    linkDefinition(line) !== null ||
    footnoteDefinition(line) !== null ||
    opensBlock(line)
  )
}
