// The length of a template after merging, computed from lengths alone without rendering: a template that repeats one long value
// ten thousand times is refused before it costs anything (contract 22.13).

import { codePoints } from './characters.ts'
import { type Keyed, type Parts, scalarText, shows } from './placeholders.ts'

/** The most characters of a rendered subject or body. */
export const renderedLimit = 2_000_000

export type Count = (text: string) => number

/** The length of the merged parts. `count` measures each text once, however often it appears. */
export type MergedLength = (values: Keyed, count: Count) => number

export const unitsOf: Count = text => text.length

export function createMergedLength(parts: Parts, lists: 'inline' | 'markdown'): MergedLength {
  const fixed = parts.filter(part => typeof part === 'string').join('')
  const ordinary = new Map<string, number>()
  const conditional = new Map<string, string>()
  for (const part of parts) {
    if (typeof part === 'string') continue
    if (part.text === null) ordinary.set(part.key, (ordinary.get(part.key) ?? 0) + 1)
    else conditional.set(part.key, (conditional.get(part.key) ?? '') + part.text)
  }
  return (values, count) => {
    let length = count(fixed)
    for (const [key, times] of ordinary) length += times * valueLength(values.get(key), lists, count)
    for (const [key, text] of conditional) if (shows(values.get(key))) length += count(text)
    return length
  }
}

/** Whether merging exceeds the limit; characters are counted only where the faster measure does not decide. */
export function isOverLimit(length: MergedLength, values: Keyed): boolean {
  return length(values, unitsOf) > renderedLimit && length(values, codePoints) > renderedLimit
}

// As placeholders.ts writes lists: `* item` lines after a blank line, or `a, b and c`.
function valueLength(value: unknown, lists: 'inline' | 'markdown', count: Count): number {
  if (typeof value === 'string') return count(value)
  if (!Array.isArray(value)) return count(scalarText(value))
  const items = value.filter(Boolean)
  if (items.length === 0) return 0
  const text = items.reduce((sum: number, item) => sum + count(scalarText(item)), 0)
  if (lists === 'markdown') return text + 2 + 3 * items.length - 1
  return items.length === 1 ? text : text + 2 * (items.length - 2) + ' and '.length
}
