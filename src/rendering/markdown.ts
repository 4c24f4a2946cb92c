// The Markdown dialect of e-mail bodies, with three outputs: HTML, plain text, and the preheader.

import { type Block, createDefinitions, type Definitions, type ListItem, parseBlocks, prepareLines } from './blocks.ts'
import { collapse, isBlank, trim, trimEnd } from './characters.ts'
import { attribute, encodeUrl, safeTarget } from './html.ts'
import { type InlineContext, type InlineTarget, renderInline } from './inline.ts'
import { restore } from './literal.ts'

/** Writes blocks for one kind of output. */
type Target = InlineTarget & {
  readonly paragraph: (text: string) => string
  readonly heading: (text: string, level: number) => string
  readonly rule: string
  readonly list: (items: readonly string[], isOrdered: boolean) => string
  readonly inset: (content: string) => string
  readonly code: (text: string) => string
  readonly raw: (text: string) => string
  /** Whether the output is long enough, so that rendering can stop. */
  readonly isEnough?: (written: string) => boolean
}

/** A filled and escaped body as HTML; language and direction tags become elements. */
export function toHtml(escaped: string, hasLiterals = false): string {
  const definitions = createDefinitions()
  const pieces = splitAtTags(prepareLines(escaped)).map(piece =>
    piece.kind === 'text' ? parseBlocks(piece.text, definitions) : piece.html,
  )
  if (!hasLiterals && !hasMarks.test(escaped)) return renderPage(pieces, html, definitions)
  return restore(renderPage(pieces, literalHtml, definitions))
}

// In escaped text only our own marks for missing values are elements, and they are protected.
const hasMarks = /<(?:mark|div)>/

/** A filled body as plain text. `<`, `>` and `&` are still escaped, for the typography pass. */
export function toText(filled: string, hasLiterals = false): string {
  const text = renderAll(filled, plain)
  return hasLiterals ? restore(text) : text
}

/** A filled and escaped body as the text of the preheader. */
export function toPreheader(escaped: string, hasLiterals = false): string {
  const text = renderAll(escaped, preheader)
  return hasLiterals || hasMarks.test(escaped) ? restore(text) : text
}

/** The targets of all links of a filled and escaped body, as they are written. */
export function linkTargets(escaped: string): string[] {
  const found: string[] = []
  const recording: Target = {
    ...literalHtml,
    link: (text, target) => {
      found.push(restore(withoutMarks(target)))
      return text
    },
  }
  const definitions = createDefinitions()
  const pieces = splitAtTags(prepareLines(escaped)).map(piece =>
    piece.kind === 'text' ? parseBlocks(piece.text, definitions) : piece.html,
  )
  renderPage(pieces, recording, definitions)
  return found
}

function renderAll(filled: string, to: Target): string {
  const definitions = createDefinitions()
  return renderPage([parseBlocks(prepareLines(filled), definitions)], to, definitions)
}

function renderPage(pieces: readonly (string | readonly Block[])[], to: Target, definitions: Definitions): string {
  const context: InlineContext = { to, definitions, cited: new Set(), isNote: false }
  let out = ''
  for (const piece of pieces) out += typeof piece === 'string' ? piece : renderBlocks(piece, to, context)
  if (to.isEnough?.(out)) return out
  // Rendering the notes adds no further ones, so the set does not change during the loop.
  for (const key of context.cited) {
    out += renderBlocks(definitions.footnotes.get(key) ?? [], to, { ...context, isNote: true })
  }
  return out
}

function renderBlocks(blocks: readonly Block[], to: Target, context: InlineContext): string {
  let out = ''
  let askAt = 0
  for (const block of blocks) {
    out += renderBlock(block, to, context)
    if (!to.isEnough || out.length < askAt) continue
    if (to.isEnough(out)) break
    // The check reads everything written so far, so it is repeated only when the length has doubled.
    askAt = 2 * out.length
  }
  return out
}

