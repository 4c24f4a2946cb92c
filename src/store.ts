// Opens the database and everything that commands and the service need to work on the data.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { envFilePlaces } from './config/env-file.ts'
import type { Config } from './config/index.ts'
import { type Clock, createClock } from './core/clock.ts'
import { createIds } from './core/id.ts'
import { followDatabase } from './db/clock.ts'
import { type Connection, connect, type Database } from './db/connect.ts'
import { EMBEDDED_CONNECTIONS, startEmbedded } from './db/embedded.ts'
import { choosePlace } from './db/embedded-place.ts'
import { isComplete, isMigrated, migrate, pending, serverVersion, unsafeSettings } from './db/migrate.ts'
import type { Look } from './db/primary.ts'
import { unmetReplication } from './db/replication.ts'
import { checkSeal, lockSeal, secretFile, secretIn } from './db/seal.ts'
import { makeEventPartitions } from './events/partitions.ts'
import { leap, settleTimeline } from './events/sql/clock.ts'
import { checkInstallation, forgetFileStore } from './installation/installation.ts'
import { checkRemovedSecrets } from './installation/removed-secrets.ts'
import { sealAgain } from './maintenance/seal.ts'
import { makePartitions } from './notifications/partitions.ts'
import type { Store } from './parts.ts'
import { connectionsNeeded, countOf } from './processes/count.ts'
import { recogniseCopy } from './queue/hold.ts'
import { createLifetime, type Lifetime, stopAll } from './runtime/lifetime.ts'
import { runSteps } from './runtime/steps.ts'
import { within } from './runtime/within.ts'
import { IDENTITY_TABLES } from './sending.ts'
import { faultOf } from './telemetry/fault.ts'
import type { Log } from './telemetry/log.ts'
import { highestStamp } from './webhooks/sql/positions.ts'

export type Say = (line: string) => void

/**
 * Only a start creates a database and its secret. A command that finds none was most likely run without the settings of the
 * service.
 */
export class NothingHere extends Error {
  constructor(what: string, { envFile }: Config) {
    const files = envFile
      ? `the environment and ${envFile}`
      : `the environment; there is no ${envFilePlaces().join(' or ')}`
    super(
      [
        what,
        `Only herald start makes one. Settings were looked for in ${files}.`,
        'Run the command with the settings of the service: DATABASE_URL or HERALD_DATA, and HERALD_SECRET where it is set, or a settings file (HERALD_ENV_FILE).',
      ].join('\n'),
    )
    this.name = 'NothingHere'
  }
}

/** Only a start and `herald migrate` migrate: there is no way back, so reading with a newer version must not do it. */
export class NotMigrated extends Error {
  constructor(missing: readonly string[]) {
    const count = missing.length === 1 ? '1 migration' : `${missing.length} migrations`
    super(
      [
        `This database was made by an older version of Herald and lacks ${count} (${missing.join(', ')}). Run: herald migrate`,
        'herald start migrates, too. Afterwards the older version does not start on it; docs/releases.md says what to do first.',
      ].join('\n'),
    )
    this.name = 'NotMigrated'
  }
}

type Opening = { say?: Say; clock?: Clock; log?: Log; signal?: AbortSignal; make?: boolean }
type OpenStore = { db: Database; revive(): Promise<void> } & Pick<Lifetime, 'stop' | 'fail'>

/** Opens the database and checks its durability. `make`: creates an embedded database that does not exist. */
export async function openDatabase(
  config: Config,
  { say = () => {}, clock = createClock(), log, signal, make = false }: Opening = {},
): Promise<OpenStore> {
  if (!make && !config.databaseUrl) {
    const place = choosePlace(join(config.dataFolder, 'postgres'), () => {})
    if (!existsSync(join(place, 'data')))
      throw new NothingHere(
        `There is no database in ${place}. HERALD_DATA names the data folder; its default is ./data.`,
        config,
      )
  }
  const embedded = config.databaseUrl ? null : await startOwn(config, say, signal)
  const servers = embedded ? [embedded] : []
  const connection: Connection = config.databaseUrl
    ? { url: config.databaseUrl }
    : (embedded as NonNullable<typeof embedded>)
  const db = connect(connection, {
    size: config.databaseConnections,
    name: 'herald',
    statementSeconds: config.databaseSeconds,
    onIdleError: error => log?.warn({ error: faultOf(error) }, 'an idle database connection was lost'),
    ...(log && { onLook: createLookLog(log) }),
  })
  const lifetime = createLifetime()
  lifetime.add(() => stopAll(servers.map(server => server.stop)))
  lifetime.add(() => within(DATABASE_STOP_MS, db.stop(), 'A statement in the database did not end in time.'))
  try {
    await checkDatabase(config, db)
    if (make) await checkReplication(config, db)
    await followDatabase(db.sql, clock)
  } catch (error) {
    return await lifetime.fail(error)
  }
  const revive = async () => {
    if (!embedded) return
    const server = await startOwn(config, say)
    // The database was only slow: it must be registered as used once, not twice.
    if (servers.some(known => known.pid === server.pid)) await server.stop()
    else servers.push(server)
  }
  return { db, revive, stop: lifetime.stop, fail: lifetime.fail }
}

