// Spaces, word characters and invisible characters: the Unicode definitions of content-rules, not those of `\w`.

/** Whitespace by content-rules: Unicode spaces, line ends, and the four separators U+001C to U+001F. */
export function isSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31)
  if (code < 0x85) return false
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
}

const letterOrNumber = /[\p{L}\p{N}]/u

/** Whether there is a letter, digit or underscore at this index. */
export function isWordAt(text: string, index: number): boolean {
  const code = text.codePointAt(index)
  if (code === undefined) return false
  if (code < 128) return isAsciiWord(code)
  return letterOrNumber.test(String.fromCodePoint(code))
}

/** Whether a letter, digit or underscore ends just before this index. */
export function isWordBefore(text: string, index: number): boolean {
  if (index <= 0) return false
  const isPair = index > 1 && (text.charCodeAt(index - 1) & 0xfc00) === 0xdc00
  return isWordAt(text, isPair ? index - 2 : index - 1)
}

function isAsciiWord(code: number): boolean {
  return isAsciiLetter(code) || isDigit(code) || code === 95
}

export function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

export function trim(text: string): string {
  return trimStart(trimEnd(text))
}

export function trimStart(text: string): string {
  let start = 0
  while (start < text.length && isSpace(text.charCodeAt(start))) start++
  return start === 0 ? text : text.slice(start)
}

export function trimEnd(text: string): string {
  const end = endOfText(text)
  return end === text.length ? text : text.slice(0, end)
}

/** The index just after the last character that is not whitespace. */
export function endOfText(text: string): number {
  let end = text.length
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  return end
}

export function isBlank(text: string): boolean {
  return endOfText(text) === 0
}

/** Replaces each run of whitespace by one space and removes it at both ends. */
export function collapse(text: string): string {
  let out = ''
  let from = 0
  for (let i = 0; i < text.length; i++) {
    if (!isSpace(text.charCodeAt(i))) continue
    const next = text.charCodeAt(i + 1)
    // A single space needs no change.
    if (text.charCodeAt(i) === 32 && i > from && i + 1 < text.length && !isSpace(next)) continue
    if (i > from) out += (out === '' ? '' : ' ') + text.slice(from, i)
    while (i + 1 < text.length && isSpace(text.charCodeAt(i + 1))) i++
    from = i + 1
  }
  if (from === 0) return text
  if (from < text.length) out += (out === '' ? '' : ' ') + text.slice(from)
  return out
}

const invisible = /\u180e|\u200b|\u200c|\u200d|\u2060|\ufeff/g

/** Deletes the six characters that content-rules call invisible. */
export function dropInvisible(text: string): string {
  return text.replace(invisible, '')
}

/** Length in code points, the unit of every limit. */
export function codePoints(text: string): number {
  let pairs = 0
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xd800 || (text.charCodeAt(i + 1) & 0xfc00) !== 0xdc00) continue
    pairs++
    i++
  }
  return text.length - pairs
}

/** A text with some code units replaced, each by one other. Far cheaper than concatenating pieces. */
export function mapUnits(text: string, change: (unit: number, index: number) => number): string {
  const units = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) units[i] = change(text.charCodeAt(i), i)
  return textOf(units)
}

export function textOf(units: Uint16Array): string {
  // The number of arguments a call can safely take.
  const most = 8192
  let out = ''
  for (let i = 0; i < units.length; i += most) {
    out += Reflect.apply(String.fromCharCode, null, units.subarray(i, i + most))
  }
  return out
}
