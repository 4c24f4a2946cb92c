// An e-mail template compiled once and rendered many times.

import {
  bodyAnswer,
  bodyHtml,
  bodyText,
  document,
  preheader,
  subjectAnswer,
  subjectHtml,
  subjectText,
} from './email.ts'
import { emailLength } from './limits.ts'
import { additional, keyed, missing, names, parse, prepare, type Values } from './placeholders.ts'

export type EmailTemplate = {
  subject: string
  content: string
  lang?: string
  isRightToLeft?: boolean
  literalValues?: boolean
}

export type Email = { subject: string; text: string; html: string }

export type CompiledEmail = {
  readonly names: readonly string[]
  missing: (values: Values) => string[]
  additional: (values: Values) => string[]
  answer: (values: Values) => { subject: string; body: string }
  length: (values: Values) => number
  render: (values: Values) => Email
}

export function compileEmail(template: EmailTemplate): CompiledEmail {
  const subject = parse(template.subject)
  const content = parse(template.content)
  const escapedSubject = prepare(subject, 'escape')
  const escapedContent = prepare(content, 'escape')
  const wanted = names(subject, content)
  return {
    names: wanted,
    missing: values => missing(wanted, keyed(values)),
    additional: values => additional(wanted, values),
    answer: values => ({ subject: subjectAnswer(subject, keyed(values)), body: bodyAnswer(content, keyed(values)) }),
    length: values => emailLength(template.content, content, keyed(values)),
    render: values => {
      const found = keyed(values)
      return {
        subject: subjectText(subject, found),
        text: bodyText(content, found, template),
        html: document(
          subjectHtml(escapedSubject, found),
          preheader(escapedContent, found, template),
          bodyHtml(escapedContent, found, template),
          template,
        ),
      }
    },
  }
}
