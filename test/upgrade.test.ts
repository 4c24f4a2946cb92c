// The database of each release is migrated while the release still serves requests, and its processes are replaced one by one:
// no request fails, and nothing that the release has stored is lost or changed. scripts/release-fixture.mjs makes the databases.
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { migrations } from '../src/db/migrate.ts'
import { type Balancer, balancer } from './support/balancer.ts'
import { databaseUrl, onServer } from './support/database.ts'
import { createClient } from './support/processes.ts'
import { type Env, type Program, programs, type Sample } from './support/program.ts'
import { EMAIL } from './support/sends.ts'
import { callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 90_000 })

/** The program of each release, by the commit that it was built from; 0.1.0 was never tagged. */
const RELEASES = { '0.1.0': '8e994ea' }

type Held = {
  secret: string
  service: string
  keys: Record<'live' | 'team' | 'test' | 'revoked', string>
  templates: Record<'email' | 'sms' | 'file', string>
  jobs: Record<'finished' | 'scheduled', string>
  messages: { id: string; status: string; reference: string }[]
}

/** The version before this one. */
const BEFORE = { version: '0.2.1', commit: 'ed1bf50' }

const { herald, start, newData } = programs()
const folder = mkdtempSync(join(tmpdir(), 'herald-release-'))
const databases: string[] = []
const old: { kill(): void }[] = []
const balancers: Balancer[] = []
const hasHistory = (commit: string) => {
  try {
    execFileSync('git', ['cat-file', '-e', commit], { stdio: 'ignore' })
    return true
  } catch {
    return false // no git, or a clone without history
  }
}

afterAll(async () => {
  for (const one of old) one.kill()
  for (const one of balancers) await one.stop()
  for (const name of databases) await onServer(inject('server'), `drop database if exists ${name} with (force)`)
  rmSync(folder, { recursive: true, force: true })
})

