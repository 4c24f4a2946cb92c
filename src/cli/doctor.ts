// Looks for trouble and says in plain words what to do. It changes nothing that a start would not.

import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addressOf } from '../address.ts'
import { CHANNELS } from '../channels/index.ts'
import { captureProblems } from '../config/in-use.ts'
import { type Config, ConfigProblems } from '../config/index.ts'
import { choosePlace } from '../db/embedded-place.ts'
import { pending, serverVersion, unsafeSettings } from '../db/migrate.ts'
import { checkSeal } from '../db/seal.ts'
import { createProviders } from '../delivery.ts'
import { openStore } from '../main.ts'
import type { Dispatcher } from '../notifications/accept.ts'
import type { Store } from '../parts.ts'
import type { ChosenProvider, ProviderKind } from '../providers/kind.ts'
import type { Provider } from '../providers/port.ts'
import { instanceOf } from '../queue/hold.ts'
import { createAcceptReceipts } from '../receipts/accept.ts'
import { createLog } from '../telemetry/log.ts'
import {
  type Check,
  checkClock,
  checkFiles,
  checkHold,
  checkLeader,
  checkPartitions,
  checkQueue,
  checkRunning,
  fine,
  trouble,
} from './checks.ts'
import type { Command, Io } from './command.ts'
import { explained } from './explain.ts'
import { inboxOf } from './inbox.ts'
import { type Asked, askReady, checkDkim, checkPublicAddress, checkSendingDomain } from './mail-checks.ts'

