// Indexes that a migration created for a partitioned table only: the partitions of that time get theirs here, one at a time and
// without blocking writers. New partitions have them from the start.
//
// `create index concurrently` takes no lock that a writer waits for. Attaching needs the index of the partition exclusively for a
// moment; it is tried with a short timeout, so that statements which queue behind it do not wait for long.
import type { Database, DedicatedClient, Sql } from './connect.ts'
import { retryLocks } from './migrate.ts'

const LOCK = 6011_0007
/** Less than the timeout of a maintenance step. What is built until then is dropped by the next run. */
const BUILD_SECONDS = 540

type MissingIndex = {
  /** The index of the whole table and its definition. */
  index: string
  definition: string
  partition: string
  /** What it is called in the partition, and whether it is there: an interrupted build leaves one that is not valid. */
  name: string
  state: 'absent' | 'invalid' | 'apart'
}

/** What partitions of these tables lack, newest first. */
export const missingIndexes = (sql: Sql, tables: readonly string[]) => sql<MissingIndex>`
  with lacking as materialized (
    select index.relname as index, pg_get_indexdef(index.oid) as definition, child.oid as partition_oid, child.relname as partition,
           child.relname || '_' || regexp_replace(index.relname, '^' || parent.relname || '_', '') as name
    from pg_class parent
    join pg_index i on i.indrelid = parent.oid
    join pg_class index on index.oid = i.indexrelid and index.relkind = 'I'
    join pg_inherits partitions on partitions.inhparent = parent.oid and not partitions.inhdetachpending
    join pg_class child on child.oid = partitions.inhrelid and child.relkind = 'r'
    where parent.relname = any (${tables})
      and parent.relnamespace = current_schema()::regnamespace
      and not i.indisvalid
      and not i.indisunique
      and not exists (select
                      from pg_inherits attached
                      join pg_index own on own.indexrelid = attached.inhrelid
                      where attached.inhparent = index.oid and own.indrelid = child.oid)
  )
  select index, definition, partition, name,
         case when own.indexrelid is null then 'absent' when own.indisvalid then 'apart' else 'invalid' end as state
  from lacking
  left join pg_class there on there.relname = name and there.relnamespace = current_schema()::regnamespace
  left join pg_index own on own.indexrelid = there.oid and own.indrelid = partition_oid
  order by right(partition, 8) desc, index`

/** Builds one index and attaches it. False: another process builds one now. */
export async function buildIndex(db: Pick<Database, 'client'>, missing: MissingIndex): Promise<boolean> {
  const client = db.client()
  await client.connect()
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as ours', [LOCK])
    if (!rows[0].ours) return false
    await client.query(`set statement_timeout = '${BUILD_SECONDS}s'`)
    await build(client, missing)
    await retryLocks(async lockMs => {
      await client.query(`set lock_timeout = ${lockMs}`)
      await client.query(`alter index ${missing.index} attach partition ${missing.name}`)
    })
    return true
  } finally {
    await client.end()
  }
}

async function build(client: DedicatedClient, { definition, partition, name, state }: MissingIndex) {
  if (state === 'apart') return
  if (state === 'invalid') await client.query(`drop index concurrently ${name}`)
  await client.query(definition.replace(HEAD, `create index concurrently ${name} on ${partition} `))
}

/** As pg_get_indexdef writes it, up to the method. */
const HEAD = /^CREATE INDEX \S+ ON ONLY \S+ (?=USING )/
