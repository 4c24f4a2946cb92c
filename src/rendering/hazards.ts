// Finds the places in a template where a value could affect the rendering of the text around it. A plain word between two spaces
// does not, so the text around it can be rendered in advance; but `'((year))s`, `((n)). item` and `https://((host))` depend on
// the value. Each place gets a condition for its value, or its template is always rendered in full. Each rule here corresponds to
// one rule of Markdown or typography; the property tests in compile.test.ts compare both ways.

import { dropTags } from './markdown.ts'
import type { Parts } from './placeholders.ts'
import { spacesBeforePunctuation } from './typography.ts'

/** The condition of a place for its value. */
export type Demand = {
  /** At the start of a line, where a digit or a single character can be the start of a list. */
  readonly isStart: boolean
  /** In a URL: only ASCII letters, digits and single separators. */
  readonly isTight: boolean
  /** In an e-mail address, where quotes stay straight. */
  readonly isQuiet: boolean
  /** Only spaces, brackets and punctuation are beside the value, so a phrase may begin and end with a sign. */
  readonly isFree: boolean
  /** A phrase may have any quotes. */
  readonly mayQuote: boolean
  /** A phrase may have a `<`. */
  readonly mayHoldAngle: boolean
  /** A value may have inline Markdown, if no other marks are in the same text (inline-texts.ts). */
  readonly mayMark: boolean
}

/**
 * word: rendered as it is, but for apostrophes between letters. phrase: rendered on its own, by escaping and typography. marked:
 * rendered on its own, by inline Markdown too. null: the value could affect the text around it.
 */
export type Kind = 'word' | 'phrase' | 'marked' | null

export function kindOf(value: string, demand: Demand): Kind {
  if (/gov\.uk/i.test(value) || (demand.isStart && (value.length === 1 || listStart.test(value)))) return null
  if (demand.isTight) return tight.test(value) ? 'word' : null
  if (latin.test(value) || (demand.isQuiet ? letters : apostrophes).test(value)) return 'word'
  if (isPhrase(value, demand)) return 'phrase'
  return demand.mayMark && isMarked(value, demand.isStart) ? 'marked' : null
}

const listStart = /^(?:[0-9]+(?:\.|$)|-)/
const tight = /^[A-Za-z0-9]+(?:[-./:][A-Za-z0-9]+)*$/

