// Faults of the database that callers should not notice. A database that hangs or a dead connection: the first request waits,
// later ones fail at once, and everything works again as soon as it answers. A deadlock: the statement is repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { Relay } from '../faults/support/relay.ts'
import { connect, type Database } from '../src/db/connect.ts'
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
  expect(performance.now() - since).toBeLessThan(1_000)
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
