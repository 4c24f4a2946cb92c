// Migrations run while the previous version is still serving (reliability: add first, remove one release later).
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject, test } from 'vitest'
import { entries } from '../src/audit/sql.ts'
import { connect } from '../src/db/connect.ts'
import { isStepwise, migrate, migrations, piecesOf } from '../src/db/migrate.ts'
import { databaseUrl, onServer, poolOptions } from './support/database.ts'

/** The comment above such a statement says why no running version needs what it removes. */
const SECOND_STEP = /^-- second step: \S/

const FORBIDDEN: readonly [pattern: RegExp, why: string][] = [
  [/^drop (?!index concurrently)/, 'drops what the version before may use'],
  [/^truncate\b/, 'empties what the version before may use'],
  [/^alter table .*\bdrop (?!default|not null|identity|expression)/, 'drops what the version before may use'],
  [/^alter .*\brename\b/, 'renames what the version before uses'],
  [/^alter table .*\balter (column )?\S+ (set data )?type\b/, 'changes a type, which rewrites the table under a lock'],
  [
    /^alter table .*\balter (column )?\S+ set not null\b/,
    'reads the whole table under a lock; add a check, not valid, first',
  ],
  [/^alter table .*\badd column \S+ [^,]*\bnot null\b(?!.*\bdefault\b)/, 'breaks what the version before inserts'],
  [
    /^alter table .*\badd constraint\b(?!.*\bnot valid\b)/,
    'reads the whole table under a lock; say not valid, then validate',
  ],
]

/** A partitioned table has no rows of its own: its indexes are created at once, and those of partitions by maintenance. */
const ONLY_THE_PARENT = /^create (?:unique )?index .*? on only \w/

/** The problems of a migration, one sentence per statement. */
function problemsOf(text: string): string[] {
  return [...statementProblems(text), ...(isStepwise({ text }) ? [] : crowding(text))]
}

// A request locks its tables in its own order: a migration that has one exclusive lock and waits for the next can deadlock with
// it.
function crowding(text: string): string[] {
  const own = ownTables(text)
  const altered = statementsOf(text).flatMap(({ words }) => /^alter table (?:only )?(\w+)/.exec(words)?.[1] ?? [])
  const busy = [...new Set(altered.filter(table => !own.has(table)))]
  return busy.length > 1 ? [`alters ${busy.join(' and ')} in one transaction; a file for each, or a stepwise one`] : []
}

const ownTables = (text: string) =>
  new Set([...text.matchAll(/^create (?:unlogged )?table (?:if not exists )?(\w+)/gim)].map(([, name]) => name ?? ''))

function statementProblems(text: string): string[] {
  const own = ownTables(text)
  return statementsOf(text).flatMap(({ words, isSecondStep }) => {
    if (isSecondStep) return []
    const table = /^(?:alter table (?:if exists )?(?:only )?|create (?:unique )?index .*? on (?:only )?)(\w+)/.exec(
      words,
    )?.[1]
    if (table !== undefined && own.has(table)) return [] // created here: not in use yet
    const found = FORBIDDEN.find(([pattern]) => pattern.test(words))
    if (found) return [`${words.slice(0, 60)}: ${found[1]}`]
    if (!/^create (unique )?index (?!concurrently)/.test(words) || ONLY_THE_PARENT.test(words)) return []
    return [`${words.slice(0, 60)}: locks a table that is in use; concurrently, in a stepwise file`]
  })
}

/** In lower case, on one line, without comments; bodies of functions are no statements of the migration. */
function statementsOf(text: string): { words: string; isSecondStep: boolean }[] {
  const plain = text.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$$body$$')
  const pieces = isStepwise({ text }) ? piecesOf({ text: plain }) : plain.split(';')
  return pieces.map(piece => {
    const lines = piece.split('\n').map(line => line.trim())
    const words = lines.map(line => line.replace(/--.*$/, '')).join(' ')
    return {
      words: words.replace(/;/g, '').replace(/\s+/g, ' ').trim().toLowerCase(),
      isSecondStep: lines.some(line => SECOND_STEP.test(line)),
    }
  })
}

test('no migration removes or locks what the previous version uses', () => {
  expect(migrations().flatMap(({ name, text }) => problemsOf(text).map(problem => `${name}: ${problem}`))).toEqual([])
})

