// Placeholders and conditionals: their positions in a template, the names it needs, and the text of a value.

import { decimal } from '../core/number.ts'
import { escapeText } from './html.ts'

export type Values = Readonly<Record<string, unknown>>

/** Values by normalised key. */
export type Keyed = ReadonlyMap<string, unknown>

/** A placeholder; `text` is shown when its condition holds, or null when it is not conditional. */
export type Slot = { readonly name: string; readonly key: string; readonly text: string | null }

/** A parsed template, to be filled many times. */
export type Parts = readonly (string | Slot)[]

export type Html = 'escape' | 'passthrough'

export type Filling = {
  html: Html
  lists?: 'inline' | 'markdown'
  /** How a missing value shows: as a `mark` element (default), or as `((name))` where there is no HTML. */
  markers?: 'html' | 'plain'
  /** Protects the contents of a mark, so that it stays in one piece. */
  seal?: (text: string) => string
  /** Renders the text of a missing conditional that has line breaks; only set for the HTML body of an e-mail. */
  block?: (name: string, text: string) => string
  /** Post-processes the text of each value. */
  protect?: (value: string) => string
}

/** A piece of a template: text or a placeholder, and where it is written. */
export type Piece = { readonly from: number; readonly end: number; readonly part: string | Slot }

/** Finds the placeholders of a template. */
export const parse = (template: string): Parts => locate(template).map(piece => piece.part)

/** The pieces of a template with their places; together they are the whole template. */
export function locate(template: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (let i = template.indexOf('(('); i !== -1; i = template.indexOf('((', i)) {
    if (template[i + 2] === '(') {
      i++
      continue
    }
    const close = template.indexOf('))', i + 3)
    if (close === -1) break
    const slot = slotOf(template.slice(i + 2, close))
    if (slot === null) {
      i++
      continue
    }
    if (i > from) pieces.push({ from, end: i, part: template.slice(from, i) })
    from = close + 2
    // Closing brackets after the placeholder that match brackets opened in the conditional text belong to that text.
    const end = slot.text === null ? from : closingBrackets(template, from, slot.text)
    const part = end === from ? slot : { ...slot, text: slot.text + template.slice(from, end) }
    pieces.push({ from: i, end, part })
    from = end
    i = from
  }
  if (from < template.length) pieces.push({ from, end: template.length, part: template.slice(from) })
  return pieces
}

function slotOf(inside: string): Slot | null {
  let start = 0
  while (inside[start] === '(') start++
  let end = inside.length
  while (end > start && inside[end - 1] === ')') end--
  if (start === end) return null
  const body = inside.slice(start, end)
  const mark = body.indexOf('??')
  const name = mark === -1 ? body : body.slice(0, mark)
  return { name, key: keyOf(name), text: mark === -1 ? null : body.slice(mark + 2) }
}

function closingBrackets(template: string, from: number, text: string): number {
  let open = 0
  for (const char of text) {
    if (char === '(') open++
    else if (char === ')' && open > 0) open--
  }
  let end = from
  while (open > 0 && template[end] === ')') {
    end++
    open--
  }
  return end
}

/** The normal form by which names and supplied keys are matched. */
export function keyOf(name: string): string {
  return /^[a-z0-9]*$/.test(name) ? name : name.replace(/[ _-]/g, '').toLowerCase()
}

/** Supplied values by normalised key; of several with the same key the last one counts. */
export function keyed(values: Values): Keyed {
  const map = new Map<string, unknown>()
  for (const name of Object.keys(values)) map.set(keyOf(name), values[name])
  return map
}

/** Names in order of first appearance, by exact spelling. */
export function names(...templates: Parts[]): string[] {
  const found = new Set<string>()
  for (const parts of templates) for (const part of parts) if (typeof part !== 'string') found.add(part.name)
  return [...found]
}

/** Names of a template, the subject's first. */
export function namesOf(template: { subject?: string | null; content: string }): string[] {
  return names(parse(template.subject ?? ''), parse(template.content))
}

/**
 * The placeholders that one version has and the other has not, in their original spelling: order, repeats, case and becoming
 * conditional are no changes.
 */
export function changedNames(
  before: { subject?: string | null; content: string },
  after: { subject?: string | null; content: string },
): { added: string[]; removed: string[] } {
  return { added: without(namesOf(after), namesOf(before)), removed: without(namesOf(before), namesOf(after)) }
}

function without(wanted: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others.map(keyOf))
  return wanted.filter(name => {
    const isNew = !known.has(keyOf(name))
    known.add(keyOf(name))
    return isNew
  })
}

/** Names whose value is absent or null. An empty list is present, although it shows as missing. */
export function missing(wanted: readonly string[], values: Keyed): string[] {
  return wanted.filter(name => values.get(keyOf(name)) == null)
}

