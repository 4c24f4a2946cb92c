// One table of settings: name, kind, default, sentence. The only reader of the environment.
// docs/settings.md is made from it, and every problem is told at once before anything starts.
import { readFileSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'

type Reader<T> = (text: string) => T | Problem
type Problem = { problem: string }
type Setting<T> = { name: string; read: Reader<T>; fallback: T; shown: string; secret?: true; sentence: string }

const setting = <T>(
  name: string,
  read: Reader<T>,
  fallback: T,
  sentence: string,
  options: { shown?: string; secret?: true } = {},
): Setting<T> => ({
  name,
  read,
  fallback,
  sentence,
  shown: options.shown ?? String(fallback),
  ...(options.secret && { secret: true }),
})

const settings = {
  dataFolder: setting(
    'HERALD_DATA',
    folder,
    resolve('data'),
    'Folder for the embedded database and the secrets made on first start.',
    { shown: './data' },
  ),
  databaseUrl: setting<string | null>(
    'DATABASE_URL',
    postgresUrl,
    null,
    'An external PostgreSQL (15 or newer) to use instead of the embedded one.',
    { shown: 'none: embedded', secret: true },
  ),
  allowUnsafeDatabase: setting(
    'HERALD_ALLOW_UNSAFE_DATABASE',
    flag,
    false,
    'Start even though the database may lose acknowledged commits (fsync, full_page_writes or synchronous_commit off). For tests only.',
  ),
  databaseConnections: setting(
    'HERALD_DATABASE_CONNECTIONS',
    whole(2, 500),
    10,
    'Connections to the database held by one process.',
  ),
  databaseSeconds: setting(
    'HERALD_DATABASE_SECONDS',
    whole(1, 60),
    5,
    'How long one statement may take before the request is answered with 500.',
  ),
  host: setting('HERALD_HOST', text, '127.0.0.1', 'Address to listen on; `0.0.0.0` for every network of the machine.'),
  port: setting('HERALD_PORT', whole(0, 65_535), 6011, 'Port to listen on; 0 takes any free one.'),
  baseUrl: setting<string | null>(
    'HERALD_BASE_URL',
    webAddress,
    null,
    'Public address of the service, used in links. Without it, scheme and host of each request are used.',
    { shown: 'from the request' },
  ),
  trustedProxies: setting(
    'HERALD_TRUSTED_PROXIES',
    list,
    [] as string[],
    'Addresses or networks of proxies whose forwarded headers are believed, separated by commas.',
    { shown: 'none' },
  ),
  corsOrigins: setting(
    'HERALD_CORS_ORIGINS',
    list,
    [] as string[],
    'Web origins that may call the API from a browser, separated by commas.',
    { shown: 'none' },
  ),
  sealSecret: setting<string | null>(
    'HERALD_SECRET',
    secret,
    null,
    'Secret that seals keys and personal data, at least 32 characters. Without it one is made on first start and kept in the data folder.',
    { shown: 'made on first start', secret: true },
  ),
  oldSealSecrets: setting(
    'HERALD_OLD_SECRETS',
    secrets,
    [] as string[],
    'Earlier secrets, newest first, separated by commas: what they sealed stays readable after a change of HERALD_SECRET.',
    { shown: 'none', secret: true },
  ),
  keyPrefix: setting(
    'HERALD_KEY_PREFIX',
    word,
    'herald',
    'First word of every API key, so that secret scanners recognise it.',
  ),
  sendingDomain: setting(
    'HERALD_SENDING_DOMAIN',
    domain,
    'herald.example',
    'Domain of the addresses that e-mails are sent from.',
  ),
  simulatedRecipients: setting(
    'HERALD_SIMULATED_RECIPIENTS',
    list,
    [] as string[],
    'Smoke-test recipients: accepted, stored nowhere, never sent to. Separated by commas.',
    { shown: 'simulate-delivered(-2, -3)@ the sending domain; +16132532222, …3, …4' },
  ),
  logLevel: setting(
    'HERALD_LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'How much is logged.',
  ),
  requestSeconds: setting(
    'HERALD_REQUEST_SECONDS',
    whole(1, 600),
    30,
    'How long a caller may take to send a whole request.',
  ),
  headerSeconds: setting(
    'HERALD_HEADER_SECONDS',
    whole(1, 600),
    10,
    'How long a caller may take to send the headers of a request.',
  ),
  keepAliveSeconds: setting(
    'HERALD_KEEP_ALIVE_SECONDS',
    whole(1, 3_600),
    72,
    'How long an idle connection is kept; longer than the idle time-out of the proxy in front.',
  ),
  drainSeconds: setting('HERALD_DRAIN_SECONDS', whole(1, 600), 10, 'How long a stop waits for requests under way.'),
} satisfies Record<string, Setting<unknown>>

export type Config = { -readonly [K in keyof typeof settings]: (typeof settings)[K]['fallback'] }

/** Every problem at once, in plain words, so that a wrong start is mended in one go. */
export class ConfigProblems extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`Herald cannot start with these settings:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = []
  const config: Record<string, unknown> = {}
  for (const [key, { name, read, fallback }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const given = value(env, name, problems)
    if (given === undefined) {
      config[key] = fallback
      continue
    }
    const result = read(given)
    if (isProblem(result)) problems.push(`${name} ${result.problem}`)
    else config[key] = result
  }
  for (const name of Object.keys(env))
    if (name.startsWith('HERALD_') && !known.has(name.replace(/_FILE$/, '')))
      problems.push(`${name} is not a setting of Herald; docs/settings.md lists them all`)
  if (problems.length > 0) throw new ConfigProblems(problems)
  return config as Config
}

const known = new Set(Object.values(settings).map(setting => setting.name))

/** What docs/settings.md shows. */
export const settingsTable = () =>
  Object.values(settings).map(({ name, shown, sentence, ...rest }) => ({
    name,
    shown,
    sentence,
    secret: 'secret' in rest,
  }))

function value(env: NodeJS.ProcessEnv, name: string, problems: string[]): string | undefined {
  const direct = env[name]
  const file = env[`${name}_FILE`]
  if (direct && file) problems.push(`${name} and ${name}_FILE are both set; keep one`)
  if (direct) return direct
  if (!file) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    problems.push(`${name}_FILE names ${file}, which cannot be read`)
    return undefined
  }
}

const isProblem = (result: unknown): result is Problem =>
  typeof result === 'object' && result !== null && 'problem' in result

function text(given: string) {
  return given
}
function folder(given: string) {
  return isAbsolute(given) ? given : resolve(given)
}
function flag(given: string): boolean | Problem {
  if (/^(1|true|yes|on)$/i.test(given)) return true
  if (/^(0|false|no|off)$/i.test(given)) return false
  return { problem: `is "${given}"; it must be true or false` }
}
function whole(from: number, to: number): Reader<number> {
  return given => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
    return number >= from && number <= to
      ? number
      : { problem: `is "${given}"; it must be a whole number from ${from} to ${to}` }
  }
}
function list(given: string): string[] {
  return given
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
function word(given: string): string | Problem {
  return /^[a-z][a-z0-9]{1,19}$/.test(given)
    ? given
    : { problem: `is "${given}"; it must be 2 to 20 small letters and digits, starting with a letter` }
}
function domain(given: string): string | Problem {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(given)
    ? given
    : { problem: `is "${given}"; it must be a domain name in small letters, like mail.example.org` }
}
function oneOf<const T extends string>(...choices: T[]): Reader<T> {
  return given =>
    choices.find(choice => choice === given) ?? { problem: `is "${given}"; it must be one of ${choices.join(', ')}` }
}
// No comma, or it could not be listed among the old ones later.
function secret(given: string): string | Problem {
  if (given.length < 32) return { problem: `is too short: ${given.length} characters, at least 32 are needed` }
  return given.includes(',') ? { problem: 'must not contain a comma' } : given
}
function secrets(given: string): string[] | Problem {
  const all = list(given)
  const short = all.find(one => one.length < 32)
  return short === undefined
    ? all
    : { problem: `holds one that is too short: ${short.length} characters, at least 32 are needed` }
}
function webAddress(given: string): string | Problem {
  const wrong = {
    problem: `is "${given}"; it must be an address like https://notify.example.org, without a path at the end`,
  }
  if (!URL.canParse(given)) return wrong
  const url = new URL(given)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return wrong
  return given.replace(/\/+$/, '')
}
function postgresUrl(given: string): string | Problem {
  return /^postgres(ql)?:\/\//.test(given)
    ? given
    : { problem: 'must be an address like postgresql://user:password@host:5432/database' }
}
