// Vectors of the rendering room (content-rules 13.1) against the real functions.

import { compileEmail } from '../../../src/rendering/compile.ts'
import {
  bodyHtml,
  bodyText,
  cutPreheader,
  preheaderWords,
  subjectHtml,
  subjectText,
} from '../../../src/rendering/email.ts'
import { fragments, measure, sanitise } from '../../../src/rendering/gsm.ts'
import { decodeReferences } from '../../../src/rendering/html.ts'
import { seal } from '../../../src/rendering/literal.ts'
import { fill, keyed, keyOf, missing, namesOf, parse, prepare, shows } from '../../../src/rendering/placeholders.ts'
import { compileSms, countTemplate } from '../../../src/rendering/sms.ts'
import { bareMarks, canonical } from './canonical.ts'
import type { Handler, Handlers } from './handler.ts'
import {
  additional,
  compare,
  conditionalNames,
  emailLength,
  hideMissing,
  isNameTooLong,
  stripParts,
  stripValues,
  unsupported,
} from './reference-text.ts'

const placeholders: Handler = input => {
  switch (input.fn) {
    case 'extract':
      return { names: namesOf(input), conditional: conditionalNames(parse(input.content)) }
    case 'key':
      return { key: keyOf(input.key) }
    case 'render': {
      const { content, html, lists = 'inline', redactMissing = false } = input
      const isStripped = html === 'strip'
      const values = keyed(isStripped ? stripValues(input.values ?? {}) : (input.values ?? {}))
      const parsed = parse(content)
      const parts = isStripped ? stripParts(parsed) : html === 'escape' ? prepare(parsed) : parsed
      const shown = redactMissing ? hideMissing(parts, values) : parts
      return { text: bareMarks(fill(shown, values, { html: html === 'passthrough' ? html : 'escape', lists })) }
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
      const length = emailLength(input.content, values)
      return { length, tooLong: length > 50_000 }
    }
    case 'name':
      return { tooLong: isNameTooLong(input.name) }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

const emailHtmlStructure: Handler = input => {
  const values = keyed(input.values ?? {})
  const escaped = (template: string) => {
    const parts = prepare(parse(template))
    return input.redactMissing ? hideMissing(parts, values, seal) : parts
  }
  switch (input.fn) {
    case 'body':
      return { html: canonical(bodyHtml(escaped(input.content), values)) }
    case 'subject':
      return { html: bareMarks(subjectHtml(escaped(input.subject), values)) }
    case 'preheader':
      return { html: bareMarks(cutPreheader(preheaderWords(escaped(input.content), values))) }
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
