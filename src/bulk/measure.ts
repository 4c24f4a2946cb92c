// Whether the message of a row is too long. Most are clearly short or clearly too long, so nothing needs to be rendered.

import { keyed, parse } from '../rendering/placeholders.ts'
import { createMergedLength, isOverLimit, renderedLimit } from '../rendering/size.ts'
import { compileSms, mostUnitsOfCharacter, type SmsLength, smsLimit } from '../rendering/sms.ts'
import type { EmailMeasure, RowValues, TextMeasure } from './check.ts'

/** Measured after merging, prefix included (contract 21, 6). */
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

/** How many parts the text message of a row has, prefix included, and their alphabet. */
export function createPartsMeasure(content: string, prefix: string | null): (values: RowValues) => SmsParts {
  const template = compileSms(content)
  const parts = parse(content)
  const slots = parts.filter(part => typeof part !== 'string').length
  const fixed = [prefix ?? '', ...parts.map(part => (typeof part === 'string' ? part : (part.text ?? '')))].join('')
  const isPlainTemplate = isPlain(fixed)
  const spare = oneGsmPart - fixed.length - 2
  return values => {
    if (isPlainTemplate && slots * longestOf(values) <= spare && Object.values(values).every(isPlainValue)) return ONE
    return template.render(withoutNulls(values), prefix)
  }
}

export type SmsParts = Pick<SmsLength, 'encoding' | 'fragments'>
const ONE: SmsParts = { encoding: 'GSM-7', fragments: 1 }
/** Units of a text message that is not split. */
const oneGsmPart = 160

/** Only characters that take one unit of the GSM alphabet and that clean-up does not change, or removes. */
const isPlain = (text: string) => /^[\n -Z_a-z]*$/.test(text)
const isPlainValue = (value: RowValues[string]) => value === null || (typeof value === 'string' && isPlain(value))

/** Compares subject and body after merging with the limit of contract 22.13. */
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

/** Measures the text message or the e-mail of a template. */
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

function longestOf(values: RowValues): number {
  let longest = 0
  for (const key in values) {
    const value = values[key]
    // A rendered list has separators, so it is longer than its items together.
    if (Array.isArray(value)) return Number.POSITIVE_INFINITY
    if (value && value.length > longest) longest = value.length
  }
  return longest
}

// A missing value is an error of its own; here it counts as empty, not as the marker that a preview shows.
function withoutNulls(values: RowValues): RowValues {
  if (!Object.values(values).includes(null)) return values
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? '']))
}