// Letters and digits, with single separators only between them: none of these characters has a meaning for escaping, Markdown or
// typography, which only check whether a character is a letter. Latin has a pattern of its own because it is faster.
const latin = /^[A-Za-z0-9À-ÖØ-öø-ÿ]+(?:(?:[ \-./:]|[.,] )[A-Za-z0-9À-ÖØ-öø-ÿ]+)*$/
const letters = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:(?:[ \-./:]|[.,] )[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*$/u
// An apostrophe between two letters becomes ’ or stays, depending only on its position; before a final s it would depend on what
// follows.
const apostrophes =
  /^[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:(?:[ \-./:]|[.,] |(?<=[\p{L}\p{M}])['’](?=\p{L})(?!s))[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*$/u

/** Whether only escaping and typography change this value, and nothing in it affects the text around it. */
function isPhrase(value: string, demand: Demand): boolean {
  if (!demand.isFree || meaningful.test(value) || !starts.test(value) || !ends.test(value) || !visible.test(value))
    return false
  if (value.includes('<') && !demand.mayHoldAngle) return false
  if (value.includes('\n') && (brokenLine.test(value) || openLine.test(value))) return false
  // In an address, single quotes stay straight. Of two quotes, the outer one may depend on what is beside it, and so may a last one
  // that is after no word.
  return !/['"‘’]/.test(value) || (demand.mayQuote && !value.includes('@') && !openQuote.test(value))
}

const openQuote = /^['"]{2}|['"]s?['"]$|[\s({-]['"]$/

// Markdown, references and URLs, and characters that are deleted or replaced on the way. A `<` before a space opens no tag.
const meaningful = /[\\[\]_*`~|^•\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ue000\uee00-\uee80\p{Cs}]|<(?! )|:\/\/|&#?\w+;/u
const starts = /^(?:[A-Za-z0-9$("'@]|-[0-9]|[^\0-\x7f\s–—\u180e\u200b-\u200d\u2060\ufeff])/u
const ends = /(?:[A-Za-z0-9.,:!?)%"'$@&>/]|[^\0-\x7f\s–—\u180e\u200b-\u200d\u2060\ufeff])$/u
const visible = /[\p{L}\p{N}\p{S}]/u
// A later line of a value must not look like the start of a block, and typography must not reach across the line end.
const brokenLine = /\n(?!\p{L}|\(|[0-9]+[ \p{L}])/u
const openLine = /[\s–—-]\n/

/** Whether this value has only such Markdown inside a line that nothing after the value can change: emphasis, links, URLs. */
function isMarked(value: string, isStart: boolean): boolean {
  if (unsafe.test(value) || !(starts.test(value) || markedStart.test(value))) return false
  // After a bullet a `*` decides whether there is a list.
  if (isStart && value.startsWith('*')) return false
  if (!(ends.test(value) || markedEnd.test(value)) || !hasLetter.test(value) || !wholeLinks.test(value)) return false
  return !/['‘’]/.test(value) || !(value.includes('@') || looseApostrophe.test(value))
}

// Other Markdown, images, references, line ends, double quotes, and characters that are deleted or replaced on the way.
const unsafe = /[\\`~|^•<>"\0-\x1f\x7f-\x9f\u2028\u2029\ue000\uee00-\uee80\p{Cs}]|!\[|&#?\w+;/u
const markedStart = /^(?:\*\*?|__?|\[)\p{L}/u
const markedEnd = /[^\s*_][*_]+$/
const hasLetter = /[\p{L}\p{N}]/u
// Every bracket belongs to a link without a title, whose text and target end like a word.
const wholeLinks = /^[^[\]]*(?:\[[^[\]]*[\p{L}\p{N}]\]\([^()[\]\s]*[\p{L}\p{N}/]\)[^[\]]*)*$/u
// A single quote that is not between two letters, or that is before a final s.
const looseApostrophe = /(?<!\p{L})'|'(?!\p{L})|'s$/u

// A character that stands for a placeholder here and cannot occur in a template.
const slot = '\ue000'

/**
 * The condition of every place in the order of the placeholders, or null for a template that must always be rendered in full:
 * typed HTML, definitions, fences, and tabs, whose width depends on what is before them.
 */
export function demandsOf(parts: Parts, isBody: boolean, hasLiterals: boolean): Demand[] | null {
  const written = parts.map(part => (typeof part === 'string' ? part.replaceAll(slot, '<') : slot)).join('')
  // Typography deletes these spaces, so they do not separate words.
  const text = spacesBeforePunctuation(written)
  if (/[<\t\0]|\]:|```|~~~/.test(text)) return null
  // The title of a link ends at the next quote before a bracket, wherever that is. A title is an attribute without typography.
  const hasTitle = /\]\([^)]*\s["']/.test(text)
  const demands: Demand[] = []
  let target = -1
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('](', at)) target = at + 2
    else if (text[at] === ')' && at > target) target = -1
    if (text[at] !== slot) continue
    const demand = demandAt(text, at, isBody, target)
    if (demand === null) return null
    // A typed `<` would look like a tag in a subject, and so does one that was protected from Markdown.
    const mayHoldAngle = isBody && !hasLiterals
    const isFree = demand.isFree && !hasTitle
    demands.push({ ...demand, isFree, mayHoldAngle, mayMark: demand.mayMark && isFree && !hasLiterals })
  }
  return demands
}

/** `target` is the start of an open link target, or -1. */
function demandAt(text: string, at: number, isBody: boolean, target: number): Omit<Demand, 'mayHoldAngle'> | null {
  const before = lastWord(text.slice(Math.max(0, at - longest), at))
  const after = /^\S*/.exec(text.slice(at + 1, at + 1 + longest))?.[0] ?? ''
  if (before.length === longest || after.length === longest) return null
  const line = text.slice(Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1, at)
  const isHazard =
    // a quote before the value depends on its first characters; one in an address depends on where the address ends
    /['"]/.test(before) ||
    (/@/.test(before + after) && /['"‘’]/.test(line + after)) ||
    // a decade after the value depends on its last character
    /^'[0-9]/.test(after) ||
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
    /^[a-z]*:\/\//i.test(after)
  if (isHazard) return null
  // In a possible address, quotes stay straight, and where it ends depends on the value.
  const isQuiet = /@/.test(before + after)
  const isFree = /^[([*]*$/.test(before) && freeAfter.test(after)
  // Plain text keeps the marks of emphasis, and typography takes them for the end of a word.
  const mayQuote = !`${before}${after}`.includes('*')
  // Other signs after a URL belong to it.
  const mayMark = /^[.,:)]*$/.test(after)
  if (!isBody) return { isStart: false, isTight: false, isQuiet, isFree, mayQuote, mayMark: true }
  // A target whose scheme is still open, or that has reached its title, depends on the value.
  if (target !== -1) {
    const link = text.slice(target, at)
    if (link.length > longest || /\s/.test(link) || !/[:/?#]/.test(link)) return null
  }
  return {
    isStart: /^[\s^•*+\-#\d.\ue000]*$/.test(dropTags(line)),
    isTight: target !== -1 || before.includes('://'),
    isQuiet,
    isFree,
    mayQuote,
    mayMark,
  }
}

// Punctuation, or the end of a link text with the whole target.
const freeAfter = /^[*.,:!?)]*(?:\]\([^\s'"‘’]*\)[*.,:!?)]*)?$/

// A longer word around a placeholder is not examined: that would take quadratic time.
const longest = 400

function lastWord(text: string): string {
  let start = text.length
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start--
  return text.slice(start)
}
