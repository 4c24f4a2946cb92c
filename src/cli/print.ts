// The text of a command's output: tables, facts and paragraphs that are laid out when it is known where they go. No control characters
// from messages.
import { type Timestamp, zulu } from '../core/clock.ts'
import { cut, type Screen, type Style, toned, widthOf } from './terminal.ts'

export type Cell = string | number | boolean | null | undefined

/** A piece of output: text, or what becomes text for a screen. */
export type Block = string | ((screen: Screen) => string)

/** Blocks below each other. */
export type Text = Block | readonly Block[]

export const layOut = (text: Text, screen: Screen): string =>
  (typeof text === 'string' || typeof text === 'function' ? [text] : text)
    .map(block => (typeof block === 'string' ? inWords(screen, block) : block(screen)))
    .join('\n')

/** A sentence, whose commands begin as they do on this machine. */
const inWords = ({ hint }: Screen, text: string) => hint?.(text) ?? text

/** Several blocks as one. */
export const stack =
  (...blocks: readonly Block[]): Block =>
  screen =>
    layOut(blocks, screen)

export const painted =
  (style: Style, text: string): Block =>
  screen =>
    screen.paint(style, inWords(screen, text))

/** A number and what it counts: 1 template, 2 templates. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Text of people: no word of it is a hint that names a command. */
export const verbatim =
  (text: string): Block =>
  () =>
    text

/** For lists of what a command finds by the first characters of its id. */
export const SHORT_IDS = { hasShortIds: true } as const
type Listing = { hasShortIds?: boolean }

/** A table, or the text `nothing` when there are no rows. */
export const listing =
  (head: readonly string[], rows: readonly (readonly Cell[])[], nothing: string, options: Listing = {}): Block =>
  screen =>
    rows.length === 0 ? inWords(screen, nothing) : table(screen, head, rows, options)

const GAP = 2
const NARROWEST = 8
const STATUS_COLUMNS = ['STATUS', 'STATE']
/** Half an id or half a time is of no use. */
const UNCUT = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^\d{4}-\d\d-\d\d \d\d:\d\d/
const UTC = / UTC$/

/**
 * Each column is as wide as its widest cell; numbers are right-aligned. On a terminal long texts are cut until the table fits; ids,
 * times and numbers are not. Before that, ids become their first characters where commands take those. If that is not enough, the
 * last columns are left out, and a line says which.
 */