for (const [version, commit] of Object.entries(RELEASES)) {
  const held = JSON.parse(readFileSync(`test/fixtures/releases/${version}.json`, 'utf8')) as Held
  let env: Env
  let url: string

  beforeAll(async () => {
    const name = `t_${randomUUID().replaceAll('-', '')}`
    await onServer(inject('server'), `create database ${name}`)
    databases.push(name)
    url = databaseUrl(inject('server'), name)
    const client = new pg.Client(url)
    await client.connect()
    await client.query(gunzipSync(readFileSync(`test/fixtures/releases/${version}.sql.gz`)).toString())
    // As if the release had run until today: what it has scheduled is still to come.
    for (const [table, column] of [
      ['tickets', 'due_at'],
      ['jobs', 'scheduled_for'],
      ['notifications', 'scheduled_for'],
    ])
      await client.query(
        `update public.${table} set ${column} = now() + interval '90 hours' where ${column} > '2026-11-18'`,
      )
    await client.end()
    env = {
      DATABASE_URL: url,
      HERALD_SECRET: held.secret,
      HERALD_DATA: newData(),
      HERALD_CAPTURE: '1',
      HERALD_NOTICE_SECONDS: '2',
      // The release must be able to read what the new version seals (docs/releases.md).
      HERALD_SEAL_FORMAT: '1',
    }
  })

  test(`${version}: a command of the new version does not migrate it, and names the command that does`, async () => {
    const taken = async () => {
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query('select name from migrations order by name')
      await client.end()
      return rows.map(({ name }) => name)
    }
    const before = await taken()
    expect(before.length).toBeLessThan(migrations().length)
    for (const argv of [['service', 'list'], ['held'], ['sample'], ['job', 'list', held.service]]) {
      const { code, out, err } = await herald(argv, env)
      expect([code, out], err).toEqual([2, ''])
      expect(err).toMatch(/Run: (?:npx )?herald migrate/)
    }
    const { code, err } = await herald(['service', 'list', '--json'], env)
    expect([code, JSON.parse(err)]).toEqual([
      2,
      expect.objectContaining({ exit_code: 2, errors: [expect.objectContaining({ error: 'NotMigrated' })] }),
    ])
    expect((await herald(['doctor'], env)).out).toMatch(/Run: (?:npx )?herald migrate/)
    expect(await taken()).toEqual(before)
  })

  test(`${version}: migrated and replaced while it serves requests`, async () => {
    if (!hasHistory(commit))
      console.warn(`${commit} is not in this clone: ${version} itself is not run, only migrated.`)
    const { HERALD_CAPTURE: _, HERALD_SEAL_FORMAT: __, ...known } = env
    const before = hasHistory(commit) ? await startTwice(buildRelease(commit), known) : []
    const round = await balancer(
      before.map(({ address }) => address),
      { healthMs: 200 },
    )
    balancers.push(round)
    const load = before.length > 0 ? sendUntilTold(round) : null

    // `herald migrate` first, as the documents say: the release works on with the new tables.
    const { code, out, err } = await herald(['migrate', '--json'], env)
    expect(code, err).toBe(0)
    const files = migrations().map(({ name }) => name)
    expect(out).toContain(files.at(-1))
    const fresh: Program[] = []
    for (const [n, one] of (before.length > 0 ? before : [null, null]).entries()) {
      await load?.more(20)
      fresh.push(await start(env, '--only', 'http'))
      round.set([...fresh, ...before.slice(n)].map(({ address }) => address))
      if (one) await expect.poll(round.readyCount, { timeout: 20_000 }).toBe(before.length + 1)
      await one?.stop()
      round.set([...fresh, ...before.slice(n + 1)].map(({ address }) => address))
    }
    await load?.more(20)
    const sent = (await load?.end()) ?? { ids: [], failed: [] }
    expect(sent.failed).toEqual([])
    expect(round.broken).toEqual([])
    if (load) expect(sent.ids.length).toBeGreaterThan(60)

    // A database that was loaded from a dump is a copy, and held.
    expect((await herald(['held', '--json'], env)).out).toContain('"restored"')
    const caller = callerWith(fresh[0]?.address ?? '', held.keys.live)
    const statuses = async (ids: readonly string[]) => {
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query('select id, status from states where id = any ($1)', [ids])
      await client.end()
      return new Map(rows.map(({ id, status }) => [id, status]))
    }
    const stored = await statuses(held.messages.map(({ id }) => id))
    expect(stored).toEqual(new Map(held.messages.map(({ id, status }) => [id, status])))
    for (const { id, status, reference } of held.messages)
      if (status !== 'cancelled')
        expect((await caller.get(`/v2/notifications/${id}`)).body, reference).toMatchObject({ id, status, reference })
    expect((await statuses(sent.ids)).size).toBe(sent.ids.length)

    const versions = await caller.get(`/v2/template/${held.templates.email}/version/2`)
    expect(versions.body).toMatchObject({ version: 2, body: 'Hello ((name)), your permit is ready.' })
    expect((await caller.get(`/v2/template/${held.templates.email}`)).body.version).toBe(3)
    for (const type of ['team', 'test'] as const)
      expect((await callerWith(fresh[1]?.address ?? '', held.keys[type]).get('/v2/templates')).status, type).toBe(200)
    expect((await callerWith(fresh[1]?.address ?? '', held.keys.revoked).get('/v2/templates')).status).toBe(403)
    const job = await caller.get(`/v2/notifications/bulk/${held.jobs.finished}`)
    expect(job.body.data).toMatchObject({ id: held.jobs.finished, job_status: 'finished' })
    expect((await caller.get(`/v2/notifications/bulk/${held.jobs.scheduled}`)).body.data.job_status).toBe('pending')

    // What callers do next works: a send that is delivered, and a cancel of what the release has scheduled.
    const scheduled = held.messages.find(({ reference }) => reference === 'scheduled')?.id
    expect((await caller.delete(`/v2/notifications/${scheduled}`)).status).toBe(200)
    // Not before: an engine ends what has waited for days, as the fixture has one day.
    fresh.push(await start(env))
    expect((await herald(['release', '--all', '--json'], env)).code).toBe(0)
    const next = await caller.post(EMAIL, mail(held, 'next'))
    expect(next.status).toBe(201)
    const status = async () => (await caller.get(`/v2/notifications/${next.body.id}`)).body.status
    await expect.poll(status, { timeout: 20_000 }).toBe('delivered')
    // What was accepted during the upgrade, by the release and by this version, is sent, too.
    const results = async () => [...new Set((await statuses(sent.ids)).values())]
    if (load) await expect.poll(results, { timeout: 20_000 }).toEqual(['delivered'])
    for (const one of fresh) expect((await one.end('SIGTERM')).code).toBe(0)
  })

  /** Six callers, until the end. */
  function sendUntilTold(round: Balancer) {
    const client = createClient(6)
    const [ids, failed]: [string[], string[]] = [[], []]
    let isLoading = true
    const loops = [1, 2, 3, 4, 5, 6].map(async () => {
      while (isLoading) {
        const answer = await client(round.address, 'POST', EMAIL, {
          key: held.keys.live,
          body: mail(held, 'load'),
        }).catch(error => ({ status: 0, body: { id: '', why: String(error) } }))
        if (answer.status === 201) ids.push(answer.body.id)
        else failed.push(JSON.stringify(answer))
        // At most 900 per minute, however long the upgrade takes: the limit is 1,000.
        await new Promise(resume => setTimeout(resume, 400))
      }
    })
    return {
      more: (count: number) => {
        const goal = ids.length + count
        return expect.poll(() => ids.length + failed.length, { timeout: 20_000 }).toBeGreaterThan(goal)
      },
      async end() {
        isLoading = false
        await Promise.all(loops)
        return { ids, failed }
      },
    }
  }
}

