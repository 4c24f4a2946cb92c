// Looks for trouble and says in plain words what to do. It changes nothing that a start would not.
import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, ConfigProblems } from '../config.ts'
import { choosePlace } from '../db/embedded-place.ts'
import { pending, serverVersion, unsafeSettings } from '../db/migrate.ts'
import { checkSeal } from '../db/seal.ts'
import { createProviders } from '../delivery.ts'
import { openStore } from '../main.ts'
import type { Store } from '../parts.ts'
import type { Provider } from '../providers/port.ts'
import { createLog } from '../telemetry/log.ts'
import {
  type Check,
  checkClock,
  checkFiles,
  checkHold,
  checkPartitions,
  checkQueue,
  checkRunning,
  fine,
  trouble,
} from './checks.ts'
import type { Command, Io } from './command.ts'
import { explained } from './explain.ts'
import { inboxOf } from './inbox.ts'
import { addressIn } from './sample-command.ts'

export const doctorCommands: readonly Command[] = [
  {
    noun: 'doctor',
    sentence:
      'Look for trouble on this machine, in the settings, the database, the queue, the providers and the service.',
    more: 'Each problem comes with what to do about it. Exit code 1 when there is one. It sends nothing; in a file store of your own it puts and removes one small object.',
    run: async io => {
      const checks = await examine(io)
      const problems = checks.filter(check => !check.ok).length
      const closing =
        problems === 0 ? 'Everything is in order.' : `${problems} ${problems === 1 ? 'problem' : 'problems'} found.`
      return {
        text: [...checks.map(line), '', closing].join('\n'),
        data: { ok: problems === 0, checks },
        ...(problems > 0 && { failed: true as const }),
      }
    },
  },
]

const line = ({ name, ok, found, remedy }: Check) =>
  `${ok ? 'ok      ' : 'PROBLEM '} ${name}: ${found}${remedy ? `\n         -> ${remedy}` : ''}`

async function examine(io: Io): Promise<Check[]> {
  const node = checkNode(process.versions.node)
  const settings = checkSettings(io)
  if ('problem' in settings) return [node, settings.problem]
  const { config } = settings
  return [
    node,
    fine('Settings', 'all are understood'),
    ...(await attempted('Disk', async () => [checkDisk(config)])),
    ...(await checkDatabase(config)),
    ...(await checkService(config)),
  ]
}

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > 20 || (major === 20 && minor >= 19)
  return isNewEnough
    ? fine('Node.js', version)
    : trouble('Node.js', `${version} is too old`, 'Install Node.js 20.19 or newer.')
}

function checkSettings(io: Io): { config: Config } | { problem: Check } {
  try {
    return { config: io.config() }
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    return { problem: trouble('Settings', error.problems.join('; '), 'Correct them; docs/settings.md explains each.') }
  }
}

const SMALLEST_FREE = 500 * 1024 * 1024

function checkDisk(config: Config): Check {
  // As root the embedded database may lie elsewhere.
  const folder = config.databaseUrl ? config.dataFolder : choosePlace(join(config.dataFolder, 'postgres'), () => {})
  let there = folder
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
  const { bavail, bsize } = statfsSync(there)
  const free = bavail * bsize
  const found = `${free >= 1e9 ? `${(free / 1e9).toFixed(1)} GB` : `${Math.round(free / 1e6)} MB`} free for ${folder}`
  return free >= SMALLEST_FREE
    ? fine('Disk', found)
    : trouble('Disk', found, 'Make room, or move the data folder (HERALD_DATA) to a larger disk.')
}

/** A check that cannot be made is a finding, not the end of the others. */
async function attempted(name: string, make: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await make()
  } catch (error) {
    return [trouble(name, explained(error).join(' '), 'Correct the settings; docs/settings.md explains each.')]
  }
}

async function checkDatabase(config: Config): Promise<Check[]> {
  const name = 'Database'
  try {
    if (
      !config.databaseUrl &&
      !existsSync(
        join(
          choosePlace(join(config.dataFolder, 'postgres'), () => {}),
          'data',
        ),
      )
    )
      return [fine(name, 'not made yet; the first start makes it')]
    // What openStore would refuse for being unsafe is looked at below, with the rest.
    const store = await openStore({ ...config, allowUnsafeDatabase: true }, { migrate: false })
    try {
      const version = await serverVersion(store.db.sql)
      const where = config.databaseUrl ? 'DATABASE_URL' : config.dataFolder
      return [fine(name, `PostgreSQL ${version} answers (${where})`), ...(await checkInside(store, config))]
    } finally {
      await store.stop()
    }
  } catch (error) {
    return [trouble(name, explained(error).join(' '), 'Check DATABASE_URL, or the rights on the data folder.')]
  }
}

