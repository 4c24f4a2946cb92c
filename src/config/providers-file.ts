// Reads HERALD_PROVIDERS_FILE: several providers, also several of one kind, in order of preference. Problems name the line.
import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Channel, channelNames } from '../channels/plain.ts'
import { isProblem, type Setting } from '../core/setting.ts'
import type { ChosenProvider, ProviderKind } from '../providers/kind.ts'
import type { Chosen } from '../providers/registry.ts'
import { readJsonLines } from './json-lines.ts'
import { problemsOf } from './providers.ts'
import { schemaProblems } from './providers-check.ts'
import { kindsOf, rowsByKey } from './providers-schema.ts'

export type ProvidersFile = {
  path: string
  /** Channels that the file describes. */
  chosen: Partial<Chosen>
  problems: readonly string[]
  /** Environment variables that it refers to. */
  variables: readonly string[]
  /** It may contain secrets, and every user of this machine may read it. */
  isOpen: boolean
}

type Env = Readonly<Record<string, string | undefined>>
type Problem = { line: number; sentence: string }
type Item = Readonly<Record<string, unknown>>

export function readProvidersFile(named: string, env: Env): ProvidersFile {
  const path = resolve(named)
  const nothing = { path, chosen: {}, variables: [], isOpen: false }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return { ...nothing, problems: [`HERALD_PROVIDERS_FILE names ${path}, which cannot be read`] }
  }
  const at = (line: number, sentence: string) => `${path} line ${line}: ${sentence}`
  const json = readJsonLines(text)
  if (!json.ok) return { ...nothing, problems: [at(json.line, `it is not JSON: ${json.problem}`)] }
  const structure = schemaProblems(json)
  if (structure.length > 0) return { ...nothing, problems: structure.map(({ line, sentence }) => at(line, sentence)) }

  const problems: Problem[] = []
  const variables: string[] = []
  const given = json.value as Partial<Record<Channel, readonly Item[]>>
  const read = (channel: Channel) =>
    given[channel]?.map((item, index) => {
      const pointer = `/${channel}/${index}`
      const kind = kindOf(channel, item)
      const values = readItem(kind, item, pointer, json.lineOf, { env, folder: dirname(path), variables, problems })
      const name = typeof item.name === 'string' ? item.name : kind.kind
      return { name, kind, values, line: json.lineOf(pointer), where: `${path} line ${json.lineOf(pointer)}` }
    })
  const found = channelNames.map(channel => [channel, read(channel)] as const)
  problems.push(...combinationProblems(found.flatMap(([, providers]) => providers ?? [])))
  for (const [, providers] of found) problems.push(...loneProblems(providers ?? []))
  return {
    path,
    chosen: Object.fromEntries(found.filter(([, providers]) => providers)) as Partial<Chosen>,
    problems: problems.sort((a, b) => a.line - b.line).map(({ line, sentence }) => at(line, sentence)),
    variables,
    isOpen: holdsText(given) && (statSync(path).mode & 0o004) !== 0,
  }
}

function kindOf(channel: Channel, item: Item): ProviderKind {
  const kind = kindsOf(channel).find(({ kind }) => kind === item.kind)
  if (!kind) throw new Error('the schema lets a kind through that is not known')
  return kind
}

type Reading = { env: Env; folder: string; variables: string[]; problems: Problem[] }

function readItem(
  kind: ProviderKind,
  item: Item,
  pointer: string,
  lineOf: (pointer: string) => number,
  reading: Reading,
): Record<string, unknown> {
  const rows = rowsByKey(kind)
  const values: Record<string, unknown> = {}
  const before = reading.problems.length
  for (const [key, { name, row }] of rows) {
    const tell = (from: string, sentence: string) =>
      reading.problems.push({ line: lineOf(`${pointer}/${from}`), sentence })
    const text = textOf(item, key, row, tell, reading)
    const result = text === undefined ? row.fallback : row.reader.read(text)
    values[name] = isProblem(result) ? row.fallback : result
    if (isProblem(result)) tell(key in item ? key : `${key}_file`, `${key} ${result.problem}`)
  }
  // Combinations are checked only when every value is valid.
  if (reading.problems.length === before)
    for (const sentence of problemsOf(kind, values)) {
      const [first = ''] = variablesIn(kind, sentence)
      const line = first in item ? lineOf(`${pointer}/${first}`) : lineOf(pointer)
      reading.problems.push({ line, sentence: inFile(kind, sentence) })
    }
  return values
}