function renderBlock(block: Block, to: Target, context: InlineContext): string {
  switch (block.type) {
    case 'newline':
      return to.lineBreak
    case 'rule':
      return to.rule
    case 'code':
      return to.code(block.text)
    case 'raw':
      return to.raw(block.text)
    case 'heading':
      return to.heading(renderInline(block.text, context), block.level)
    case 'paragraph':
    case 'text':
      return to.paragraph(renderInline(block.text, context))
    case 'inset':
      return to.inset(renderBlocks(block.blocks, to, context))
    case 'list':
      return to.list(
        block.items.map(item => trim(renderItem(item, to, context))),
        block.isOrdered,
      )
  }
}

/** A tight item contains bare text; in a loose one text is a paragraph. */
function renderItem(item: ListItem, to: Target, context: InlineContext): string {
  if (item.isLoose) return renderBlocks(item.blocks, to, context)
  let out = ''
  for (const block of item.blocks) {
    out += block.type === 'text' ? renderInline(block.text, context) : renderBlock(block, to, context)
  }
  return out
}

const identity = (text: string) => text

const html: Target = {
  isHtml: true,
  lineBreak: '<br>',
  text: identity,
  bold: text => `<strong>${text}</strong>`,
  italic: text => `<em>${text}</em>`,
  link: (text, target, title) =>
    `<a href="${safeTarget(target)}"${title === '' ? '' : ` title="${attribute(title)}"`}>${text}</a>`,
  url: url => `<a href="${encodeUrl(url)}">${url}</a>`,
  paragraph: text => (isBlank(text) ? '' : `<p style="margin:0 0 20px">${text}</p>`),
  heading: (text, level) => {
    if (level > 2 || isBlank(text)) return html.paragraph(text)
    return level === 1
      ? `<h2 style="margin:0 0 20px;font-size:26px;line-height:1.3">${text}</h2>`
      : `<h3 style="margin:0 0 15px;font-size:21px;line-height:1.3">${text}</h3>`
  },
  rule: '<hr class="line" style="margin:30px 0;border:0;border-top:1px solid #b6bcc4">',
  list: (items, isOrdered) => {
    const name = isOrdered ? 'ol' : 'ul'
    const inside = items.map(item => `<li style="margin:5px 0;padding:0 0 0 5px">${item}</li>`).join('')
    return `<${name} style="margin:0 0 20px;padding:0 0 0 25px">${inside}</${name}>`
  },
  inset: content =>
    `<blockquote class="line" style="margin:0 0 20px;padding:15px 0 1px 15px;border-left:8px solid #b6bcc4">${content}</blockquote>`,
  // A layout table separates the lines of code without an element that would change their meaning.
  code: text =>
    `<table role="presentation" style="margin:0 0 20px"><tr><td style="font-family:monospace;white-space:pre-wrap">${text}</td></tr></table>`,
  raw: identity,
}

// A target is checked after decoding; a mark in an attribute could only show as text.
const literalHtml: Target = {
  ...html,
  link: (text, target, title) => html.link(text, restore(withoutMarks(target)), restore(withoutMarks(title))),
  url: url => html.url(restore(url)),
}

function withoutMarks(text: string): string {
  return text.replace(/<\/?(?:mark|div|span|br)>/g, '')
}

const width = 65

const plain: Target = {
  isHtml: false,
  lineBreak: '\n',
  text: escapeForDecoding,
  bold: text => `**${text}**`,
  italic: text => `_${text}_`,
  link: (text, target, title) => `${text}${title === '' ? '' : ` (${title})`}: ${target}`,
  url: identity,
  paragraph: text => (isBlank(text) ? '' : `\n\n${text}`),
  heading: (text, level) => {
    if (level > 2 || isBlank(text)) return plain.paragraph(text)
    return `${level === 1 ? '\n\n\n' : '\n\n'}${text}\n${'-'.repeat(width)}`
  },
  rule: `\n\n${'='.repeat(width)}`,
  list: (items, isOrdered) =>
    `\n${items.map((item, index) => `\n${isOrdered ? `${index + 1}.` : '•'} ${item}`).join('')}`,
  inset: identity,
  code: text => `\n\n${escapeForDecoding(text)}`,
  raw: text => `\n\n${text}`,
}

