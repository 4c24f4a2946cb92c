// herald doctor: finds problems and says what to do about each. It changes nothing that herald start would not change.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addressOf } from '../address.ts'
import { captureProblems } from '../config/in-use.ts'
import { type Config, ConfigProblems } from '../config/index.ts'
import { isLoopback } from '../core/network.ts'
import { choosePlace } from '../db/embedded-place.ts'
import { attempted, type Check, checkRunning, ok, problem } from './checks.ts'
import type { Command, Io } from './command.ts'
import { checkDatabase } from './database-checks.ts'
import {
  askReady,
  checkPublicAddress,
  checkSendingDomain,
  checkSigning,
  doesNotRun,
  type HealthReply,
} from './mail-checks.ts'
import { type Block, layOut, painted, stack, wrapped } from './print.ts'
import { checkCollector, checkSingleSignOn } from './reach-checks.ts'
import type { Screen } from './terminal.ts'

export const commands: readonly Command[] = [
  {
    noun: 'doctor',
    sentence: 'Check this machine, the settings, the database, the queue, the providers and the service for problems.',
    more: 'Each problem comes with a remedy. Exit code 1 if there is a problem. Nothing is sent: doctor connects to every provider and logs in (SMPP: one bind); in an S3 file store it writes and removes one small object. A DNS query without an answer is reported as such.',
    run: async io => {
      const checks = await allChecks(io)
      const problems = checks.filter(check => !check.ok).length
      const closing =
        problems === 0 ? 'No problem found.' : `${problems} ${problems === 1 ? 'problem' : 'problems'} found.`
      return {
        text: [...checks.map(line), '', painted(problems === 0 ? 'green' : 'red', closing)],
        data: { ok: problems === 0, checks },
        ...(problems > 0 && { failed: true as const }),
      }
    },
  },
]

const MARGIN = ' '.repeat(9)
const ARROW = `${MARGIN}-> `

const line = ({ name, ok, found, remedy }: Check): Block =>
  stack(
    screen => {
      const text =
        screen.columns === null
          ? layOut(`${MARGIN}${name}: ${found}`, screen)
          : layOut(wrapped(MARGIN, `${name}: ${found}`), screen)
      const word = ok ? screen.paint('green', 'ok') : screen.paint('red', 'PROBLEM')
      return `${word}${text.slice(ok ? 2 : 7)}`
    },
    ...(remedy
      ? [
          (screen: Screen) =>
            screen.columns === null ? layOut(`${ARROW}${remedy}`, screen) : layOut(wrapped(ARROW, remedy), screen),
        ]
      : []),
  )

async function allChecks(io: Io): Promise<Check[]> {
  const node = checkNode(process.versions.node)
  const settings = checkSettings(io)
  if ('problem' in settings) return [node, settings.problem]
  const { config } = settings
  io.progress.show('Asking the service')
  const health = config.port === 0 ? null : await askReady(ownAddress(config))
  io.progress.show('Checking the database and the providers')
  const { checks, instance } = await checkDatabase(config, health)
  io.progress.show('Checking the sending domain and the public address')
  return [
    node,
    settingsOf(config),
    ...(await attempted('Disk', async () => [checkDisk(config)])),
    ...(await attempted(FOLDER, async () => checkFolder(config))),
    ...checks,
    checkSendingDomain(config),
    ...(await checkSigning(config)),
    await checkPublicAddress(config, health, instance),
    checkConsole(config),
    ...(await attempted('Single sign-on', () => checkSingleSignOn(config))),
    ...(await attempted('OpenTelemetry collector', () => checkCollector(config))),
    ...(await checkService(config, health, instance)),
  ]
}

/** Where this installation listens, which may differ from its public address. */
const ownAddress = (config: Config) => addressOf({ ...config, baseUrl: null })

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > 20 || (major === 20 && minor >= 19)
  return isNewEnough
    ? ok('Node.js', version)
    : problem('Node.js', `${version} is too old`, 'Install Node.js 20.19 or newer.')
}

