// What the system page says about the database.
import type { Timestamp } from '../core/clock.ts'
import type { Sql } from './connect.ts'

export type DatabaseAbout = {
  version: string
  bytes: number
  connections: number
  most_connections: number
}

export async function databaseAbout(sql: Sql): Promise<DatabaseAbout> {
  const [row] = await sql<DatabaseAbout>`
    select current_setting('server_version') as version,
           pg_database_size(current_database())::float8 as bytes,
           (select count(*) from pg_stat_activity where datname = current_database())::integer as connections,
           current_setting('max_connections')::integer as most_connections`
  if (!row) throw new Error('the database says nothing about itself')
  return row
}

/** A standby or another receiver of the WAL. Null: this database user may not see it; the role pg_monitor may. */
export type Replica = {
  name: string
  state: string | null
  /** `sync`, `quorum`, `potential` or `async`. */
  sync: string | null
  /** What it has not replayed yet. */
  lag_bytes: number | null
  lag_seconds: number | null
  since: Timestamp | null
}

const MOST_REPLICAS = 50

export const replicasOf = (sql: Sql) => sql<Replica>`
  select coalesce(nullif(application_name, ''), '–') as name, state, sync_state as sync,
         pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as lag_bytes,
         extract(epoch from replay_lag)::float8 as lag_seconds,
         backend_start as since
  from pg_stat_replication
  order by application_name, pid
  limit ${MOST_REPLICAS}`
