// A template rendered once around placeholder values, so that a message only inserts its own values. Values that could affect the
// text around them are refused with null. There is one preparation for plain words, and others for values with quotes and with
// line breaks, each made on first use.

import type { Pieces } from '../core/pieces.ts'
import { preheaderLimit } from './email.ts'
import { type Forms, formsOf, type Needs } from './forms.ts'
import { type Demand, demandsOf, type Kind, kindOf } from './hazards.ts'
import { inlineTextsOf } from './inline-texts.ts'
import { type Keyed, type Parts, scalarText } from './placeholders.ts'

/** The outputs of one rendering; the preheader is not truncated yet. */
export type Outputs = {
  subject: string
  text: string
  title: string
  preheader: string
  body: string
  /** Where text and body were filled from a preparation. */
  pieces?: { text: Pieces; body: Pieces }
}

type Output = Exclude<keyof Outputs, 'pieces'>

export type Template = { readonly subject: Parts; readonly content: Parts }

/** Renders parts without conditionals, with all values. */
export type RenderInFull = (template: Template, values: Keyed) => Outputs

/** The outputs of a message, or null when they have to be rendered in full. */
export type Fill = (values: Keyed) => Outputs | null

/** What all preparations of one e-mail share. */
export type Limits = {
  /** Values are plain text: Markdown in them is not formatted. */
  readonly hasLiterals: boolean
  /** How many characters of template may still be prepared. */
  left: number
}

/** Output with gaps: a text, then the number of a value, a text, and so on; `curls` says where quotes become curly. */
type Holed = {
  readonly texts: readonly string[]
  readonly holes: readonly number[]
  readonly curls: readonly boolean[]
}

type Variant = { readonly [output in Output]: Holed } & { readonly needs: readonly Needs[] }

/** The values as each output shows them. */
type Words = { readonly [output in keyof Forms]: readonly string[] }

export function createPrepared(
  template: Template,
  render: (template: Template, values: Keyed) => Outputs | null,
  limits: Limits,
): Fill {
  const places = placesOf(template, limits.hasLiterals)
  if (places === null) return () => null
  const { keys, demands } = places
  const variants = new Map<string, Variant | null>()
  const variantOf = (hasQuotes: boolean, broken: string): Variant | null => {
    const name = hasQuotes ? `'${broken}` : broken
    const known = variants.get(name)
    if (known !== undefined) return known
    limits.left -= sizeOf(template)
    if (limits.left < 0) return null
    const lines = new Set(broken.split(' '))
    const standIns = keys.map((key, index): [string, string] => [
      key,
      standIn(index, hasQuotes && mayHoldQuote(demands[index]), lines.has(String(index))),
    ])
    const outputs = render(template, new Map(standIns))
    const made = outputs && cutAll(outputs, lines, keys.length)
    variants.set(name, made)
    return made
  }

  let texts: ReturnType<typeof inlineTextsOf> | undefined
  /** Whether no two values with marks are in one text, and all of these texts have no other marks. */
  const areApart = (marked: readonly string[]) => {
    texts ??= inlineTextsOf(template.content)
    const used = new Set<number>()
    for (const key of marked) {
      const own = texts.get(key)
      if (own === null) return false
      for (const text of own ?? []) {
        if (used.has(text)) return false
        used.add(text)
      }
    }
    return true
  }

  return values => {
    const words: string[] = []
    let kinds: Exclude<Kind, null>[] | null = null
    let marked: string[] | null = null
    let hasQuotes = false
    let broken = ''
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] ?? ''
      const word = wordOf(values.get(key))
      const demand = demands[i]
      const kind = word === null || demand === undefined ? null : kindOf(word, demand)
      if (word === null || kind === null) return null
      if (kind !== 'word') {
        kinds ??= []
        kinds[i] = kind
        if (word.includes('\n')) broken += `${i} `
      }
      if (kind === 'marked') {
        marked ??= []
        marked.push(key)
      }
      if (word.includes("'") || word.includes('"')) hasQuotes = true
      words.push(word)
    }
    if (marked && !areApart(marked)) return null
    const variant = variantOf(hasQuotes, broken)
    if (variant === null) return null
    return filled(variant, kinds || hasQuotes ? wordsOf(words, kinds, variant.needs) : sameWords(words))
  }
}

export function sizeOf({ subject, content }: Template): number {
  const lengths = [...subject, ...content].map(part => (typeof part === 'string' ? part.length : part.text?.length))
  return lengths.reduce<number>((sum, length) => sum + (length ?? 0), 100)
}

/** The keys of a template, each with the conditions of all its places; null when no values can be inserted. */
function placesOf({ subject, content }: Template, hasLiterals: boolean): { keys: string[]; demands: Demand[] } | null {
  const inSubject = demandsOf(subject, false, hasLiterals)
  const inContent = demandsOf(content, true, hasLiterals)
  const parts = [...subject, ...content]
  const isTaken = parts.some(part => typeof part === 'string' && part.includes(mark))
  if (inSubject === null || inContent === null || isTaken) return null
  const slots = parts.filter(part => typeof part !== 'string')
  const keys = [...new Set(slots.map(slot => slot.key))]
  const all = [...inSubject, ...inContent]
  const demands = keys.map(key => {
    const own = all.filter((_, index) => slots[index]?.key === key)
    return {
      isStart: own.some(demand => demand.isStart),
      isTight: own.some(demand => demand.isTight),
      isQuiet: own.some(demand => demand.isQuiet),
      isFree: own.every(demand => demand.isFree),
      mayQuote: own.every(demand => demand.mayQuote),
      mayHoldAngle: own.every(demand => demand.mayHoldAngle),
      mayMark: own.every(demand => demand.mayMark),
    }
  })
  return { keys, demands }
}