/** Whether a value shows nothing: absent, null, or a list whose items are all dropped. */
export function isAbsent(value: unknown): boolean {
  return value == null || (Array.isArray(value) && !value.some(Boolean))
}

/** The names without a value for a send: here a list without items is missing too (contract 22.1). */
export function unsendable(wanted: readonly string[], values: Keyed): string[] {
  return wanted.filter(name => isAbsent(values.get(keyOf(name))))
}

/** Keys of placeholders that show their value; a conditional only tests it. */
export function shownKeys(...templates: Parts[]): Set<string> {
  const slots = templates.flat().filter(part => typeof part !== 'string')
  return new Set(slots.filter(slot => slot.text === null).map(slot => slot.key))
}

/** Whether some text of the template shows for any values, so that no message can be blank. */
export function hasFixedText(parts: Parts, treat: (text: string) => string = text => text): boolean {
  return parts.some(part => typeof part === 'string' && /\S/.test(treat(part)))
}

const truthy = new Set(['yes', 'y', 'true', 't', '1', 'include', 'show', 'oui', 'vrai', 'inclure', 'afficher'])

/** Whether a condition with this value shows its text. */
export function shows(value: unknown): boolean {
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isScalar && truthy.has(String(value).toLowerCase())
}

const falsy = new Set(['no', 'n', 'false', 'f', '0', 'exclude', 'hide', 'non', 'faux', 'exclure', 'masquer'])

/** Whether a text clearly says that a condition holds, or that it does not. Any other text counts as no. */
export const isYesOrNo = (text: string): boolean => truthy.has(text.toLowerCase()) || falsy.has(text.toLowerCase())

/** Escapes the template's own text once, so that filling only has to escape values. */
export function prepare(parts: Parts): Parts {
  return parts.map(part => (typeof part === 'string' ? escapeText(part) : escapeSlot(part)))
}

function escapeSlot({ name, key, text }: Slot): Slot {
  return { name: escapeText(name), key, text: text === null ? null : escapeText(text) }
}

/** Fills prepared parts in one pass: placeholders inside a value are never filled. */
export function fill(parts: Parts, values: Keyed, filling: Filling): string {
  let out = ''
  let before: string | Slot = ''
  for (const part of parts) {
    if (typeof part === 'string') out += part
    else if (part.text === null) out += ordinary(part, before, values, filling)
    else out += conditional(part, part.text, before, values, filling)
    before = part
  }
  return out
}

function ordinary(slot: Slot, before: string | Slot, values: Keyed, filling: Filling): string {
  const value = valueText(values.get(slot.key), filling)
  if (value !== null) return value
  if (isLinkTarget(before, values)) return slot.name
  const spelling = `((${slot.name}))`
  return filling.markers === 'plain' ? spelling : `<mark>${sealed(spelling, filling)}</mark>`
}

function conditional(slot: Slot, text: string, before: string | Slot, values: Keyed, filling: Filling): string {
  const value = values.get(slot.key)
  if (value != null) return shows(value) ? text : ''
  if (isLinkTarget(before, values)) return slot.name
  if (filling.markers === 'plain') return `((${slot.name}??${text}))`
  if (filling.block && text.includes('\n')) return filling.block(slot.name, text)
  const lines = text.includes('\n') ? trimNewlines(text).split('\n') : [text]
  const shown = lines.map(line => sealed(line, filling)).join('<br>')
  return `<mark><span>${sealed(`((${slot.name}??`, filling)}</span>${shown}${sealed('))', filling)}</mark>`
}

function sealed(text: string, filling: Filling): string {
  return filling.seal ? filling.seal(text) : text
}

// Only when no values are supplied: then `[text](((url)))` must still be a link.
function isLinkTarget(before: string | Slot, values: Keyed): boolean {
  return values.size === 0 && typeof before === 'string' && before.endsWith('](')
}

/** What an ordinary placeholder shows, or null when the value is missing or a list without items. */
function valueText(value: unknown, filling: Filling): string | null {
  if (typeof value === 'string') return treat(value, filling)
  if (value == null) return null
  if (!Array.isArray(value)) return treat(scalarText(value), filling)
  const items = value.filter(Boolean).map(item => treat(scalarText(item), filling))
  if (items.length === 0) return null
  if (filling.lists === 'markdown') return `\n\n${items.map(item => `* ${item}`).join('\n')}`
  const last = items.pop() ?? ''
  return items.length === 0 ? last : `${items.join(', ')} and ${last}`
}

/** An attached file is an object and shows as nothing. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'number' || typeof value === 'bigint' ? decimal(value) : ''
}

function treat(text: string, filling: Filling): string {
  const { html, protect } = filling
  const treated = html === 'passthrough' ? text : escapeText(text)
  return protect ? protect(treated) : treated
}

function trimNewlines(text: string): string {
  let start = 0
  while (text[start] === '\n') start++
  let end = text.length
  while (end > start && text[end - 1] === '\n') end--
  return text.slice(start, end)
}
