// The short way to an e-mail: everything around the values is rendered once, and plain values are put in between.
// It answers only for values that provably change nothing around them; for all others it answers null.

import { cutPreheader, preheaderLimit } from './email.ts'
import { type Demand, demandsOf, suits } from './hazards.ts'
import { type Keyed, type Parts, type Slot, shows } from './placeholders.ts'

/** The outputs of one rendering, in full. */
export type Outputs = { subject: string; text: string; title: string; preheader: string; body: string }

export type Template = { readonly subject: Parts; readonly content: Parts }

/** Renders parts without conditionals, all values given. The preheader is not cut yet. */
export type RenderInFull = (template: Template, values: Keyed) => Outputs

/** Output with holes: a text, then the number of a value, a text, and so on. */
type Holed = { readonly texts: readonly string[]; readonly holes: readonly number[] }

type Prepared = { readonly [output in keyof Outputs]: Holed } & {
  readonly keys: readonly string[]
  readonly demands: readonly Demand[]
}

const mostConditions = 12
const mostPrepared = 64

export function createShortcut(template: Template, render: RenderInFull): (values: Keyed) => Outputs | null {
  const slots = [...template.subject, ...template.content].filter(part => typeof part !== 'string')
  const conditions = [...new Set(slots.filter(slot => slot.text !== null).map(slot => slot.key))]
  // One preparation for every set of conditions that hold, made when it is first met.
  const prepared = new Map<string, Prepared | null>()

  return values => {
    if (conditions.length > mostConditions) return null
    let holding = ''
    for (const key of conditions) {
      const value = values.get(key)
      if (value == null) return null
      holding += shows(value) ? '1' : '0'
    }
    let ready = prepared.get(holding)
    if (ready === undefined) {
      if (prepared.size >= mostPrepared) return null
      const holds = new Set(conditions.filter((_, index) => holding[index] === '1'))
      ready = prepareFor({ subject: settle(template.subject, holds), content: settle(template.content, holds) }, render)
      prepared.set(holding, ready)
    }
    return ready === null ? null : fillIn(ready, values)
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

function prepareFor(template: Template, render: RenderInFull): Prepared | null {
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
    return { isStart: own.some(demand => demand.isStart), isTight: own.some(demand => demand.isTight) }
  })
  const outputs = render(template, new Map(keys.map((key, index) => [key, standIn(index)])))
  return {
    keys,
    demands,
    subject: cutAtHoles(outputs.subject),
    text: cutAtHoles(outputs.text),
    title: cutAtHoles(outputs.title),
    preheader: firstWords(cutAtHoles(outputs.preheader)),
    body: cutAtHoles(outputs.body),
  }
}

// A stand-in is a word like any other: letters only, more than one, not an s.
const mark = 'zq'

function standIn(index: number): string {
  const digits = [...index.toString(4)].map(digit => 'bcdf'.charAt(Number(digit)))
  return `${mark}${digits.join('')}${mark}`
}

function cutAtHoles(output: string): Holed {
  const pieces = output.split(new RegExp(`${mark}([bcdf]+)${mark}`))
  const holes = pieces.filter((_, index) => index % 2 === 1)
  return {
    texts: pieces.filter((_, index) => index % 2 === 0),
    holes: holes.map(hole => Number.parseInt([...hole].map(char => 'bcdf'.indexOf(char)).join(''), 4)),
  }
}

/** As much of a preheader as can be kept, whatever its values are; a character may be two units long. */
function firstWords({ texts, holes }: Holed): Holed {
  let length = 0
  const enough = texts.findIndex(text => {
    length += text.length
    return length > 2 * preheaderLimit
  })
  return enough === -1 ? { texts, holes } : { texts: texts.slice(0, enough + 1), holes: holes.slice(0, enough) }
}

function fillIn(ready: Prepared, values: Keyed): Outputs | null {
  const found: string[] = []
  for (let i = 0; i < ready.keys.length; i++) {
    const value = wordOf(values.get(ready.keys[i] ?? ''))
    const demand = ready.demands[i]
    if (value === null || demand === undefined || !suits(value, demand)) return null
    found.push(value)
  }
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
  // A huge integer is written by another rule.
  return typeof value === 'number' && Math.abs(value) < 1e15 ? String(value) : null
}

function join({ texts, holes }: Holed, values: readonly string[]): string {
  let out = texts[0] ?? ''
  for (let i = 0; i < holes.length; i++) out += (values[holes[i] ?? 0] ?? '') + (texts[i + 1] ?? '')
  return out
}
