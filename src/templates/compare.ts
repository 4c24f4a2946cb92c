// What differs between two versions, line by line and by words inside lines. The work is limited by counts, whatever the texts are:
// texts that differ too much are shown as removed and added as a whole.
import { diffArrays } from 'diff'
import { keyOf, namesOf } from '../rendering/placeholders.ts'

/** A part of a line; `changed`: not in the line it replaces, or that replaces it. */
export type Piece = { text: string; changed: boolean }

export type Line = {
  sign: 'same' | 'removed' | 'added'
  /** Numbers of the line in both texts, from 1. */
  before: number | null
  after: number | null
  pieces: readonly Piece[]
}

/** `skipped`: lines that are the same and far from changes, or beyond what is shown. */
export type Row = Line | { sign: 'skipped'; lines: number }

export type TextDiff = { rows: Row[]; added: number; removed: number }

export type Compared = {
  name: string
  category_name: string
  subject: string | null
  content: string
  literal_values: boolean
}

export const FIELDS = ['name', 'category', 'values', 'subject', 'content'] as const
export type Field = (typeof FIELDS)[number]

export type Comparison = {
  /** Only fields that differ. */
  changes: { field: Field; diff: TextDiff }[]
  placeholders: { added: string[]; removed: string[] }
}

export function compareVersions(before: Compared, after: Compared): Comparison {
  const texts = (one: Compared): Record<Field, string> => ({
    name: one.name,
    category: one.category_name,
    values: one.literal_values ? 'plain' : 'formatted',
    subject: one.subject ?? '',
    content: one.content,
  })
  const [old, young] = [texts(before), texts(after)]
  const [lost, won] = [namesOf(before), namesOf(after)]
  const without = (names: string[], others: string[]) => {
    const known = new Set(others.map(keyOf))
    return names.filter(name => !known.has(keyOf(name)))
  }
  return {
    changes: FIELDS.map(field => ({ field, diff: compareTexts(old[field], young[field]) })).filter(
      ({ diff }) => diff.added + diff.removed > 0,
    ),
    placeholders: { added: without(won, lost), removed: without(lost, won) },
  }
}

/** Steps of the comparison of lines: lines × differences. */
const LINE_STEPS = 400_000
const MOST_LINE_EDITS = 200
const MOST_LINES = 4_000
/** Words of all lines that are compared by words, and differences inside one line. */
const MOST_WORDS = 5_000
const MOST_WORD_EDITS = 60
const CONTEXT = 3
/** Lines that are shown of one run of removed or added ones, and rows in all. */
const MOST_OF_RUN = 200
const MOST_ROWS = 600

export function compareTexts(before: string, after: string): TextDiff {
  if (before === after) return { rows: [], added: 0, removed: 0 }
  const hunks = hunksOf(linesOf(before), linesOf(after))
  const rows: Row[] = []
  const words = { left: MOST_WORDS }
  let unshown = 0
  const show = (row: () => Row, lines = 1) => {
    if (rows.length < MOST_ROWS) rows.push(row())
    else unshown += lines
  }
  let [at, to] = [0, 0]
  let [removed, added] = [0, 0]
  for (const [n, { value, ...hunk }] of hunks.entries()) {
    if (hunk.removed) {
      const next = hunks[n + 1]
      const others = next?.added ? next.value : []
      removed += value.length
      for (const [index, text] of value.slice(0, MOST_OF_RUN).entries()) {
        at++
        show(() => ({
          sign: 'removed',
          before: at,
          after: null,
          pieces: paired(text, others[index], words) ?? whole(text),
        }))
      }
      const rest = value.length - MOST_OF_RUN
      if (rest > 0) {
        at += rest
        show(() => ({ sign: 'skipped', lines: rest }), rest)
      }
    } else if (hunk.added) {
      const previous = hunks[n - 1]
      const others = previous?.removed ? previous.value : []
      added += value.length
      for (const [index, text] of value.slice(0, MOST_OF_RUN).entries()) {
        to++
        show(() => ({
          sign: 'added',
          before: null,
          after: to,
          pieces: paired(text, others[index], words) ?? whole(text),
        }))
      }
      const rest = value.length - MOST_OF_RUN
      if (rest > 0) {
        to += rest
        show(() => ({ sign: 'skipped', lines: rest }), rest)
      }
    } else {
      // Lines that are the same are shown only near changes.
      const head = n === 0 ? 0 : CONTEXT
      const tail = n === hunks.length - 1 ? 0 : CONTEXT
      const middle = value.length - head - tail
      for (let index = 0; index < value.length; index++) {
        // One line takes as much room as the row that would stand for it.
        if (middle > 1 && index === head) {
          show(() => ({ sign: 'skipped', lines: middle }), middle)
          index += middle
          at += middle
          to += middle
          if (index >= value.length) break
        }
        at++
        to++
        const text = value[index] ?? ''
        show(() => ({ sign: 'same', before: at, after: to, pieces: text === '' ? [] : [{ text, changed: false }] }))
      }
    }
  }
  if (unshown > 0) rows.push({ sign: 'skipped', lines: unshown })
  return { rows, added, removed }
}

type Hunk = { removed: boolean; added: boolean; value: readonly string[] }

/** Runs of lines that are the same, removed or added, in the order of the texts. */
function hunksOf(old: readonly string[], young: readonly string[]): Hunk[] {
  const shorter = Math.min(old.length, young.length)
  let start = 0
  while (start < shorter && old[start] === young[start]) start++
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === young.at(-1 - end)) end++
  const [gone, come] = [old.slice(start, old.length - end), young.slice(start, young.length - end)]
  const lines = gone.length + come.length
  const maxEditLength = Math.min(MOST_LINE_EDITS, Math.floor(LINE_STEPS / (lines + 1)))
  const compared = lines > MOST_LINES ? undefined : diffArrays(gone, come, { maxEditLength })
  const same = (value: readonly string[]): Hunk => ({ removed: false, added: false, value })
  return [
    same(old.slice(0, start)),
    ...(compared ?? [
      { removed: true, added: false, value: gone },
      { removed: false, added: true, value: come },
    ]),
    same(old.slice(old.length - end)),
  ].filter(({ value }) => value.length > 0)
}

const linesOf = (text: string) => text.split(/\r\n|\r|\n/)
const whole = (text: string): Piece[] => (text === '' ? [] : [{ text, changed: true }])

/** A line compared by words with the one in its place; null when they have little in common. */
function paired(text: string, other: string | undefined, budget: { left: number }): Piece[] | null {
  if (other === undefined || budget.left <= 0) return null
  const [mine, theirs] = [wordsOf(text, budget.left), wordsOf(other, budget.left)]
  budget.left -= mine.length + theirs.length
  if (budget.left < 0) return null
  const parts = diffArrays(theirs, mine, { maxEditLength: MOST_WORD_EDITS })
  if (!parts) return null
  const pieces = parts.filter(part => !part.removed).map(part => ({ text: part.value.join(''), changed: part.added }))
  const same = pieces.reduce((sum, piece) => sum + (piece.changed ? 0 : piece.text.trim().length), 0)
  return same * 2 < Math.max(text.length, other.length) ? null : pieces
}

/** Words, spaces and brackets of placeholders, each other character alone; at most one more than `most`. */
function wordsOf(text: string, most: number): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(/\(\(|\)\)|[\p{L}\p{M}\p{N}_]+|\s+|./gsu)) {
    words.push(word)
    if (words.length > most) break
  }
  return words
}
