// A start that fails or is interrupted: the process ends, and nothing that it started is left.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, inject, test, vi } from 'vitest'
import { mountSmall } from '../../faults/support/disk.ts'
import { readConfig } from '../../src/config/index.ts'
import { processStartOf } from '../../src/db/embedded-lock.ts'
import { start as startHere } from '../../src/main.ts'
import { databaseUrl, onServer } from '../support/database.ts'
import { type Env, isAlive, postgresOf, programs } from '../support/program.ts'

vi.setConfig({ testTimeout: 60_000 })

const { newData, newDatabase, herald, start, begin } = programs()
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

async function listenOn(port: number): Promise<net.Server> {
  const server = net.createServer().listen(port, '127.0.0.1')
  ends.push(() => server.close())
  await once(server, 'listening')
  return server
}
const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port

/** The exit and the seconds it took, minus the time any command takes to load on this machine. */
async function timed(env: Env) {
  const loading = performance.now()
  await herald(['--version'], {})
  const since = performance.now()
  const said = await herald(['start'], env)
  return { ...said, seconds: (performance.now() - since - (since - loading)) / 1000 }
}

/** The number of sessions on the database with the test's name. */
async function sessionsOn(database: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl(inject('server'), 'postgres') })
  await client.connect()
  const { rows } = await client.query('select count(*)::integer as n from pg_stat_activity where datname = $1', [
    database,
  ])
  await client.end()
  return rows[0]?.n
}

describe('the port is in use', () => {
  const IN_USE = /^The port is in use already \(listen EADDRINUSE: .*HERALD_PORT\.\n$/

  test('with an external database: exit code 1 within 2 s', async () => {
    const taken = await listenOn(0)
    const env = await newDatabase()
    const { code, out, err, seconds } = await timed({ ...env, HERALD_PORT: String(portOf(taken)) })
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(IN_USE) })
    expect(seconds).toBeLessThan(2)
    await expect.poll(() => sessionsOn(env.name)).toBe(0)
  })

  test('beside another Herald on the embedded database: exit code 1 within 2 s, and the other keeps running', async () => {
    const data = newData()
    const first = await start({ HERALD_DATA: data })
    const env = { HERALD_DATA: data, HERALD_PORT: new URL(first.address).port }
    const { code, out, err, seconds } = await timed(env)
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(IN_USE) })
    expect(seconds).toBeLessThan(2)
    expect(readdirSync(join(data, 'postgres', 'users'))).toHaveLength(1)
    expect((await fetch(`${first.address}/health/ready`)).status).toBe(200)
    const postgres = postgresOf(data) ?? 0
    expect(await first.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(isAlive(postgres)).toBe(false)
  })

  test('on an empty folder nothing is created', async () => {
    const taken = await listenOn(0)
    const data = newData()
    expect(await herald(['start'], { HERALD_DATA: data, HERALD_PORT: String(portOf(taken)) })).toMatchObject({
      code: 1,
    })
    expect(existsSync(data)).toBe(false)
  })
})

test('a start that fails in its last step ends every session and thread it has started', async () => {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(inject('server'), `create database ${name}`)
  const data = mkdtempSync(join(tmpdir(), 'herald-failed-'))
  ends.push(async () => {
    await onServer(inject('server'), `drop database if exists ${name} with (force)`)
    rmSync(data, { recursive: true, force: true })
  })
  const free = await listenOn(0)
  const port = portOf(free)
  free.close()
  await once(free, 'close')
  const config = readConfig({
    DATABASE_URL: databaseUrl(inject('server'), name),
    HERALD_DATA: data,
    HERALD_PORT: String(port),
    HERALD_LOG_LEVEL: 'silent',
  })
  // The port was free when the start checked; another program takes it during the migration.
  let taking: Promise<net.Server> | undefined
  const say = () => {
    taking ??= listenOn(port)
  }
  const before = threads()
  await expect(startHere(config, { say })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await taking
  await expect.poll(() => sessionsOn(name)).toBe(0)
  expect(threads()).toBe(before)
})

test('on a full disk: one sentence, and after room was made the same start works', async context => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-full-'))
  chmodSync(folder, 0o711)
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  const disk = mountSmall(folder, 200)
  if ('problem' in disk) return context.skip(disk.problem)
  ends.push(disk.stop)
  const env = { HERALD_DATA: join(folder, 'data') }
  // Also when it becomes full in the middle: initdb alone writes 40 MB.
  for (const free of [0, 20_000_000]) {
    writeFileSync(join(folder, 'room'), Buffer.alloc(free))
    disk.fill()
    rmSync(join(folder, 'room'))
    const { code, out, err } = await herald(['start'], env)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err.trim().split('\n')).toEqual([expect.stringMatching(/^The disk .*is full.*[Ff]ree .* again/)])
    disk.free()
  }
  const program = await start(env)
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
})

const threads = () => process.getActiveResourcesInfo().filter(kind => kind === 'MessagePort').length

describe('SIGTERM during the start', () => {
  test('ends the wait for another process that starts the database', async () => {
    const data = newData()
    mkdirSync(join(data, 'postgres'), { recursive: true })
    const lock = join(data, 'postgres', 'lock')
    symlinkSync(`${process.pid}.${processStartOf(process.pid)}.test`, lock)
    const program = begin({ HERALD_DATA: data })
    await program.hasSaid(`waiting for process ${process.pid}`)
    const { code, out, err, seconds } = await program.end('SIGTERM')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/Herald has stopped\.\n$/)
    expect(seconds).toBeLessThan(3)
  })

  test('stops the database that it had started', async () => {
    const data = newData()
    const program = begin({ HERALD_DATA: data })
    await expect.poll(() => postgresOf(data), { interval: 5, timeout: 20_000 }).toBeGreaterThan(0)
    const postgres = postgresOf(data) ?? 0
    expect(await program.end('SIGTERM')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Herald has stopped\.\n$/),
    })
    expect(program.out()).not.toContain('Herald listens')
    expect(isAlive(postgres)).toBe(false)
  })

  test('does not wait for a lock of another session in an external database', async () => {
    const env = await newDatabase()
    const holder = new pg.Client({ connectionString: env.DATABASE_URL })
    await holder.connect()
    ends.push(() => holder.end())
    await holder.query('select pg_advisory_lock($1)', [6011_0001])
    const program = begin(env)
    const waits = async () =>
      (
        await holder.query(
          `select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%' and pid <> pg_backend_pid()`,
        )
      ).rowCount
    await expect.poll(waits, { timeout: 20_000 }).toBe(1)
    const { code, out, seconds } = await program.end('SIGTERM')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/Herald has stopped\.\n$/) })
    expect(seconds).toBeLessThan(9)
  })
})
