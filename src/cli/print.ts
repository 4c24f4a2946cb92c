// Plain text for people: aligned columns, no colours, nothing that a pipe would mind.
import { type Timestamp, zulu } from '../core/clock.ts'

export type Cell = string | number | boolean | null | undefined

/** Columns as wide as their widest cell; numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows].map(row => row.map(shown))
  const widths = head.map((_, at) => Math.max(...cells.map(row => width(row[at] ?? ''))))
  const isNumeric = head.map((_, at) => rows.length > 0 && rows.every(row => typeof row[at] === 'number'))
  return cells
    .map(row => row.map((cell, at) => pad(cell, widths[at] ?? 0, isNumeric[at] ?? false)).join('  '))
    .map(line => line.trimEnd())
    .join('\n')
}

/** One fact a line: `mode    live`. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const widest = Math.max(...pairs.map(([name]) => width(name)))
  return pairs.map(([name, value]) => `${pad(name, widest, false)}  ${shown(value)}`.trimEnd()).join('\n')
}

/** A table, or a sentence when there is nothing to show. */
export const listing = (head: readonly string[], rows: readonly (readonly Cell[])[], nothing: string) =>
  rows.length === 0 ? nothing : table(head, rows)

/** `2026-06-15 12:30` is enough for people; programs get the microseconds. */
export const minute = (t: Timestamp | null) => (t === null ? null : `${zulu(t).slice(0, 16).replace('T', ' ')} UTC`)

export const moment = (t: Timestamp | null) => (t === null ? null : zulu(t))

function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return String(cell)
}

const width = (text: string) => [...text].length

function pad(text: string, wanted: number, toTheRight: boolean): string {
  const space = ' '.repeat(Math.max(0, wanted - width(text)))
  return toTheRight ? space + text : text + space
}
