// Which characters a text message can contain, what replaces the others, and how many units they take. Source of the letters
// beyond the GSM alphabet: content-rules 8.

import { gsmBasic, gsmExtension } from '../core/gsm.ts'
import { isSpace } from './characters.ts'

export type Encoding = 'GSM-7' | 'UCS-2'

const beyond = 'ÀÂÊËÎÏÔÙÛâçêëîïôûŒœŴŵŶŷ'

// Syllabics of Inuktitut, Cree and Ojibwe (8.5), as hexadecimal ranges.
const syllabics = `1401 1403-1406 140A-140B 141E 1424 1426-1427 142F 1431-1434 1438-1439 1449-144A 144C 144E-1451
1455-1456 1466 146B 146D-1470 1472-1473 1483 1489 148B-148E 1490-1491 14A1 14A3 14A5-14A8 14AA-14AB 14BB 14C0 14C2-14C5
14C7-14C8 14D0 14D3 14D5-14D7 14DA 14EA 14ED 14EF-14F2 14F4-14F5 1505 1510-1516 1525-1526 1528-152B 152D-152E 153E 1542
1546-1548 154B 1550 1553 1555-1557 1559 155D 1574-1577 1579 157B-157C 157F-1581 1583 1585 158F-1591 1593 1595-1596
15A0-15A2 15A4 15A6 15A8-15AA 15AC 15AE-15AF 166F-1673 1675 18D4-18DC 11AB0-11AB2 11AB4 11AB6-11AB8 11ABA`

const notAllowed = 0
const costsOne = 1
const costsTwo = 2
const needsUcs2 = 3

const kinds = new Map<number, number>()
for (const char of gsmBasic) kinds.set(char.codePointAt(0) ?? 0, costsOne)
for (const char of Object.keys(gsmExtension)) kinds.set(char.codePointAt(0) ?? 0, costsTwo)
for (const char of beyond) kinds.set(char.codePointAt(0) ?? 0, needsUcs2)
for (const range of syllabics.split(/\s+/)) {
  const [from = 0, to = from] = range.split('-').map(code => Number.parseInt(code, 16))
  for (let code = from; code <= to; code++) kinds.set(code, needsUcs2)
}

// Most texts are Latin, and an array lookup is faster than a map.
const latinKinds = new Uint8Array(256).map((_, code) => kinds.get(code) ?? notAllowed)

function kindOf(code: number): number {
  return code < 256 ? (latinKinds[code] ?? notAllowed) : (kinds.get(code) ?? notAllowed)
}

const replacements: ReadonlyMap<string, string> = new Map([
  ['–', '-'],
  ['—', '-'],
  ['…', '...'],
  ['‘', "'"],
  ['’', "'"],
  ['“', '"'],
  ['”', '"'],
  ['\t', ' '],
  ['\u200b', ''],
  ['\u00a0', ''],
])

/** Replaces every character that a text message cannot contain. */
export function sanitise(text: string): string {
  let out = ''
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 256 && latinKinds[code] !== notAllowed) continue
    const point = (code & 0xfc00) === 0xd800 ? (text.codePointAt(i) ?? 0) : code
    const width = point > 0xffff ? 2 : 1
    const instead = known.get(point) ?? (kindOf(point) === notAllowed ? learn(point) : null)
    if (instead !== null) {
      if (i > from) out += text.slice(from, i)
      out += instead
      from = i + width
    }
    i += width - 1
  }
  return from === 0 ? text : out + text.slice(from)
}

// Decomposition is expensive and languages have few letters, so results are cached.
const known = new Map<number, string>()
const mostKnown = 20_000

function learn(point: number): string {
  const instead = replacement(String.fromCodePoint(point)) ?? '?'
  if (known.size < mostKnown) known.set(point, instead)
  return instead
}

function replacement(char: string): string | null {
  const known = replacements.get(char)
  if (known !== undefined) return known
  const base = baseLetter(char)
  // The base letter may not be allowed either: Cyrillic short i would be sent as Cyrillic i (defect 5).
  return base !== null && kindOf(base.codePointAt(0) ?? 0) !== notAllowed ? base : null
}

