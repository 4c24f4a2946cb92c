// Rendering and length of a text message template with its values.

import { trim } from './characters.ts'
import { type Encoding, fragments, leastUnits, measure, sanitise } from './gsm.ts'
import {
  fill,
  hasFixedText,
  type Keyed,
  keyed,
  names,
  type Parts,
  parse,
  unsendable,
  type Values,
} from './placeholders.ts'
import { createMergedLength, unitsOf } from './size.ts'
import { spacesBeforePunctuation } from './typography.ts'

export const smsLimit = 612

export type SmsLength = { units: number; encoding: Encoding; fragments: number; tooLong: boolean }

export type Sms = SmsLength & { text: string }

export type CompiledSms = {
  readonly names: readonly string[]
  /** Names without a value: a list without items counts as none (contract 22.1). */
  unsendable: (values: Values) => string[]
  /** Whether the message has more than 612 units. Very long ones are found by their lengths, without rendering. */
  isTooLong: (values: Values, prefix?: string | null) => boolean
  /** Whether the body, without the prefix, is only whitespace. */
  isBlank: (values: Values) => boolean
  /** The body in API responses: without the prefix. */
  answer: (values: Values) => { body: string }
  /** The message as it is sent, with the service's name as prefix if given. */
  render: (values: Values, prefix?: string | null) => Sms
}

/** Parses a template once, to be rendered many times. */
export function compileSms(content: string): CompiledSms {
  const parts = parse(content)
  const wanted = names(parts)
  const length = createMergedLength(parts, 'inline')
  const isNeverBlank = hasFixedText(parts, sanitise)
  return {
    names: wanted,
    unsendable: values => unsendable(wanted, keyed(values)),
    isTooLong: (values, prefix = null) => {
      const found = keyed(values)
      const units = length(found, unitsOf)
      if ((units + (prefix?.length ?? 0) + 2) * mostUnitsOfCharacter <= smsLimit) return false
      if (units > longestCleaned || length(found, leastUnits) > smsLimit) return true
      return lengthOf(messageText(parts, found, prefix)).tooLong
    },
    isBlank: values => !isNeverBlank && !/\S/.test(messageText(parts, keyed(values), null)),
    answer: values => ({ body: messageText(parts, keyed(values), null) }),
    render: (values, prefix = null) => {
      const text = messageText(parts, keyed(values), prefix)
      return { text, ...lengthOf(text) }
    },
  }
}

/** One character becomes at most three: `…` is sent as `...`. */
export const mostUnitsOfCharacter = 3

/** A message this long before clean-up is too long whatever clean-up removes; rendering it would only cost time. */
const longestCleaned = 200_000

function messageText(parts: Parts, values: Keyed, prefix: string | null): string {
  const filled = fill(parts, values, { html: 'passthrough', markers: 'plain' })
  return trim(newlines(spacesBeforePunctuation(sanitise(withPrefix(prefix, filled)))))
}

/**
 * The length of a template with unknown values: placeholders count nothing, conditional text included. Spaces before punctuation
 * are counted although sending removes them.
 */
export function countTemplate(content: string, prefix: string | null = null): SmsLength {
  const literal = parse(trim(content)).filter(part => typeof part === 'string')
  const text = newlines(sanitise(withPrefix(prefix, literal.join(''))))
  return lengthOf(text.endsWith('\n') ? text.slice(0, -1) : text)
}

/** The length of a final text, prefix included. */
export function lengthOf(text: string): SmsLength {
  const { units, encoding } = measure(text)
  return { units, encoding, fragments: fragments(units, encoding), tooLong: units > smsLimit }
}

function withPrefix(prefix: string | null, text: string): string {
  const name = trim(prefix ?? '')
  return name === '' ? text : `${name}: ${text}`
}

function newlines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}
