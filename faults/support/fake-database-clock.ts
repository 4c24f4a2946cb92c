// Sets the database clock while it runs: functions of the same name shadow PostgreSQL's own for every new connection. Column
// defaults still use PostgreSQL's own.
import type { Database } from '../../src/db/connect.ts'

export type DatabaseClock = { set(seconds: number): Promise<void>; reset(): Promise<void> }

/** Ends all connections except its own, so that new ones see the other clock. */
export async function fakeDatabaseClock(db: Pick<Database, 'client'>): Promise<DatabaseClock> {
  const client = db.client()
  client.on('error', () => {}) // the database may be dropped while this is connected
  await client.connect()
  const { rows } = await client.query('select current_database() as name')
  const name = client.escapeIdentifier(rows[0].name)
  const others =
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await client.query(`
    create schema faked;
    create table faked.shift (seconds float8 not null);
    insert into faked.shift values (0);
    create function faked.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + make_interval(secs => (select seconds from faked.shift))';
    create function faked.now() returns timestamptz language sql stable as
      'select pg_catalog.now() + make_interval(secs => (select seconds from faked.shift))';
    alter database ${name} set search_path = public, faked, pg_catalog`)
  await client.query(others)
  return {
    async set(seconds) {
      await client.query('update faked.shift set seconds = $1', [seconds])
    },
    async reset() {
      await client.query(`alter database ${name} reset search_path`)
      await client.query(others)
      await client.query('drop schema faked cascade')
      await client.end()
    },
  }
}
