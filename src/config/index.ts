// Reads the settings. Nothing else reads the environment. All problems are reported together, before anything starts.
import type { Channel } from '../channels/plain.ts'
import { fileProblems } from '../files/settings.ts'
import { signInProblems } from '../people/settings.ts'
import type { Chosen } from '../providers/registry.ts'
import { readEnvFile } from './env-file.ts'
import { captureProblems, type Part } from './in-use.ts'
import { chosenProviders, providerProblems, reportDoubled } from './providers.ts'
import { readProvidersFile } from './providers-file.ts'
import { baseOf, isSecret, readValues, type Source, unknownNames } from './read.ts'
import type { Values } from './settings.ts'

export { settingsTable } from './settings.ts'

/** `providers`: the providers of each channel, in order of preference, from the variables or the providers file. */
export type Config = Omit<Values, `${Channel}Providers`> & { providers: Chosen }

/** All problems of the settings, each as a sentence that says what to correct. */
export class ConfigProblems extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`Herald cannot start with these settings:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Reads the environment and the settings file. The environment overrides the file. */
export function readSettings(
  warn: (sentence: string) => void,
  { env = process.env, part, places }: { env?: NodeJS.ProcessEnv; part?: Part; places?: readonly string[] } = {},
): Config {
  const file = readEnvFile(env.HERALD_ENV_FILE, places)
  if (file === null) return readConfig(env, part, { ...ENVIRONMENT, warn })
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`])
  // Also names of other programs: the providers file may refer to them.
  const used = file.lines.filter(({ name }) => !isSet(baseOf(name)))
  if (file.isOpen && file.lines.some(({ name }) => isSecret(name))) warn(openSentence(file.path))
  const config = readConfig({ ...env, ...Object.fromEntries(used.map(({ name, value }) => [name, value])) }, part, {
    where: new Map(used.map(({ name, line }) => [name, `${file.path} line ${line}`])),
    problems: file.problems,
    warn,
  })
  return { ...config, envFile: file.path }
}

const openSentence = (path: string) =>
  `${path} holds secrets, and every user of this machine may read it: chmod o-r ${path}`

const ENVIRONMENT: Source = { where: new Map(), problems: [] }

/**
 * Settings from variables. `part`: the part that is about to start, for checks that only a start needs; commands omit it. `source`:
 * the lines of variables that come from the settings file.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, part?: Part, source = ENVIRONMENT): Config {
  const problems = [...source.problems]
  const report = (name: string, sentence: string) => {
    const where = source.where.get(name) ?? source.where.get(`${name}_FILE`)
    problems.push(where ? `${where}: ${sentence}` : sentence)
  }
  const values = readValues(env, report)
  const file = values.providersFile === null ? null : readProvidersFile(values.providersFile, env)
  unknownNames(env, file?.variables ?? [], report)
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`])
  const byVariables = chosenProviders(values, isSet, report)
  const config: Config = { ...values, providers: { ...byVariables, ...file?.chosen } }
  problems.push(...fileProblems(values), ...signInProblems(values), ...providerProblems(values))
  if (file) {
    reportDoubled(file, isSet, report)
    problems.push(...file.problems)
    if (file.isOpen) source.warn?.(openSentence(file.path))
  }
  if (part && !file?.problems.length) problems.push(...captureProblems(config, part))
  if (problems.length > 0) throw new ConfigProblems(problems)
  return config
}
