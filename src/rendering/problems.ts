// What is probably not meant in a template, and where: found with the same parsers that send it.
import { keyOf, locate, type Piece, type Slot } from './placeholders.ts'

/** `bad`: it cannot be saved. `warn`: it is sent otherwise than it looks, or refused. `info`: good to know. */
export type Problem = { tone: 'bad' | 'warn' | 'info'; text: string; line: number | null }

/** The most problems of one kind; after that a list helps nobody. */
const MOST = 20

/** Problems of placeholders in a subject or a body. */
export function placeholderProblems(template: string): Problem[] {
  const found: Problem[] = []
  const lineOf = lineCounter(template)
  for (const piece of locate(template)) {
    if (found.length >= MOST) break
    if (typeof piece.part === 'string') found.push(...strayBrackets(piece.part, piece.from, lineOf))
    else found.push(...slotProblems(piece.part, lineOf(piece.from)))
  }
  return found.slice(0, MOST)
}

/** Spellings of one placeholder: they take the same value. */
export function spellingProblems(...templates: string[]): Problem[] {
  const spellings = new Map<string, Set<string>>()
  for (const name of templates.flatMap(template => locate(template).flatMap(nameIn))) {
    const key = keyOf(name)
    spellings.set(key, (spellings.get(key) ?? new Set()).add(name))
  }
  return [...spellings.values()]
    .filter(names => names.size > 1)
    .slice(0, MOST)
    .map(names => ({
      tone: 'info',
      text: `${[...names].map(name => `((${shortened(name)}))`).join(' and ')} are the same placeholder and take the same value.`,
      line: null,
    }))
}

const nameIn = ({ part }: Piece): string[] => (typeof part === 'string' ? [] : [part.name])

/** The line of a place, from 1. Places are asked for in ascending order. */
function lineCounter(text: string): (at: number) => number {
  let line = 1
  let counted = 0
  return at => {
    for (let i = text.indexOf('\n', counted); i !== -1 && i < at; i = text.indexOf('\n', counted)) {
      line++
      counted = i + 1
    }
    return line
  }
}

function strayBrackets(text: string, from: number, lineOf: (at: number) => number): Problem[] {
  const found: Problem[] = []
  const brackets = /\({2,}|\){2,}/g
  for (let match = brackets.exec(text); match && found.length < MOST; match = brackets.exec(text)) {
    const line = lineOf(from + match.index)
    const isOpening = match[0].startsWith('(')
    const isEmpty = isOpening && text.startsWith('))', brackets.lastIndex)
    if (isEmpty) brackets.lastIndex += 2
    found.push({
      tone: 'warn',
      text: isEmpty
        ? '“(())” has no name and is sent as it is.'
        : isOpening
          ? '“((” is never closed by “))” and is sent as it is.'
          : '“))” closes nothing and is sent as it is.',
      line,
    })
  }
  return found
}

function slotProblems({ name, text }: Slot, line: number): Problem[] {
  const found: Problem[] = []
  const warn = (sentence: string) => found.push({ tone: 'warn', text: sentence, line })
  const short = shortened(name)
  if (keyOf(name) === '') warn('A placeholder has no name.')
  else if (/[\n\r\t]/.test(name)) warn(`The name of ((${short})) has a line break or a tab. Is a “))” missing?`)
  else if (text === null && name.includes('?'))
    warn(
      `((${short})) is no condition, but a placeholder of this name. A condition has two question marks: ((name??text)).`,
    )
  else if (/[()]/.test(name)) warn(`The name of ((${short})) has a bracket.`)
  if (text?.includes('((')) warn(`The text of the condition “${short}” has a placeholder, which is sent as it is.`)
  if (text !== null && text.trim() === '') warn(`The condition “${short}” has no text and shows nothing.`)
  return found
}

const shortened = (name: string) => {
  const line = name.replace(/\s+/g, ' ')
  return line.length > 40 ? `${line.slice(0, 39)}…` : line
}

/** Links that lead nowhere. */
export const linkProblems = (targets: readonly string[]): Problem[] =>
  targets.slice(0, MOST).map(target => ({
    tone: 'warn',
    text: `The link to “${shortened(target)}” leads nowhere: only http, https, mailto and tel are allowed.`,
    line: null,
  }))
