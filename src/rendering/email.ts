// Full rendering of an e-mail: subject, plain text, HTML, preheader, document. compile.ts uses a prepared version where the
// values allow it.

import { collapse, dropInvisible, trim, trimStart } from './characters.ts'
import { decodeReferences, isRefusedTarget, referenceEnd } from './html.ts'
import { protect, seal } from './literal.ts'
import { dropTags, linkTargets, toHtml, toPreheader, toText } from './markdown.ts'
import { type Filling, fill, type Keyed, type Parts } from './placeholders.ts'
import { typographyOfHtml, typographyOfText } from './typography.ts'

export type BodyOptions = {
  /** Values are plain text: Markdown in them is not formatted. */
  literalValues?: boolean
}

/** The subject of the e-mail. */
export function subjectText(parts: Parts, values: Keyed): string {
  return cleanSubject(typographyOfText(fill(parts, values, { html: 'passthrough', markers: 'plain' })))
}

/** The subject in HTML, from parts prepared by escaping. */
export function subjectHtml(escaped: Parts, values: Keyed): string {
  return cleanSubject(typographyOfHtml(fill(escaped, values, { html: 'escape' })))
}

/** The subject as the title of the HTML document, which cannot contain elements: a mark there would show as text. */
export function titleOf(subject: string): string {
  return subject.includes('<') ? subject.replace(/<\/?(?:mark|span|br)>/g, '') : subject
}

/** The subject in API responses: filled, whitespace collapsed, no typography (contract 21.5). */
export function subjectAnswer(parts: Parts, values: Keyed): string {
  return collapse(fill(parts, values, { html: 'passthrough', markers: 'plain' }))
}

export function cleanSubject(subject: string): string {
  return collapse(dropInvisible(subject))
}

/** The body in API responses: the filled template. The length limit applies to it. */
export function bodyAnswer(parts: Parts, values: Keyed): string {
  return fill(parts, values, { html: 'passthrough', lists: 'markdown', markers: 'plain' })
}

export function bodyText(parts: Parts, values: Keyed, options: BodyOptions = {}): string {
  const filled = fill(parts, values, { ...filling('passthrough', options), markers: 'plain' })
  const text = typographyOfText(toText(prepareBody(filled), options.literalValues))
  return `${trimStart(decodeReferences(text))}\n`
}

/** The body in HTML without the document around it, from parts prepared by escaping. */
export function bodyHtml(escaped: Parts, values: Keyed, options: BodyOptions = {}): string {
  const filled = fill(escaped, values, { ...filling('escape', options), block: conditionalBlock })
  return typographyOfHtml(toHtml(prepareBody(filled), options.literalValues))
}

/** Targets of links that lead nowhere, because their scheme is not allowed; from parts prepared by escaping. */
export function refusedTargets(escaped: Parts, values: Keyed, options: BodyOptions = {}): string[] {
  const filled = fill(escaped, values, { ...filling('escape', options), block: conditionalBlock })
  return [...new Set(linkTargets(prepareBody(filled)).filter(isRefusedTarget))].map(decodeReferences)
}

/** The text of a preheader, before it is cut. */
export function preheaderWords(escaped: Parts, values: Keyed, options: BodyOptions = {}): string {
  const filled = fill(escaped, values, filling('escape', options))
  return collapse(typographyOfHtml(dropTags(toPreheader(prepareBody(filled), options.literalValues))))
}

function filling(html: 'escape' | 'passthrough', options: BodyOptions): Filling {
  const common: Filling = { html, lists: 'markdown', seal }
  return options.literalValues ? { ...common, protect } : common
}

const legacyDomain = /(?<![./])(gov\.)(uk)(?![/?])/gi

function prepareBody(filled: string): string {
  const text = filled.includes('\u2028') ? filled.replaceAll('\u2028', '') : filled
  // A zero-width space keeps mail clients from linking that name automatically. The search comes first because the pattern has a
  // lookaround at every g.
  return /gov\.uk/i.test(text) ? text.replace(legacyDomain, '$1\u200b$2') : text
}

// Rendered parts must not be parsed as Markdown a second time.
function conditionalBlock(name: string, text: string): string {
  return `<div>${seal(`<span>((${name}??</span>${toHtml(text)}))`)}</div>`
}

export const preheaderLimit = 256

/**
 * Cuts the text of a preheader. The count is over the escaped text, but a character reference is kept or dropped as a whole
 * (defect 14), and so is a mark for a missing value.
 */
export function cutPreheader(words: string): string {
  if (words.length <= preheaderLimit) return words
  const first = words.slice(0, preheaderLimit)
  if (!/[<&\ud800-\udfff]/.test(first)) return trim(first)
  const open: string[] = []
  let count = 0
  let i = 0
  while (i < words.length) {
    const code = words.charCodeAt(i)
    if (code === 60) {
      const end = words.indexOf('>', i) + 1 || words.length
      const tag = words.slice(i, end)
      if (tag.startsWith('</')) open.pop()
      else if (tag !== '<br>') open.push(`</${tag.slice(1)}`)
      i = end
      continue
    }
    const end = code === 38 ? referenceEnd(words, i) : -1
    const isPair = (code & 0xfc00) === 0xd800 && (words.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    const next = end !== -1 ? end : i + (isPair ? 2 : 1)
    count += end !== -1 ? end - i : 1
    if (count > preheaderLimit) break
    i = next
  }
  return trim(words.slice(0, i)) + open.reverse().join('')
}