const preheader: Target = {
  ...plain,
  isHtml: true,
  text: identity,
  link: (text, _target, title) => `${text}${title === '' ? '' : ` (${title})`}`,
  heading: text => plain.paragraph(text),
  rule: '',
  code: text => `\n\n${text}`,
  // Four times what is kept, because later steps may remove some.
  isEnough: written => written.length > 1024 && collapse(dropTags(written)).length > 1024,
}

/** Inline Markdown of an escaped text on its own, as HTML. */
export const inlineHtml = (escaped: string): string => renderInline(escaped, onItsOwn.html)

/** The same as plain text, from a text that is not escaped. `<`, `>` and `&` are escaped in the result. */
export const inlineText = (text: string): string => renderInline(text, onItsOwn.plain)

/** The same for the preheader, from an escaped text. */
export const inlinePreheader = (escaped: string): string => renderInline(escaped, onItsOwn.preheader)

// Without definitions rendering changes nothing in a context, so each serves all texts.
const withoutDefinitions = { definitions: createDefinitions(), cited: new Set<string>(), isNote: false }
const onItsOwn = {
  html: { ...withoutDefinitions, to: html },
  plain: { ...withoutDefinitions, to: plain },
  preheader: { ...withoutDefinitions, to: preheader },
} satisfies Record<string, InlineContext>

/**
 * Plain text is decoded at its very end, so everything but typed references is escaped on the way. This also lets the typography
 * pass distinguish a typed tag from a plain `<`.
 */
function escapeForDecoding(text: string): string {
  if (!/[&<>]/.test(text)) return text
  return text
    .replace(/&(?!#?\w{1,32};)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

type Piece = { kind: 'text'; text: string } | { kind: 'tag'; html: string }

const tags: Readonly<Record<string, string>> = {
  '[[fr]]': '<div lang="fr-ca">',
  '[[en]]': '<div lang="en-ca">',
  '[[rtl]]': '<div dir="rtl">',
  '[[/fr]]': '</div>',
  '[[/en]]': '</div>',
  '[[/rtl]]': '</div>',
}

const languageTag = /\[\[\/?(?:en|fr|rtl)\]\]/g

/** Language and direction tags, anywhere, end the block before them. */
export function dropTags(text: string): string {
  return text.includes('[[') ? text.replace(languageTag, '') : text
}

function splitAtTags(text: string): Piece[] {
  if (!text.includes('[[')) return [{ kind: 'text', text }]
  const found = [...text.matchAll(languageTag)].map(match => ({ tag: match[0], at: match.index }))
  const hasLanguages = isBalanced(found.map(({ tag }) => tag).filter(tag => !tag.includes('rtl')))
  const hasDirections = isBalanced(found.map(({ tag }) => tag).filter(tag => tag.includes('rtl')))
  const pieces: Piece[] = []
  let from = 0
  for (const { tag, at } of found) {
    if (!(tag.includes('rtl') ? hasDirections : hasLanguages)) continue
    pieces.push(between(text, from, at), { kind: 'tag', html: tags[tag] ?? '' })
    from = at + tag.length
  }
  pieces.push(between(text, from, text.length))
  return pieces
}

// Blank lines and spaces after a tag are ignored.
function between(text: string, from: number, to: number): Piece {
  const piece = text.slice(from, to)
  if (from === 0) return { kind: 'text', text: isBlank(piece) && to < text.length ? '' : piece }
  const start = /[^ \n]/.exec(piece)?.index ?? piece.length
  const line = piece.lastIndexOf('\n', start - 1)
  // The indentation of a line after the tag's own line is kept.
  return { kind: 'text', text: trimEnd(piece.slice(line > -1 && start > 0 ? line + 1 : start)) }
}

/** Whether opening and closing tags are balanced and nested correctly, per language. */
function isBalanced(found: readonly string[]): boolean {
  const open = new Map<string, number>()
  let depth = 0
  for (const tag of found) {
    const isClosing = tag[2] === '/'
    const name = tag.slice(isClosing ? 3 : 2, -2)
    open.set(name, (open.get(name) ?? 0) + (isClosing ? -1 : 1))
    depth += isClosing ? -1 : 1
    if (depth < 0) return false
  }
  return [...open.values()].every(count => count === 0)
}
