// Sentences that other parts of Herald make, in English: of the timeline, of problems in a template, and refusals. Those of
// sentences.ts have a translation; the others stay English, and pages say so.
import type { ComponentChildren } from 'preact'
import { language, type Marked, say } from './index.ts'
import { SENTENCES } from './sentences.ts'

const whole = new Map<string, Marked>(SENTENCES.map(one => [one, one]))
const patterns = SENTENCES.filter(one => one.includes('{1}')).map(text => ({ text, pattern: patternOf(text) }))

/** Values are whatever stands in their place. */
function patternOf(text: string): RegExp {
  const pieces = text.split(/\{\d+\}/).map(piece => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${pieces.join('([^]*?)')}$`)
}

function exact(sentence: string): string | null {
  const text = whole.get(sentence)
  return text === undefined ? null : say(text)
}

/** Sentences within it are translated, too. */
function withValues(sentence: string): string | null {
  for (const { text, pattern } of patterns) {
    const values = pattern.exec(sentence)?.slice(1)
    if (values) return say(text, ...values.map(known))
  }
  return null
}

const withFirst = (text: string, change: (letter: string) => string) => change(text.charAt(0)) + text.slice(1)
const lower = (letter: string) => letter.toLowerCase()
const upper = (letter: string) => letter.toUpperCase()

/** Null: it has no translation. A part of a sentence may begin with a small letter or a capital, wherever it stands. */
function found(sentence: string): string | null {
  const isSmall = /^\p{Ll}/u.test(sentence)
  const other = withFirst(sentence, isSmall ? upper : lower)
  const text = exact(sentence) ?? exact(other) ?? withValues(sentence) ?? withValues(other)
  return text && withFirst(text, isSmall ? lower : /^\p{Lu}/u.test(sentence) ? upper : letter => letter)
}

/** In the language of the person if there is a translation. */
export const known = (sentence: string): string =>
  language() === 'en' ? sentence : (found(sentence) ?? say(sentence as Marked))

/** The same on a page, which marks what stays English. */
export const fromNoun = (sentence: string): ComponentChildren =>
  language() === 'en' ? sentence : (found(sentence) ?? <span lang="en">{sentence}</span>)