/** Logs what prevents the use of a host, each reason once, and when no primary is left. */
function createLookLog(log: Log): (look: Look) => void {
  let logged: readonly string[] = []
  let isMissing = false
  return ({ primary, others }) => {
    const unusable = others.filter(({ isStandby }) => !isStandby)
    for (const { host, reason } of unusable)
      if (!logged.includes(`${host} ${reason}`)) log.warn({ host, reason }, 'a database host cannot be used')
    const now = unusable.map(({ host, reason }) => `${host} ${reason}`)
    logged = primary === null ? [...new Set([...logged, ...now])] : now
    if (primary === null && !isMissing) log.error({ hosts: others }, 'no primary database was found')
    if (primary !== null && isMissing) log.info({ host: primary }, 'the primary database was found again')
    isMissing = primary === null
  }
}

/** The steps of an upgrade by name; those of a new database mean nothing to its owner. */
function sayMigrated(say: (text: string) => void, steps: readonly string[]) {
  if (steps[0]?.startsWith('0001_')) say('The tables of a new database were made.')
  else for (const step of steps) say(`migrated: ${step}`)
}

/**
 * Opens the database, checks its durability and its sealing secret. A start (`make`) migrates it; a command refuses one that is not
 * migrated. `migrate: false`: leaves all of that to another process, or to doctor.
 */
export async function openStore(
  config: Config,
  { migrate: wanted = true, ...opening }: Opening & { migrate?: boolean } = {},
): Promise<Store> {
  const { say = () => {}, clock = createClock(), signal, make = false } = opening
  // While the database is asked: libsodium takes 30 ms to load.
  const sealing = import('./core/seal.ts')
  const { db, revive, stop, fail } = await openDatabase(config, { ...opening, clock })
  // Statements in progress fail when the embedded database stops; in an external database they end by their timeout.
  const abort = () => void stop().catch(() => {}) // reported by the stop that follows
  signal?.addEventListener('abort', abort)
  try {
    signal?.throwIfAborted()
    if (!make) await checkMade(config, db)
    if (wanted && make) sayMigrated(say, await migrate(db))
    else if (wanted) await checkMigrated(db)
    const secrets = [config.sealSecret ?? secretIn(config.dataFolder), ...config.oldSealSecrets]
    const { createSeal } = await sealing
    const seal = createSeal(secrets, { cipher: config.cipher, format: config.sealFormat })
    const ids = createIds(clock)
    if (wanted) {
      await db.transaction(async sql => {
        await lockSeal(sql)
        await checkSeal(sql, seal)
        await checkInstallation(sql, ids, seal)
      })
      await db.transaction(async sql => {
        if (!(await recogniseCopy(sql, IDENTITY_TABLES))) return
        await leap(sql, await highestStamp(sql))
        await forgetFileStore(sql)
      })
      await settleTimeline(db.sql)
      await makePartitions(db, clock)
      await makeEventPartitions(db, clock)
      await runSteps(sealAgain({ db, seal }))
      if (make) await checkRemovedSecrets(db.sql, seal, config.allowUnreadableData)
    }
    signal?.throwIfAborted()
    return { config, db, clock, ids, seal, secrets, revive, stop }
  } catch (error) {
    return await fail(error)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

async function checkMade(config: Config, db: Database) {
  const secret = secretFile(config.dataFolder)
  if (config.sealSecret === null && !existsSync(secret))
    throw new NothingHere(`There is no sealing secret: HERALD_SECRET is not set, and ${secret} is not there.`, config)
  if (!(await isMigrated(db.sql)))
    throw new NothingHere(
      `The database ${config.databaseUrl ? 'that DATABASE_URL names' : `in ${config.dataFolder}`} is empty: no Herald has started on it.`,
      config,
    )
}

async function checkMigrated(db: Database) {
  if (await isComplete(db.sql)) return
  const missing = await pending(db.sql)
  if (missing.length > 0) throw new NotMigrated(missing)
  // There is nothing to run: it says that a newer version has migrated this database.
  await migrate(db)
}

const DATABASE_STOP_MS = 3_000

function startOwn(config: Config, say: Say, signal?: AbortSignal) {
  // Others may traverse the folder but not list it: as root, the database below belongs to another user.
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o711 })
  return startEmbedded(join(config.dataFolder, 'postgres'), {
    say,
    settings: connectionSettings(config),
    ...(signal && { signal }),
  })
}

/** More connections than the embedded database has by default, where many processes need them. */
function connectionSettings({ processes, databaseConnections }: Config): Record<string, string> {
  const needed = connectionsNeeded(countOf(processes), databaseConnections)
  return needed > EMBEDDED_CONNECTIONS ? { max_connections: String(needed) } : {}
}

const OLDEST_POSTGRES = 15

async function checkDatabase(config: Config, db: Database) {
  const version = await serverVersion(db.sql)
  if (version < OLDEST_POSTGRES)
    throw new Error(`This is PostgreSQL ${version}; Herald needs ${OLDEST_POSTGRES} or newer.`)
  const unsafe = await unsafeSettings(db.sql)
  if (unsafe.length > 0 && !config.allowUnsafeDatabase)
    throw new Error(
      `This database may lose messages after it has accepted them: ${unsafe.join(', ')} ${unsafe.length === 1 ? 'is' : 'are'} off. Switch ${unsafe.length === 1 ? 'it' : 'them'} on, or set HERALD_ALLOW_UNSAFE_DATABASE=true for a test.`,
    )
}

async function checkReplication({ replication }: Config, { sql }: Database) {
  const problem = await unmetReplication(sql, replication)
  if (problem)
    throw new Error(
      `HERALD_REPLICATION is required, but ${problem.found}. ${problem.remedy} docs/running.md: Replication.`,
    )
}
