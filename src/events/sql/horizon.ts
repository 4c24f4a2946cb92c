// How far readers of the log are held back: they wait for the oldest transaction that has a number, in any database of the server.
import type { Sql } from '../../db/connect.ts'

/** The oldest transaction that runs, by its number; null: none runs. */
export async function oldestNumber(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ oldest: string | null }>`
    select case when pg_snapshot_xmin(s) < pg_snapshot_xmax(s) then pg_snapshot_xmin(s)::text end as oldest
    from pg_current_snapshot() as s`
  return row?.oldest ?? null
}

/** `pid`: null for a prepared transaction, which belongs to no process. */
export type Holder = { pid: number | null; application: string; database: string; seconds: number }

/** Who has had a number for the longest time. Transactions of other users are seen only with the role pg_read_all_stats. */
export async function oldestHolder(sql: Sql): Promise<Holder | null> {
  const [holder] = await sql<Holder>`
    select pid, application, database, seconds
    from (select pid, application_name as application, datname as database,
                 extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
          from pg_stat_activity
          where backend_xid is not null
            and pid <> pg_backend_pid()
          union all
          select null, 'a prepared transaction', database, extract(epoch from clock_timestamp() - prepared)::float8
          from pg_prepared_xacts) held
    order by seconds desc
    limit 1`
  return holder ?? null
}