// A placeholder value is an ordinary word: letters, more than one, not an s. An apostrophe in it shows how rendering treats quotes,
// and more lines show how it treats line breaks.
export const mark = 'zq'

const mayHoldQuote = (demand: Demand | undefined) => !demand?.isTight && !demand?.isQuiet

function standIn(index: number, hasQuote: boolean, hasLines: boolean): string {
  const digits = [...index.toString(4)].map(digit => 'bcdf'.charAt(Number(digit)))
  return `${mark}${digits.join('')}${hasQuote ? "'" : ''}${mark}${hasLines ? `\n${mark}${mark}`.repeat(2) : ''}`
}

/** Null if rendering has changed a placeholder value in an unknown way. */
function cutAll(outputs: Outputs, lines: ReadonlySet<string>, count: number): Variant | null {
  const subject = cutAtHoles(outputs.subject, ' ', lines)
  const text = cutAtHoles(outputs.text, '\n', lines)
  const title = cutAtHoles(outputs.title, ' ', lines)
  const preheader = cutAtHoles(outputs.preheader, ' ', lines)
  const body = cutAtHoles(outputs.body, '<br>', lines)
  if (!subject || !text || !title || !preheader || !body) return null
  const keepsStraight = [subject, text, title, preheader].some(({ curls }) => curls.includes(false))
  if (keepsStraight) return null
  const opening = firstWords(preheader)
  const needs = Array.from({ length: count }, (_, index) => ({
    inSubject: subject.holes.includes(index),
    inPreheader: opening.holes.includes(index),
    isStraight: body.holes.some((hole, place) => hole === index && !body.curls[place]),
  }))
  return { subject, text, title, preheader: opening, body, needs }
}

function cutAtHoles(output: string, lineBreak: string, lines: ReadonlySet<string>): Holed | null {
  const hole = new RegExp(`${mark}([bcdf]+)(['’]?)${mark}((?:${lineBreak}${mark}${mark}){2})?`)
  const pieces: (string | undefined)[] = output.split(hole)
  const texts = pieces.filter((_, index) => index % 4 === 0).map(piece => piece ?? '')
  const holes = pieces
    .filter((_, index) => index % 4 === 1)
    .map(number => Number.parseInt([...(number ?? '')].map(char => 'bcdf'.indexOf(char)).join(''), 4))
  const hasLines = pieces.filter((_, index) => index % 4 === 3).map(piece => piece !== undefined)
  if (texts.some(text => text.includes(mark))) return null
  if (holes.some((hole, index) => lines.has(String(hole)) !== hasLines[index])) return null
  return { texts, holes, curls: pieces.filter((_, index) => index % 4 === 2).map(quote => quote !== "'") }
}

/** The longest part of a preheader that can be kept for any values; a character may be two units long. */
function firstWords({ texts, holes, curls }: Holed): Holed {
  let length = 0
  const enough = texts.findIndex(text => {
    length += text.length
    return length > 2 * preheaderLimit
  })
  if (enough === -1) return { texts, holes, curls }
  return { texts: texts.slice(0, enough + 1), holes: holes.slice(0, enough), curls: curls.slice(0, enough) }
}

function wordOf(value: unknown): string | null {
  if (typeof value === 'string') return value.includes('\r') ? value.replaceAll('\r\n', '\n') : value
  return typeof value === 'number' || typeof value === 'boolean' ? scalarText(value) : null
}

const all: Needs = { inSubject: true, inPreheader: true, isStraight: true }

const sameWords = (words: readonly string[]): Words => ({
  subject: words,
  text: words,
  title: words,
  preheader: words,
  body: words,
  straight: words,
})

function wordsOf(
  words: readonly string[],
  kinds: readonly Exclude<Kind, null>[] | null,
  needs: readonly Needs[],
): Words {
  const forms = words.map((word, index) => formsOf(word, kinds?.[index] ?? 'word', needs[index] ?? all))
  return {
    subject: forms.map(form => form.subject),
    text: forms.map(form => form.text),
    title: forms.map(form => form.title),
    preheader: forms.map(form => form.preheader),
    body: forms.map(form => form.body),
    straight: forms.map(form => form.straight),
  }
}

function filled(variant: Variant, words: Words): Outputs {
  const text = piecesOf(variant.text, words.text, words.text)
  const body = piecesOf(variant.body, words.body, words.straight)
  return {
    subject: join(variant.subject.texts, variant.subject.holes, words.subject),
    text: joined(text),
    title: join(variant.title.texts, variant.title.holes, words.title),
    preheader: join(variant.preheader.texts, variant.preheader.holes, words.preheader),
    body: joined(body),
    pieces: { text, body },
  }
}

function piecesOf({ texts, holes, curls }: Holed, curly: readonly string[], straight: readonly string[]): Pieces {
  const values: string[] = []
  for (let i = 0; i < holes.length; i++) values.push((curls[i] ? curly : straight)[holes[i] ?? 0] ?? '')
  return { fixed: texts, values }
}

function joined({ fixed, values }: Pieces): string {
  let out = fixed[0] ?? ''
  for (let i = 0; i < values.length; i++) out += (values[i] ?? '') + (fixed[i + 1] ?? '')
  return out
}

function join(texts: readonly string[], holes: readonly number[], words: readonly string[]): string {
  let out = texts[0] ?? ''
  for (let i = 0; i < holes.length; i++) out += (words[holes[i] ?? 0] ?? '') + (texts[i + 1] ?? '')
  return out
}
