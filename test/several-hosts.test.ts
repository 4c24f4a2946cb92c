// Several hosts in DATABASE_URL, on a real primary with streaming standbys: always the primary, never a replica.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Database } from '../src/db/connect.ts'
import { createListener } from '../src/db/listen.ts'
import { createLeader } from '../src/engine/leader.ts'
import { poolOptions } from './support/database.ts'
import { processes } from './support/processes.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'

const SECRET = 'a secret of the tests for several hosts'

describe.skipIf(missing)('several hosts', () => {
  let cluster: Replicated
  let a: ReplicatedNode
  let b: ReplicatedNode
  let c: ReplicatedNode
  const ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    cluster = await createReplicated({ standbys: 2 })
    ;[a, b, c] = cluster.nodes as [ReplicatedNode, ReplicatedNode, ReplicatedNode]
  })
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end()
    await cluster?.stop()
  })

  function open(url: string, statementSeconds = 1): Database {
    const db = connect({ url }, { ...poolOptions, statementSeconds })
    ends.push(db.stop)
    return db
  }

  const portOf = async (db: Database) =>
    (await db.sql<{ port: number }>`select current_setting('port')::integer as port`)[0]?.port

  async function until(what: string, isTrue: () => boolean | Promise<boolean>, seconds = 15) {
    for (const since = performance.now(); !(await isTrue()); await sleep(20))
      if (performance.now() - since > seconds * 1000) throw new Error(`not so within ${seconds} s: ${what}`)
  }
  const answersFrom = (db: Database, node: ReplicatedNode) =>
    until(`statements are answered by ${node.name}`, async () => (await portOf(db).catch(() => 0)) === node.port)

  test('three processes that start for the first time at the same moment all start', async () => {
    const started = await processes(3, { databaseUrl: cluster.urls([c, b, a]), secret: SECRET })
    for (const { address } of started) expect((await fetch(`${address}/health/ready`)).status).toBe(200)
    await Promise.all(started.map(one => one.stop()))
  }, 120_000)

  test('pool, listener and leader find the primary that is the last in the list', async () => {
    const db = open(cluster.urls([c, b, a]))
    expect(await portOf(db)).toBe(a.port)
    const listener = await createListener(db, { onDown() {}, onUp() {} })
    ends.push(listener.stop)
    const leader = createLeader(db)
    ends.push(leader.stop)
    let heard = ''
    await listener.on('several', payload => {
      heard = payload
    })
    await db.sql`select pg_notify('several', 'here')`
    await until('the notification arrives', () => heard === 'here')
    await until('it leads', leader.isLeader)
    const [row] = await a.query(
      `select count(*)::int as locks from pg_locks where locktype = 'advisory' and objid = 60110003`,
    )
    expect(row?.locks).toBe(1)
  })

  test('a command works with several hosts', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bin/herald.js', 'service', 'list', '--json'], {
      env: { PATH: process.env.PATH, DATABASE_URL: cluster.urls([c, b, a]), HERALD_SECRET: SECRET },
    })
    expect(JSON.parse(stdout)).toBeDefined()
  })

  test('hosts that are all standbys are refused with a sentence that names them', async () => {
    const db = open(cluster.urls([b, c]))
    await expect(db.sql`select 1`).rejects.toThrow(
      `None of the hosts in DATABASE_URL is the primary (127.0.0.1:${b.port}: a standby; 127.0.0.1:${c.port}: a standby).`,
    )
  })

  test('one host that is a standby is refused', async () => {
    const db = open(b.url)
    await expect(db.sql`select 1`).rejects.toThrow('The server that DATABASE_URL names is a standby.')
  })

  test('a silent host does not delay the others', async () => {
    b.freeze()
    try {
      const since = performance.now()
      const db = open(cluster.urls([b, c, a]))
      expect(await portOf(db)).toBe(a.port)
      expect(performance.now() - since).toBeLessThan(1_000)
    } finally {
      b.thaw()
    }
  })

  test('after a statement that was refused as read-only the primary is looked for, and later ones work', async () => {
    const db = open(cluster.urls())
    await db.script('create table if not exists several_written (n int)')
    await a.query('alter system set default_transaction_read_only = on')
    await a.query('select pg_reload_conf()')
    await until('the server is read-only', async () => {
      const [row] = await a.query('show default_transaction_read_only')
      return row?.default_transaction_read_only === 'on'
    })
    const write = () => db.sql`insert into several_written values (1)`
    await expect(write()).rejects.toMatchObject({ code: '25006' })
    await a.query('alter system reset default_transaction_read_only')
    await a.query('select pg_reload_conf()')
    await until('it is written', () =>
      write().then(
        () => true,
        () => false,
      ),
    )
  })

  test('a promoted standby is followed, and the old primary that is back as a standby is never read', async () => {
    const db = open(cluster.urls())
    const separate = db.separate({ size: 2, name: 'herald-test', statementSeconds: 1 })
    ends.push(separate.stop)
    expect(await portOf(separate)).toBe(a.port)
    let [ups, heard] = [0, '']
    const listener = await createListener(db, { onDown() {}, onUp: () => ups++ })
    ends.push(listener.stop)
    await listener.on('moved', payload => {
      heard = payload
    })
    const leader = createLeader(db)
    ends.push(leader.stop)
    await until('it leads or another does', () => ups === 1)

    await cluster.switchover(a, b)
    await Promise.all([answersFrom(db, b), answersFrom(separate, b)])
    await until('the listener is back', () => ups === 2)
    await db.sql`select pg_notify('moved', 'there')`
    await until('the notification arrives', () => heard === 'there')

    await a.follow(b)
    for (let times = 0; times < 50; times++) expect(await portOf(db)).toBe(b.port)
    // A new pool and a new dedicated connection, with the old primary first in the list.
    const anew = open(cluster.urls([a, b, c]))
    expect(await portOf(anew)).toBe(b.port)
    const client = anew.client()
    await client.connect()
    expect((await client.query(`select current_setting('port')::integer as port`)).rows).toEqual([{ port: b.port }])
    await client.end()
  }, 60_000)

  test('a primary that is frozen is left as soon as another is promoted; after its return it is not used', async () => {
    const db = open(cluster.urls())
    await answersFrom(db, b)
    const [from, to] = [b, c]
    from.freeze()
    await expect(db.sql`select 1`).rejects.toThrow()
    await to.promote()
    const since = performance.now()
    await answersFrom(db, to)
    expect(performance.now() - since).toBeLessThan(1_500)
    from.thaw()
    // The old primary does not know yet that it is one no more.
    expect(await from.isStandby()).toBe(false)
    expect(await portOf(open(cluster.urls([from, to])))).toBe(to.port)
    for (let times = 0; times < 50; times++) expect(await portOf(db)).toBe(to.port)
  }, 60_000)
})
