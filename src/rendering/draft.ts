// A template that is being written, rendered with example values: what recipients would get, and what is odd about it.
import { compileEmail, type Email, type EmailTemplate } from './compile.ts'
import { refusedTargets } from './email.ts'
import { type OddCharacter, oddCharacters, partsOf, sanitise, withBasicLetters } from './gsm.ts'
import { keyed, locate, parse, prepare, scalarText, type Values } from './placeholders.ts'
import { compileSms, lengthOf, type Sms, type SmsLength } from './sms.ts'

export type EmailDraft = Email & {
  /** Targets of links that lead nowhere. */
  refusedTargets: string[]
}

export function draftEmail(template: EmailTemplate, values: Values): EmailDraft {
  return {
    ...compileEmail(template).render(values),
    refusedTargets: refusedTargets(prepare(parse(template.content)), keyed(values), template),
  }
}

/** Where a character of a text message comes from: a place in the template, a value, or the name of the service. */
export type Origin = { at: number; line: number } | { name: string } | 'prefix'

export type LocatedCharacter = Omit<OddCharacter, 'at'> & { origin: Origin }

export type SmsDraft = Sms & {
  parts: string[]
  /** Each odd character once for each origin: of a template at its first place. */
  odd: LocatedCharacter[]
  /** The length with letters of the basic alphabet instead; null when that changes nothing. */
  cheaper: SmsLength | null
}

export function draftSms(content: string, values: Values, prefix: string | null): SmsDraft {
  const message = compileSms(content).render(values, prefix)
  const plain = withBasicLetters(message.text)
  return {
    ...message,
    parts: partsOf(message.text),
    odd: oddOf(content, values, prefix),
    cheaper: plain === message.text ? null : lengthOf(sanitise(plain)),
  }
}

function oddOf(content: string, values: Values, prefix: string | null): LocatedCharacter[] {
  const found = keyed(values)
  const pieces = locate(content)
  const odd: LocatedCharacter[] = []
  const add = (char: OddCharacter, origin: Origin) => {
    const isKnown = odd.some(one => one.char === char.char && isSamePlace(one.origin, origin))
    if (!isKnown) odd.push({ char: char.char, kind: char.kind, instead: char.instead, origin })
  }
  for (const char of oddCharacters(prefix ?? '')) add(char, 'prefix')
  for (const { from, end, part } of pieces) {
    if (typeof part !== 'string' && part.text === null) {
      const value = found.get(part.key)
      for (const item of [value].flat())
        for (const char of oddCharacters(scalarText(item))) add(char, { name: part.name })
      continue
    }
    // The text of a condition ends just before its brackets.
    const text = typeof part === 'string' ? part : (part.text ?? '')
    const start = typeof part === 'string' ? from : content.lastIndexOf(text, end)
    for (const char of oddCharacters(text)) {
      const at = start + char.at
      add(char, { at, line: content.slice(0, at).split('\n').length })
    }
  }
  return odd
}

function isSamePlace(a: Origin, b: Origin): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b
  if ('name' in a && 'name' in b) return a.name === b.name
  return 'at' in a && 'at' in b
}
