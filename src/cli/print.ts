// Plain text output: aligned columns, no colours, no control characters from messages.
import { type Timestamp, zulu } from '../core/clock.ts'

export type Cell = string | number | boolean | null | undefined

/** Each column is as wide as its widest cell; numbers are right-aligned. */
function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows].map(row => row.map(textOf))
  const widths = head.map((_, at) => Math.max(...cells.map(row => width(row[at] ?? ''))))
  const isNumeric = head.map((_, at) => rows.length > 0 && rows.every(row => typeof row[at] === 'number'))
  return cells
    .map(row => row.map((cell, at) => pad(cell, widths[at] ?? 0, isNumeric[at] ?? false)).join('  '))
    .map(line => line.trimEnd())
    .join('\n')
}

/** One name and value per line: `mode    live`. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const widest = Math.max(...pairs.map(([name]) => width(name)))
  return pairs.map(([name, value]) => `${pad(name, widest, false)}  ${textOf(value)}`.trimEnd()).join('\n')
}

/** A table, or the text `nothing` when there are no rows. */
export const listing = (head: readonly string[], rows: readonly (readonly Cell[])[], nothing: string) =>
  rows.length === 0 ? nothing : table(head, rows)

/** To the minute, for people; --json has microseconds. */
export const minute = (t: Timestamp | null) => (t === null ? null : `${zulu(t).slice(0, 16).replace('T', ' ')} UTC`)

export const moment = (t: Timestamp | null) => (t === null ? null : zulu(t))

function textOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return String(cell)
}

const width = (text: string) => [...text].length

function pad(text: string, wanted: number, toTheRight: boolean): string {
  const space = ' '.repeat(Math.max(0, wanted - width(text)))
  return toTheRight ? space + text : text + space
}

/** One line of at most 60 characters without control characters, for a cell of a table. */
export function firstLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

const COLUMNS = 80

/** Lines of at most 80 characters: `first` and the text, whose further lines are indented as far. A longer word is not cut. */
export function wrapped(first: string, text: string): string {
  const indent = ' '.repeat(first.length)
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (first.length + line.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.map((line, at) => (at === 0 ? first : indent) + line).join('\n')
}

/** Without control characters, which could contain terminal escape sequences; line breaks and tabs stay. */
export const printable = (text: string) => text.replaceAll(/[^\P{Cc}\n\t]/gu, '')
