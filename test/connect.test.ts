// Faults of the database that callers should not notice. A database that hangs or a dead connection: the first request waits,
// later ones fail at once, and everything works again as soon as it answers. A deadlock: the statement is repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { Relay } from '../faults/support/relay.ts'
import { connect, type Database, type Sql } from '../src/db/connect.ts'
import { poolOptions } from './support/database.ts'
import { relayed } from './support/relayed.ts'

let relay: Relay
let db: Database

async function open(seconds = 1) {
  const { relay: made, url } = await relayed()
  relay = made
  db = connect({ url }, { ...poolOptions, statementSeconds: seconds })
  await Promise.all([db.sql`select 1`, db.sql`select 1`])
}

afterEach(async () => {
  await db.stop()
  await relay.stop()
})

const ask = async () => (await db.sql<{ one: number }>`select 1 as one`)[0]?.one

async function answers(seconds: number): Promise<boolean> {
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await sleep(50))
    if ((await ask().catch(() => 0)) === 1) return true
  return false
}

test('while the database hangs, later callers fail sooner than the first; afterwards it is used again', async () => {
  await open()
  relay.set({ isSilent: true })
  await expect(ask()).rejects.toThrow('Query read timeout')
  const since = performance.now()
  for (let times = 0; times < 20; times++) await expect(ask()).rejects.toThrow('the database does not answer')
  expect(performance.now() - since).toBeLessThan(10_000)
  relay.set({ isSilent: false })
  expect(await answers(20)).toBe(true)
})

test('half-open connections are not tried one after the other', async () => {
  await open()
  expect(relay.strand()).toBe(2)
  await expect(ask()).rejects.toThrow('Query read timeout')
  expect(await answers(20)).toBe(true)
  await Promise.all([ask(), ask()]) // the second connection is a new one too
})

const refused = new Error('refused')
const pid = async (sql: Sql) => (await sql<{ pid: number }>`select pg_backend_pid() as pid`)[0]?.pid

test('a refusal inside a transaction is rolled back and keeps its connection', async () => {
  await open(20)
  const table = `refusals_${process.pid}`
  await db.script(`create table ${table} (n int)`)
  const insert = [`insert into ${table} values (1)`]
  try {
    const used = new Set<unknown>()
    for (let times = 0; times < 50; times++)
      await expect(
        db.transaction(async sql => {
          used.add(await pid(sql))
          await sql(Object.assign(insert, { raw: insert }))
          throw refused
        }),
      ).rejects.toBe(refused)
    expect(used.size).toBeLessThanOrEqual(2)
    const count = [`select count(*) as n from ${table}`]
    expect(await db.sql(Object.assign(count, { raw: count }))).toEqual([{ n: 0 }])
  } finally {
    await db.script(`drop table ${table}`)
  }
})

test('a connection that was lost inside a transaction is not used again, whatever the transaction throws', async () => {
  await open()
  for (const lose of [
    async (sql: Sql) => {
      relay.strand()
      await sql`select 1`.catch(() => {}) // the statement times out
    },
    async () => void relay.reset(), // only the rollback notices it
    (sql: Sql) => sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {}),
  ]) {
    let before: unknown
    await expect(
      db.transaction(async sql => {
        before = await pid(sql)
        await lose(sql)
        throw refused
      }),
    ).rejects.toBe(refused)
    expect(await answers(20)).toBe(true)
    const after = await Promise.all([pid(db.sql), pid(db.sql)])
    expect(after).not.toContain(before)
  }
})

test('a statement after the end of its transaction does not reach the connection', async () => {
  await open(20)
  let go = () => {}
  const released = new Promise<void>(resolve => {
    go = resolve
  })
  let late: Promise<unknown> = Promise.resolve()
  await expect(
    db.transaction(async sql => {
      late = released.then(() => sql`select 1`)
      throw refused
    }),
  ).rejects.toBe(refused)
  go()
  await expect(late).rejects.toThrow('the transaction has ended')
})

test('a statement that loses a deadlock is repeated', async () => {
  await open(20)
  // Temporary tables: other tests use the database, too.
  const [a, b] = [`deadlock_a_${process.pid}`, `deadlock_b_${process.pid}`]
  await db.script(`create table ${a} (); create table ${b} ();
    create function ${a}() returns integer language plpgsql as
    $$ begin lock table ${b}; lock table ${a}; return 7; end $$`)
  const other = db.client()
  await other.connect()
  try {
    await other.query(`begin; lock table ${a}`)
    const text = [`select ${a}() as seven`]
    const asked = db.sql<{ seven: number }>(Object.assign(text, { raw: text }))
    await holds(other, b)
    // The session that has waited longer checks for a deadlock first, after a second, and is the one that fails; on a very slow
    // machine it is the other one.
    await other.query(`lock table ${b}`).catch(() => {})
    await other.query('rollback')
    expect((await asked)[0]?.seven).toBe(7)
  } finally {
    await other.end()
    await db.script(`drop function ${a}(); drop table ${a}, ${b}`)
  }
})

/** Waits until a session holds a lock on the table. */
async function holds(client: pg.Client, table: string) {
  for (let tries = 0; tries < 200; tries++, await sleep(20)) {
    const { rows } = await client.query('select 1 from pg_locks where relation = to_regclass($1) and granted', [table])
    if (rows.length > 0) return
  }
  throw new Error('nobody took the lock')
}
