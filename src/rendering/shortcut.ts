// The prepared e-mail: everything around the values is rendered once, and plain values are inserted. It is used only for values
// that provably do not affect the text around them; for all others it returns null.

import { cutPreheader, preheaderLimit } from './email.ts'
import { type Demand, demandsOf, suits } from './hazards.ts'
import { type Keyed, type Parts, type Slot, shows } from './placeholders.ts'

/** The outputs of one full rendering. */
export type Outputs = { subject: string; text: string; title: string; preheader: string; body: string }

export type Template = { readonly subject: Parts; readonly content: Parts }

/** Renders parts without conditionals, with all values. The preheader is not truncated yet. */
export type RenderInFull = (template: Template, values: Keyed) => Outputs

/** Output with gaps: a text, then the number of a value, a text, and so on; `curls` says where an apostrophe becomes ’. */
type Holed = {
  readonly texts: readonly string[]
  readonly holes: readonly number[]
  readonly curls: readonly boolean[]
}

type Prepared = { readonly [output in keyof Outputs]: Holed } & {
  /** Whether it was prepared with an apostrophe in its placeholder values. */
  readonly mayQuote: boolean
  readonly keys: readonly string[]
  readonly demands: readonly Demand[]
}

const mostConditions = 12
const mostPrepared = 64

export function createShortcut(template: Template, render: RenderInFull): (values: Keyed) => Outputs | null {
  const slots = [...template.subject, ...template.content].filter(part => typeof part !== 'string')
  const conditions = [...new Set(slots.filter(slot => slot.text !== null).map(slot => slot.key))]
  // One preparation for every combination of conditions, made on first use, and another for values with apostrophes.
  const prepared = new Map<string, Prepared | null>()
  const preparedFor = (holding: string, mayQuote: boolean): Prepared | null => {
    const name = holding + (mayQuote ? "'" : '')
    const known = prepared.get(name)
    if (known !== undefined) return known
    if (prepared.size >= mostPrepared) return null
    const holds = new Set(conditions.filter((_, index) => holding[index] === '1'))
    const settled = { subject: settle(template.subject, holds), content: settle(template.content, holds) }
    const made = prepareFor(settled, render, mayQuote)
    prepared.set(name, made)
    return made
  }

  return values => {
    if (conditions.length > mostConditions) return null
    let holding = ''
    for (const key of conditions) {
      const value = values.get(key)
      if (value == null) return null
      holding += shows(value) ? '1' : '0'
    }
    const ready = preparedFor(holding, false)
    const filled = ready && fillIn(ready, values)
    if (filled !== 'has apostrophes') return filled
    const quoting = preparedFor(holding, true)
    const quoted = quoting && fillIn(quoting, values)
    return quoted === 'has apostrophes' ? null : quoted
  }
}

/** The parts with each conditional replaced by its text or by nothing. */
function settle(parts: Parts, holds: ReadonlySet<string>): Parts {
  const settled: (string | Slot)[] = []
  for (const part of parts) {
    const next = typeof part === 'string' || part.text === null ? part : holds.has(part.key) ? part.text : ''
    const last = settled.at(-1)
    if (typeof next === 'string' && typeof last === 'string') settled[settled.length - 1] = last + next
    else if (next !== '') settled.push(next)
  }
  return settled
}

function prepareFor(template: Template, render: RenderInFull, mayQuote: boolean): Prepared | null {
  const inSubject = demandsOf(template.subject, false)
  const inContent = demandsOf(template.content, true)
  const isTaken = [...template.subject, ...template.content].some(
    part => typeof part === 'string' && part.includes(mark),
  )
  if (inSubject === null || inContent === null || isTaken) return null
  const slots = [...template.subject, ...template.content].filter(part => typeof part !== 'string')
  const keys = [...new Set(slots.map(slot => slot.key))]
  const all = [...inSubject, ...inContent]
  const demands = keys.map(key => {
    const own = all.filter((_, index) => slots[index]?.key === key)
    return {
      isStart: own.some(demand => demand.isStart),
      isTight: own.some(demand => demand.isTight),
      isQuiet: own.some(demand => demand.isQuiet),
    }
  })
  const outputs = render(
    template,
    new Map(keys.map((key, index) => [key, standIn(index, mayQuote && mayHoldQuote(demands[index]))])),
  )
  // If rendering has changed a placeholder value in another way, it cannot be located in the text around it.
  const subject = cutAtHoles(outputs.subject)
  const text = cutAtHoles(outputs.text)
  const title = cutAtHoles(outputs.title)
  const preheader = cutAtHoles(outputs.preheader)
  const body = cutAtHoles(outputs.body)
  const isWhole = [subject, text, title, preheader, body].every(({ texts }) => !texts.some(part => part.includes(mark)))
  return isWhole ? { mayQuote, keys, demands, subject, text, title, preheader: firstWords(preheader), body } : null
}

// A placeholder value is an ordinary word: letters, more than one, not an s. An apostrophe in it shows how rendering treats one.
const mark = 'zq'
const hole = `${mark}([bcdf]+)(['’]?)${mark}`

const mayHoldQuote = (demand: Demand | undefined) => !demand?.isTight && !demand?.isQuiet

function standIn(index: number, mayQuote: boolean): string {
  const digits = [...index.toString(4)].map(digit => 'bcdf'.charAt(Number(digit)))
  return `${mark}${digits.join('')}${mayQuote ? "'" : ''}${mark}`
}

function cutAtHoles(output: string): Holed {
  const pieces = output.split(new RegExp(hole))
  const numbers = pieces.filter((_, index) => index % 3 === 1)
  return {
    texts: pieces.filter((_, index) => index % 3 === 0),
    holes: numbers.map(number => Number.parseInt([...number].map(char => 'bcdf'.indexOf(char)).join(''), 4)),
    curls: pieces.filter((_, index) => index % 3 === 2).map(quote => quote === '’'),
  }
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

/** The values as text, and with curly apostrophes. */
type Words = { readonly straight: readonly string[]; readonly curly: readonly string[] }

function fillIn(ready: Prepared, values: Keyed): Outputs | 'has apostrophes' | null {
  const straight: string[] = []
  // The same list, unless a value has an apostrophe.
  let curly = straight
  for (let i = 0; i < ready.keys.length; i++) {
    const value = wordOf(values.get(ready.keys[i] ?? ''))
    const demand = ready.demands[i]
    if (value === null || demand === undefined || !suits(value, demand)) return null
    if (value.includes("'")) {
      if (!ready.mayQuote) return 'has apostrophes'
      if (curly === straight) curly = [...straight]
      curly.push(value.replaceAll("'", '’'))
    } else if (curly !== straight) curly.push(value)
    straight.push(value)
  }
  const found: Words = { straight, curly }
  return {
    subject: join(ready.subject, found),
    text: join(ready.text, found),
    title: join(ready.title, found),
    preheader: cutPreheader(join(ready.preheader, found)),
    body: join(ready.body, found),
  }
}

function wordOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  // A huge integer has another notation.
  return typeof value === 'number' && Math.abs(value) < 1e15 ? String(value) : null
}

function join({ texts, holes, curls }: Holed, { straight, curly }: Words): string {
  let out = texts[0] ?? ''
  for (let i = 0; i < holes.length; i++) {
    const words = curls[i] ? curly : straight
    out += (words[holes[i] ?? 0] ?? '') + (texts[i + 1] ?? '')
  }
  return out
}