function table(screen: Screen, names: readonly string[], rows: readonly (readonly Cell[])[], options: Listing): string {
  const whole = rows.map(row => row.map(cell => oneLine(textOf(cell))))
  const isShortened =
    options.hasShortIds === true && screen.columns !== null && lineWidth(names, whole) > screen.columns
  const texts = isShortened ? withShortIds(whole) : whole
  // Said once in the heading where there is little room.
  const isTime = names.map((_, at) => screen.columns !== null && texts.some(row => UTC.test(row[at] ?? '')))
  const head = names.map((name, at) => (isTime[at] ? `${name} UTC` : name))
  const cells = texts.map(row => row.map((cell, at) => (isTime[at] ? cell.replace(UTC, '') : cell)))
  const columns = head.map((name, at) => {
    const own = cells.map(row => row[at] ?? '')
    const isNumeric = rows.every(row => typeof row[at] === 'number')
    const width = Math.max(widthOf(name), ...own.map(widthOf))
    const isWhole = isNumeric || (at === 0 && isShortened) || own.some(cell => UNCUT.test(cell))
    return { name, at, width, isNumeric, least: isWhole ? width : Math.min(width, Math.max(NARROWEST, widthOf(name))) }
  })
  const { kept, omitted } = fitted(columns, screen.columns)
  const lineOf = (row: readonly string[], paint: (name: string, text: string) => string) =>
    kept
      .map(({ name, at, width, isNumeric }) => {
        const text = cut(row[at] ?? '', width)
        return pad(paint(name, text), width - widthOf(text), isNumeric)
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  return [
    lineOf(head, (_, text) => screen.paint('bold', text)),
    ...cells.map(row => lineOf(row, (name, text) => (STATUS_COLUMNS.includes(name) ? toned(screen, text) : text))),
    ...(omitted.length > 0
      ? [
          screen.paint(
            'dim',
            layOut(paragraph(`Not shown: ${omitted.join(', ')}. Widen the terminal, or add --json.`), screen),
          ),
        ]
      : []),
  ].join('\n')
}

function lineWidth(names: readonly string[], rows: readonly (readonly string[])[]): number {
  const widths = names.map((name, at) => Math.max(widthOf(name), ...rows.map(row => widthOf(row[at] ?? ''))))
  return widths.reduce((sum, width) => sum + width + GAP, -GAP)
}

/** Ids of version 7 begin with 12 digits of time: of those that were made within a minute, the first eight are the same. */
const SHORTEST = { random: 8, timed: 13 }
const isTimed = (id: string) => id[14] === '7'

/** The ids of the first column, as long as it takes to tell them apart. */
function withShortIds(rows: readonly (readonly string[])[]): string[][] {
  const ids = rows.map(([id = '']) => id)
  let length = ids.some(isTimed) ? SHORTEST.timed : SHORTEST.random
  const shortened = () => ids.map(id => id.slice(0, length).replace(/-$/, ''))
  while (length < 36 && new Set(shortened()).size < new Set(ids).size) length++
  const short = shortened()
  return rows.map(([, ...rest], at) => [short[at] ?? '', ...rest])
}

type Column = { name: string; at: number; width: number; isNumeric: boolean; least: number }

/** The widest column that may be cut gives way first. */
function fitted(columns: readonly Column[], limit: number | null): { kept: Column[]; omitted: string[] } {
  const kept = columns.map(column => ({ ...column }))
  if (limit === null) return { kept, omitted: [] }
  const sum = (of: 'width' | 'least') => kept.reduce((total, column) => total + column[of] + GAP, -GAP)
  const omitted: string[] = []
  while (kept.length > 1 && sum('least') > limit) omitted.unshift(kept.pop()?.name ?? '')
  for (let excess = sum('width') - limit; excess > 0; excess--) {
    const flexible = kept.filter(({ width, least }) => width > least)
    const widest = flexible.reduce<Column | undefined>((a, b) => (a && a.width >= b.width ? a : b), undefined)
    if (!widest) break
    widest.width--
  }
  return { kept, omitted }
}

const STATUS_FACTS = ['status', 'state']
/** On a narrower rest of a line, words are not wrapped. */
const NARROWEST_FACT = 20

/** One name and value per line: `mode    live`. On a terminal long values continue below their beginning. */
export const facts =
  (pairs: readonly (readonly [string, Cell])[], style: Style = 'dim'): Block =>
  screen => {
    const widest = Math.max(...pairs.map(([name]) => widthOf(name)))
    const room = screen.columns === null ? 0 : screen.columns - widest - GAP
    return pairs
      .map(([name, value]) => {
        const text = textOf(value)
        const lines = room < NARROWEST_FACT || widthOf(text) <= room ? [text] : linesOf(text, room)
        const shown = STATUS_FACTS.includes(name) ? lines.map(line => toned(screen, text, line)) : lines
        const first = pad(screen.paint(style, name), widest - widthOf(name), false)
        return `${first}  ${shown.join(`\n${' '.repeat(widest + GAP)}`)}`.trimEnd()
      })
      .join('\n')
  }

/** A long text, wrapped on a terminal only: other programs wrap as they like. */
export const paragraph =
  (text: string): Block =>
  screen =>
    screen.columns === null ? inWords(screen, text) : linesOf(inWords(screen, text), screen.columns).join('\n')

/** `Usage: herald …`, with its options below each other where a line is too short. */
export const usageLine =
  (usage: string): Block =>
  screen => {
    const text = layOut(screen.columns === null ? `Usage: ${usage}` : wrapped('Usage: ', usage), screen)
    return text.replace('Usage:', screen.paint('bold', 'Usage:'))
  }

/** As diff prints it: lines that begin with - are red, with + green. */
export const diff =
  (text: string): Block =>
  screen =>
    text
      .split('\n')
      .map(line =>
        line.startsWith('+ ') ? screen.paint('green', line) : line.startsWith('- ') ? screen.paint('red', line) : line,
      )
      .join('\n')

/** To the minute, for people; --json has microseconds. */
export const minute = (t: Timestamp | null) => (t === null ? null : `${zulu(t).slice(0, 16).replace('T', ' ')} UTC`)

export const moment = (t: Timestamp | null) => (t === null ? null : zulu(t))

function textOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return String(cell)
}

/** `space` columns are missing. */
const pad = (text: string, space: number, toTheRight: boolean) => {
  const spaces = ' '.repeat(Math.max(0, space))
  return toTheRight ? spaces + text : text + spaces
}

/** One line without control characters. */
export const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()

/** One line of at most 60 characters, for a sentence or a preview. */
export const firstLine = (text: string) => cut(oneLine(text), 60)

/** Without a terminal. */
const COLUMNS = 80

/** `first` and the text, whose further lines are indented as far. A longer word is not cut. */
export const wrapped =
  (first: string, text: string): Block =>
  screen =>
    linesOf(inWords(screen, text), (screen.columns ?? COLUMNS) - widthOf(first))
      .map((line, at) => (at === 0 ? first : ' '.repeat(widthOf(first))) + line)
      .join('\n')

function linesOf(text: string, columns: number): string[] {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (widthOf(line) + 1 + widthOf(word) <= columns) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Without control characters, which could contain terminal escape sequences; line breaks and tabs stay. */
export const printable = (text: string) => text.replaceAll(/[^\P{Cc}\n\t]/gu, '')
