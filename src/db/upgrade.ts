// Moves the embedded database to the PostgreSQL that this Herald includes, whose major version cannot read the old folder. Both servers
// run on this machine and exchange one table at a time as a file. The old folder is only read, and kept.
import * as fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { connect, type Database } from './connect.ts'
import { type Embedded, startEmbedded } from './embedded.ts'
import { binaries, madeBy, markUpgrade, ownerOf, preparePlace, unfinished } from './embedded-place.ts'
import { migrate } from './migrate.ts'

/** What is done in the new database between the copy and its first use. */
type Finish = (db: Database) => Promise<void>
type Onward = (sentence: string, done?: number, total?: number) => void

export type Upgraded = { from: string; to: string; tables: number; rows: number; kept: string }

/**
 * `place`: the folder of the embedded database. `programs`: a folder with the PostgreSQL that made it. Killed at any point, it can be
 * repeated: until the last rename the old database is in place, and after the one before it a start says what to do.
 */
export async function upgradeDatabase(
  place: string,
  programs: string,
  finish: Finish,
  onward: Onward = () => {},
): Promise<Upgraded> {
  const { major: to } = await binaries(place, ownerOf(place))
  const draft = `${place}.upgrading`
  const left = unfinished(place)
  const from = left ?? madeBy(place)
  const kept = path.join(place, `data-${from}`)
  if (from === to)
    throw new Error(`The database in ${place} is of PostgreSQL ${to} already: there is nothing to upgrade.`)
  if (left === null) {
    if (fs.existsSync(kept)) throw new Error(`${kept} was left by an earlier upgrade. Move it away and try again.`)
    await removeDraft(draft)
  }
  const unmark = markUpgrade(place)
  try {
    const counted = left === null ? await copied(place, programs, draft, finish, onward) : { tables: 0, rows: 0 }
    if (left === null) fs.renameSync(path.join(place, 'data'), kept)
    fs.renameSync(path.join(draft, 'data'), path.join(place, 'data'))
    const folder = fs.openSync(place, 'r')
    fs.fsyncSync(folder)
    fs.closeSync(folder)
    fs.rmSync(draft, { recursive: true, force: true })
    return { from, to, kept, ...counted }
  } finally {
    unmark()
  }
}

/** A killed upgrade leaves its servers running. */
async function removeDraft(draft: string) {
  if (fs.existsSync(path.join(draft, 'data'))) await (await startAlone(draft)).stop()
  fs.rmSync(draft, { recursive: true, force: true })
}

/** A server that runs for no process is ended and started again. */
async function startAlone(place: string, options: { programs?: string } = {}): Promise<Embedded> {
  for (let attempts = 2; attempts > 0; attempts--) {
    const server = await startEmbedded(place, options)
    if (server.started) return server
    await server.stop()
  }
  throw new Error(`The database in ${place} is in use. Stop Herald and try again.`)
}

async function copied(place: string, programs: string, draft: string, finish: Finish, onward: Onward) {
  const options = { size: 2, statementSeconds: 0, onIdleError: () => {} }
  preparePlace(draft)
  if (ownerOf(place)?.uid !== ownerOf(draft)?.uid)
    throw new Error(`The database in ${place} belongs to another user. Run this command as that user.`)
  onward('Starting both servers')
  const old = await startAlone(place, { programs })
  try {
    const source = connect(old, { ...options, name: 'herald-upgrade-from' })
    const server = await startEmbedded(draft)
    const target = connect(server, { ...options, name: 'herald-upgrade-to' })
    try {
      await migrate(source)
      await migrate(target)
      const counted = await copyTables(source, target, exchangeFolder(draft), onward)
      await finish(target)
      onward('Collecting statistics')
      await target.script('analyze; checkpoint')
      return counted
    } finally {
      await target.stop()
      await source.stop()
      await server.stop()
    }
  } finally {
    await old.stop()
  }
}

