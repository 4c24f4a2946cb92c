// What the system page says about the database.
import type { Sql } from './connect.ts'

export type DatabaseAbout = {
  version: string
  bytes: number
  connections: number
  most_connections: number
  replicas: number
}

export async function databaseAbout(sql: Sql): Promise<DatabaseAbout> {
  const [row] = await sql<DatabaseAbout>`
    select current_setting('server_version') as version,
           pg_database_size(current_database())::float8 as bytes,
           (select count(*) from pg_stat_activity where datname = current_database())::integer as connections,
           current_setting('max_connections')::integer as most_connections,
           (select count(*) from pg_stat_replication)::integer as replicas`
  if (!row) throw new Error('the database says nothing about itself')
  return row
}