async function checkInside(store: Store, config: Config): Promise<Check[]> {
  const {
    db: { sql },
    seal,
  } = store
  const unsafe = await unsafeSettings(sql)
  const durable =
    unsafe.length === 0
      ? fine('Durability', 'the database keeps what it has acknowledged')
      : trouble(
          'Durability',
          `${unsafe.join(', ')} switched off${config.allowUnsafeDatabase ? ', allowed by HERALD_ALLOW_UNSAFE_DATABASE' : ''}`,
          'Switch on in the configuration of PostgreSQL, else messages can be lost in a crash.',
        )
  const missing = await pending(sql)
  if (missing.length > 0)
    return [
      durable,
      trouble('Migrations', `missing: ${missing.join(', ')}`, 'Run: herald migrate (a start does it too)'),
    ]
  return [
    durable,
    fine('Migrations', 'all are there'),
    await checkSecret(() => checkSeal(sql, seal)),
    await checkHold(store),
    ...(await checkQueue(store)),
    await checkPartitions(store),
    await checkClock(store),
    ...(await attempted('Files', () => checkFiles(store))),
    ...(await checkProviders(store)),
  ]
}

/** Asks every provider whether it would answer; nothing is sent. SMPP is left to the service: a bind of ours would take its place. */
async function checkProviders(store: Store): Promise<Check[]> {
  const { config } = store
  const asked = (names: readonly string[]) => names.filter(name => name !== 'smpp')
  const quiet = { inbox: inboxOf(store), log: createLog('silent') }
  try {
    const providers = createProviders(
      // The bounces' port belongs to the service that runs.
      {
        ...store,
        config: {
          ...config,
          bounceDomain: null,
          emailProviders: asked(config.emailProviders),
          textProviders: asked(config.textProviders),
        },
      },
      quiet,
      { sends: true, accept: async () => {}, now: store.clock.now },
    )
    try {
      return await Promise.all([...providers.email, ...providers.text].map(checkProvider))
    } finally {
      await providers.stop()
    }
  } catch (error) {
    return [trouble('Providers', explained(error).join(' '), 'See docs/providers.md for what each one needs.')]
  }
}

async function checkProvider(provider: Provider): Promise<Check> {
  const name = `Provider of ${provider.channel === 'email' ? 'e-mails' : 'text messages'}`
  if (provider.name === 'capture') return fine(name, 'none: messages are kept in the inbox and sent to nobody')
  if (provider.name === 'none') return fine(name, 'switched off')
  const answer = await provider.probe()
  return answer.ok
    ? fine(name, `${provider.name} answers`)
    : trouble(
        name,
        `${provider.name} does not answer: ${answer.detail}`,
        'Messages wait until it does. Check its address and login in the settings.',
      )
}

async function checkSecret(check: () => Promise<void>): Promise<Check> {
  try {
    await check()
    return fine('Sealing secret', 'fits this database')
  } catch (error) {
    return trouble('Sealing secret', 'does not fit this database', explained(error).join(' '))
  }
}

/** A service that does not run is no trouble; a stranger on its port is. */
async function checkService(config: Config): Promise<Check[]> {
  const name = 'Service'
  if (config.port === 0) return [fine(name, 'HERALD_PORT is 0, so there is no fixed port to ask')]
  const address = addressIn({ ...config, baseUrl: null })
  try {
    const reply = await fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(3_000) })
    const body: unknown = await reply.json()
    const status = typeof body === 'object' && body !== null && 'status' in body ? String(body.status) : ''
    if (reply.ok && status === 'ok') return [fine(name, `answers on ${address}`), ...(await checkRunning(address))]
    return [trouble(name, `answers on ${address}, but is not ready: ${status || reply.status}`, 'Look at its log.')]
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED') return [fine(name, `does not run on ${address}; start it with: herald start`)]
    return [
      trouble(
        name,
        `what listens on ${address} does not answer like Herald`,
        'If it is another program, choose another port (HERALD_PORT).',
      ),
    ]
  }
}

const codeOf = (error: unknown): unknown => {
  if (typeof error !== 'object' || error === null) return undefined
  if ('cause' in error && error.cause) return codeOf(error.cause)
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  return 'code' in error ? error.code : undefined
}
