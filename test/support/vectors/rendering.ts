// Vectors of the rendering room (content-rules 13.1) against the real functions.

import { compileEmail } from '../../../src/rendering/compile.ts'
import { bodyHtml, bodyText, preheader, subjectHtml, subjectText } from '../../../src/rendering/email.ts'
import { fragments, measure, sanitise, unsupported } from '../../../src/rendering/gsm.ts'
import { decodeReferences } from '../../../src/rendering/html.ts'
import { emailLength, isEmailTooLong, isNameTooLong } from '../../../src/rendering/limits.ts'
import {
  additional,
  compare,
  conditionalNames,
  fill,
  keyed,
  keyOf,
  missing,
  namesOf,
  parse,
  prepare,
  shows,
} from '../../../src/rendering/placeholders.ts'
import { compileSms, countTemplate } from '../../../src/rendering/sms.ts'
import { bareMarks, canonical } from './canonical.ts'
import type { Handler, Handlers } from './handler.ts'

const placeholders: Handler = input => {
  switch (input.fn) {
    case 'extract':
      return { names: namesOf(input), conditional: conditionalNames(parse(input.content)) }
    case 'key':
      return { key: keyOf(input.key) }
    case 'render': {
      const { html, lists = 'inline', redactMissing = false } = input
      const parts = prepare(parse(input.content), html)
      return { text: bareMarks(fill(parts, keyed(input.values ?? {}), { html, lists, redactMissing })) }
    }
    case 'truthy':
      return { show: shows(input.value) }
    case 'data': {
      const names = namesOf(input)
      return {
        missing: missing(names, keyed(input.values ?? {})),
        additional: additional(names, input.values ?? {}).sort(),
      }
    }
    case 'compare': {
      const { changed, added, removed } = compare(parse(input.before), parse(input.after))
      return { changed, added: added.sort(), removed: removed.sort() }
    }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

const gsm: Handler = input => {
  switch (input.fn) {
    case 'sanitise':
      return { text: sanitise(input.text), unsupported: unsupported(input.text) }
    case 'units':
      return measure(input.text)
    case 'fragments':
      return { fragments: fragments(input.units, input.encoding) }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

const smsContent: Handler = input => {
  const prefix = (input.showPrefix ?? true) ? (input.prefix ?? null) : null
  if (input.fn === 'template') return countTemplate(input.content, prefix)
  const { text, ...length } = compileSms(input.content).render(input.values ?? {}, prefix)
  return { body: text, ...length }
}

const emailPlainText: Handler = input => {
  const values = keyed(input.values ?? {})
  switch (input.fn) {
    case 'body':
      return { text: bodyText(parse(input.content), values) }
    case 'subject':
      return { text: subjectText(parse(input.subject), values) }
    case 'length': {
      const length = emailLength(input.content, parse(input.content), values)
      return { length, tooLong: isEmailTooLong(length) }
    }
    case 'name':
      return { tooLong: isNameTooLong(input.name) }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

const emailHtmlStructure: Handler = input => {
  const values = keyed(input.values ?? {})
  const options = { redactMissing: input.redactMissing ?? false }
  const escaped = (template: string) => prepare(parse(template), 'escape')
  switch (input.fn) {
    case 'body':
      return { html: canonical(bodyHtml(escaped(input.content), values, options)) }
    case 'subject':
      return { html: bareMarks(subjectHtml(escaped(input.subject), values, options)) }
    case 'preheader':
      return { html: bareMarks(preheader(escaped(input.content), values, options)) }
    case 'document':
      return documentFacts(
        compileEmail({
          subject: input.subject,
          content: input.content,
          isRightToLeft: input.textDirectionRtl ?? false,
        }).render(input.values ?? {}).html,
      )
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

function documentFacts(html: string): Record<string, unknown> {
  const body = html.slice(html.indexOf('<body'))
  const first = /^<body[^>]*>\s*<(\w+)([^>]*)>([\s\S]*?)<\/\1>/.exec(body)
  const content = /<td class="card"[^>]* dir="(\w+)"/.exec(body)
  return {
    doctype: /^<!doctype html>/i.test(html),
    title: decodeReferences(/<title>([\s\S]*?)<\/title>/.exec(html)?.[1] ?? ''),
    hiddenPreheader: decodeReferences(first?.[3] ?? '').trim(),
    bodyDir: content?.[1],
    firstElementInBodyIsPreheader: /display:\s*none/.test(first?.[2] ?? ''),
  }
}

export const renderingHandlers: Handlers = {
  placeholders,
  gsm,
  'sms-content': smsContent,
  'email-plain-text': emailPlainText,
  'email-html-structure': emailHtmlStructure,
}
