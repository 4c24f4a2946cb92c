// Rules of content-rules 3, 8 and 11 that the vectors test and the service never applies. They use the functions of the product,
// so that a vector still tests the parts the service uses.

import { codePoints, isAsciiLetter } from '../../../src/rendering/characters.ts'
import { bodyAnswer } from '../../../src/rendering/email.ts'
import { sanitise } from '../../../src/rendering/gsm.ts'
import { escapeText } from '../../../src/rendering/html.ts'
import {
  type Keyed,
  keyOf,
  missing,
  names,
  type Parts,
  parse,
  type Slot,
  type Values,
} from '../../../src/rendering/placeholders.ts'

export const isNameTooLong = (name: string) => codePoints(name) > 255

/** The length of an e-mail: as filled, or as written while a value is missing. */
export function emailLength(content: string, values: Keyed): number {
  const parts = parse(content)
  const isComplete = missing(names(parts), values).length === 0
  return codePoints(isComplete ? bodyAnswer(parts, values) : content)
}

/** Names used conditionally at least once. */
export const conditionalNames = (parts: Parts) =>
  names(parts.filter(part => typeof part !== 'string' && part.text !== null))

/** Supplied keys that match no name. */
export function additional(wanted: readonly string[], values: Values): string[] {
  const keys = new Set(wanted.map(keyOf))
  return Object.keys(values).filter(name => !keys.has(keyOf(name)))
}

/** What changed between two versions of a template, in the spelling of the version that has the name. */
export function compare(before: Parts, after: Parts): { changed: boolean; added: string[]; removed: string[] } {
  const added = newNames(before, after)
  const removed = newNames(after, before)
  return { changed: added.length + removed.length > 0, added, removed }
}

function newNames(old: Parts, next: Parts): string[] {
  const keys = new Set(names(old).map(keyOf))
  return names(next).filter(name => !keys.has(keyOf(name)))
}

/** The characters of a text that become a question mark, each once. */
export const unsupported = (text: string) =>
  [...new Set(text)].filter(char => char !== '?' && sanitise(char).startsWith('?'))

/** Parts whose missing values show as `[hidden]` instead of their names. */
export function hideMissing(parts: Parts, values: Keyed, seal = (text: string) => text): Parts {
  const hidden = `<mark>${seal('[hidden]')}</mark>`
  return parts.map(part => (typeof part !== 'string' && values.get(part.key) == null ? hidden : part))
}

/** Escaped parts without the tags of the template. */
export function stripParts(parts: Parts): Parts {
  // A tag may begin before a placeholder and end behind it, so the text is stripped as a whole, with a substitute for each
  // placeholder. NUL can be the substitute because escaping deletes it anyway.
  const slots = parts.filter(part => typeof part !== 'string')
  const treat = (text: string) => escapeText(stripTags(text))
  let count = 0
  const whole = parts.map(part => (typeof part === 'string' ? part.replaceAll('\0', '') : `\0${count++}\0`)).join('')
  return stripTags(whole)
    .split('\0')
    .flatMap((piece, index): (string | Slot)[] => {
      if (index % 2 === 0) return piece === '' ? [] : [escapeText(piece)]
      const slot = slots[Number(piece)]
      if (slot === undefined) return []
      return [{ name: treat(slot.name), key: slot.key, text: slot.text === null ? null : treat(slot.text) }]
    })
}

/** Values without tags. */
export function stripValues(values: Values): Values {
  const strip = (value: unknown): unknown =>
    typeof value === 'string' ? stripTags(value) : Array.isArray(value) ? value.map(strip) : value
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, strip(value)]))
}

/** Removes tags and comments and keeps what is between them. A `<` that opens no tag stays. */
function stripTags(text: string): string {
  let out = ''
  let from = 0
  for (let i = text.indexOf('<'); i !== -1; i = text.indexOf('<', i)) {
    const end = tagEnd(text, i)
    if (end === -1) {
      i++
      continue
    }
    out += text.slice(from, i)
    from = end
    i = end
  }
  return out + text.slice(from)
}

/** The index after a tag or comment that starts here, or -1. A quote in a tag hides the `>` inside it. */
function tagEnd(text: string, start: number): number {
  if (text.startsWith('<!--', start)) {
    const end = text.indexOf('-->', start + 4)
    if (end !== -1) return end + 3
  }
  const first = text.charCodeAt(start + 1)
  const isTag = isAsciiLetter(first) || (first === 47 && isAsciiLetter(text.charCodeAt(start + 2)))
  if (!isTag) return first === 33 || first === 63 || first === 47 ? text.indexOf('>', start) + 1 || -1 : -1
  for (let i = start + 1; i < text.length; i++) {
    const char = text[i]
    if (char === '>') return i + 1
    if (char === '<') return -1
    if ((char === '"' || char === "'") && text[i - 1] === '=') {
      const close = text.indexOf(char, i + 1)
      if (close === -1) return -1
      i = close
    }
  }
  return -1
}
