// The database checks of doctor: connection, durability, migrations, secret, and what the tables say about the service.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { askAll } from '../db/connect.ts'
import { choosePlace } from '../db/embedded-place.ts'
import { backupAgeOf, MOST_BACKUP_SECONDS } from '../db/last-backup.ts'
import { isMigrated, isReadOnly, pending, serverVersion, unsafeSettings } from '../db/migrate.ts'
import { checkSeal } from '../db/seal.ts'
import { findUnreadable, UNREADABLE_REMEDY, unreadableText } from '../installation/removed-secrets.ts'
import { list } from '../installation/sql/processes.ts'
import type { Store } from '../parts.ts'
import { instanceOf } from '../queue/hold.ts'
import { NothingHere, openDatabase, openStore } from '../store.ts'
import {
  attempted,
  type Check,
  checkClock,
  checkFiles,
  checkHold,
  checkLeader,
  checkPartitions,
  checkProcesses,
  checkQueue,
  duration,
  ok,
  problem,
} from './checks.ts'
import { checkEvents, checkWebhooks } from './event-checks.ts'
import { explained } from './explain.ts'
import type { HealthReply } from './mail-checks.ts'
import { checkProviders } from './provider-checks.ts'
import { checkReplication } from './replication-check.ts'

/** `instance`: the id of this installation; null when it is not known. */
export type DatabaseChecks = { checks: Check[]; instance: string | null }

export async function checkDatabase(config: Config, health: HealthReply | null): Promise<DatabaseChecks> {
  const name = 'Database'
  try {
    if (!config.databaseUrl && !hasEmbedded(config))
      return { checks: [ok(name, 'does not exist yet; the first start creates it')], instance: null }
    // openStore would refuse an unsafe database; here that is one of the findings.
    const store = await openStore({ ...config, allowUnsafeDatabase: true }, { migrate: false })
    try {
      const version = await serverVersion(store.db.sql)
      const where = config.databaseUrl ? 'DATABASE_URL' : config.dataFolder
      if (await isReadOnly(store.db.sql))
        return { checks: [readOnlyProblem(name), ...(await checkHosts(config))], instance: null }
      const { checks, instance } = await checkContent(store, config, health)
      const answers = ok(name, `PostgreSQL ${version} answers (${where})`)
      return { checks: [answers, ...(await checkHosts(config)), ...checks], instance }
    } finally {
      await store.stop()
    }
  } catch (error) {
    if (error instanceof NothingHere && config.databaseUrl) {
      const empty = await attempted(name, () => checkEmpty(config, error))
      return { checks: empty, instance: null }
    }
    const remedy = 'Check DATABASE_URL, or the permissions of the data folder.'
    return {
      checks: [problem(name, explained(error).join(' '), remedy), ...(await checkHosts(config))],
      instance: null,
    }
  }
}

/** An external database on which no Herald has started is ready for the first start. */
async function checkEmpty(config: Config, error: NothingHere): Promise<Check[]> {
  const name = 'Database'
  const { db, stop } = await openDatabase({ ...config, allowUnsafeDatabase: true })
  try {
    if (await isMigrated(db.sql)) throw error
    if (await isReadOnly(db.sql)) return [readOnlyProblem(name)]
    const version = await serverVersion(db.sql)
    return [ok(name, `PostgreSQL ${version} answers (DATABASE_URL) and is empty; the first start creates the tables`)]
  } finally {
    await stop()
  }
}

const readOnlyProblem = (name: string) =>
  problem(
    name,
    'is read-only: nothing is accepted, and herald start fails',
    'Name the primary in DATABASE_URL, or switch off default_transaction_read_only for the database and its user.',
  )

