// Migrates the schema: runs every numbered file once, in order, under a lock.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { Database, Sql } from './connect.ts'

const FOLDER = fileURLToPath(new URL('../../migrations/', import.meta.url))
const LOCK = 6011_0001

export type Migration = { name: string; text: string; checksum: string }

export const migrations = (folder = FOLDER): Migration[] =>
  readdirSync(folder)
    .filter(name => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map(name => {
      const text = readFileSync(`${folder}/${name}`, 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    })

/** Returns the names of the files that were run now. `onFile` is called before each of `total`. */
export async function migrate(
  db: Database,
  wanted = migrations(),
  onFile: (name: string, done: number, total: number) => void = () => {},
): Promise<string[]> {
  // Nearly always: a command must not wait for a second connection and the lock.
  if (await isComplete(db.sql, wanted)) return []
  const holder = db.client()
  await holder.connect()
  try {
    await takeLock(holder, LOCK)
    await db.script(`create table if not exists migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`)
    const done = new Map((await applied(db.sql)).map(row => [row.name, row.checksum]))
    for (const { name, checksum } of wanted) {
      const before = done.get(name)
      if (before && before !== checksum)
        throw new Error(
          `Migration ${name} was changed after it ran here. Restore the file, and put the change in a new one.`,
        )
    }
    const newer = [...done.keys()].filter(name => !wanted.some(step => step.name === name))
    if (newer.length > 0)
      throw new Error(
        `This database was migrated by a newer version of Herald (${newer.join(', ')}). Start that version.`,
      )
    const taken: string[] = []
    const missing = wanted.filter(step => !done.has(step.name))
    for (const step of missing) {
      onFile(step.name, taken.length, missing.length)
      await retryLocks(lockMs =>
        isStepwise(step)
          ? takePieces(holder, step, lockMs)
          : db.script(
              `begin; set local lock_timeout = ${lockMs}; set local statement_timeout = 0; ${step.text}
               ; insert into migrations (name, checksum) values ('${step.name}', '${step.checksum}'); commit`,
            ),
      )
      taken.push(step.name)
    }
    return taken
  } finally {
    await holder.end()
  }
}

/** Whether exactly these migrations are applied. A row is written when its file is done, in the same transaction or after it. */
export async function isComplete(sql: Sql, wanted: readonly Migration[] = migrations()): Promise<boolean> {
  if (!(await isMigrated(sql))) return false
  const done = new Map((await applied(sql)).map(row => [row.name, row.checksum]))
  return done.size === wanted.length && wanted.every(({ name, checksum }) => done.get(name) === checksum)
}

/**
 * Waits for a session lock by asking again and again. A session that waits inside a statement holds a snapshot, and the process that
 * has the lock would wait for that snapshot where it builds an index concurrently: a deadlock. False: not within `seconds`.
 */
export async function takeLock(client: pg.Client, lock: number, seconds = Number.POSITIVE_INFINITY): Promise<boolean> {
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await sleep(ASK_LOCK_MS)) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as ours', [lock])
    if (rows[0]?.ours === true) return true
  }
  return false
}

const ASK_LOCK_MS = 50

/**
 * Every request queues behind a statement that waits for a table lock, so an attempt waits only for a moment and is repeated.
 * The holder is often an autovacuum worker, which PostgreSQL cancels only after it has blocked a lock for one second
 * (`deadlock_timeout`): the last attempt waits long enough for that.
 */
export async function retryLocks(attempt: (lockMs: number) => Promise<unknown>): Promise<void> {
  for (let attempts = 1; attempts < LOCK_ATTEMPTS; attempts++)
    try {
      await attempt(LOCK_MS)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  await attempt(LAST_LOCK_MS)
}

const LOCK_ATTEMPTS = 30
const LOCK_MS = 200
const LOCK_PAUSE_MS = 300
const LAST_LOCK_MS = 2_000
const LOCK_NOT_AVAILABLE = '55P03'

// A file that cannot run in one transaction, such as one that builds an index concurrently or updates rows in chunks, begins with
// "-- stepwise". Its parts are separated by lines "-- next" and must be idempotent, because all are run again when one fails.
export const isStepwise = ({ text }: Pick<Migration, 'text'>) => text.startsWith('-- stepwise')

export const piecesOf = ({ text }: Pick<Migration, 'text'>) => text.split(/^-- next$/m)

/**
 * While an index is built concurrently it waits for every older transaction, also for a long read, and no request queues behind it.
 * Given up and begun again each time, it would never be done beside such reads.
 */
const CONCURRENTLY = /^(create (unique )?|drop )index concurrently/im
const LONGEST_BUILD_MS = 540_000

async function takePieces(holder: pg.Client, step: Migration, lockMs: number) {
  for (const piece of piecesOf(step)) {
    await holder.query(`set lock_timeout = ${CONCURRENTLY.test(piece) ? LONGEST_BUILD_MS : lockMs}`)
    await holder.query(piece)
  }
  await holder.query('insert into migrations (name, checksum) values ($1, $2)', [step.name, step.checksum])
}

/** Whether any Herald has ever migrated this database. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  const [table] = await sql<{ exists: boolean }>`select to_regclass('migrations') is not null as exists`
  return table?.exists ?? false
}

/** Steps this version knows and the database has not taken yet. */
export async function pending(sql: Sql): Promise<string[]> {
  const done = new Set((await isMigrated(sql)) ? (await applied(sql)).map(row => row.name) : [])
  return migrations()
    .map(step => step.name)
    .filter(name => !done.has(name))
}

const applied = (sql: Sql) =>
  sql<{ name: string; checksum: string }>`select name, checksum from migrations order by name`

/** Settings that are off although without them an acknowledged commit can be lost. */
export async function unsafeSettings(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    select name
    from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit')
      and setting = 'off'
    order by name`
  return rows.map(row => row.name)
}

/** When this database got a migration; null: not yet. */
export async function appliedAt(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ applied_at: string }>`select applied_at from migrations where name = ${name}`
  return row?.applied_at ?? null
}

export async function serverVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }>`select current_setting('server_version_num')::integer / 10000 as version`
  return row?.version ?? 0
}

export async function isReadOnly(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ value: string }>`select current_setting('transaction_read_only') as value`
  return row?.value === 'on'
}
