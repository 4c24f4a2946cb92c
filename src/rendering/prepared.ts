// A template rendered once around placeholder values, so that a message only inserts its own values. Values that could affect the
// text around them are refused with null. There is one preparation for plain words, and others for values with quotes and with
// line breaks, each made on first use.

import type { Pieces } from '../core/pieces.ts'
import { collapse } from './characters.ts'
import { cleanSubject, preheaderLimit } from './email.ts'
import { type Demand, demandsOf, kindOf } from './hazards.ts'
import { escapeText } from './html.ts'
import { type Keyed, type Parts, scalarText } from './placeholders.ts'
import { typographyOfPhrase } from './typography.ts'

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

type Variant = { readonly [output in Output]: Holed }

/** The values as each output shows them; `straight` is for places in the body where quotes stay straight. */
type Words = { readonly [output in Output | 'straight']: readonly string[] }

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
    const made = outputs && cutAll(outputs, lines)
    variants.set(name, made)
    return made
  }

  return values => {
    const words: string[] = []
    let phrases: boolean[] | null = null
    let hasQuotes = false
    let broken = ''
    for (let i = 0; i < keys.length; i++) {
      const word = wordOf(values.get(keys[i] ?? ''))
      const demand = demands[i]
      const kind = word === null || demand === undefined ? null : kindOf(word, demand)
      if (word === null || kind === null) return null
      if (kind === 'phrase') {
        phrases ??= []
        phrases[i] = true
        if (word.includes('\n')) broken += `${i} `
      }
      if (word.includes("'") || word.includes('"')) hasQuotes = true
      words.push(word)
    }
    const variant = variantOf(hasQuotes, broken)
    if (variant === null) return null
    return filled(variant, phrases || hasQuotes ? wordsOf(words, phrases, variant.body) : sameWords(words))
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
function cutAll(outputs: Outputs, lines: ReadonlySet<string>): Variant | null {
  const subject = cutAtHoles(outputs.subject, ' ', lines)
  const text = cutAtHoles(outputs.text, '\n', lines)
  const title = cutAtHoles(outputs.title, ' ', lines)
  const preheader = cutAtHoles(outputs.preheader, ' ', lines)
  const body = cutAtHoles(outputs.body, '<br>', lines)
  if (!subject || !text || !title || !preheader || !body) return null
  const keepsStraight = [subject, text, title, preheader].some(({ curls }) => curls.includes(false))
  return keepsStraight ? null : { subject, text, title, preheader: firstWords(preheader), body }
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

const sameWords = (words: readonly string[]): Words => ({
  subject: words,
  text: words,
  title: words,
  preheader: words,
  body: words,
  straight: words,
})

function wordsOf(words: readonly string[], phrases: readonly boolean[] | null, { curls }: Holed): Words {
  const isStraight = curls.includes(false)
  const forms = words.map((word, index) => (phrases?.[index] ? formsOfPhrase(word, isStraight) : formsOfWord(word)))
  return {
    subject: forms.map(form => form.subject),
    text: forms.map(form => form.text),
    title: forms.map(form => form.title),
    preheader: forms.map(form => form.preheader),
    body: forms.map(form => form.body),
    straight: forms.map(form => form.straight),
  }
}

type Forms = { readonly [output in Output | 'straight']: string }

function formsOfWord(word: string): Forms {
  const curly = word.includes("'") ? word.replaceAll("'", '’') : word
  return { subject: curly, text: curly, title: curly, preheader: curly, body: curly, straight: word }
}

function formsOfPhrase(phrase: string, isStraight: boolean): Forms {
  const curly = typographyOfPhrase(phrase, true)
  const escaped = escapeText(curly)
  const body = bodyOf(escaped)
  return {
    subject: cleanSubject(curly),
    text: curly,
    title: cleanSubject(escaped),
    preheader: collapse(escaped),
    body,
    straight: isStraight ? bodyOf(escapeText(typographyOfPhrase(phrase, false))) : body,
  }
}

function bodyOf(escaped: string): string {
  return escaped.includes('\n') ? escaped.replaceAll('\n', '<br>') : escaped
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
