import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'
import type { RunningProcess } from '../process.ts'

export type Beat = Pick<RunningProcess, 'id' | 'name' | 'version' | 'runs' | 'in_flight' | 'providers'> & {
  up_seconds: number
  /** Null: it does not lead. */
  leads_seconds: number | null
}

/** Times are those of the database, so that the clocks of machines do not matter. */
export const beat = (sql: Sql, of: Beat) => sql`
  insert into processes (id, name, version, runs, started_at, seen_at, leads_since, in_flight, providers)
  values (${of.id}, ${of.name}, ${of.version}, ${of.runs}::text[],
          clock_timestamp() - make_interval(secs => ${of.up_seconds}::float8), clock_timestamp(),
          clock_timestamp() - make_interval(secs => ${of.leads_seconds}::float8),
          ${JSON.stringify(of.in_flight)}::jsonb, ${JSON.stringify(of.providers)}::jsonb)
  on conflict (id) do update
  set seen_at = excluded.seen_at,
      leads_since = excluded.leads_since,
      in_flight = excluded.in_flight,
      providers = excluded.providers`

export const remove = (sql: Sql, id: Id) => sql`
  delete from processes
  where id = ${id}`

/** More processes than anybody runs. */
const MOST = 200

/** Those that were seen in the last hour, in the order in which they started. */
export const list = (sql: Sql) => sql<RunningProcess>`
  select id, name, version, runs, started_at, seen_at, leads_since, in_flight, providers,
         greatest(0, extract(epoch from clock_timestamp() - seen_at))::float8 as seen_seconds
  from processes
  where seen_at > clock_timestamp() - interval '1 hour'
  order by started_at, id
  limit ${MOST}`

const PROCESSES = {
  table: part`processes`,
  time: part`seen_at`,
  key: part`id`,
  match: part`t.id = old.id`,
}

/** Processes that ended without deleting their row. */
export const purgeProcesses = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, PROCESSES, part`clock_timestamp() - interval '1 hour'`, after, most)
