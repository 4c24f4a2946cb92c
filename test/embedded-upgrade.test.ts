// herald upgrade-database, from the oldest PostgreSQL that Herald supports to the one that it includes.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventsOf, send, statusOf } from './support/over-http.ts'
import { freePort } from './support/port.ts'
import { programs } from './support/program.ts'

const PROGRAMS = '/usr/lib/postgresql/15'
const hasPrograms = existsSync(join(PROGRAMS, 'bin/initdb'))
if (!hasPrograms) console.warn('SKIPPED: the upgrade of an embedded database, as PostgreSQL 15 is not installed')

const { newData, herald, command, start, sample: sampleOn } = programs()

/** As the embedded server runs: not as root. */
const isRoot = process.getuid?.() === 0
const tool = (name: string, ...args: string[]) =>
  execFileSync(join(PROGRAMS, 'bin', name), args, {
    ...(isRoot && { uid: 65534, gid: 65534 }),
    ...{ cwd: '/', stdio: 'ignore', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' } },
  })

/** A data folder whose database PostgreSQL 15 has made, with what `work` did to it. */
async function madeByOld<T>(work: (env: { HERALD_DATA: string; DATABASE_URL: string }) => Promise<T>) {
  const data = newData()
  const cluster = join(data, 'postgres', 'data')
  mkdirSync(cluster, { recursive: true, mode: 0o711 })
  if (isRoot) chownSync(cluster, 65534, 65534)
  tool('initdb', '-D', cluster, '-U', 'herald', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8')
  const port = await freePort()
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=''`
  tool('pg_ctl', '-D', cluster, '-l', '/dev/null', '-w', '-o', options, 'start')
  try {
    const env = { HERALD_DATA: data, DATABASE_URL: `postgresql://herald@127.0.0.1:${port}/postgres` }
    return { data, result: await work(env) }
  } finally {
    tool('pg_ctl', '-D', cluster, '-m', 'fast', '-w', 'stop')
  }
}

test.skipIf(!hasPrograms)(
  'messages, keys and places in the log are the same on the new server, and sending goes on',
  async () => {
    const { data, result } = await madeByOld(async env => {
      const service = await start(env)
      const { keys, templates } = await sampleOn(env)
      const sample = { key: keys.live, template: templates.email.id }
      const ids: string[] = []
      for (let n = 0; n < 30; n++) ids.push(await send(service.address, sample))
      for (const id of ids)
        await expect.poll(() => statusOf(service.address, sample, id), { timeout: 60_000 }).toBe('delivered')
      const { next } = await eventsOf(service.address, sample)
      await service.end('SIGTERM')
      return { sample, ids, next }
    })
    const { sample, ids, next } = result
    const env = { HERALD_DATA: data }
    const place = join(data, 'postgres')
    const versionIn = (folder: string) => readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()

    expect(await herald(['start'], env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/made by PostgreSQL 15; .*herald upgrade-database/),
    })
    expect(await herald(['upgrade-database', dirname(data)], env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/There is no PostgreSQL that runs in/),
    })

    // Killed while it copies: the old database is in place.
    const killed = command(['upgrade-database', PROGRAMS], env)
    while (!existsSync(`${place}.upgrading/exchange`)) await sleep(5)
    await killed.kill()
    expect(versionIn(join(place, 'data'))).toBe('15')

    const done = await herald(['upgrade-database', PROGRAMS, '--json'], env)
    expect(done).toMatchObject({ code: 0, err: expect.not.stringMatching(/rror/) })
    expect(JSON.parse(done.out)).toMatchObject({ from: '15', kept: join(place, 'data-15') })
    expect(JSON.parse(done.out).rows).toBeGreaterThan(30 * 3)
    expect(versionIn(join(place, 'data-15'))).toBe('15')
    expect(existsSync(`${place}.upgrading`)).toBe(false)

    // As if killed between the two renames: a start makes no empty database, and the same command ends it.
    mkdirSync(`${place}.upgrading`)
    renameSync(join(place, 'data'), join(`${place}.upgrading`, 'data'))
    expect(await herald(['start'], env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/was interrupted.*herald upgrade-database/),
    })
    expect(await herald(['upgrade-database', PROGRAMS], env)).toMatchObject({ code: 0 })
    expect(await herald(['upgrade-database', PROGRAMS], env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/already: there is nothing to upgrade/),
    })

    const service = await start(env)
    expect(service.out()).not.toMatch(/held/)
    for (const id of ids) expect(await statusOf(service.address, sample, id)).toBe('delivered')
    const later = await send(service.address, sample)
    await expect.poll(() => statusOf(service.address, sample, later), { timeout: 60_000 }).toBe('delivered')
    await expect
      .poll(async () => new Set((await eventsOf(service.address, sample, next)).ids), { timeout: 20_000 })
      .toEqual(new Set([later]))
    await service.end('SIGTERM')
  },
  300_000,
)
