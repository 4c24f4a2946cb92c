// Classifies a single line of an e-mail body: rule, underline, bullet, heading, fence, definition. Every test is one pass over
// the line.

import { collapse, isDigit } from './characters.ts'

export function indentOf(line: string): number {
  let i = 0
  while (line[i] === ' ') i++
  return i
}

/** Three or more of `-` `*` `_` from this index on, with nothing but spaces between them. */
export function isRule(line: string, from: number): boolean {
  let marks = 0
  for (let i = from; i < line.length; i++) {
    const char = line[i]
    if (char === '-' || char === '*' || char === '_') marks++
    else if (char !== ' ' || marks === 0) return false
  }
  return marks >= 3
}

/** The heading level that this underline gives to the line above it, or 0. */
export function underline(line: string | undefined): 0 | 1 | 2 {
  if (line === undefined) return 0
  const start = indentOf(line)
  let end = line.length
  while (end > start && line[end - 1] === ' ') end--
  if (start === end) return 0
  for (let i = start; i < end; i++) if (line[i] !== '=' && line[i] !== '-') return 0
  return line[end - 1] === '=' ? 1 : 2
}

/** The index after a bullet or number that starts here and has a space behind it, or -1. */
export function bulletEnd(line: string, from: number, bullets = '•*-'): number {
  let end = from
  if (bullets.includes(line.charAt(from)) && from < line.length) end = from + 1
  else {
    while (isDigit(line.charCodeAt(end))) end++
    if (end === from || line[end] !== '.') return -1
    end++
  }
  return line[end] === ' ' ? end : -1
}

/**
 * Whether this line ends the paragraph before it because it looks like a list. The marks differ from those of a list: `+` and a
 * bullet with a number count, `•` does not, and something must follow the space.
 */
export function breaksLikeList(line: string, hasMore: boolean): boolean {
  const from = indentOf(line)
  const isMark = '*+-'.includes(line.charAt(from)) && from < line.length
  let end = isMark ? from + 1 : from
  const digits = end
  while (isDigit(line.charCodeAt(end))) end++
  if (end > digits && line[end] === '.') end++
  else end = digits
  return end > from && line[end] === ' ' && (end + 1 < line.length || hasMore)
}

export function heading(line: string): { level: number; text: string } | null {
  const start = indentOf(line)
  if (start > 3 || line[start] !== '#') return null
  let level = 1
  while (level < 6 && line[start + level] === '#') level++
  let from = start + level
  if (from === line.length) {
    // Only hashes: the last one is the text.
    if (level === 1) return null
    return { level: level - 1, text: '#' }
  }
  while (line[from] === ' ') from++
  let end = line.length
  while (end > from && line[end - 1] === ' ') end--
  while (end > from && line[end - 1] === '#') end--
  while (end > from && line[end - 1] === ' ') end--
  return { level, text: end > from ? line.slice(from, end) : line.slice(from, from + 1) }
}

/** An opening fence: a run of backticks or tildes, followed by at most one word. */
export function fence(line: string): string | null {
  const start = indentOf(line)
  const mark = line[start]
  if (mark !== '`' && mark !== '~') return null
  let end = start
  while (line[end] === mark) end++
  if (end - start < 3) return null
  const info = line.slice(end).trim()
  return info.includes(' ') || info.includes('`') ? null : line.slice(start, end)
}

/** The length of the run of this character at the end of the line, ignoring spaces. */
export function closingRun(line: string, mark: string): number {
  let end = line.length
  while (end > 0 && line[end - 1] === ' ') end--
  let start = end
  while (start > 0 && line[start - 1] === mark) start--
  return end - start
}

export type LinkDefinition = { key: string; target: string; title: string }

/** `[key]: target "title"` */
export function linkDefinition(line: string): LinkDefinition | null {
  const start = indentOf(line)
  if (line[start] !== '[') return null
  const close = line.indexOf(']', start)
  if (close <= start + 1 || line[close + 1] !== ':') return null
  const key = line.slice(start + 1, close)
  if (key.includes('^')) return null
  let from = close + 2
  while (line[from] === ' ') from++
  if (line[from] === '<') from++
  let end = from
  while (end < line.length && line[end] !== '>' && !/\s/.test(line.charAt(end))) end++
  if (end === from) return null
  const target = line.slice(from, end)
  const rest = line.slice(line[end] === '>' ? end + 1 : end).trimEnd()
  if (rest === '') return { key: keyOfDefinition(key), target, title: '' }
  const open = indentOf(rest)
  const isTitle =
    open > 0 && '"('.includes(rest.charAt(open)) && '")'.includes(rest.slice(-1)) && rest.length > open + 2
  return isTitle ? { key: keyOfDefinition(key), target, title: rest.slice(open + 1, -1) } : null
}

/** `[^key]: text`; returns the key and the index where the text starts. */
export function footnoteDefinition(line: string): { key: string; from: number } | null {
  if (!line.startsWith('[^')) return null
  const close = line.indexOf(']')
  if (close < 3 || line[close + 1] !== ':') return null
  let from = close + 2
  while (line[from] === ' ') from++
  return { key: keyOfDefinition(line.slice(2, close)), from }
}

export function keyOfDefinition(key: string): string {
  return /\s/.test(key) ? collapse(key.toLowerCase()) : key.toLowerCase()
}

/** Whether a header row and the row under it begin a table, with or without outer pipes. */
export function isTable(header: string, separator: string | undefined, outer: boolean): boolean {
  if (separator === undefined) return false
  const start = indentOf(header)
  const hasPipe = outer ? header[start] === '|' && header.length > start + 1 : header.indexOf('|', start + 1) !== -1
  if (!hasPipe) return false
  let i = indentOf(separator)
  if (outer) {
    if (separator[i] !== '|') return false
    i++
    while (separator[i] === ' ') i++
  }
  const dashes = i
  while (separator[i] === '-' || separator[i] === ':') i++
  if (i === dashes) return false
  if (!outer) {
    while (separator[i] === ' ') i++
    if (separator[i] !== '|') return false
  }
  for (; i < separator.length; i++) if (!'-| :'.includes(separator.charAt(i))) return false
  return true
}
