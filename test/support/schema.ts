// The schema of a database as text: the contents of schema.sql. The embedded server has no pg_dump, so the catalogue is queried.
import type { Sql } from '../../src/db/connect.ts'

export async function schemaOf(sql: Sql): Promise<string> {
  const columns = await sql<{ table: string; line: string }>`
    select c.relname as table,
           format('  %I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                  case when a.attnotnull then ' not null' else '' end,
                  coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname, a.attnum`
  const constraints = await sql<{ table: string; line: string }>`
    select c.relname as table, format('  constraint %I %s', con.conname, pg_get_constraintdef(con.oid)) as line
    from pg_constraint con
    join pg_class c on c.oid = con.conrelid
    where c.relnamespace = 'public'::regnamespace and not c.relispartition and con.contype <> 'n' and con.contype <> 't'
    order by c.relname, con.contype desc, con.conname`
  const unlogged = await sql<{ table: string }>`
    select relname as table
    from pg_class
    where relnamespace = 'public'::regnamespace and relpersistence = 'u'`
  const partitioned = await sql<{ table: string; line: string }>`
    select c.relname as table, ' partition by ' || pg_get_partkeydef(c.oid) as line
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'p'`
  const indexes = await sql<{ line: string }>`
    select pg_get_indexdef(i.indexrelid) as line
    from pg_index i
    join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not c.relispartition
      and not exists (select from pg_constraint con where con.conindid = i.indexrelid and con.contype in ('p', 'u'))
    order by 1`
  const functions = await sql<{ line: string }>`
    select pg_get_functiondef(p.oid) as line from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname`
  const triggers = await sql<{ line: string }>`
    select pg_get_triggerdef(t.oid) as line
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and not c.relispartition
    order by c.relname, t.tgname`

  const tables = [...new Set(columns.map(row => row.table))].map(table => {
    const lines = [...columns, ...constraints].filter(row => row.table === table).map(row => row.line)
    const tail = partitioned.find(row => row.table === table)?.line ?? ''
    const kind = unlogged.some(row => row.table === table) ? 'unlogged table' : 'table'
    return `create ${kind} ${table} (\n${lines.join(',\n')}\n)${tail};`
  })
  const rest = [...indexes, ...functions, ...triggers].map(row => `${row.line.trim()};`)
  return `-- Made by npm run generate from the migrations; do not edit.\n\n${[...tables, ...rest].join('\n\n')}\n`
}
