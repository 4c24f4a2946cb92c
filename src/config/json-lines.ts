// A JSON parser that knows the line of every value, for error messages. JSON.parse reports positions only of syntax errors, in words
// that differ between versions of Node.

export type JsonFile =
  | {
      ok: true
      value: unknown
      /** The line of a value, or of its name in an object, by JSON pointer (RFC 6901). */
      lineOf(pointer: string): number
    }
  | { ok: false; line: number; problem: string }

/** Duplicate names in one object are refused: one of the two values would be ignored. */
export function readJsonLines(text: string): JsonFile {
  const lines = new Map<string, number>()
  const scanner = createScanner(text)
  try {
    const value = readValue(scanner, '', lines, 0)
    if (scanner.peek() !== '') throw scanner.wrong('nothing may follow the last bracket')
    return { ok: true, value, lineOf: pointer => lines.get(pointer) ?? 1 }
  } catch (error) {
    if (error instanceof SyntaxFault) return { ok: false, line: error.line, problem: error.message }
    throw error
  }
}

class SyntaxFault extends Error {
  readonly line: number
  constructor(line: number, problem: string) {
    super(problem)
    this.line = line
  }
}

type Scanner = ReturnType<typeof createScanner>

function createScanner(text: string) {
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  const skipSpace = () => {
    for (; /[ \t\r\n]/.test(text.charAt(at)); at++) if (text.charAt(at) === '\n') line++
  }
  return {
    line: () => line,
    wrong: (problem: string) => new SyntaxFault(line, problem),
    /** The next character that is not white space; empty at the end. */
    peek(): string {
      skipSpace()
      return text.charAt(at)
    },
    /** Consumes a token that matches the pattern; null: no match. */
    take(pattern: RegExp): string | null {
      skipSpace()
      const found = new RegExp(pattern.source, 'y')
      found.lastIndex = at
      const [token] = found.exec(text) ?? []
      if (token !== undefined) at += token.length
      return token ?? null
    },
  }
}

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/
const DEEPEST = 20

function readValue(scanner: Scanner, pointer: string, lines: Map<string, number>, depth: number): unknown {
  const next = scanner.peek()
  // A property has the line of its name.
  if (!lines.has(pointer)) lines.set(pointer, scanner.line())
  if (depth > DEEPEST) throw scanner.wrong('brackets are nested too deeply')
  if (next === '{') return readObject(scanner, pointer, lines, depth)
  if (next === '[') return readArray(scanner, pointer, lines, depth)
  const token = scanner.take(next === '"' ? STRING : SCALAR)
  if (token === null)
    throw scanner.wrong(next === '"' ? 'this text has no closing quote, or a wrong escape' : 'a value is missing here')
  return JSON.parse(token)
}

function readObject(scanner: Scanner, pointer: string, lines: Map<string, number>, depth: number): unknown {
  const entries = new Map<string, unknown>()
  scanner.take(/\{/)
  while (scanner.take(/\}/) === null) {
    if (entries.size > 0 && scanner.take(/,/) === null) throw scanner.wrong('a comma or } is missing here')
    const token = scanner.take(STRING)
    if (token === null) throw scanner.wrong('a name in double quotes is missing here')
    const name: string = JSON.parse(token)
    const below = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (entries.has(name)) throw scanner.wrong(`${JSON.stringify(name)} stands on line ${lines.get(below)} already`)
    lines.set(below, scanner.line())
    if (scanner.take(/:/) === null) throw scanner.wrong('a colon is missing here')
    entries.set(name, readValue(scanner, below, lines, depth + 1))
  }
  return Object.fromEntries(entries)
}

function readArray(scanner: Scanner, pointer: string, lines: Map<string, number>, depth: number): unknown {
  const items: unknown[] = []
  scanner.take(/\[/)
  while (scanner.take(/\]/) === null) {
    if (items.length > 0 && scanner.take(/,/) === null) throw scanner.wrong('a comma or ] is missing here')
    items.push(readValue(scanner, `${pointer}/${items.length}`, lines, depth + 1))
  }
  return items
}
