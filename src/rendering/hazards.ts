// Finds the places in a template where a value could affect the rendering of the text around it. A plain word between two spaces
// does not, so the text around it can be rendered in advance; but `'((year))s`, `((n)). item` and `https://((host))` depend on
// the value. Each place gets a condition for its value, or the template is always rendered in full. Each rule here corresponds to
// one rule of Markdown or typography; the property test in compile.test.ts compares both ways.

import { dropTags } from './markdown.ts'
import type { Parts } from './placeholders.ts'

/**
 * The condition for a value beyond being plain: starts with a letter and has more than one character, contains no space, contains
 * no apostrophe.
 */
export type Demand = { readonly isStart: boolean; readonly isTight: boolean; readonly isQuiet: boolean }

// Letters and digits, with single separators only between them: none of these characters has a meaning for escaping, Markdown or
// typography, which only check whether a character is a letter. Latin has a pattern of its own because it is faster.
const latin = /^[A-Za-z0-9À-ÖØ-öø-ÿ]+(?:(?:[ \-./:]|[.,] )[A-Za-z0-9À-ÖØ-öø-ÿ]+)*$/
const letters = /^[\p{L}0-9]+(?:(?:[ \-./:]|[.,] )[\p{L}0-9]+)*$/u
// An apostrophe between two letters becomes ’ or stays, depending only on its position; before a final s it would depend on what
// follows.
const apostrophes = /^[\p{L}0-9]+(?:(?:[ \-./:]|[.,] |(?<=\p{L})['’](?=\p{L})(?!s))[\p{L}0-9]+)*$/u
const surrogate = /[\ud800-\udfff]/

function isPlain(value: string, demand: Demand): boolean {
  if (latin.test(value)) return true
  return (demand.isQuiet ? letters : apostrophes).test(value) && !surrogate.test(value)
}

const tight = /^[A-Za-z0-9]+(?:[-./:][A-Za-z0-9]+)*$/

export function suits(value: string, demand: Demand): boolean {
  if (!(demand.isTight ? tight.test(value) : isPlain(value, demand)) || /gov\.uk/i.test(value)) return false
  return !demand.isStart || (value.length > 1 && !/^[0-9]/.test(value))
}

// A character that stands for a placeholder here and cannot occur in a template.
const slot = '\ue000'

/**
 * The condition of every place in the order of the placeholders, or null for a template that must always be rendered in full:
 * typed HTML, definitions, fences, and tabs, whose width depends on what is before them.
 */
export function demandsOf(parts: Parts, isBody: boolean): Demand[] | null {
  const text = parts.map(part => (typeof part === 'string' ? part.replaceAll(slot, '<') : slot)).join('')
  if (/[<\t\0]|\]:|```|~~~/.test(text)) return null
  const demands: Demand[] = []
  let target = -1
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('](', at)) target = at + 2
    else if (text[at] === ')' && at > target) target = -1
    if (text[at] !== slot) continue
    const demand = demandAt(text, at, isBody, target)
    if (demand === null) return null
    demands.push(demand)
  }
  return demands
}

/** `target` is the start of an open link target, or -1. */
function demandAt(text: string, at: number, isBody: boolean, target: number): Demand | null {
  const before = lastWord(text.slice(Math.max(0, at - longest), at))
  const after = /^\S*/.exec(text.slice(at + 1, at + 1 + longest))?.[0] ?? ''
  if (before.length === longest || after.length === longest) return null
  const line = text.slice(Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1, at)
  const isHazard =
    // a quote before the value depends on its first characters; one in an address depends on where the address ends
    /['"]/.test(before) ||
    (/@/.test(before + after) && /['"‘’]/.test(line + after)) ||
    // `gov.uk` in two pieces, and other text that could combine with the next value
    /[govuk.]$/i.test(before) ||
    /^(?:[govuk]|\.[u\ue000])/i.test(after) ||
    before.endsWith(slot) ||
    after.startsWith(slot) ||
    // a character reference, a language tag, a percent escape, the scheme of a URL
    /&#?[A-Za-z0-9]*$/.test(before) ||
    /\[\[\/?[a-z]*$/.test(before) ||
    /%[0-9A-Fa-f]?$/.test(before) ||
    before.endsWith('://') ||
    after.includes('://')
  if (isHazard) return null
  // In a possible address, quotes stay straight, and where it ends depends on the value.
  const isQuiet = /@/.test(before + after)
  if (!isBody) return { isStart: false, isTight: false, isQuiet }
  // A target whose scheme is still open, or that has reached its title, depends on the value.
  if (target !== -1) {
    const link = text.slice(target, at)
    if (link.length > longest || /\s/.test(link) || !/[:/?#]/.test(link)) return null
  }
  return {
    isStart: /^[\s^•*+\-#\d.\ue000]*$/.test(dropTags(line)),
    isTight: target !== -1 || before.includes('://'),
    isQuiet,
  }
}

// A longer word around a placeholder is not examined: that would take quadratic time.
const longest = 400

function lastWord(text: string): string {
  let start = text.length
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start--
  return text.slice(start)
}
