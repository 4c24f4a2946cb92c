// The lengths of content-rules 11, all counted in code points.

import { codePoints } from './characters.ts'
import { bodyAnswer } from './email.ts'
import { type Keyed, missing, names, type Parts } from './placeholders.ts'

export const templateNameLimit = 255
export const emailLimit = 50_000
export const personalisationLimit = 51_200

export function isNameTooLong(name: string): boolean {
  return codePoints(name) > templateNameLimit
}

/** The length of an e-mail: as filled, or as written while a value is missing. */
export function emailLength(content: string, parts: Parts, values: Keyed): number {
  const isComplete = missing(names(parts), values).length === 0
  return codePoints(isComplete ? bodyAnswer(parts, values) : content)
}

export function isEmailTooLong(length: number): boolean {
  return length > emailLimit
}