test.skipIf(!hasHistory(BEFORE.commit))(
  `${BEFORE.version} reads what HERALD_SEAL_FORMAT=1 seals, and everything stays readable without it`,
  async () => {
    const name = `t_${randomUUID().replaceAll('-', '')}`
    await onServer(inject('server'), `create database ${name}`)
    databases.push(name)
    const known = {
      DATABASE_URL: databaseUrl(inject('server'), name),
      HERALD_SECRET: 'the sealing secret of all machines 0123456789',
      HERALD_DATA: newData(),
      HERALD_CAPTURE: '1',
    }
    const bridge = { ...known, HERALD_SEAL_FORMAT: '1' }
    const before = await startRelease(buildRelease(BEFORE.commit), { ...known, HERALD_PROCESSES: '1' })
    expect((await herald(['migrate'], bridge)).code).toBe(0)
    const beside = await start(bridge, '--only', 'http')
    // A key that the new version makes is one for the version before.
    const sample = await herald(['sample', '--show-keys', '--json'], bridge)
    expect(sample.code, sample.err).toBe(0)
    const { keys, templates } = JSON.parse(sample.out) as Sample
    const sent: { name: string; body: object; text: string; id: string }[] = []
    const sendBy = async (address: string) => {
      const [name, to] = [randomUUID(), { email_address: 'ada@example.org', personalisation: { name: 'Ada' } }]
      const body = { template_id: templates.email.id, ...to }
      const reply = await callerWith(address, keys.live).post(EMAIL, body, { 'idempotency-key': name })
      expect(reply.status, reply.text).toBe(201)
      sent.push({ name, body, text: reply.text, id: reply.body.id })
    }
    const expectAllAt = async (address: string) => {
      for (const { name, body, text, id } of sent) {
        const caller = callerWith(address, keys.live)
        const again = await caller.post(EMAIL, body, { 'idempotency-key': name })
        expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, text, 'true'])
        const other = await caller.post(EMAIL, { ...body, reference: 'another' }, { 'idempotency-key': name })
        expect(other.status).toBe(422)
        expect((await caller.get(`/v2/notifications/${id}`)).body).toMatchObject({ email_address: 'ada@example.org' })
      }
    }
    for (const { address } of [before, beside]) await sendBy(address)
    for (const { address } of [before, beside]) await expectAllAt(address)
    await before.stop()

    // The last round: the setting is removed, while one machine still has it.
    const after = await start(known, '--only', 'http')
    await sendBy(after.address)
    for (const { address } of [beside, after]) await expectAllAt(address)
    for (const one of [beside, after]) expect((await one.end('SIGTERM')).code).toBe(0)
  },
)

const mail = (held: Held, reference: string) => ({
  ...{
    template_id: held.templates.email,
    email_address: 'ada@example.org',
    personalisation: { name: 'Ada' },
    reference,
  },
})

/** The release from history, built with the compiler of today. */
function buildRelease(commit: string): string {
  const place = join(folder, commit)
  mkdirSync(place)
  execFileSync('sh', [
    '-c',
    `git archive ${commit} bin src migrations package.json tsconfig.json tsconfig.build.json | tar -x -C "${place}"`,
  ])
  const modules = join(place, 'node_modules')
  mkdirSync(modules)
  for (const name of execFileSync('ls', ['-A', 'node_modules'], { encoding: 'utf8' }).trim().split('\n'))
    symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name))
  // 0.1.0 loads it at the start and uses it for SMTP only, which nothing here does; today's Herald does not have it.
  mkdirSync(join(modules, 'nodemailer'))
  const exports = { '.': './index.js', './lib/*': './index.js' }
  writeFileSync(join(modules, 'nodemailer/package.json'), JSON.stringify({ name: 'nodemailer', exports }))
  writeFileSync(join(modules, 'nodemailer/index.js'), 'module.exports = class {}')
  // It reports types of nodemailer as missing, and writes all files.
  spawnSyncQuietly([join(process.cwd(), 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], place)
  for (const assets of ['console/assets', 'reference/assets'])
    if (existsSync(join(place, 'src', assets)))
      cpSync(join(place, 'src', assets), join(place, 'dist', assets), { recursive: true })
  return place
}

function spawnSyncQuietly(argv: string[], cwd: string) {
  try {
    execFileSync(process.execPath, argv, { cwd, stdio: 'pipe' })
  } catch {
    // Starting it shows whether it was built.
  }
}

async function startRelease(place: string, env: Env) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['bin/herald.js', 'start', '--only', 'http'], {
    cwd: place,
    env: { PATH, HOME, HERALD_PORT: '0', HERALD_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  old.push({ kill: () => child.kill('SIGKILL') })
  const closed = new Promise<number | null>(resolve => child.once('close', resolve))
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        said += String(chunk)
        const [, found] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? []
        if (found) resolve(found)
      })
    void closed.then(code => reject(new Error(`the release ended with ${code}: ${said}`)))
  })
  return {
    address,
    async stop() {
      child.kill('SIGTERM')
      expect(await closed, said).toBe(0)
    },
  }
}

/** One after the other: two first starts of 0.1.0 on one day may both create the partition of that day, and one then ends. */
const startTwice = async (place: string, env: Env) => [await startRelease(place, env), await startRelease(place, env)]
