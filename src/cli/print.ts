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
    .map(block => (typeof block === 'string' ? block : block(screen)))
    .join('\n')

/** Several blocks as one. */
export const stack =
  (...blocks: readonly Block[]): Block =>
  screen =>
    layOut(blocks, screen)

export const painted =
  (style: Style, text: string): Block =>
  screen =>
    screen.paint(style, text)

/** A table, or the text `nothing` when there are no rows. */
export const listing =
  (head: readonly string[], rows: readonly (readonly Cell[])[], nothing: string): Block =>
  screen =>
    rows.length === 0 ? nothing : table(screen, head, rows)

const GAP = 2
const NARROWEST = 8
const STATUS_COLUMNS = ['STATUS', 'STATE']
/** Half an id or half a time is of no use. */
const UNCUT = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^\d{4}-\d\d-\d\d \d\d:\d\d/
const UTC = / UTC$/

/**
 * Each column is as wide as its widest cell; numbers are right-aligned. On a terminal long texts are cut until the table fits; ids,
 * times and numbers are not. If that is not enough, the last columns are left out, and a line says which.
 */
function table(screen: Screen, names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map(row => row.map(cell => oneLine(textOf(cell))))
  // Said once in the heading where there is little room.
  const isTime = names.map((_, at) => screen.columns !== null && texts.some(row => UTC.test(row[at] ?? '')))
  const head = names.map((name, at) => (isTime[at] ? `${name} UTC` : name))
  const cells = texts.map(row => row.map((cell, at) => (isTime[at] ? cell.replace(UTC, '') : cell)))
  const columns = head.map((name, at) => {
    const own = cells.map(row => row[at] ?? '')
    const isNumeric = rows.every(row => typeof row[at] === 'number')
    const width = Math.max(widthOf(name), ...own.map(widthOf))
    const isWhole = isNumeric || own.some(cell => UNCUT.test(cell))
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
    screen.columns === null ? text : linesOf(text, screen.columns).join('\n')

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
  ({ columns }) =>
    linesOf(text, (columns ?? COLUMNS) - widthOf(first))
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
