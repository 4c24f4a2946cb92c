// How long the text message of each row gets. Most are so short that nothing need be rendered to know that they fit.

import { codePoints } from '../rendering/characters.ts'
import { unsupported } from '../rendering/gsm.ts'
import { parse } from '../rendering/placeholders.ts'
import { compileSms, smsLimit } from '../rendering/sms.ts'
import type { TextMeasure, Value, Values } from './check.ts'

// One character becomes at most three (`…` is sent as `...`).
const mostUnitsOfCharacter = 3

/** Measured after filling, prefix included (contract 21, 6). */
export function createTextMeasure(content: string, prefix: string | null = null): TextMeasure {
  const template = compileSms(content)
  const slots = parse(content).filter(part => typeof part !== 'string').length
  const fixed = content.length + (prefix?.length ?? 0) + 2
  return {
    units(values) {
      const most = (fixed + slots * longestOf(values)) * mostUnitsOfCharacter
      return most <= smsLimit ? most : template.render(withoutNulls(values), prefix).units
    },
  }
}

/** The reference's question about a single value, beside the measure: only the vectors ask it (content-rules 10.4). */
export function createReferenceMeasure(content: string): TextMeasure {
  const raw = codePoints(content)
  return { ...createTextMeasure(content), isLongValue: value => raw + weight(value) > smsLimit }
}

function weight(value: Value): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + weight(item), 0)
  if (value === null) return 0
  const heavy = new Set(unsupported(value))
  let sum = 0
  for (const char of value) sum += heavy.has(char) ? 2 : 1
  return sum
}

function longestOf(values: Values): number {
  let longest = 0
  for (const key in values) {
    const value = values[key]
    // A list is longer than its items.
    if (Array.isArray(value)) return Number.POSITIVE_INFINITY
    if (value && value.length > longest) longest = value.length
  }
  return longest
}

// A missing value is an error of its own; here it counts nothing, not the marker a preview would show.
function withoutNulls(values: Values): Values {
  if (!Object.values(values).includes(null)) return values
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? '']))
}
