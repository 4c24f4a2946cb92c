// HERALD_REPLICATION on a real primary with a standby: what required refuses, when a process is not ready, and what is said about it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkReplication } from '../src/cli/replication-check.ts'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { connect, type Database } from '../src/db/connect.ts'
import type { ReplicationMode } from '../src/db/replication.ts'
import { poolOptions } from './support/database.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'
import { EMAIL, emailTemplate, type Key } from './support/sends.ts'
import { type World, world } from './support/world.ts'

let pair: Replicated
let primary: ReplicatedNode
let standby: ReplicatedNode
let here: World
let key: Key
let template: Id
const pools: Database[] = []

if (missing) console.warn(`skipped: ${missing}`)

const begin = (replication: ReplicationMode) => world({ HERALD_REPLICATION: replication }, { urlOf: () => primary.url })

async function ready() {
  const { status, body } = await here.call('GET', '/health/ready')
  return `${status} ${body.status}`
}

async function metric(name: string): Promise<number> {
  const { text } = await here.call('GET', '/metrics')
  return Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.slice(name.length + 1),
  )
}

const send = (reference: string) =>
  key.post(EMAIL, {
    template_id: template,
    email_address: 'ann@example.org',
    personalisation: { name: 'Ann' },
    reference,
  })

const sendJob = (name: string) =>
  key.post('/v2/notifications/bulk', {
    template_id: template,
    name,
    rows: [
      ['email address', 'name'],
      ['ann@example.org', 'Ann'],
    ],
  })

async function setCommit(value: string) {
  await primary.query(`alter system set synchronous_commit = '${value}'`)
  await primary.query('select pg_reload_conf()')
}

/** What doctor says, as the given database user. */
async function doctor(replication: ReplicationMode, user = 'herald') {
  const url = primary.url.replace('//herald@', `//${user}@`)
  const db = connect({ url }, poolOptions)
  pools.push(db)
  const config = readConfig({ DATABASE_URL: url, HERALD_REPLICATION: replication })
  const { ok, found, remedy } = await checkReplication({ config, db })
  return `${ok ? 'ok' : 'PROBLEM'} ${found}${remedy ? ` -> ${remedy}` : ''}`
}

describe.skipIf(missing)('HERALD_REPLICATION', () => {
  beforeAll(async () => {
    pair = await createReplicated()
    ;[primary, standby] = pair.nodes as [ReplicatedNode, ReplicatedNode]
  })
  afterAll(async () => {
    await Promise.all(pools.map(pool => pool.stop()))
    await pair?.stop()
  })

  test('required refuses to start with asynchronous replication, and changes nothing', async () => {
    await expect(begin('required')).rejects.toThrow(
      /^HERALD_REPLICATION is required, but synchronous_standby_names is empty\. Set it in .*docs\/running\.md: Replication\.$/,
    )
    expect(await primary.query(`select tablename from pg_tables where schemaname = 'public'`)).toEqual([])
    expect(await doctor('required')).toMatch(/^PROBLEM required, but synchronous_standby_names is empty -> Set it /)
    expect(await doctor('none')).toMatch(
      /^ok 1 standby, but synchronous_standby_names is empty: the loss of the primary/,
    )
    expect(await doctor('managed')).toMatch(/^ok not checked/)
  })

  test('required refuses to start when commits do not wait for the disk of the standby', async () => {
    await pair.synchronous(true)
    await setCommit('remote_write')
    await expect(begin('required')).rejects.toThrow(
      'HERALD_REPLICATION is required, but synchronous_commit is remote_write.',
    )
    await setCommit('on')
  })

  test('required starts with a synchronous standby', async () => {
    here = await begin('required')
    key = await (await here.service()).key()
    template = await emailTemplate(key)
    expect((await send(randomUUID())).status).toBe(201)
    expect((await sendJob(randomUUID())).status).toBe(201)
    expect(await ready()).toBe('200 ok')
    expect(await metric('herald_replication_synchronous_standbys')).toBe(1)
    expect(await metric('herald_replication_missing')).toBe(0)
    expect(await metric('herald_replication_lag_bytes{stage="flush"}')).toBeGreaterThanOrEqual(0)
    expect(await doctor('required')).toMatch(/^ok required: 1 synchronous of 1 standby, synchronous_commit is on;/)
    expect(await doctor('none')).toMatch(/^ok 1 synchronous of 1 standby.*HERALD_REPLICATION=required/)
  })

  test('a database user who may not see the standbys is told which grant is missing', async () => {
    await primary.query('create role stranger login')
    await primary.query(`grant connect on database herald to stranger`)
    expect(await doctor('required', 'stranger').catch(String)).toMatch(
      /hidden from this database user -> .*grant pg_monitor to/,
    )
  })

  test('the standby is gone: not ready, and it says why; the database is up; sends wait and are answered 500', async () => {
    standby.cut()
    const reply = send(randomUUID())
    await expect.poll(ready, { timeout: 20_000 }).toBe('503 not replicated: no synchronous standby is connected')
    await expect.poll(() => metric('herald_replication_missing'), { timeout: 20_000 }).toBe(1)
    expect(await metric('herald_replication_synchronous_standbys')).toBe(0)
    expect(await metric('herald_database_up')).toBe(1)
    expect((await reply).status).toBe(500)

    standby.join()
    await expect.poll(ready, { timeout: 20_000 }).toBe('200 ok')
    await expect.poll(async () => (await send(randomUUID())).status, { timeout: 20_000 }).toBe(201)
  })

  test.each([
    {
      what: 'replication becomes asynchronous',
      found: 'synchronous_standby_names is empty',
      change: () => pair.synchronous(false),
      back: () => pair.synchronous(true),
    },
    {
      what: 'commits become local',
      found: 'synchronous_commit is local',
      change: () => setCommit('local'),
      back: () => setCommit('on'),
    },
  ])('$what: not ready, and nothing is stored', async ({ found, change, back }) => {
    const reference = randomUUID()
    await change()
    await expect.poll(async () => (await send(randomUUID())).status, { timeout: 5_000 }).toBe(500)
    expect((await send(reference)).status).toBe(500)
    expect((await sendJob(reference)).status).toBe(500)
    expect(await primary.query(`select id from notifications where reference = '${reference}'`)).toEqual([])
    expect(await primary.query(`select id from jobs where name = '${reference}'`)).toEqual([])
    await expect.poll(ready, { timeout: 20_000 }).toBe(`503 not replicated: ${found}`)

    await back()
    await expect.poll(ready, { timeout: 20_000 }).toBe('200 ok')
    await expect.poll(async () => (await send(randomUUID())).status, { timeout: 20_000 }).toBe(201)
  })
})