/** A host that cannot be used goes unnoticed until it becomes the primary. */
async function checkHosts({ databaseUrl }: Config): Promise<Check[]> {
  const name = 'Database hosts'
  const look = databaseUrl === null ? null : await askAll(databaseUrl)
  if (!look) return []
  const { primary, others } = look
  const said = others.map(({ host, isStandby, reason }) => `${host} ${isStandby ? 'is a standby' : `fails: ${reason}`}`)
  const found = [...(primary === null ? [] : [`${primary} is the primary`]), ...said].join('; ')
  return others.every(({ isStandby }) => isStandby)
    ? [ok(name, found)]
    : [
        problem(
          name,
          found,
          'After a switchover Herald could not use this host. Start it, or correct its certificate, its users, or sslmode and sslrootcert in DATABASE_URL (docs/running.md, TLS to the database).',
        ),
      ]
}

async function checkContent(store: Store, config: Config, health: HealthReply | null): Promise<DatabaseChecks> {
  const { sql } = store.db
  const unsafe = await unsafeSettings(sql)
  const durable =
    unsafe.length === 0
      ? ok('Durability', 'acknowledged commits survive a crash')
      : problem(
          'Durability',
          `${unsafe.join(', ')} switched off${config.allowUnsafeDatabase ? ', allowed by HERALD_ALLOW_UNSAFE_DATABASE' : ''}`,
          'Switch it on in the configuration of PostgreSQL; otherwise messages can be lost in a crash.',
        )
  const kept = [durable, await checkReplication(store), ...(await attempted('Backup', () => checkBackup(store)))]
  const missing = await pending(sql)
  if (missing.length > 0) {
    const migrations = problem(
      'Migrations',
      `missing: ${missing.join(', ')}`,
      'Run: herald migrate (herald start does it too)',
    )
    return { checks: [...kept, migrations], instance: null }
  }
  const instance = await instanceOf(sql)
  const checks = [
    ...kept,
    ok('Migrations', 'complete'),
    await checkSecret(store),
    await checkHold(store),
    ...(await checkQueue(store)),
    await checkPartitions(store),
    await checkLeader(store, isOurs(health, instance)),
    await checkProcesses(store),
    await checkClock(store),
    await checkEvents(store),
    await checkWebhooks(store),
    ...(await attempted('Files', () => checkFiles(store))),
    ...(await checkProviders(store)),
  ]
  return { checks, instance }
}

/** Backups of an external database are made by its own tools. */
async function checkBackup({ config, clock }: Store): Promise<Check[]> {
  const name = 'Backup'
  const age = await backupAgeOf(config, clock.now())
  if (!age) return []
  const found = age.last ? `the newest is ${duration(age.seconds)} old: ${age.last.folder}` : 'there is none yet'
  if (age.seconds <= MOST_BACKUP_SECONDS) return [ok(name, found)]
  const remedy = 'Run herald backup every day, for example by herald-backup.timer (docs/running.md, Backups).'
  return [problem(name, found, remedy)]
}

function hasEmbedded({ dataFolder }: Config): boolean {
  const place = choosePlace(join(dataFolder, 'postgres'), () => {})
  return existsSync(join(place, 'data'))
}

/** Whether the service that answered uses this database. */
export const isOurs = (health: HealthReply | null, instance: string | null) =>
  health?.kind === 'ready' && health.instance !== null && health.instance === instance

async function checkSecret({ db: { sql }, seal }: Store): Promise<Check> {
  const name = 'Sealing secret'
  try {
    await checkSeal(sql, seal)
  } catch (error) {
    return problem(name, 'does not match this database', explained(error).join(' '))
  }
  const unreadable = await findUnreadable(sql, seal)
  if (unreadable) return problem(name, unreadableText(unreadable).replace(/\.$/, ''), UNREADABLE_REMEDY)
  if (seal.format === '1' && !(await list(sql)).some(({ version }) => /^0\.[12]\./.test(version)))
    return problem(
      name,
      'matches this database, but HERALD_SEAL_FORMAT is 1, and no process of version 0.1 or 0.2 has run in the last hour',
      'Remove HERALD_SEAL_FORMAT and start the processes again: what they seal then is bound to its purpose.',
    )
  return ok(name, 'matches this database')
}