function checkSettings(io: Io): { config: Config } | { problem: Check } {
  try {
    return { config: io.config() }
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    return {
      problem: problem('Settings', error.problems.join('; '), 'Correct them; docs/settings.md explains each setting.'),
    }
  }
}

/** Combinations of valid settings that herald start refuses. */
function settingsOf(config: Config): Check {
  const problems = captureProblems(config, 'all')
  if (problems.length === 0) return ok('Settings', 'valid')
  return problem(
    'Settings',
    problems.join('; '),
    'Until then herald start refuses to run; docs/settings.md explains each setting.',
  )
}

/** The console refuses plain http from other machines, because it would show sessions to others on the way. */
function checkConsole(config: Config): Check {
  const name = 'Console'
  if (!config.console) return ok(name, 'switched off')
  const { baseUrl, host, consolePath } = config
  const base = baseUrl === null ? null : new URL(baseUrl)
  if (base?.protocol === 'https:') return ok(name, baseUrl + consolePath)
  if (isLoopback(base?.hostname ?? host)) return ok(name, `${consolePath}, for this machine only`)
  return problem(
    name,
    'it has no https address, so it opens on this machine only, as localhost',
    'Put a proxy with a certificate in front and set HERALD_BASE_URL to its https address, or set HERALD_CONSOLE=off.',
  )
}

const SMALLEST_FREE = 500 * 1024 * 1024

function checkDisk(config: Config): Check {
  // For root the embedded database may be in another folder.
  const folder = config.databaseUrl ? config.dataFolder : choosePlace(join(config.dataFolder, 'postgres'), () => {})
  let existing = folder
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  const { bavail, bsize } = statfsSync(existing)
  const free = bavail * bsize
  const found = `${free >= 1e9 ? `${(free / 1e9).toFixed(1)} GB` : `${Math.round(free / 1e6)} MB`} free for ${folder}`
  return free >= SMALLEST_FREE
    ? ok('Disk', found)
    : problem('Disk', found, 'Free some space, or move the data folder (HERALD_DATA) to a larger disk.')
}

const FOLDER = 'Data folder'

/** With a database and a secret of their own, services write nothing here. */
function checkFolder({ databaseUrl, sealSecret, dataFolder }: Config): Check[] {
  if (databaseUrl && sealSecret !== null) return []
  let existing = dataFolder
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  if (!statSync(existing).isDirectory())
    return [problem(FOLDER, `${existing} is not a folder`, 'Name a folder in HERALD_DATA.')]
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
    return []
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no code'
    return [
      problem(
        FOLDER,
        `${existing} is not writable (${code})`,
        'Give it to the user that runs Herald, run doctor as that user, or name another folder in HERALD_DATA.',
      ),
    ]
  }
}

/** Before the first start a service that does not run is no problem. */
async function checkService(config: Config, health: HealthReply | null, instance: string | null): Promise<Check[]> {
  const name = 'Service'
  if (health === null) return [ok(name, 'HERALD_PORT is 0, so the port of the service is not known')]
  const address = ownAddress(config)
  if (doesNotRun(health))
    return [
      instance === null
        ? ok(name, `does not run on ${address}; start it with: herald start`)
        : problem(
            name,
            `does not run on ${address}`,
            'Start it: herald start, or systemctl start herald. If it has ended by itself, its last log lines say why. A machine with only the engine does not listen: set HERALD_PORT to 0 for doctor.',
          ),
    ]
  if (health.kind !== 'ready')
    return [
      problem(
        name,
        `what listens on ${address} does not answer like Herald`,
        'If it is another program, choose another port (HERALD_PORT).',
      ),
    ]
  if (instance !== null && health.instance !== instance)
    return [
      problem(
        name,
        `another installation of Herald answers on ${address}, with another database`,
        'Choose another port (HERALD_PORT), or run doctor with the settings of that installation.',
      ),
    ]
  if (!health.ok)
    return [problem(name, `answers on ${address}, but is not ready: ${health.status}`, 'Look at its log.')]
  return [ok(name, `answers on ${address}`), ...(await checkRunning(address, config.metricsToken))]
}
