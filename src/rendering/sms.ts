// What a text message template and its values become, and how long that is.

import { trim } from './characters.ts'
import { type Encoding, fragments, measure, sanitise } from './gsm.ts'
import { additional, fill, keyed, missing, names, type Parts, parse, type Values } from './placeholders.ts'
import { spacesBeforePunctuation } from './typography.ts'

export const smsLimit = 612

export type SmsLength = { units: number; encoding: Encoding; fragments: number; tooLong: boolean }

export type Sms = SmsLength & { text: string }

export type CompiledSms = {
  readonly names: readonly string[]
  /** Names without a value. */
  missing: (values: Values) => string[]
  /** Supplied keys that the template does not use. */
  additional: (values: Values) => string[]
  /** The body that API answers show: without the prefix. */
  answer: (values: Values) => { body: string }
  /** The message as it is sent, with the service's name in front if one is given. */
  render: (values: Values, prefix?: string | null) => Sms
}

/** Takes a template apart once, to be rendered many times. */
export function compileSms(content: string): CompiledSms {
  const parts = parse(content)
  const wanted = names(parts)
  return {
    names: wanted,
    missing: values => missing(wanted, keyed(values)),
    additional: values => additional(wanted, values),
    answer: values => ({ body: messageText(parts, values, null) }),
    render: (values, prefix = null) => {
      const text = messageText(parts, values, prefix)
      return { text, ...lengthOf(text) }
    },
  }
}

function messageText(parts: Parts, values: Values, prefix: string | null): string {
  const filled = fill(parts, keyed(values), { html: 'passthrough', markers: 'plain' })
  return trim(newlines(spacesBeforePunctuation(sanitise(withPrefix(prefix, filled)))))
}

/**
 * The length of a template whose values are not known: placeholders count nothing, conditional text included. Spaces
 * before punctuation are counted although sending removes them.
 */
export function countTemplate(content: string, prefix: string | null = null): SmsLength {
  const literal = parse(trim(content)).filter(part => typeof part === 'string')
  const text = newlines(sanitise(withPrefix(prefix, literal.join(''))))
  return lengthOf(text.endsWith('\n') ? text.slice(0, -1) : text)
}

/** The length of a text that is final, prefix included. */
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
