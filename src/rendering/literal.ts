// Values as plain text (reliability S-08): Markdown characters in a value are replaced by private characters before the body is
// formatted and restored afterwards, so no value typed by a stranger can become a link or a heading.

import { isAsciiLetter, isDigit, mapUnits } from './characters.ts'

const first = 0xee00
const bullet = 0xee80
const read = new Set('\\`*{}[]()#+-.!_<>~|^=:@')

/** A value in which no character has a meaning in Markdown. */
export function protect(value: string): string {
  let out = ''
  let isLineStart = true
  for (const char of value) {
    const code = char.charCodeAt(0)
    if (code >= first && code <= bullet) out += '\ufffd'
    else if (char === '•') out += String.fromCharCode(bullet)
    else if (read.has(char) || (char === ' ' && isLineStart)) out += String.fromCharCode(first + code)
    else out += char
    isLineStart = char === '\n' || char === '\r'
  }
  return out
}

/** Text that Markdown leaves unchanged, line ends included: for text that we insert into a body ourselves. */
export function seal(text: string): string {
  return mapUnits(text, unit => {
    if (unit === bulletUnit) return bullet
    const isSign = unit > 32 && unit < 127 && !isAsciiLetter(unit) && !isDigit(unit)
    return isSign || unit === 10 ? first + unit : unit
  })
}

const bulletUnit = 0x2022

export function restore(text: string): string {
  if (!/[\uee00-\uee80]/.test(text)) return text
  return mapUnits(text, unit => (unit < first || unit > bullet ? unit : unit === bullet ? bulletUnit : unit - first))
}