/** The first character of one step of canonical decomposition. */
function baseLetter(char: string): string | null {
  const code = char.codePointAt(0) ?? 0
  const isHangul = code >= 0xac00 && code <= 0xd7a3
  const decomposed = char.normalize('NFD')
  if (isHangul || decomposed === char) return null
  const composed = char.normalize('NFC')
  const step = composed !== char ? composed : [...decomposed].slice(0, -1).join('').normalize('NFC')
  return [...step][0] ?? null
}

/** The number of units of a sanitised text. */
export function measure(text: string): { units: number; encoding: Encoding } {
  let characters = 0
  let doubles = 0
  let isUcs2 = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    let kind = code < 256 ? latinKinds[code] : undefined
    if (kind === undefined) {
      const point = text.codePointAt(i) ?? 0
      if (point > 0xffff) i++
      kind = kindOf(point)
    }
    characters++
    if (kind === costsTwo) doubles++
    else if (kind === needsUcs2) isUcs2 = true
  }
  return isUcs2 ? { units: characters, encoding: 'UCS-2' } : { units: characters + doubles, encoding: 'GSM-7' }
}

/**
 * The minimum number of units of a text, whatever is around it: only spaces and U+200B can be removed, every other character is
 * sent as one or more.
 */
export function leastUnits(text: string): number {
  let units = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isSecondHalf = (code & 0xfc00) === 0xdc00
    if (!isSecondHalf && code !== 0x200b && !isSpace(code)) units++
  }
  return units
}

/** The number of parts for this many units; the concatenation header takes space in each part. */
export function fragments(units: number, encoding: Encoding): number {
  const [alone, joined] = encoding === 'GSM-7' ? [160, 153] : [70, 67]
  return units <= alone ? 1 : Math.ceil(units / joined)
}

/** A character that phones treat specially: `instead` is what is sent for it, or what could be written for it. */
export type OddCharacter = { char: string; at: number; kind: 'needs UCS-2' | 'replaced'; instead: string | null }

/** Every character of a text that needs the alphabet UCS-2 or is replaced, with its place. */
export function oddCharacters(text: string): OddCharacter[] {
  const odd: OddCharacter[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 256 && (latinKinds[code] === costsOne || latinKinds[code] === costsTwo)) continue
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const kind = kindOf(char.codePointAt(0) ?? 0)
    if (kind === needsUcs2) odd.push({ char, at, kind: 'needs UCS-2', instead: basicLetter(char) })
    else if (kind === notAllowed) odd.push({ char, at, kind: 'replaced', instead: replacement(char) ?? '?' })
    at += char.length - 1
  }
  return odd
}

/** The letter without its accents, if the GSM alphabet has it. */
function basicLetter(char: string): string | null {
  const base = baseLetter(char)
  const kind = base === null ? notAllowed : kindOf(base.codePointAt(0) ?? 0)
  return kind === costsOne || kind === costsTwo ? base : null
}

/** The text with letters of the GSM alphabet instead of those that need UCS-2, as far as there are such letters. */
export function withBasicLetters(text: string): string {
  let out = ''
  let from = 0
  for (const { char, at, kind, instead } of oddCharacters(text)) {
    if (kind !== 'needs UCS-2' || instead === null) continue
    out += text.slice(from, at) + instead
    from = at + char.length
  }
  return out + text.slice(from)
}

/** The parts in which a sanitised text is sent. */
export function partsOf(text: string): string[] {
  const { units, encoding } = measure(text)
  if (fragments(units, encoding) === 1) return [text]
  const most = encoding === 'GSM-7' ? 153 : 67
  const parts: string[] = []
  let used = 0
  for (const char of text) {
    const at = Math.floor(used / most)
    parts[at] = (parts[at] ?? '') + char
    used += encoding === 'GSM-7' && kindOf(char.codePointAt(0) ?? 0) === costsTwo ? 2 : 1
  }
  return parts
}