/** Where one server writes and the other reads: both run as the same user. */
function exchangeFolder(draft: string): string {
  const folder = path.join(draft, 'exchange')
  fs.mkdirSync(folder, { mode: 0o700 })
  const owner = ownerOf(draft)
  if (owner) fs.chownSync(folder, owner.uid, owner.gid)
  return folder
}

type Table = { name: string; columns: string[]; parent: string | null; bound: string | null }

async function copyTables(source: Database, target: Database, folder: string, onward: Onward) {
  const [reader, writer] = [source.client(), target.client()]
  await reader.connect()
  await writer.connect()
  try {
    // Text whatever the version: the same on both sides, with every digit.
    for (const client of [reader, writer])
      await client.query(
        `set statement_timeout = 0; set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'`,
      )
    await writer.query('set session_replication_role = replica') // no triggers: rows arrive as they are
    const tables = await tablesOf(reader)
    await preparePartitions(writer, tables)
    const known = new Set((await tablesOf(writer)).map(({ name }) => name))
    const all = tables.filter(({ name }) => known.has(name) || !isDetached(name, tables))
    await writer.query(`truncate ${[...known].join(', ')}`) // migrations add rows
    let rows = 0
    for (const [at, table] of all.entries()) {
      onward('Copying', at, all.length)
      rows += await copyTable(reader, writer, table, path.join(folder, 'table'))
    }
    for (const { name, last } of await sequencesOf(reader))
      await writer.query('select setval($1::regclass, $2::bigint)', [name, last])
    return { tables: all.length, rows }
  } finally {
    await reader.end()
    await writer.end()
  }
}

/** A partition that was detached before it is dropped: its rows have expired. */
const isDetached = (name: string, tables: readonly Table[]) =>
  tables.every(table => table.name !== name || table.parent === null) &&
  tables.some(({ parent }) => parent !== null && new RegExp(`^${parent}_[0-9]+$`).test(name))

/** The tables that contain rows, with the columns that are stored. */
const tablesOf = async (client: pg.Client) =>
  (
    await client.query<Table>(`
      select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound,
             (select array_agg(quote_ident(a.attname) order by a.attname)
              from pg_attribute a
              where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
      from pg_class c
      left join pg_inherits i on i.inhrelid = c.oid
      left join pg_class p on p.oid = i.inhparent
      where c.relkind = 'r'
        and c.relpersistence = 'p'
        and c.relnamespace = current_schema()::regnamespace
      order by c.relname`)
  ).rows

const sequencesOf = async (client: pg.Client) =>
  (
    await client.query<{ name: string; last: string }>(`
      select quote_ident(sequencename) as name, last_value as last
      from pg_sequences
      where schemaname = current_schema() and last_value is not null`)
  ).rows

async function preparePartitions(writer: pg.Client, tables: readonly Table[]) {
  for (const { name, parent, bound } of tables)
    if (parent !== null && bound !== null)
      await writer.query(`create table if not exists ${name} partition of ${parent} ${bound}`)
}

async function copyTable(reader: pg.Client, writer: pg.Client, { name, columns }: Table, file: string) {
  const list = columns.join(', ')
  await reader.query(`copy ${name} (${list}) to '${file.replaceAll("'", "''")}'`)
  await writer.query(`copy ${name} (${list}) from '${file.replaceAll("'", "''")}'`)
  fs.rmSync(file)
  const [before, after] = [await digestOf(reader, name, list), await digestOf(writer, name, list)]
  if (before.rows !== after.rows || before.digest !== after.digest)
    throw new Error(`The table ${name} differs after the copy. The old database is unchanged; report this.`)
  return Number(after.rows)
}

/** Does not depend on the order of rows: the sum of a digest of each. */
async function digestOf(client: pg.Client, name: string, list: string) {
  const { rows } = await client.query<{ rows: string; digest: string }>(`
    select count(*) as rows, coalesce(sum(('x' || left(md5(row(${list})::text), 15))::bit(60)::bigint), 0) as digest
    from ${name}`)
  return rows[0] ?? { rows: '', digest: '' }
}
