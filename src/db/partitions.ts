// Tables partitioned by id, one partition per day: partitions of the coming days are created ahead, expired ones are dropped.
import { type Clock, fromMicros } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Steps } from '../runtime/steps.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { type Database, isDatabaseError, type Sql } from './connect.ts'
import { buildIndex, missingIndexes } from './indexes.ts'
import { takeLock } from './migrate.ts'

const DAY = 86_400_000_000 // microseconds
/** The clock may be set back over midnight: yesterday's partition must exist, too. */
const BEHIND = 1
const AHEAD = 3
const MAKE_LOCK = 6011_0004
/** Not the same: a drop may wait for a long transaction, and a start that needs partitions must not. */
const DROP_LOCK = 6011_0006
/** Creating all partitions takes less than a second: a longer wait for the lock means that its holder hangs. */
const WAIT_SECONDS = 30

export type Partitions = {
  /** Creates the partitions of the days around now. Returns the names of those that were missing. */
  make(db: Database, clock: Pick<Clock, 'micros'>): Promise<string[]>
  /** Creates the partitions of these ids, which may be in the past, such as after days without a running process. */
  makeOf(db: Database, ids: readonly Id[]): Promise<string[]>
  /** Drops the partitions of the days before `micros`, also those that an interrupted run has detached or begun to detach. */
  drop(db: Database, micros: number): Promise<string[]>
  /** For how many days after today all tables have partitions; negative: not even for today. Null: there are none. */
  daysAhead(sql: Sql): Promise<number | null>
  /** How many partitions all tables have together, and the days of the oldest and the newest. Null: there are none. */
  about(sql: Sql): Promise<PartitionsAbout | null>
  /** Builds the indexes that partitions lack, one per step. */
  buildIndexes(db: Database): Steps
}

/** Days as `2026-06-15`. */
export type PartitionsAbout = { count: number; oldest: string; newest: string }

export const partitionsOf = (tables: readonly string[]): Partitions => ({
  make(db, clock) {
    const today = Math.floor(clock.micros() / DAY)
    const days = Array.from({ length: BEHIND + 1 + AHEAD }, (_, at) => today - BEHIND + at)
    return makeDays(db, tables, days)
  },
  makeOf: (db, ids) => makeDays(db, tables, [...new Set(ids.map(id => Math.floor(microsOf(id) / DAY)))]),
  drop: (db, micros) => exclusively(db, DROP_LOCK, () => dropBefore(db, tables, Math.floor(micros / DAY))),
  daysAhead: sql => daysAhead(sql, tables),
  about: sql => about(sql, tables),
  buildIndexes: db => buildIndexes(db, tables),
})

/** PostgreSQL's error for a row without a partition. */
export const hasNoPartition = (error: unknown): boolean =>
  isDatabaseError(error) && error.code === '23514' && error.constraint === undefined

async function makeDays(db: Database, tables: readonly string[], days: readonly number[]): Promise<string[]> {
  if ((await missing(db, tables, days)).length === 0) return []
  return exclusively(db, MAKE_LOCK, async () => {
    const made: string[] = []
    for (const one of await missing(db, tables, days)) {
      await make(db, one)
      made.push(one.name)
    }
    return made
  })
}

/** One process at a time; the others wait for the lock, and find the work done. */
async function exclusively<T>(db: Database, lock: number, work: () => Promise<T>): Promise<T> {
  const holder = db.client()
  await holder.connect()
  try {
    if (!(await takeLock(holder, lock, WAIT_SECONDS)))
      throw new Error(`another process has been changing partitions for more than ${WAIT_SECONDS} seconds`)
    return await work()
  } finally {
    await holder.end()
  }
}

type Partition = { table: string; day: number; name: string }

async function missing(db: Database, tables: readonly string[], days: readonly number[]): Promise<Partition[]> {
  const known = new Set((await existing(db, tables)).map(row => row.name))
  return days
    .flatMap(day => tables.map(table => ({ table, day, name: `${table}_${nameOf(day)}` })))
    .filter(({ name }) => !known.has(name))
}

/** A partition is created as a table and then attached, which does not block readers. */
const make = (db: Database, { table, day, name }: Partition) =>
  db.script(
    `begin; set local lock_timeout = '2s';
     create table ${name} (like ${table} including all);
     alter table ${table} attach partition ${name} for values from ('${floorOf(day * DAY)}') to ('${floorOf((day + 1) * DAY)}');
     commit`,
  )

async function dropBefore(db: Database, tables: readonly string[], day: number): Promise<string[]> {
  const oldest = nameOf(day)
  const expired = (await existing(db, tables)).filter(({ name }) => name.slice(name.lastIndexOf('_') + 1) < oldest)
  for (const { table, name, place } of expired) {
    const how = place === 'leaving' ? 'finalize' : 'concurrently'
    if (place !== 'apart') await db.script(`alter table ${table} detach partition ${name} ${how}`)
    crashPoint('mid-purge', () => [])
    await db.script(`drop table ${name}`)
  }
  return expired.map(row => row.name)
}

async function* buildIndexes(db: Database, tables: readonly string[]): Steps {
  for (const one of await missingIndexes(db.sql, tables)) yield (await buildIndex(db, one)) ? 1 : 0
}

async function daysAhead(sql: Sql, tables: readonly string[]): Promise<number | null> {
  const [row] = await sql<{ days: number | null }>`
    select min(days)::integer as days
    from (select max(to_date(right(child.relname, 8), 'YYYYMMDD')) - (clock_timestamp() at time zone 'UTC')::date as days
          from pg_inherits
          join pg_class parent on parent.oid = inhparent
          join pg_class child on child.oid = inhrelid
          where parent.relname = any (${tables})
            and parent.relnamespace = current_schema()::regnamespace
            and child.relkind = 'r'
          group by parent.oid) newest`
  return row?.days ?? null
}

async function about(sql: Sql, tables: readonly string[]): Promise<PartitionsAbout | null> {
  const [row] = await sql<PartitionsAbout>`
    select count(*)::integer as count, min(day)::text as oldest, max(day)::text as newest
    from (select to_date(right(child.relname, 8), 'YYYYMMDD') as day
          from pg_inherits
          join pg_class parent on parent.oid = inhparent
          join pg_class child on child.oid = inhrelid
          where parent.relname = any (${tables})
            and parent.relnamespace = current_schema()::regnamespace
            and child.relkind = 'r') days
    having count(*) > 0`
  return row ?? null
}

const nameOf = (day: number) =>
  fromMicros(day * DAY)
    .slice(0, 10)
    .replaceAll('-', '')

const existing = (db: Database, tables: readonly string[]) => db.sql<{
  table: string
  name: string
  place: 'attached' | 'leaving' | 'apart'
}>`
  select parent.name as table, child.relname as name,
         case when i.inhrelid is null then 'apart' when i.inhdetachpending then 'leaving' else 'attached' end as place
  from unnest(${tables}::text[]) as parent (name)
  join pg_class child on child.relname ~ ('^' || parent.name || '_[0-9]{8}$')
  left join pg_inherits i on i.inhrelid = child.oid
  where child.relkind = 'r'
    and child.relnamespace = current_schema()::regnamespace
  order by child.relname`