export const doctorCommands: readonly Command[] = [
  {
    noun: 'doctor',
    sentence:
      'Look for trouble on this machine, in the settings, the database, the queue, the providers and the service.',
    more: 'Each problem comes with what to do about it. Exit code 1 when there is one. It sends nothing: every provider is greeted as a message would, with login and, for SMPP, one bind; in a file store of your own it puts and removes one small object. A look-up in DNS that gets no answer is told as such.',
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
  const answer = config.port === 0 ? null : await askReady(ownAddress(config))
  const { checks, instance } = await checkDatabase(config, answer)
  return [
    node,
    settingsOf(config),
    ...(await attempted('Disk', async () => [checkDisk(config)])),
    ...checks,
    checkSendingDomain(config),
    await checkDkim(config),
    await checkPublicAddress(config, instance, isOurs(answer, instance)),
    ...(await checkService(config, answer, instance)),
  ]
}

/** Where this installation listens, whatever its public address is. */
const ownAddress = (config: Config) => addressOf({ ...config, baseUrl: null })

const isOurs = (answer: Asked | null, instance: string | null) =>
  answer?.kind === 'ready' && answer.instance !== null && answer.instance === instance

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

/** What a start would refuse although each setting is understood. */
function settingsOf(config: Config): Check {
  const problems = captureProblems(config, 'all')
  if (problems.length === 0) return fine('Settings', 'all are understood')
  return trouble('Settings', problems.join('; '), 'Until then herald start refuses; docs/settings.md explains each.')
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

type Inside = { checks: Check[]; instance: string | null }

async function checkDatabase(config: Config, answer: Asked | null): Promise<Inside> {
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
      return { checks: [fine(name, 'not made yet; the first start makes it')], instance: null }
    // What openStore would refuse for being unsafe is looked at below, with the rest.
    const store = await openStore({ ...config, allowUnsafeDatabase: true }, { migrate: false })
    try {
      const version = await serverVersion(store.db.sql)
      const where = config.databaseUrl ? 'DATABASE_URL' : config.dataFolder
      const { checks, instance } = await checkInside(store, config, answer)
      return { checks: [fine(name, `PostgreSQL ${version} answers (${where})`), ...checks], instance }
    } finally {
      await store.stop()
    }
  } catch (error) {
    const remedy = 'Check DATABASE_URL, or the rights on the data folder.'
    return { checks: [trouble(name, explained(error).join(' '), remedy)], instance: null }
  }
}

async function checkInside(store: Store, config: Config, answer: Asked | null): Promise<Inside> {
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
  if (missing.length > 0) {
    const migrations = trouble(
      'Migrations',
      `missing: ${missing.join(', ')}`,
      'Run: herald migrate (a start does it too)',
    )
    return { checks: [durable, migrations], instance: null }
  }
  const instance = await instanceOf(sql)
  const checks = [
    durable,
    fine('Migrations', 'all are there'),
    await checkSecret(() => checkSeal(sql, seal)),
    await checkHold(store),
    ...(await checkQueue(store)),
    await checkPartitions(store),
    await checkLeader(store, isOurs(answer, instance)),
    await checkClock(store),
    ...(await attempted('Files', () => checkFiles(store))),
    ...(await checkProviders(store)),
  ]
  return { checks, instance }
}

/** Greets every provider as a message would, up to the point where one would be sent. */
async function checkProviders(store: Store): Promise<Check[]> {
  const { config } = store
  const quiet = { inbox: inboxOf(store), log: createLog('silent') }
  // A receipt that an SMSC gives to our bind is stored, for the service to apply.
  const onFault = (_error: unknown, sentence: string) => createLog(config.logLevel).error(sentence)
  const accept = createAcceptReceipts({ ...store, sql: store.db.sql, dispatcher: () => QUEUED, onFault })
  try {
    const chosen = { email: config.providers.email.map(probing), sms: config.providers.sms.map(probing) }
    const kinds = new Map([...chosen.email, ...chosen.sms].map(({ name, kind }) => [name, kind]))
    const providers = createProviders({ ...store, config: { ...config, providers: chosen } }, quiet, {
      sends: true,
      accept,
      now: store.clock.now,
    })
    try {
      const created = [...providers.email, ...providers.sms]
      return await Promise.all(created.map(provider => checkProvider(provider, kinds.get(provider.name))))
    } finally {
      await providers.stop()
    }
  } catch (error) {
    return [trouble('Providers', explained(error).join(' '), 'See docs/providers.md for what each one needs.')]
  }
}

const QUEUED: Dispatcher = { initialLease: () => null, hand() {} }

const probing = <P extends Provider>(provider: ChosenProvider<P>): ChosenProvider<P> => ({
  ...provider,
  values: { ...provider.values, ...provider.kind.probeValues },
})

async function checkProvider(provider: Provider, kind: ProviderKind | undefined): Promise<Check> {
  const name = `Provider of ${CHANNELS[provider.channel].words.many}`
  if (kind?.role === 'capture')
    return fine(name, 'none: captured, not sent (messages are kept in the inbox and marked delivered)')
  if (kind?.role === 'off') return fine(name, 'switched off')
  const answer = await provider.probe()
  return answer.ok
    ? fine(name, `${provider.name} ${kind?.greeting ?? 'answers'}`)
    : trouble(
        name,
        `${provider.name} does not answer as it should: ${answer.detail}`,
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
async function checkService(config: Config, answer: Asked | null, instance: string | null): Promise<Check[]> {
  const name = 'Service'
  if (answer === null) return [fine(name, 'HERALD_PORT is 0, so there is no fixed port to ask')]
  const address = ownAddress(config)
  if (answer.kind === 'failed' && answer.why === 'ECONNREFUSED')
    return [fine(name, `does not run on ${address}; start it with: herald start`)]
  if (answer.kind !== 'ready')
    return [
      trouble(
        name,
        `what listens on ${address} does not answer like Herald`,
        'If it is another program, choose another port (HERALD_PORT).',
      ),
    ]
  if (instance !== null && answer.instance !== instance)
    return [
      trouble(
        name,
        `another installation of Herald answers on ${address}, with another database`,
        'Choose another port (HERALD_PORT), or run doctor with the settings of that installation.',
      ),
    ]
  if (!answer.ok)
    return [trouble(name, `answers on ${address}, but is not ready: ${answer.status}`, 'Look at its log.')]
  return [fine(name, `answers on ${address}`), ...(await checkRunning(address))]
}
