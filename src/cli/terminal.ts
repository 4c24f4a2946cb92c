// Everything that depends on the terminal: colours, the width of text, and progress.
import { inspect } from 'node:util'
import type { TerminalVariables } from '../config/terminal.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

/** What a text is laid out for. `columns` null: a file or a program, which gets everything uncut. */
export type Screen = {
  columns: number | null
  paint(style: Style, text: string): string
  /** The commands in a sentence, as they are typed on this machine. Absent: as they are. */
  hint?(text: string): string
}

export const NO_SCREEN: Screen = { columns: null, paint: (_, text) => text }

type Stream = { isTTY?: boolean; columns?: number }
/** A terminal that does not know its width says 0. */
export const screenOf = ({ isTTY = false, columns = 0 }: Stream, env: Partial<TerminalVariables>): Screen => ({
  columns: isTTY ? columns || 80 : null,
  paint: hasColours(isTTY, env) ? painted : NO_SCREEN.paint,
})

/** In a checkout only `npx herald` is a command. Paths and settings that hold the name stay. */
export const npxHint =
  (nouns: readonly string[]) =>
  (text: string): string =>
    text.replaceAll(
      new RegExp(`(?<![\\w/.-]|npx )herald (?=(?:${nouns.join('|')}|help|COMMAND|--help)\\b|--help)`, 'g'),
      'npx herald ',
    )

/** FORCE_COLOR wins over NO_COLOR, as in Node.js itself. An empty variable counts as not set. */
export function hasColours(isTerminal: boolean, { FORCE_COLOR, NO_COLOR, TERM }: Partial<TerminalVariables>): boolean {
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && !NO_COLOR && TERM !== 'dumb'
}

function painted(style: Style, text: string): string {
  const [on, off] = inspect.colors[style] ?? [0, 0]
  return text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`
}

/** Green: well done. Red: failed. Yellow: not done yet, or somebody has stopped it. */
const TONES: readonly (readonly [RegExp, Style])[] = [
  [/fail|refused|disabled|virus|problem|revoked|expired/i, 'red'],
  [/^(delivered|sent|finished|active|ok|added|accepted|unchanged|completed)\b/i, 'green'],
  [/^(created|pending|sending|scheduled|processing|in progress|paused|suspended|archived|cancelled)\b/i, 'yellow'],
]

/** A status in its colour. */
export function toned(screen: Screen, status: string, text = status): string {
  const tone = TONES.find(([words]) => words.test(status))?.[1]
  return tone ? screen.paint(tone, text) : text
}

/** Columns of a terminal that a text takes: 李 takes two, an accent none. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length
  return graphemes(text).reduce((sum, one) => sum + widthOfOne(one), 0)
}

/** The text in at most so many columns; `…` stands for what is cut. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let [kept, used] = ['', 0]
  for (const one of graphemes(text)) {
    used += widthOfOne(one)
    if (used > columns - 1) break
    kept += one
  }
  return `${kept.trimEnd()}…`
}

const graphemes = (text: string) => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** East Asian Wide and Fullwidth (UAX 11), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]|\ufe0f/u
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]*$/u

const widthOfOne = (grapheme: string) => (NOTHING.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

export type Progress = {
  /** Says what is being done now; `done` of `total` where they are known. `inWords`: for numbers with a unit. */
  show(label: string, done?: number, total?: number, inWords?: (amount: number) => string): void
  /** Clears the line, for output or a question. The next `show` begins again. */
  end(): void
}

export const NO_PROGRESS: Progress = { show() {}, end() {} }

/** What takes less is not shown. */
const SHOW_AFTER_MS = 1_000
const REPAINT_MS = 100
const LINE_MS = 5_000
const BAR = 24

/**
 * On a terminal one line that is painted again and again; otherwise a line every five seconds, where a total is known. A terminal
 * that cannot move its cursor (TERM=dumb) gets lines, too.
 */
export function createProgress(
  write: (text: string) => void,
  { columns, paint }: Screen,
  now: () => number = () => performance.now(),
): Progress {
  let state: { label: string; done: number; total: number; inWords: (amount: number) => string } | null = null
  let [began, paintedAt, isPainted] = [0, 0, false]
  let timer: NodeJS.Timeout | undefined
  const wait = columns === null ? LINE_MS : REPAINT_MS

  const paintNow = () => {
    if (!state || now() - began < SHOW_AFTER_MS || now() - paintedAt < wait) return
    paintedAt = now()
    if (columns !== null) {
      write(`\r${barLine(state, (now() - began) / 1000, columns - 1, paint)}\u001b[K`)
      isPainted = true
    } else if (state.total > 0) write(`${state.label}: ${state.inWords(state.done)} of ${state.inWords(state.total)}\n`)
  }
  return {
    show(label, done = 0, total = 0, inWords = String) {
      if (!state) {
        began = now()
        paintedAt = columns === null ? began : Number.NEGATIVE_INFINITY
      }
      state = { label, done, total, inWords }
      timer ??= setInterval(paintNow, wait).unref()
      paintNow()
    },
    end() {
      clearInterval(timer)
      timer = undefined
      state = null
      if (isPainted) write('\r\u001b[K')
      isPainted = false
    },
  }
}

type Shown = { label: string; done: number; total: number; inWords(amount: number): string }

/** `Copied [########................]  33%  40 MB of 120 MB  3 s` */
function barLine({ label, done, total, inWords }: Shown, seconds: number, columns: number, paint: Screen['paint']) {
  const took = `${Math.floor(seconds)} s`
  if (total <= 0) return cut(`${label} … ${took}`, columns)
  const share = Math.min(1, done / total)
  const full = Math.floor(BAR * share)
  const percent = `${Math.floor(100 * share)}%`.padStart(4)
  const [before, bar, after] = [
    `${label} [`,
    '#'.repeat(full),
    `${'.'.repeat(BAR - full)}] ${percent}  ${inWords(done)} of ${inWords(total)}  ${took}`,
  ]
  const isFitting = widthOf(before + bar + after) <= columns
  return isFitting ? before + paint('green', bar) + after : cut(`${label} ${percent.trim()}  ${took}`, columns)
}
