// Whether any process leads, read from the locks of the database. For herald doctor, which is not the leader itself.
import type { Sql } from '../db/connect.ts'
import { LOCK } from './leader.ts'

export async function isLed(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ led: boolean }>`
    select exists (select
                   from pg_locks
                   where locktype = 'advisory'
                     and database = (select oid from pg_database where datname = current_database())
                     and classid = 0
                     and objid = ${LOCK}::bigint::oid
                     and objsubid = 1
                     and granted) as led`
  return row?.led ?? false
}
