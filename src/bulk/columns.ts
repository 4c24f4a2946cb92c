// Maps the columns of a file to the recipient and the placeholders (content-rules 10.2, contract 9). Works on positions, never on
// objects keyed by header text, so any header text is safe.

import { CHANNELS, type Channel } from '../channels/index.ts'
import { keyOf } from '../rendering/placeholders.ts'

export type Language = 'en' | 'fr'

/** A column, or the columns with the same header that together form a list. */
export type Column = {
  key: string
  /** Header text as given, without outer spaces. */
  header: string
  /** Positions, ascending. */
  at: readonly number[]
  isRecipient: boolean
  /** The recipient column of the other language is read but is not among the values. */
  isValue: boolean
}

export type Columns = {
  /** Headers in order, exact repeats once. */
  headers: string[]
  /** Required names without a column, by code point. */
  missing: string[]
  /** All spellings of recipient and placeholder columns whose normalised names repeat, by code point. */
  duplicates: string[]
  /** The same for recipient columns alone, in file order. */
  duplicateRecipients: string[]
  hasRecipient: boolean
  /** Columns that the template uses, in header order. */
  used: Column[]
  reference: number | undefined
  /** The number of cells of a row that are read. */
  width: number
}

type HeaderGroup = { header: string; at: number[] }

export function matchColumns(
  header: readonly string[],
  type: Channel,
  placeholders: readonly string[],
  language: Language = 'en',
): Columns {
  const { headers: names } = CHANNELS[type].recipient
  const ownName = names[language]
  const ownKey = keyOf(ownName)
  const recipientKeys = [ownKey, keyOf(names[language === 'en' ? 'fr' : 'en'])]
  const placeholderKeys = new Set(placeholders.map(keyOf))
  const wanted = new Set([...placeholderKeys, ...recipientKeys, 'reference'])
  const { headers, groups } = group(header, wanted)

  const isRequired = (key: string) => placeholderKeys.has(key) || recipientKeys.includes(key)
  const repeated = [...groups].filter(([key, found]) => isRequired(key) && positions(found).length > 1)
  const duplicateRecipients = repeated.filter(([key]) => recipientKeys.includes(key)).flatMap(([, found]) => found)
  const recipientKey = recipientKeys.find(key => groups.has(key))
  const missing = placeholders.filter(name => !groups.has(keyOf(name)))
  if (recipientKey === undefined) missing.push(ownName)

  const used: Column[] = []
  for (const [key, found] of groups) {
    const isRecipient = key === recipientKey
    if (!isRecipient && !placeholderKeys.has(key)) continue
    // Different spellings that normalise to the same name form no list: the last one counts.
    const group = found.at(-1)
    if (!group) continue
    const at = isRecipient ? positions(found).slice(-1) : group.at
    used.push({
      key,
      header: trimSpaces(group.header),
      at,
      isRecipient,
      isValue: key === ownKey || placeholderKeys.has(key),
    })
  }
  used.sort((one, other) => (one.at[0] ?? 0) - (other.at[0] ?? 0))
  const reference = positions(groups.get('reference') ?? []).at(-1)
  return {
    headers: headers.map(trimSpaces),
    missing: sortedOnce(missing),
    duplicates: sortedOnce(repeated.flatMap(([, found]) => found.map(one => trimSpaces(one.header)))),
    duplicateRecipients: [...new Set(inFileOrder(duplicateRecipients).map(one => trimSpaces(one.header)))],
    hasRecipient: recipientKey !== undefined,
    used,
    reference,
    width: Math.max(reference ?? -1, ...used.map(column => column.at.at(-1) ?? -1)) + 1,
  }
}

/** Different headers in order of first appearance; the wanted ones by key and spelling. */
function group(header: readonly string[], wanted: ReadonlySet<string>) {
  const bySpelling = new Map<string, HeaderGroup | undefined>()
  const groups = new Map<string, HeaderGroup[]>()
  header.forEach((text, at) => {
    if (bySpelling.has(text)) {
      bySpelling.get(text)?.at.push(at)
      return
    }
    const key = keyOf(text)
    const found = wanted.has(key) ? { header: text, at: [at] } : undefined
    bySpelling.set(text, found)
    if (!found) return
    const same = groups.get(key)
    if (same) same.push(found)
    else groups.set(key, [found])
  })
  return { headers: [...bySpelling.keys()], groups }
}

const positions = (groups: readonly HeaderGroup[]) => groups.flatMap(one => one.at).sort((a, b) => a - b)
const inFileOrder = (groups: readonly HeaderGroup[]) => [...groups].sort((a, b) => (a.at[0] ?? 0) - (b.at[0] ?? 0))
const sortedOnce = (names: readonly string[]) => [...new Set(names)].sort(byCodePoint)

function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}

// JavaScript's default order is by UTF-16 unit, which puts emoji before U+E000.
function byCodePoint(one: string, other: string): number {
  for (let i = 0; i < one.length && i < other.length; ) {
    const a = one.codePointAt(i) ?? 0
    const b = other.codePointAt(i) ?? 0
    if (a !== b) return a - b
    i += a > 0xffff ? 2 : 1
  }
  return one.length - other.length
}
