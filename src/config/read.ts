// Reads every setting of the table from variables.
import { readFileSync } from 'node:fs'
import { isProblem, type Settings } from '../core/setting.ts'
import { nearest } from '../runtime/near.ts'
import { settings, type Values } from './settings.ts'

type Env = Readonly<Record<string, string | undefined>>
/** Reports a problem of a setting. */
export type Report = (name: string, sentence: string) => void
/** `where`: file and line of variables that come from the settings file, by name. */
export type Source = { where: ReadonlyMap<string, string>; problems: readonly string[]; warn?(sentence: string): void }

const table = Object.entries<Settings[string]>(settings)
const known = new Set(table.map(([, { name }]) => name))
const secretNames = new Set(table.filter(([, { secret }]) => secret).map(([, { name }]) => name))

export const isSecret = (name: string) => secretNames.has(name)

/** The setting that a variable gives: HERALD_SECRET_FILE gives HERALD_SECRET. */
export const baseOf = (name: string) => (known.has(name) ? name : name.replace(/_FILE$/, ''))

/** Every setting; a wrong one has its default. */
export function readValues(env: Env, report: Report): Values {
  const values: Record<string, unknown> = {}
  for (const [key, { name, reader, fallback }] of table) {
    const given = textOf(env, name, report)
    const result = given === undefined ? fallback : reader.read(given)
    values[key] = isProblem(result) ? fallback : result
    if (isProblem(result)) report(name, `${name} ${result.problem}`)
  }
  return values as Values
}

/** `others`: variables that the providers file refers to. */
export function unknownNames(env: Env, others: readonly string[], report: Report): void {
  for (const name of Object.keys(env))
    if (name.startsWith('HERALD_') && !known.has(baseOf(name)) && !others.includes(name))
      report(name, `${name} is not a setting of Herald; ${hint(name)}`)
}

function hint(name: string): string {
  const plain = (text: string) => text.replace(/^HERALD_/, '')
  const near = nearest([...known].map(plain), plain(baseOf(name)))
  return near === undefined ? 'docs/settings.md lists them all' : `did you mean HERALD_${near}?`
}

function textOf(env: Env, name: string, report: Report): string | undefined {
  const direct = env[name]
  const file = env[`${name}_FILE`]
  if (direct && file) report(name, `${name} and ${name}_FILE are both set; keep one`)
  if (direct) return direct
  if (!file) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    report(name, `${name}_FILE names ${file}, which cannot be read`)
    return undefined
  }
}
