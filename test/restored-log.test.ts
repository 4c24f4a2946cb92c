// The log in a copy of the database: its transactions have lower numbers than those of the original, or the same numbers again.
import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import { createIds, type Id } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import { BEGINNING, type Position, type Scope } from '../src/events/event.ts'
import { endOfLog, readEvents } from '../src/feed/read.ts'
import { openStore } from '../src/store.ts'
import { databaseUrl, onServer } from './support/database.ts'
import { logGroup, readable } from './support/events.ts'
import { type World, world } from './support/world.ts'

const copies: string[] = []
afterAll(async () => {
  for (const name of copies) await onServer(inject('server'), `drop database if exists ${name} with (force)`)
})

async function original() {
  const here = await world()
  const scope: Scope = { service_id: (await here.service()).id, key_type: 'normal' }
  const { next } = createIds(here.parts.clock)
  const log = async (sql: Sql, n: number): Promise<Id[]> => {
    const all = Array.from({ length: n }, next)
    for (const id of all) await logGroup(sql, scope, [id])
    await readable(sql)
    return all
  }
  return { here, scope, log }
}

async function copyOf(here: World): Promise<Record<string, string>> {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  const from = /t_[0-9a-f]+/.exec(here.config.databaseUrl ?? '')?.[0]
  await here.running.stop()
  await onServer(inject('server'), `create database ${name} template ${from}`)
  copies.push(name)
  const url = databaseUrl(inject('server'), name)
  return { DATABASE_URL: url, HERALD_DATA: here.config.dataFolder, HERALD_LOG_LEVEL: 'silent' }
}

const subjectsAfter = async (sql: Sql, scope: Scope, position: Position) =>
  (await readEvents(sql, scope, position, { types: null, most: 1000 })).events.map(event => event.subject)

const shiftOf = async (sql: Sql) => {
  const [row] = await sql<{ shift: string }>`select shift::text from event_clock`
  return BigInt(row?.shift ?? 0)
}

test('after a dump and restore into a younger server, readers and webhooks go on, and old events stay readable', async () => {
  const { here, scope, log } = await original()
  const { sql } = here.parts.db
  // An older server: its transactions have had 20,000,000 numbers more than those of the server of the copy.
  await sql`update event_clock set shift = 20000000`
  const old = await log(sql, 5)
  const webhook = createIds(here.parts.clock).next()
  const end = await endOfLog(sql, scope)
  await sql`
    insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n)
    values (${webhook}, ${scope.service_id}, 'normal', 'standard', ${here.parts.seal.seal('webhook target', '{}')}, ${end.stamp}, ${end.seq}, ${end.n})`
  await sql`update event_clock set shift = 0`
  const env = await copyOf(here)
  // Readers of the original went on after the dump.
  const lost: Position = { stamp: String(BigInt(end.stamp) + 1_000_000n), seq: String(Number(end.seq) + 99), n: 0 }

  const copy = await openStore(readConfig(env))
  try {
    expect(await subjectsAfter(copy.db.sql, scope, BEGINNING)).toEqual(old)
    const fresh = await log(copy.db.sql, 3)
    expect(await subjectsAfter(copy.db.sql, scope, BEGINNING)).toEqual([...old, ...fresh])
    expect(await subjectsAfter(copy.db.sql, scope, lost)).toEqual(fresh)
    const [position] = await copy.db.sql<Position>`
      select stamp::text, seq::text, n from webhooks where id = ${webhook}`
    expect(await subjectsAfter(copy.db.sql, scope, position ?? BEGINNING)).toEqual(fresh)
  } finally {
    await copy.stop()
  }

  const again = await openStore(readConfig(env))
  try {
    const shift = await shiftOf(again.db.sql)
    expect(shift).toBeGreaterThan(2n ** 40n)
    expect(shift).toBeLessThan(2n ** 41n)
    const [last = '' as Id] = await log(again.db.sql, 1)
    expect((await subjectsAfter(again.db.sql, scope, lost)).at(-1)).toBe(last)
  } finally {
    await again.stop()
  }
})

test('a position of an endpoint or of a replay alone is enough: new events come after it', async () => {
  const { here, scope, log } = await original()
  const { sql } = here.parts.db
  const [webhook, replay] = [createIds(here.parts.clock).next(), createIds(here.parts.clock).next()]
  const far = String(2n ** 50n)
  await sql`
    insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n)
    values (${webhook}, ${scope.service_id}, 'normal', 'standard', ${here.parts.seal.seal('webhook target', '{}')}, 5, 0, 0)`
  await sql`
    insert into webhook_replays (id, webhook_id, first, last, stamp, seq, n, end_stamp, end_seq)
    values (${replay}, ${webhook}, ${webhook}, ${webhook}, 0, 0, 0, ${far}, 0)`
  const copy = await openStore(readConfig(await copyOf(here)))
  try {
    const fresh = await log(copy.db.sql, 1)
    expect(await subjectsAfter(copy.db.sql, scope, { stamp: far, seq: '0', n: 0 })).toEqual(fresh)
  } finally {
    await copy.stop()
  }
})

test('a copy that the operator declares leaps once, at its next start; a hold that was asked for does not', async () => {
  const { here, scope, log } = await original()
  const env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_DATA: here.config.dataFolder }
  const herald = (...argv: string[]) => run(argv, { out() {}, err() {} }, () => readConfig(env))
  const shift = () => shiftOf(here.parts.db.sql)
  const leaps = async () => {
    await (await openStore(readConfig(env))).stop()
    return Math.round(Number(await shift()) / 2 ** 40)
  }
  expect(await herald('hold')).toBe(0)
  expect(await leaps()).toBe(0)
  await log(here.parts.db.sql, 2)
  const lost = await endOfLog(here.parts.db.sql, scope)
  expect(await herald('hold', '--restored')).toBe(0)
  expect(await leaps()).toBe(1)
  expect(await leaps()).toBe(1)
  const fresh = await log(here.parts.db.sql, 2)
  expect(await subjectsAfter(here.parts.db.sql, scope, lost)).toEqual(fresh)
  const [sending] = await here.parts.db.sql`select reason from sending where held_since is not null`
  expect(sending).toEqual({ reason: 'asked' })
})

test('a statement that logs during the leap is waited for, and those after it use the new shift', async () => {
  const { here, scope, log } = await original()
  const { db } = here.parts
  const before = await log(db.sql, 1)
  const env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_DATA: here.config.dataFolder }
  await db.sql`update sending set database = 'another'`
  let opened: ReturnType<typeof openStore> | null = null
  const late = createIds(here.parts.clock).next()
  await db.transaction(async sql => {
    await logGroup(sql, scope, [late])
    opened = openStore(readConfig(env))
    const waits = async () =>
      (await db.sql`select from pg_locks where relation = 'event_clock'::regclass and not granted`).length
    await expect.poll(waits, { timeout: 10_000 }).toBe(1)
  })
  const store = await (opened as unknown as ReturnType<typeof openStore>)
  await store.stop()
  const after = await log(db.sql, 1)
  expect(await subjectsAfter(db.sql, scope, BEGINNING)).toEqual([...before, late, ...after])
  const rows = await db.sql<{ high: boolean }>`select stamp > ${2 ** 40} as high from events order by events.stamp`
  expect(rows.map(row => row.high)).toEqual([false, false, true])
})
