// What every start compares with the other machines of the installation: the sealing secret and the file store.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import { type Running, start } from '../src/main.ts'
import { databaseUrl, onServer } from './support/database.ts'
import { s3Server } from './support/s3.ts'

type Env = Record<string, string>
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

async function newDatabase(template = inject('template')): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(inject('server'), `create database ${name} template ${template}`)
  ends.push(() => onServer(inject('server'), `drop database if exists ${name} with (force)`))
  return name
}

const secretOf = (letter: string) => letter.repeat(40)

/** A machine with a folder of its own, on a database. */
function machine(database: string, more: Env = {}): Env {
  const data = mkdtempSync(join(tmpdir(), 'herald-installation-'))
  ends.push(() => rmSync(data, { recursive: true, force: true }))
  return {
    DATABASE_URL: databaseUrl(inject('server'), database),
    HERALD_SECRET: secretOf('a'),
    HERALD_DATA: data,
    HERALD_PORT: '0',
    HERALD_CAPTURE: '1',
    HERALD_LOG_LEVEL: 'silent',
    ...more,
  }
}

async function began(env: Env): Promise<Running> {
  const running = await start(readConfig(env), { only: 'http' })
  ends.push(running.stop)
  return running
}

/** Starts and stops; returns null, or the sentence of the refusal. */
async function tried(env: Env): Promise<string | null> {
  try {
    await (await start(readConfig(env), { only: 'http' })).stop()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const adopt = (env: Env) => run(['file-store', 'adopt'], { out() {}, err() {} }, () => readConfig(env))

async function bucket(name = 'herald-files') {
  const server = await s3Server(name)
  ends.push(server.stop)
  const env: Env = {
    HERALD_FILE_STORE: 's3',
    HERALD_S3_URL: server.url,
    HERALD_S3_BUCKET: server.bucket,
    HERALD_S3_KEY: server.key,
    HERALD_S3_SECRET: server.secret,
  }
  const file = join(server.folder, name, 'herald-installation._S3rver_object')
  return { ...server, env, mark: () => (existsSync(file) ? readFileSync(file, 'utf8').trim() : null) }
}

test('a process has a name in its metrics and on the system page, by default that of the machine', async () => {
  const { address, parts } = await began(machine(await newDatabase(), { HERALD_PROCESS_NAME: 'web-1' }))
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(metrics).toMatch(/^herald_process_info\{name="web-1",version="[^"]+",runs="http"\} 1$/m)
  await expect
    .poll(() => parts.db.sql`select name from processes`, { timeout: 10_000 })
    .toEqual([{ name: `web-1:${process.pid}` }])
  expect(() => readConfig(machine('x', { HERALD_PROCESS_NAME: 'two words' }))).toThrow(/HERALD_PROCESS_NAME/)
})

test('another secret is refused; of first starts at the same time, those with the same secret agree', async () => {
  const database = await newDatabase()
  const letters = ['a', 'b', 'a', 'b', 'a', 'b']
  const answers = await Promise.all(
    letters.map(letter => tried(machine(database, { HERALD_SECRET: secretOf(letter) }))),
  )
  const winner = letters[answers.indexOf(null)] ?? ''
  for (const [at, answer] of answers.entries())
    if (letters[at] === winner) expect(answer).toBe(null)
    else expect(answer).toMatch(/^This database was sealed with another secret\. .*the secret of the other machines/)
  expect(await tried(machine(database, { HERALD_SECRET: secretOf(winner) }))).toBe(null)
  const other = winner === 'a' ? 'b' : 'a'
  expect(await tried(machine(database, { HERALD_SECRET: secretOf(other) }))).toMatch(/another secret/)
})

test('a secret is replaced machine by machine: first every machine knows both, then each seals with the new one', async () => {
  const database = await newDatabase()
  const [a, b] = [secretOf('a'), secretOf('b')]
  const steps: [current: string, others: string, isRefused: boolean][] = [
    [a, '', false],
    [a, b, false],
    [b, a, false],
    // A machine that still seals with the old one may restart.
    [a, b, false],
    [b, a, false],
    [b, '', false],
    [a, '', true],
  ]
  for (const [current, others, isRefused] of steps) {
    const env = machine(database, { HERALD_SECRET: current, ...(others && { HERALD_OLD_SECRETS: others }) })
    expect((await tried(env)) !== null, `${current} ${others}`).toBe(isRefused)
  }
})

test('the first start marks the bucket; a machine with another one is refused until an operator adopts it', async () => {
  const [ours, empty] = [await bucket(), await bucket()]
  const database = await newDatabase()
  expect(await tried(machine(database, ours.env))).toBe(null)
  const id = ours.mark()
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(await tried(machine(database, ours.env))).toBe(null)

  // As with a store on each machine, which has the same address everywhere.
  expect(await tried(machine(database, empty.env))).toMatch(
    /^The file store the bucket herald-files at \S+ is not the one of this installation, the bucket herald-files at \S+: it has no object herald-installation\. All machines .* herald file-store adopt/,
  )
  expect(empty.mark()).toBe(null)
  expect(await tried(machine(database))).toMatch(
    /^The contents of files are in the bucket herald-files at \S+, but this process is set to the database\. /,
  )

  expect(await adopt(machine(database, empty.env))).toBe(0)
  expect(empty.mark()).toBe(id)
  expect(await tried(machine(database, empty.env))).toBe(null)
  expect(await adopt(machine(database))).toBe(0)
  expect(await tried(machine(database))).toBe(null)
  expect(await tried(machine(database, ours.env))).toMatch(/^The contents of files are in the database, but/)
})

test('the bucket of another installation is refused', async () => {
  const { env, mark } = await bucket()
  const { parts, stop } = await began(machine(await newDatabase(), env))
  const id = mark()
  expect(await parts.db.sql`select id from installation`).toEqual([{ id }])
  await stop()
  expect(await tried(machine(await newDatabase(), env))).toMatch(
    /^The file store the bucket herald-files at \S+ belongs to another installation of Herald\. /,
  )
  expect(mark()).toBe(id)
})

test('a restored copy starts with the bucket of its original and with a new one', async () => {
  const [ours, fresh, third] = [await bucket(), await bucket(), await bucket()]
  const database = await newDatabase()
  expect(await tried(machine(database, ours.env))).toBe(null)
  const [copy, other] = [await newDatabase(database), await newDatabase(database)]
  expect(await tried(machine(copy, ours.env))).toBe(null)
  expect(await tried(machine(other, fresh.env))).toBe(null)
  expect(fresh.mark()).toBe(ours.mark())
  expect(await tried(machine(other, third.env))).toMatch(/is not the one of this installation/)
})

test('a store that does not answer is no reason to refuse, and is marked by a later start', async () => {
  const store = await bucket()
  const database = await newDatabase()
  const away = { ...store.env, HERALD_S3_URL: 'http://127.0.0.1:1' }
  expect(await tried(machine(database, away))).toBe(null)
  expect(store.mark()).toBe(null)
  expect(await tried(machine(database, store.env))).toBe(null)
  expect(store.mark()).not.toBe(null)
  expect(await tried(machine(database, away))).toBe(null)
})
