// Where marks of emphasis, strikethrough and code are closed. Searches go from left to right, so each caches its last result and
// is not repeated while that result is still ahead: unclosed marks cost nothing more.

import { isSpace, isWordAt } from './characters.ts'

const none = 0x7fffffff

type Search = { asked: number; answer: number }

function search(): Search {
  return { asked: none, answer: -1 }
}

export type Marks = {
  readonly text: string
  readonly pairs: Record<'*' | '_', Search>
  readonly odds: Record<'*' | '_', Search>
  readonly strikes: Search
  /** Positions of the runs of backticks ahead, by length, the nearest last. */
  ticks: Map<number, number[]> | null
}

export function marksOf(text: string): Marks {
  return {
    text,
    pairs: { '*': search(), _: search() },
    odds: { '*': search(), _: search() },
    strikes: search(),
    ticks: null,
  }
}

export function runEnd(text: string, start: number): number {
  const code = text.charCodeAt(start)
  let end = start + 1
  while (text.charCodeAt(end) === code) end++
  return end
}

/** Where bold that opens here closes, or -1: at the last two marks of the next run of at least two. */
export function boldEnd({ text, pairs }: Marks, mark: '*' | '_', start: number): number {
  if (text[start + 1] !== mark) return -1
  const from = start + 3
  const known = pairs[mark]
  if (known.asked > from || from > known.answer) {
    const pair = text.indexOf(mark + mark, from)
    known.asked = from
    known.answer = pair === -1 ? none : runEnd(text, pair) - 2
  }
  return known.answer === none ? -1 : known.answer
}

/** Where italic that opens here closes, or -1. Inner marks count in pairs; the first unpaired one closes. */
export function italicEnd(marks: Marks, mark: '*' | '_', start: number): number {
  const { text } = marks
  const end = runEnd(text, start)
  const more = end - start - 1
  if (more === 1) return -1
  const close = more % 2 === 1 ? end - 1 : nextOdd(marks, mark, end)
  if (close === none || close <= start + 1) return -1
  return mark === '_' && isWordAt(text, close + 1) ? -1 : close
}

function nextOdd({ text, odds }: Marks, mark: '*' | '_', from: number): number {
  const known = odds[mark]
  if (known.asked <= from && from <= known.answer) return known.answer
  known.asked = from
  known.answer = none
  for (let i = text.indexOf(mark, from); i !== -1; i = text.indexOf(mark, i)) {
    const end = runEnd(text, i)
    if ((end - i) % 2 === 1) {
      known.answer = end - 1
      break
    }
    i = end
  }
  return known.answer
}

/** Where `~~` that opens here closes, or -1. There may be no space directly inside the marks. */
export function strikeEnd({ text, strikes }: Marks, start: number): number {
  if (text[start + 1] !== '~' || start + 2 >= text.length || isSpace(text.charCodeAt(start + 2))) return -1
  const from = start + 3
  if (strikes.asked > from || from > strikes.answer) {
    strikes.asked = from
    let i = text.indexOf('~~', from)
    while (i !== -1 && isSpace(text.charCodeAt(i - 1))) i = text.indexOf('~~', i + 1)
    strikes.answer = i === -1 ? none : i
  }
  return strikes.answer === none ? -1 : strikes.answer
}

/** The code span whose backticks open here: closed by the next run of the same length, else by a shorter one. */
export function codeAt(marks: Marks, start: number): { inside: string; end: number } | null {
  const { text } = marks
  marks.ticks ??= ticksOf(text)
  const end = runEnd(text, start)
  for (let length = end - start; length > 0; length--) {
    const starts = marks.ticks.get(length)
    while (starts && (starts.at(-1) ?? none) < end) starts.pop()
    const close = starts?.at(-1)
    if (close !== undefined) return { inside: text.slice(start + length, close), end: close + length }
  }
  return null
}

function ticksOf(text: string): Map<number, number[]> {
  const ticks = new Map<number, number[]>()
  for (let i = text.indexOf('`'); i !== -1; i = text.indexOf('`', i)) {
    const end = runEnd(text, i)
    const same = ticks.get(end - i)
    if (same) same.push(i)
    else ticks.set(end - i, [i])
    i = end
  }
  for (const starts of ticks.values()) starts.reverse()
  return ticks
}
