// An e-mail template, compiled once and rendered many times. Versions of templates never change, so the result can be cached
// for ever.

import type { Pieces } from '../core/pieces.ts'
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

/** `pieces` of text and HTML, where the values allowed it. */
export type PiecedEmail = Email & { pieces: { text: Pieces; html: Pieces } | null }

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
  /** The same, for a composer that encodes what messages have in common once. */
  renderInPieces: (values: Values) => PiecedEmail
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
  const outputsOf = (values: Values) => {
    const found = keyed(values)
    return shortcut(found) ?? render({ subject, content }, found)
  }
  const documentOf = (title: string, preheader: string, body: string) =>
    head + title + style + preheader + card + body + end
  // By the fixed texts of the body.
  const framed = new WeakMap<readonly string[], readonly string[]>()
  const framedOf = (fixed: readonly string[]) => {
    const known = framed.get(fixed) ?? inFrame(fixed, head, style, card, end)
    framed.set(fixed, known)
    return known
  }
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
      const { subject, text, title, preheader, body } = outputsOf(values)
      return { subject, text, html: documentOf(title, cutPreheader(preheader), body) }
    },
    renderInPieces: values => {
      const { subject, text, title, preheader, body, pieces } = outputsOf(values)
      const opening = cutPreheader(preheader)
      return {
        subject,
        text,
        html: documentOf(title, opening, body),
        pieces: pieces
          ? {
              text: pieces.text,
              html: { fixed: framedOf(pieces.body.fixed), values: [title, opening, ...pieces.body.values] },
            }
          : null,
      }
    },
  }
}

/** The fixed texts of a whole document, from those of its body. */
function inFrame(body: readonly string[], head: string, style: string, card: string, end: string): readonly string[] {
  const fixed = [head, style, card + (body[0] ?? ''), ...body.slice(1)]
  fixed[fixed.length - 1] += end
  return fixed
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
