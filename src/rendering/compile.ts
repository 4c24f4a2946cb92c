// An e-mail template, compiled once and rendered many times. Versions of templates never change, so the result can be cached
// for ever.

import { documentAround, type Frame } from './document.ts'
import {
  type BodyOptions,
  bodyAnswer,
  bodyHtml,
  bodyText,
  cutPreheader,
  preheaderWords,
  subjectAnswer,
  subjectHtml,
  subjectText,
  titleOf,
} from './email.ts'
import {
  hasFixedText,
  type Keyed,
  keyed,
  keyOf,
  names,
  type Parts,
  parse,
  prepare,
  shownKeys,
  unsendable,
  type Values,
} from './placeholders.ts'
import type { Outputs, Template } from './prepared.ts'
import { createShortcut } from './shortcut.ts'
import { createMergedLength, isOverLimit, unitsOf } from './size.ts'

export type EmailTemplate = Frame & BodyOptions & { subject: string; content: string }

export type Email = { subject: string; text: string; html: string }

export type CompiledEmail = {
  /** Names in order of first appearance, the subject's first. */
  readonly names: readonly string[]
  /** Names without a value: a list without items counts as none (contract 22.1). */
  unsendable: (values: Values) => string[]
  /** Whether the value of this name is shown somewhere, and not only tested by a conditional. */
  isShown: (name: string) => boolean
  /** UTF-16 units of subject and body after merging; computed without rendering. */
  mergedUnits: (values: Values) => number
  /** Whether subject or body is over the limit after merging; computed without rendering. */
  isTooLarge: (values: Values) => boolean
  /** Whether the body is only whitespace. */
  isBlank: (values: Values) => boolean
  /** Subject and body as API answers show them. */
  answer: (values: Values) => { subject: string; body: string }
  /** The e-mail. Missing values show as marks; a send refuses them earlier. */
  render: (values: Values) => Email
}

export function compileEmail(template: EmailTemplate): CompiledEmail {
  const subject = parse(template.subject)
  const content = parse(template.content)
  const wanted = names(subject, content)
  const render = rendererOf(template)
  const shortcut = createShortcut({ subject, content }, render, template.literalValues)
  const [head, style, card, end] = documentAround(template)
  const lengths = [createMergedLength(subject, 'inline'), createMergedLength(content, 'markdown')] as const
  const shown = shownKeys(subject, content)
  const isNeverBlank = hasFixedText(content)
  return {
    names: wanted,
    unsendable: values => unsendable(wanted, keyed(values)),
    isShown: name => shown.has(keyOf(name)),
    mergedUnits: values => {
      const found = keyed(values)
      return lengths[0](found, unitsOf) + lengths[1](found, unitsOf)
    },
    isTooLarge: values => {
      const found = keyed(values)
      return isOverLimit(lengths[0], found) || isOverLimit(lengths[1], found)
    },
    isBlank: values => !isNeverBlank && !/\S/.test(bodyAnswer(content, keyed(values))),
    answer: values => {
      const found = keyed(values)
      return { subject: subjectAnswer(subject, found), body: bodyAnswer(content, found) }
    },
    render: values => {
      const found = keyed(values)
      const outputs = shortcut(found) ?? render({ subject, content }, found)
      const { subject: line, text, title, preheader, body } = outputs
      return { subject: line, text, html: head + title + style + cutPreheader(preheader) + card + body + end }
    },
  }
}

/** Full rendering of every output; the escaped parts are reused for the next message. */
export function rendererOf(options: BodyOptions): (template: Template, values: Keyed) => Outputs {
  const escaped = new WeakMap<Parts, Parts>()
  const escapedOf = (parts: Parts) => {
    const known = escaped.get(parts) ?? prepare(parts)
    escaped.set(parts, known)
    return known
  }
  return ({ subject, content }, values) => ({
    subject: subjectText(subject, values),
    text: bodyText(content, values, options),
    title: titleOf(subjectHtml(escapedOf(subject), values)),
    preheader: preheaderWords(escapedOf(content), values, options),
    body: bodyHtml(escapedOf(content), values, options),
  })
}
