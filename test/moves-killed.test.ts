// herald import, killed with SIGKILL at several points and run again, ends in the same state as one that was not killed.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connect, type Database, type Sql } from '../src/db/connect.ts'
import { poolOptions } from './support/database.ts'
import { type Env, programs } from './support/program.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const SERVICES = 120
const { newDatabase, herald, command } = programs()
const folder = mkdtempSync(join(tmpdir(), 'herald-killed-'))
const file = join(folder, 'moving.json')
const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true })
})

type Place = { env: Env; db: Database }
async function place(): Promise<Place> {
  const env = await newDatabase()
  const db = connect({ url: env.DATABASE_URL }, poolOptions)
  stops.push(() => db.stop())
  return { env, db }
}

const time = (n: number) => `2026-03-01T10:00:00.${String(n).padStart(6, '0')}Z`
const service = (n: number) => ({
  ...{ id: randomUUID(), name: `Service ${n}`, mode: 'live', created_at: time(n) },
  team: [
    { email_address: `ada.${n}@example.org`, name: 'Ada', role: 'manager', created_at: time(n) },
    { email_address: 'everywhere@example.org', name: 'Ben', role: 'sender', created_at: time(n + 1) },
  ],
  safelist: [{ recipient: `zoe.${n}@example.org`, created_at: time(n) }],
  reply_to_addresses: [
    {
      id: randomUUID(),
      email_address: `permits.${n}@example.org`,
      is_default: true,
      created_at: time(n),
      verified_at: time(n),
    },
  ],
  folders: [{ id: randomUUID(), name: 'Letters', created_at: time(n) }],
  templates: [1, 2, 3].map(() => ({
    ...{ id: randomUUID(), type: 'email', created_at: time(n) },
    versions: [1, 2].map(version => ({
      ...{ version, name: 'Decision', subject: 'Permit', content: `Dear ((name)), ${n}`, made_at: time(version) },
      category_id: CATEGORY,
    })),
  })),
  keys: [1, 2].map(at => ({
    ...{ id: randomUUID(), name: `Key ${at}`, type: 'normal', secret: randomUUID(), created_at: time(n) },
  })),
  webhooks: [
    {
      ...{ id: randomUUID(), url: `https://permits.example.org/${n}`, format: 'callback', created_at: time(n) },
      secret: `the-token-of-service-${n}`,
    },
  ],
})
const CATEGORY = randomUUID()
const run = ['import', file, '--json']

/** All that can be compared: an export with its secrets, and how many rows each table has. Ids of members differ by chance. */
async function stateOf({ env, db }: Place) {
  const name = join(folder, randomUUID())
  const said = await herald(['export', '--out', name, '--secrets-file', `${name}.secrets`], env)
  expect([said.code, said.err]).toEqual([0, ''])
  const tables = await db.sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() order by tablename`
  const rows: Record<string, number> = {}
  for (const table of tables) rows[table.name] = await countOf(db.sql, table.name)
  // The export itself writes to the audit log.
  const [log] = await db.sql<{ count: number }>`
    select count(*)::integer as count from audit where action = 'service imported'`
  rows.audit = log?.count ?? 0
  return { file: readFileSync(name, 'utf8'), secrets: readFileSync(`${name}.secrets`, 'utf8'), rows }
}

const countOf = async (sql: Sql, table: string): Promise<number> => {
  const statement = Object.assign([`select count(*)::integer as count from "${table}"`], { raw: [] })
  const [row] = await sql<{ count: number }>(statement as unknown as TemplateStringsArray)
  return row?.count ?? 0
}

let whole: Awaited<ReturnType<typeof stateOf>>
let killed: Place

beforeAll(async () => {
  const services = Array.from({ length: SERVICES }, (_, n) => service(n))
  const categories = [{ id: CATEGORY, name: 'Of the other installation', lane: 'high' }]
  writeFileSync(file, JSON.stringify({ is: 'herald-installation', format: 1, categories, services }))
  const control = await place()
  const { code, out } = await herald(run, control.env)
  expect([code, JSON.parse(out).services.filter((one: { outcome: string }) => one.outcome === 'added').length]).toEqual(
    [0, SERVICES],
  )
  whole = await stateOf(control)
  expect(whole.rows).toMatchObject({ services: SERVICES, keys: 2 * SERVICES, webhooks: SERVICES, audit: SERVICES })
  killed = await place()
})

const services = () => countOf(killed.db.sql, 'services')

/** Starts an import, and kills it at the first statement that needs this table, when so many services more are there. */
async function killAt(table: string, more: number): Promise<void> {
  const wanted = Math.min(SERVICES, (await services()) + more)
  const process = command(run, killed.env)
  while ((await services()) < wanted) await new Promise(resume => setTimeout(resume, 2))
  await killed.db.transaction(async sql => {
    const statement = Object.assign([`lock table ${table} in share mode`], { raw: [] })
    await sql(statement as unknown as TemplateStringsArray)
    await vi.waitFor(async () => {
      const [blocked] = await killed.db.sql<{ count: number }>`
        select count(*)::integer as count
        from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      expect(blocked?.count).toBe(1)
    }, 20_000)
    expect(await process.kill()).toMatchObject({ code: null, out: '' })
  })
}

/** No session of the killed process is left: what it had not committed is undone. */
const settled = () =>
  vi.waitFor(async () => {
    const [others] = await killed.db.sql<{ count: number }>`
      select count(*)::integer as count
      from pg_stat_activity
      where datname = current_database() and application_name like 'herald%' and wait_event_type = 'Lock'`
    expect(others?.count).toBe(0)
  }, 20_000)

const points = [
  ['template_categories', 0],
  ['services', 0],
  ['templates', 3],
  ['template_versions', 5],
  ['users', 9],
  ['keys', 11],
  ['webhooks', 13],
  ['audit', 17],
] as const

test.each(points)('killed while it writes to %s, after %i services', async (table, more) => {
  await killAt(table, more)
  await settled()
  // Each service is there as a whole or not at all.
  const { file, secrets } = await stateOf(killed)
  const expected = JSON.parse(whole.file).services
  const here = JSON.parse(file).services as { id: string }[]
  expect(here.length).toBeLessThan(SERVICES)
  expect(here).toEqual(expected.slice(0, here.length))
  const known = JSON.parse(whole.secrets) as Record<string, string>
  expect(Object.keys(JSON.parse(secrets))).toHaveLength(here.length * 3)
  expect(known).toMatchObject(JSON.parse(secrets))
})

test('killed at any moment, and then not killed: the same state', async () => {
  const before = await services()
  const process = command(run, killed.env)
  while ((await services()) < before + 10) await new Promise(resume => setTimeout(resume, 1))
  expect((await process.kill()).code).toBe(null)
  await settled()
  const between = await services()
  expect(between).toBeGreaterThanOrEqual(before + 10)
  expect(between).toBeLessThan(SERVICES)

  const last = await herald(run, killed.env)
  expect(last.code).toBe(0)
  const outcomes = JSON.parse(last.out).services.map((one: { outcome: string }) => one.outcome)
  expect(outcomes.filter((one: string) => one === 'unchanged')).toHaveLength(between)
  expect(outcomes.filter((one: string) => one === 'added')).toHaveLength(SERVICES - between)
  expect(await stateOf(killed)).toEqual(whole)
})