describe('the lint itself', () => {
  test.each([
    'drop table keys;',
    '-- why\nDROP VIEW x;',
    'alter table keys drop column name;',
    'alter table keys drop name;',
    'alter table keys rename to x;',
    'alter table keys\n  rename column name to title;',
    "alter type mood rename value 'a' to 'b';",
    'alter table keys alter column name type varchar(10);',
    'alter table keys alter name set data type integer;',
    'alter table keys alter column name set not null;',
    'alter table keys add column colour text not null;',
    "alter table keys add constraint fine check (name <> '');",
    'create index keys_by_name on keys (name);',
    'create unique index if not exists keys_by_name on keys (name);',
    'truncate keys;',
    'alter table keys add column a text;\nalter table templates add column a text;',
    'create table fresh (id uuid);\ncreate index keys_by_name on keys (name);',
    '-- stepwise: x\nselect 1\n-- next\ncreate index keys_by_name on keys (name)',
  ])('refuses %j', text => {
    expect(problemsOf(text)).toHaveLength(1)
  })

  test.each([
    'create unlogged table fresh (id uuid);\ncreate index fresh_by_id on fresh (id);',
    'create table fresh (id uuid);\ncreate index fresh_by_id on fresh (id);\nalter table fresh alter column id set storage plain;',
    'alter table keys add column colour text;\nalter table keys alter column name drop not null;',
    '-- stepwise: two\nalter table keys add column a text\n-- next\nalter table templates add column a text',
    "alter table keys add column colour text not null default 'red';",
    "alter table keys add constraint fine check (name <> '') not valid;",
    'create index if not exists notifications_by_x on only notifications (x);',
    '-- second step: no version since 1.2 reads it\ndrop table keys;',
    '-- stepwise: an index\ndrop index concurrently if exists a\n-- next\ncreate index concurrently a on keys (name)',
    'create function f() returns void language sql as $$ drop table keys; create index a on keys (name) $$;',
  ])('takes %j', text => {
    expect(problemsOf(text)).toEqual([])
  })
})

// An autovacuum worker has such a lock and is cancelled only after it has blocked another session for a second. Requests queue
// behind the waiting migration, so it must not wait that long (npm run faults, S3).
test('a migration that waits for a table lock does not block requests behind it', async () => {
  const server = inject('server')
  const name = `herald_migrations_${process.pid}`
  await onServer(server, `create database ${name} template ${inject('template')}`)
  const db = connect({ url: databaseUrl(server, name) }, poolOptions)
  const holder = db.client()
  await holder.connect()
  try {
    await holder.query('begin; lock table states in share update exclusive mode')
    const text = '-- A column.\nalter table states add column note text;\n'
    const checksum = createHash('sha256').update(text).digest('hex')
    let isDone = false
    const migrated = migrate(db, [...migrations(), { name: '9999_note.sql', text, checksum }]).finally(() => {
      isDone = true
    })
    const since = performance.now()
    let slowest = 0
    while (performance.now() - since < 1_500 || slowest <= 50) {
      const asked = performance.now()
      await db.sql`select id from states limit 1`
      slowest = Math.max(slowest, performance.now() - asked)
      await sleep(20)
    }
    expect(isDone).toBe(false)
    await holder.query('rollback')
    expect(await migrated).toEqual(['9999_note.sql'])
    // Those that waited behind it were answered, although the lock was never released.
    expect(slowest).toBeGreaterThan(50)
  } finally {
    await holder.end()
    await db.stop()
    await onServer(server, `drop database ${name}`)
  }
})

test('an index that is built concurrently waits for an old read, instead of being given up and begun again', async () => {
  const server = inject('server')
  const name = `herald_builds_${process.pid}`
  await onServer(server, `create database ${name} template ${inject('template')}`)
  const db = connect({ url: databaseUrl(server, name) }, poolOptions)
  const reader = db.client()
  await reader.connect()
  try {
    await db.script('create table attempts (at timestamptz)')
    await reader.query('begin isolation level repeatable read; select from states limit 1')
    const text = `-- stepwise: an index.
insert into attempts values (now())
-- next
create index concurrently if not exists attempted on attempts (at)
`
    const checksum = createHash('sha256').update(text).digest('hex')
    const migrated = migrate(db, [...migrations(), { name: '9999_index.sql', text, checksum }])
    const attempts = async () => (await db.sql`select from attempts`).length
    // Longer than the wait for a lock that requests queue behind.
    const hasWaited = async () =>
      (
        await db.sql`
          select
          from pg_stat_progress_create_index p
          join pg_stat_activity a on a.pid = p.pid
          where p.phase like 'waiting for %'
            and p.datname = ${name}
            and a.query_start < clock_timestamp() - interval '500 milliseconds'`
      ).length
    await expect.poll(hasWaited).toBe(1)
    await reader.query('rollback')
    expect(await migrated).toEqual(['9999_index.sql'])
    expect(await attempts()).toBe(1)
  } finally {
    await reader.end()
    await db.stop()
    await onServer(server, `drop database ${name}`)
  }
})

