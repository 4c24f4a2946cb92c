// Whether the message of each row gets too long. Most are so short, or so long, that nothing need be rendered to know.

import { keyed, parse } from '../rendering/placeholders.ts'
import { createMergedLength, isOverLimit, renderedLimit } from '../rendering/size.ts'
import { compileSms, mostUnitsOfCharacter, smsLimit } from '../rendering/sms.ts'
import type { EmailMeasure, TextMeasure, Values } from './check.ts'

/** Measured after filling, prefix included (contract 21, 6). */
export function createTextMeasure(content: string, prefix: string | null = null): TextMeasure {
  const template = compileSms(content)
  const slots = parse(content).filter(part => typeof part !== 'string').length
  const fixed = content.length + (prefix?.length ?? 0) + 2
  return {
    isTooLong(values) {
      const most = (fixed + slots * longestOf(values)) * mostUnitsOfCharacter
      return most > smsLimit && template.isTooLong(withoutNulls(values), prefix)
    },
  }
}

/** Subject and body after merging against the limit of contract 22.13. */
export function createEmailMeasure(template: { subject: string; content: string }): EmailMeasure {
  const parts = [parse(template.subject), parse(template.content)] as const
  const lengths = [createMergedLength(parts[0], 'inline'), createMergedLength(parts[1], 'markdown')]
  const slots = parts.flat().filter(part => typeof part !== 'string').length
  const fixed = template.subject.length + template.content.length
  return {
    isTooLarge(values) {
      if (fixed + slots * longestOf(values) <= renderedLimit) return false
      const found = keyed(values)
      return lengths.some(length => isOverLimit(length, found))
    },
  }
}

/** The measure of a template: of its text message or of its e-mail. */
export const createMeasures = ({
  content,
  subject,
  prefix,
}: {
  content: string
  subject: string | null
  prefix: string | null
}) =>
  subject === null ? { text: createTextMeasure(content, prefix) } : { email: createEmailMeasure({ subject, content }) }

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