/** The text for the reader of the setting; undefined: not given. */
function textOf(
  item: Item,
  key: string,
  { secret }: Setting<unknown>,
  tell: (key: string, sentence: string) => void,
  { env, folder, variables }: Reading,
): string | undefined {
  const [value, file] = [item[key], item[`${key}_file`]]
  if (value !== undefined && file !== undefined) {
    tell(`${key}_file`, `${key} and ${key}_file are both given; keep one`)
    return undefined
  }
  if (typeof file === 'string') {
    try {
      return readFileSync(resolve(folder, file), 'utf8').trim()
    } catch {
      tell(`${key}_file`, `${key}_file names ${resolve(folder, file)}, which cannot be read`)
      return undefined
    }
  }
  if (isReference(value)) {
    variables.push(value.env)
    const text = env[value.env]
    if (!text) tell(key, `${key} refers to the environment variable ${value.env}, which is not set`)
    return text || undefined
  }
  if (typeof value === 'string' && secret && PASSWORD_IN_ADDRESS.test(value))
    tell(key, `${key} holds a password: leave it out and give password_file, or the whole address as ${key}_file`)
  return value === undefined ? undefined : Array.isArray(value) ? value.join(',') : String(value)
}

const isReference = (value: unknown): value is { env: string } =>
  typeof value === 'object' && value !== null && 'env' in value && typeof value.env === 'string'

const PASSWORD_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:[^/?#]*@/i
const ADDRESS_OF_RELAY = /^(smtps?|smpps?):\/\//i

/** Whether the file contains a text that may be a secret. Addresses of mail servers and SMSCs have no password in it. */
const holdsText = (given: Partial<Record<Channel, readonly Item[]>>) =>
  channelNames.some(channel =>
    given[channel]?.some(item =>
      [...rowsByKey(kindOf(channel, item))].some(([key, { row }]) => {
        const value = item[key]
        return row.secret && typeof value === 'string' && !ADDRESS_OF_RELAY.test(value)
      }),
    ),
  )

type Placed = ChosenProvider & { line: number }

/** Conflicts between providers. */
function combinationProblems(providers: readonly Placed[]): Problem[] {
  const problems: Problem[] = []
  const names = new Map<string, number>()
  const kinds = new Set(channelNames.flatMap(channel => kindsOf(channel).map(({ kind }) => kind)))
  const bounces = new Map<string, string>()
  for (const { name, kind, values, line } of providers) {
    const before = names.get(name)
    if (before !== undefined && kind.role === 'send')
      problems.push({
        line,
        sentence: `the provider on line ${before} has the name "${name}" too; give each a name of its own`,
      })
    if (name !== kind.kind && (kinds.has(name) || name === SIMULATION))
      problems.push({ line, sentence: `the name "${name}" has another meaning; choose another` })
    names.set(name, line)
    if (typeof values.bounceDomain !== 'string') continue
    // A bounce counts only for the provider that sent the message, so two providers cannot share one receiver.
    for (const place of [`bounce_domain ${values.bounceDomain}`, `bounce_port ${values.bouncePort}`]) {
      const other = bounces.get(place)
      if (other !== undefined)
        problems.push({ line, sentence: `"${name}" and "${other}" have the same ${place}; give each its own` })
      bounces.set(place, name)
    }
  }
  return problems
}

/** The value of the column `provider` for messages of test keys. */
const SIMULATION = 'simulation'

const loneProblems = (providers: readonly Placed[]): Problem[] =>
  providers.length < 2
    ? []
    : providers
        .filter(({ kind }) => kind.role === 'off')
        .map(({ line, kind }) => ({ line, sentence: `"${kind.kind}" switches the channel off and stands alone` }))

/** The keys of the variables that a sentence names, in their order. */
const variablesIn = (kind: ProviderKind, sentence: string): string[] => {
  const keys = new Map([...rowsByKey(kind)].map(([key, { row }]) => [row.name, key]))
  return [...sentence.matchAll(VARIABLE)].flatMap(([variable]) => keys.get(variable) ?? [])
}

const VARIABLE = /HERALD_[A-Z0-9_]+/g

/** Replaces the variables in a sentence by the keys of the file. */
export function inFile(kind: ProviderKind, sentence: string): string {
  const keys = new Map([...rowsByKey(kind)].map(([key, { row }]) => [row.name, key]))
  return sentence.replace(VARIABLE, variable => keys.get(variable) ?? variable)
}
