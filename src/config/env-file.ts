// The settings file. The service and the command line both read it, so that a command uses the database of the service.
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type Line = { name: string; value: string; line: number }

export type EnvFile = {
  path: string
  lines: readonly Line[]
  /** Each with the file and the line. */
  problems: readonly string[]
  /** Whether every user of this machine may read it. */
  isOpen: boolean
}

/** Default paths, in this order, unless HERALD_ENV_FILE names one. */
export const envFilePlaces = (): readonly string[] => [resolve('herald.env'), join('/etc/herald', 'herald.env')]

/** Null: there is no file. A named file must exist; a file that is found must be readable. */
export function readEnvFile(named: string | undefined, places = envFilePlaces()): EnvFile | null {
  const path = named ? resolve(named) : places.find(isThere)
  if (path === undefined) return null
  try {
    const { mode } = statSync(path)
    return { path, isOpen: (mode & 0o004) !== 0, ...parseEnvFile(readFileSync(path, 'utf8'), path) }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : 'cannot be read'
    return { path, isOpen: false, lines: [], problems: [`${path} ${why}${named ? ' (HERALD_ENV_FILE)' : ''}`] }
  }
}

/** A file that this user may not read counts as existing: it is reported, not skipped. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** `NAME=value`, in quotes or not; `# comments`; `export` before a name. The same as a shell and systemd read it. */
function parseEnvFile(text: string, path: string): { lines: Line[]; problems: string[] } {
  const lines: Line[] = []
  const problems: string[] = []
  const seen = new Map<string, number>()
  for (const [at, whole] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = at + 1
    const problem = (sentence: string) => problems.push(`${path} line ${line}: ${sentence}`)
    const written = whole.trim()
    if (written === '' || written.startsWith('#')) continue
    const [, name, rest = ''] = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(written) ?? []
    if (name === undefined) {
      problem('it must be NAME=value')
      continue
    }
    const value = unquoted(rest)
    const before = seen.get(name)
    if (value === null) problem(`the value of ${name} has a quote that is not closed, or something after it`)
    else if (name === 'HERALD_ENV_FILE') problem(`${name} names this file and cannot stand in it`)
    else if (before !== undefined) problem(`${name} stands on line ${before} already`)
    else lines.push({ name, value, line })
    seen.set(name, line)
  }
  return { lines, problems }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n' }

/** Null: the quotes do not match. In double quotes \n, \" and \\ are escapes; in single quotes there are none. */
function unquoted(text: string): string | null {
  const comment = /^(?:\s+#.*|\s*)$/
  if (text.startsWith("'")) {
    const [, inside, after = ''] = /^'([^']*)'(.*)$/.exec(text) ?? []
    return inside !== undefined && comment.test(after) ? inside : null
  }
  if (text.startsWith('"')) {
    const [, inside, after = ''] = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(text) ?? []
    if (inside === undefined || !comment.test(after)) return null
    return inside.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter)
  }
  return text.replace(/\s+#.*$/, '').trim()
}