test('0014 entries of the audit table stay as they were, and the version before can add more', async () => {
  const server = inject('server')
  const name = `herald_actors_${process.pid}`
  await onServer(server, `create database ${name}`)
  const db = connect({ url: databaseUrl(server, name) }, poolOptions)
  const asBefore = (key: string | null) => db.sql`
    insert into audit (service_id, key_id, action, subject_id)
    values (gen_random_uuid(), ${key}::uuid, 'job cancelled', gen_random_uuid())`
  const key = '33333333-3333-7333-8333-333333333333'
  try {
    await migrate(
      db,
      migrations().filter(step => step.name < '0014'),
    )
    await asBefore(key)
    await asBefore(null)
    const before = await db.sql`select id, at, service_id, key_id, action, subject_id, detail from audit order by id`
    expect((await migrate(db))[0]).toBe('0014_actors.sql')
    expect(await db.sql`select id, at, service_id, key_id, action, subject_id, detail from audit order by id`).toEqual(
      before,
    )
    await asBefore(key)
    expect(
      (await entries(db.sql, null, 10)).map(({ actor_kind, actor_id, key_id }) => [actor_kind, actor_id, key_id]),
    ).toEqual([
      ['key', key, key],
      ['operator', null, null],
      ['key', key, key],
    ])
    const contradictory = db.sql`
      insert into audit (service_id, key_id, action, subject_id, actor_kind, actor_name)
      values (gen_random_uuid(), ${key}, 'job cancelled', gen_random_uuid(), 'operator', 'deploy')`
    await expect(contradictory).rejects.toThrow(/audit_actor/)
  } finally {
    await db.stop()
    await onServer(server, `drop database ${name}`)
  }
})

test('0036 ends invitations that nobody who may invite stands behind, and those to people who were removed', async () => {
  const server = inject('server')
  const name = `herald_backed_${process.pid}`
  await onServer(server, `create database ${name}`)
  const db = connect({ url: databaseUrl(server, name) }, poolOptions)
  const { sql } = db
  const [open, archived] = ['44444444-4444-7444-8444-444444444444', '55555555-5555-7555-8555-555555555555']
  const person = async (email_address: string, isOperator = false) => {
    const [made] = await sql<{ id: string }>`
      insert into people (id, email_address, name, is_operator)
      values (gen_random_uuid(), ${email_address}, 'x', ${isOperator})
      returning id`
    return made?.id ?? ''
  }
  const invite = (email_address: string, service: string | null, by: string | null) => sql`
    insert into invitations (id, service_id, email_address, role, token_digest, invited_by, expires_at)
    values (gen_random_uuid(), ${service}, ${email_address}, ${service && 'viewer'}, ${Buffer.from(email_address)}, ${by},
            now() + interval '6 days')`
  const removed = (action: string, service: string | null, subject: string, age: string) => sql`
    insert into audit (service_id, action, subject_id, detail, at, actor_kind, actor_name)
    values (${service}, ${action}, gen_random_uuid(), jsonb_build_object('person', ${subject}::text), now() - ${age}::interval,
            'operator', 'tests')`
  const left = async () =>
    (await sql<{ to: string }>`select email_address as to from invitations order by email_address`).map(({ to }) => to)
  try {
    await migrate(
      db,
      migrations().filter(step => step.name < '0036'),
    )
    await sql`
      insert into services (id, name, state, mode, mailbox)
      values (${open}, 'Open', 'active', 'live', 'open'), (${archived}, 'Archived', 'archived', 'live', 'archived')`
    const [operator, manager, former] = [
      await person('operator@a', true),
      await person('manager@a'),
      await person('f@a'),
    ]
    for (const [id, role] of [
      [manager, 'manager'],
      [former, 'developer'],
    ])
      await sql`
        insert into users (id, service_id, name, email_address, role, person_id)
        values (gen_random_uuid(), ${open}, 'x', ${`${role}@b`}, ${role}, ${id})`
    for (const [to, by] of [
      ['1 by an operator', operator],
      ['2 by a manager', manager],
      ['by a former manager', former],
      ['by nobody', null],
    ] as const)
      await invite(to, open, by)
    await invite('3 by an operator, of an operator', null, operator)
    await invite('by a manager, of an operator', null, manager)
    await invite('to an archived service', archived, operator)
    await invite('To A Former Member', open, operator)
    await removed('member removed', open, await person('to a former member'), '1 hour')
    await invite('4 to a former member, afterwards', open, operator)
    await removed('member removed', open, await person('4 to a former member, afterwards'), '2 days')
    await invite('5 to a former member elsewhere', open, operator)
    await removed('member removed', archived, await person('5 to a former member elsewhere'), '1 hour')
    await migrate(
      db,
      migrations().filter(step => step.name < '0037'),
    )
    expect((await left()).map(to => to[0])).toEqual(['1', '2', '3', '4', '5'])
    // The version before removes a person without a word about invitations.
    await sql`delete from people where id = ${operator}`
    expect(await left()).toEqual(['2 by a manager'])
  } finally {
    await db.stop()
    await onServer(server, `drop database ${name}`)
  }
})
