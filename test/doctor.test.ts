// herald doctor, for every problem it knows: it is named with what to do, and it disappears when it is fixed.
import { spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { checkEvents } from '../src/cli/event-checks.ts'
import { checkDkim, dnsLookUp } from '../src/cli/mail-checks.ts'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { LOCK } from '../src/engine/leader.ts'
import { beat, remove } from '../src/installation/sql/processes.ts'
import type { Store } from '../src/parts.ts'
import { instanceOf, recogniseCopy } from '../src/queue/hold.ts'
import { releaseAll } from '../src/queue/release.ts'
import { HELD_LANES, IDENTITY_TABLES } from '../src/sending.ts'
import { openStore } from '../src/store.ts'
import { sealTarget } from '../src/webhooks/webhook.ts'
import { selfSigned } from './support/certificates.ts'
import { realClamd } from './support/clamd.ts'
import { databaseUrl, onServer } from './support/database.ts'
import { dnsServer } from './support/dns-server.ts'
import { startHttpPeer } from './support/http-peer.ts'
import { freePort } from './support/port.ts'
import { s3Server } from './support/s3.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { startSmppServer } from './support/smpp-server.ts'
import { smtpServer } from './support/smtp-server.ts'
import { world } from './support/world.ts'

type Check = { name: string; ok: boolean; found: string; remedy?: string; data?: unknown }
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const here = await world()
const { sql } = here.parts.db
const env = {
  DATABASE_URL: here.config.databaseUrl ?? '',
  HERALD_DATA: here.config.dataFolder,
  HERALD_PORT: '0',
  HERALD_LOG_LEVEL: 'silent',
}

async function doctor(more: Record<string, string> = {}): Promise<Check[]> {
  let out = ''
  const streams = {
    out(text: string) {
      out += text
    },
    err() {},
  }
  await run(['doctor', '--json'], streams, () => readConfig({ ...env, ...more }))
  return (JSON.parse(out) as { checks: Check[] }).checks
}

/** The problems; each says what to do. */
async function problems(more: Record<string, string> = {}): Promise<string[]> {
  const all = (await doctor(more)).filter(check => !check.ok)
  for (const check of all) expect(check.remedy, check.name).toMatch(/\w{3,}.*\.$/s)
  return all.map(({ name, found }) => `${name}: ${found}`)
}
const found = async (name: string, more: Record<string, string> = {}) =>
  (await doctor(more)).filter(check => check.name === name).map(({ ok, found }) => ({ ok, found }))

test('a healthy service has no problem, and everything was checked', async () => {
  const checks = await doctor()
  expect(checks.filter(check => !check.ok)).toEqual([])
  expect(checks.map(check => check.name)).toEqual([
    'Node.js',
    'Settings',
    'Disk',
    'Database',
    'Durability',
    'Replication',
    'Migrations',
    'Sealing secret',
    'Sending',
    'Queue',
    'Partitions',
    'Leader',
    'Processes',
    'Clock',
    'Events',
    'Webhooks',
    'Scanner',
    'File store',
    'Provider of e-mails',
    'Provider of text messages',
    'Sending domain',
    'DKIM',
    'Public address',
    'Console',
    'Service',
  ])
  const guide = readFileSync('docs/guides/go-live.md', 'utf8').replaceAll('\n', ' ')
  const [, promised = ''] = /`npx herald doctor` says what is wrong with ([^.]+)\./.exec(guide) ?? []
  const named = [...promised.matchAll(/\*([^*]+)\*/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(checks.map(check => check.name)).toEqual(expect.arrayContaining(named))
})

describe('before a start', () => {
  const on = async () => {
    const name = `t_${randomUUID().replaceAll('-', '')}`
    await onServer(inject('server'), `create database ${name}`)
    ends.push(() => onServer(inject('server'), `drop database if exists ${name} with (force)`))
    return { name, DATABASE_URL: databaseUrl(inject('server'), name) }
  }

  test('an external database that is empty is no problem; one that is read-only is', async () => {
    const { name, ...at } = await on()
    expect(await problems(at)).toEqual([])
    expect((await found('Database', at))[0]?.found).toMatch(/and is empty; the first start creates the tables$/)
    await onServer(inject('server'), `alter database ${name} set default_transaction_read_only = on`)
    const READ_ONLY = 'Database: is read-only: nothing is accepted, and herald start fails'
    expect(await problems(at)).toEqual([READ_ONLY])
    await onServer(inject('server'), `alter database ${name} reset default_transaction_read_only`)
    expect(await run(['migrate'], { out() {}, err() {} }, () => readConfig({ ...env, ...at }))).toBe(0)
    await onServer(inject('server'), `alter database ${name} set default_transaction_read_only = on`)
    expect(await problems(at)).toEqual([READ_ONLY])
  })

  test('a data folder that is a file, or not writable', async () => {
    const file = join(here.config.dataFolder, 'file')
    writeFileSync(file, '')
    expect(await problems({ HERALD_DATA: file })).toContain(`Data folder: ${file} is not a folder`)
    const folder = join(here.config.dataFolder, 'closed')
    mkdirSync(folder)
    chmodSync(folder, 0o555)
    chmodSync(here.config.dataFolder, 0o755)
    const isRoot = process.getuid?.() === 0
    const { stdout } = spawnSync(process.execPath, ['bin/herald.js', 'doctor'], {
      env: { PATH: process.env.PATH ?? '', ...env, HERALD_DATA: folder },
      encoding: 'utf8',
      ...(isRoot && { uid: 65_534 }), // root may write anywhere
    })
    expect(stdout).toContain(`PROBLEM  Data folder: ${folder} is not writable (EACCES)`)
  })
})

test('a service that does not run, single sign-on and a collector that are away', async () => {
  const gone = await startHttpPeer(() => ({ status: 200, body: '{}' }))
  await gone.stop()
  const port = new URL(gone.url).port
  expect(await problems({ HERALD_PORT: port })).toEqual([`Service: does not run on http://127.0.0.1:${port}`])

  let status = 503
  const peer = await startHttpPeer(() => ({ status, body: JSON.stringify({ authorization_endpoint: 'here' }) }))
  ends.push(peer.stop)
  const oidc = (issuer: string) => ({ HERALD_OIDC_ISSUER: issuer, HERALD_OIDC_CLIENT_ID: 'herald' })
  expect(await problems(oidc(gone.url))).toEqual([`Single sign-on: ${gone.url} cannot be reached (ECONNREFUSED)`])
  expect(await problems(oidc(peer.url))).toEqual([
    `Single sign-on: ${peer.url} answered 503 to ${peer.url}/.well-known/openid-configuration`,
  ])
  const collector = (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
  expect(await problems(collector(gone.url))).toEqual([
    `OpenTelemetry collector: ${gone.url}/v1/traces cannot be reached (ECONNREFUSED); ${gone.url}/v1/metrics cannot be reached (ECONNREFUSED)`,
  ])
  status = 200
  expect(await problems({ ...oidc(peer.url), ...collector(peer.url) })).toEqual([])
  expect(await found('Single sign-on', oidc(peer.url))).toEqual([{ ok: true, found: `${peer.url} answers` }])
  expect(await found('OpenTelemetry collector', collector(peer.url))).toEqual([
    { ok: true, found: 'takes what it is sent' },
  ])
})

test('running processes are named, and described for programs', async () => {
  const [check] = (await doctor()).filter(({ name }) => name === 'Processes')
  expect(check?.found).toMatch(/^1 runs: .+:\d+ \(http\)/)
  expect(check?.data).toMatchObject([{ runs: ['http'], leads_since: null, in_flight: {}, providers: [] }])
})

test('of processes that were not seen lately, doctor does not say that none runs', async () => {
  const { running, parts, config } = await world()
  await running.stop()
  const at = { DATABASE_URL: config.databaseUrl ?? '' }
  expect((await found('Processes', at))[0]?.found).toBe('none runs')
  const store = await openStore(config, { migrate: false })
  const row = { id: parts.ids.next(), name: 'silent', version: '1', runs: [], in_flight: {}, providers: [] }
  await beat(store.db.sql, { ...row, up_seconds: 60, leads_seconds: null })
  await store.db.sql`update processes set seen_at = clock_timestamp() - interval '1 minute'`
  await store.stop()
  expect((await found('Processes', at))[0]?.found).toMatch(
    /^none was seen in the last 15 s; silent was not seen for \d+ s$/,
  )
})

test('HERALD_SEAL_FORMAT=1 is a problem, except beside a process of an earlier version', async () => {
  const forgotten = { HERALD_SEAL_FORMAT: '1' }
  expect(await problems(forgotten)).toEqual([expect.stringMatching(/^Sealing secret: .*HERALD_SEAL_FORMAT is 1/)])
  const id = here.parts.ids.next()
  await beat(sql, {
    id,
    name: 'old',
    version: '0.2.1',
    runs: [],
    in_flight: {},
    providers: [],
    up_seconds: 1,
    leads_seconds: null,
  })
  expect(await found('Sealing secret', forgotten)).toEqual([{ ok: true, found: 'matches this database' }])
  await remove(sql, id)
})

test('sending is held', async () => {
  const hold = (...argv: string[]) => run(argv, { out() {}, err() {} }, () => readConfig(env))
  await hold('hold')
  expect(await problems()).toEqual([expect.stringMatching(/^Sending: held since \S+Z: by herald hold/)])
  const [check] = (await doctor()).filter(({ name }) => name === 'Sending')
  expect(check?.remedy).toContain('To resume: herald release --all (')
  await hold('release', '--all')
  expect(await problems()).toEqual([])
})

test('webhooks that are disabled or fail are named by id and service, without their address', async () => {
  const service = await here.service({ name: 'Permits' })
  const [gone, failing, fresh] = [here.parts.ids.next(), here.parts.ids.next(), here.parts.ids.next()]
  const target = { url: 'https://hooks.example.org/secret', secrets: [], token: 'secret' }
  const put = (id: Id, state: string, reason: string | null, minutes: number) => sql`
    insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n, state, reason, failing_since)
    values (${id}, ${service.id}, 'normal', 'standard', ${sealTarget(here.parts.seal, target)}, 0, 0, -1, ${state}, ${reason},
            clock_timestamp() - make_interval(mins => ${minutes}))`
  await put(fresh, 'active', null, 1)
  expect(await found('Webhooks')).toEqual([{ ok: true, found: 'none is disabled, none fails' }])
  await put(gone, 'disabled', 'gone', 300)
  await put(failing, 'active', null, 60)
  const [said = ''] = await problems()
  expect(said).toMatch(
    new RegExp(
      `^Webhooks: ${gone} of Permits: disabled \\(gone\\) since \\S+Z; ${failing} of Permits: failing since \\S+Z$`,
    ),
  )
  await sql`delete from webhooks`
})

test('a long transaction that readers of events wait for is named by process and application, without its statement', async () => {
  const client = here.parts.db.client()
  await client.connect()
  await client.query("set application_name = 'nightly report'")
  await client.query('begin')
  const { rows } = await client.query(
    "select pg_backend_pid() as pid, pg_current_xact_id(), 'ada@example.org' as statement",
  )
  const events = () => checkEvents(here.parts as unknown as Store, 0)
  // Transactions of other tests may be older for a moment.
  await expect
    .poll(async () => (await events()).found, { timeout: 20_000 })
    .toMatch(
      new RegExp(
        `wait for a transaction that has run for \\d+ s \\(process ${rows[0].pid}, nightly report, database t_`,
      ),
    )
  expect(JSON.stringify(await events())).not.toContain('ada@')
  await client.end()
})

test('a backlog, tickets kept back, messages waiting for a scan, receipts of unknown messages', async () => {
  const put = (lane: string, seconds: number, count = 1, attempts = 0) => sql`
    insert into tickets (id, lane, service_id, subjects, due_at, attempts)
    select gen_random_uuid(), ${lane}, gen_random_uuid(), array[${here.parts.ids.next()}::uuid],
           clock_timestamp() - make_interval(secs => ${seconds}), ${attempts}
    from generate_series(1, ${count}::integer)`
  await put('email-high', 5)
  await put('email-low', 60)
  expect(await found('Queue')).toEqual([{ ok: true, found: '2 tickets, none waits too long' }])
  await put('email-high', 300)
  await put('email-low', 3 * 3_600)
  await put('kept-sms-low', 0, 3)
  await put('receipt', 0, 101, 1)
  await sql`
    insert into tickets (id, lane, service_id, subjects, due_at)
    values (gen_random_uuid(), 'scan', gen_random_uuid(), array['00000000-0000-7000-8000-000000000000'::uuid], clock_timestamp())`
  expect(await problems()).toEqual([
    expect.stringMatching(/^Queue: email-high waits for 5 min \(2 tickets\); email-low waits for 3 h \(2 tickets\)$/),
    'Kept back: 3 tickets wait for a decision after a release',
    expect.stringMatching(/^Waiting for a scan: the oldest message for \d+ h$/),
    'Receipts: 101 belong to messages that do not exist here',
  ])
  await sql`delete from tickets`
  expect(await problems()).toEqual([])
})

test.each(['states', 'events'])('tomorrow has no partitions of %s', async table => {
  const names = (
    await sql<{ name: string }>`
      select relname as name from pg_class where relname ~ ${`^${table}_\\d{8}$`} order by relname desc limit 3`
  ).map(row => row.name)
  for (const name of names) await here.parts.db.script(`alter table ${table} detach partition ${name}`)
  expect(await problems()).toEqual(['Partitions: there are none for tomorrow'])
  for (const name of names) await here.parts.db.script(`drop table ${name}`)
  // As a start does it.
  await run(['service', 'list'], { out() {}, err() {} }, () => readConfig(env))
  expect(await problems()).toEqual([])
})

test('the clock of the machine is wrong', async () => {
  const file = join(here.config.dataFolder, 'offset')
  const preload = pathToFileURL('faults/support/fake-clock.mjs').href
  const asked = (offsetMs: number) =>
    new Promise<string>(resolve => {
      writeFileSync(file, String(offsetMs))
      const child = spawn(process.execPath, ['--import', preload, 'bin/herald.js', 'doctor'], {
        env: { PATH: process.env.PATH ?? '', ...env, FAULTS_CLOCK: file },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let out = ''
      child.stdout.on('data', text => {
        out += String(text)
      })
      child.once('close', () => resolve(out))
    })
  expect(await asked(3_600_000)).toMatch(/PROBLEM +Clock: this machine is 60 min ahead of its database\n +-> .*NTP/)
  expect(await asked(-10_800_000)).toMatch(/PROBLEM +Clock: this machine is 3 h behind its database/)
  expect(await asked(0)).toMatch(/ok +Clock: same as the clock of the database/)
}, 180_000)

describe('files', () => {
  test('clamd is unreachable, or something else answers', async () => {
    const away = { HERALD_SCANNER: 'clamd', HERALD_CLAMD_URL: 'tcp://127.0.0.1:1' }
    expect(await problems(away)).toEqual(['Scanner: clamd does not answer: clamd cannot be reached: ECONNREFUSED'])
    const stranger = createServer(socket => socket.resume().end('hello\0')).listen(0, '127.0.0.1')
    await new Promise(resolve => stranger.once('listening', resolve))
    ends.push(() => new Promise(resolve => stranger.close(resolve)))
    const { port } = stranger.address() as { port: number }
    expect(await problems({ ...away, HERALD_CLAMD_URL: `tcp://127.0.0.1:${port}` })).toEqual([
      'Scanner: clamd does not answer: clamd answered something else',
    ])
    expect(await found('Settings', { HERALD_SCANNER: 'clamd' })).toEqual([
      { ok: false, found: 'HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set' },
    ])
    const real = await realClamd()
    if (real) {
      ends.push(real.stop)
      expect(await found('Scanner', { ...away, HERALD_CLAMD_URL: real.url })).toEqual([
        { ok: true, found: 'clamd answers' },
      ])
    }
  })

  test('S3 works, has another bucket, another key, or is unreachable', async () => {
    const store = await s3Server()
    ends.push(store.stop)
    const s3 = {
      HERALD_FILE_STORE: 's3',
      HERALD_S3_URL: store.url,
      HERALD_S3_BUCKET: store.bucket,
      HERALD_S3_KEY: store.key,
      HERALD_S3_SECRET: store.secret,
    }
    expect(await problems(s3)).toEqual([
      `File store: The contents of files are in the database, but this process is set to the bucket ${store.bucket} at ${store.url}`,
    ])
    const adopt = (more: Record<string, string> = {}) =>
      run(['file-store', 'adopt'], { out() {}, err() {} }, () => readConfig({ ...env, ...more }))
    expect(await adopt(s3)).toBe(0)
    expect(await found('File store', s3)).toEqual([{ ok: true, found: 's3: writing, reading and removing works' }])
    expect(await problems()).toEqual([
      `File store: The contents of files are in the bucket ${store.bucket} at ${store.url}, but this process is set to the database`,
    ])
    expect(await adopt()).toBe(0)
    expect(await problems({ ...s3, HERALD_S3_BUCKET: 'elsewhere' })).toEqual([
      'File store: s3 does not work: the file store answered 404 NoSuchBucket to PUT',
    ])
    expect(await problems({ ...s3, HERALD_S3_SECRET: 'wrong' })).toEqual([
      'File store: s3 does not work: the file store answered 403 SignatureDoesNotMatch to PUT',
    ])
    await store.down()
    expect(await problems(s3)).toEqual([expect.stringMatching(/^File store: s3 does not work: /)])
  })
})

/** While the leader lock is taken, as by an engine: otherwise doctor waits for an election. */
async function led(work: () => Promise<void>) {
  const client = here.parts.db.client()
  await client.connect()
  await client.query('select pg_advisory_lock($1)', [LOCK])
  await work()
  await client.end()
}

describe('this installation', () => {
  test('another Herald on the port is detected, and so is a restored copy', async () => {
    const other = await world()
    await led(async () => {
      expect(await found('Service', { HERALD_PORT: String(here.port) })).toEqual([
        { ok: true, found: `answers on http://127.0.0.1:${here.port}` },
      ])
    })
    expect(await problems({ HERALD_PORT: String(other.port) })).toEqual([
      `Service: another installation of Herald answers on http://127.0.0.1:${other.port}, with another database`,
    ])
    const before = await instanceOf(sql)
    await sql`update sending set database = 'that of the original'`
    await recogniseCopy(sql, IDENTITY_TABLES)
    expect(await instanceOf(sql)).not.toBe(before)
    await releaseAll(here.parts.db, HELD_LANES)
    await sql`update sending set instance = ${before}`
  })

  test('something else on the port', async () => {
    const stranger = await startHttpPeer(() => ({ status: 200, body: '<html>' }))
    ends.push(stranger.stop)
    expect(await problems({ HERALD_PORT: new URL(stranger.url).port })).toEqual([
      `Service: what listens on http://127.0.0.1:${new URL(stranger.url).port} does not answer like Herald`,
    ])
  })

  test('no leader while the service runs; an engine leads', async () => {
    expect(await found('Leader')).toEqual([{ ok: true, found: 'none; an engine becomes leader when it starts' }])
    const asked = { HERALD_PORT: String(here.port) }
    await led(async () => {
      expect(await found('Leader', asked)).toEqual([{ ok: true, found: 'a process leads and runs maintenance' }])
    })
    expect((await found('Leader', asked))[0]).toMatchObject({
      ok: false,
      found: expect.stringMatching(/^no process runs maintenance/),
    })
  }, 60_000)
})

describe('public names', () => {
  const SMTP = { HERALD_EMAIL_PROVIDERS: 'smtp', HERALD_SMTP_URL: 'smtp://127.0.0.1:1', HERALD_SMTP_TLS: 'never' }

  test('a sending domain that does not exist, as soon as mail is sent', async () => {
    expect(await found('Sending domain')).toEqual([
      { ok: true, found: 'herald.example; this installation sends no e-mail' },
    ])
    for (const domain of ['herald.example', 'mail.test', 'example.org'])
      expect((await found('Sending domain', { ...SMTP, HERALD_SENDING_DOMAIN: domain }))[0]).toMatchObject({
        ok: false,
        found: expect.stringContaining(`${domain} is a reserved name`),
      })
    expect(await found('Sending domain', { ...SMTP, HERALD_SENDING_DOMAIN: 'permits.city.ca' })).toEqual([
      { ok: true, found: 'permits.city.ca' },
    ])
  })

  test('the public address: not set, of this installation, of another, of another program, unreachable', async () => {
    const other = await world()
    const asked = { HERALD_PORT: String(here.port) }
    const at = async (url: string) => (await found('Public address', { ...asked, HERALD_BASE_URL: url }))[0]
    expect(await found('Console')).toEqual([{ ok: true, found: '/console, for this machine only' }])
    expect((await found('Console', { HERALD_HOST: '0.0.0.0' }))[0]).toMatchObject({ ok: false })
    expect((await found('Console', { HERALD_BASE_URL: 'http://notify.example.org' }))[0]).toMatchObject({ ok: false })
    expect(await found('Console', { HERALD_BASE_URL: 'https://notify.example.org' })).toEqual([
      { ok: true, found: 'https://notify.example.org/console' },
    ])
    expect(await found('Console', { HERALD_HOST: '0.0.0.0', HERALD_CONSOLE: 'off' })).toEqual([
      { ok: true, found: 'switched off' },
    ])
    expect((await found('Public address', { HERALD_HOST: '0.0.0.0' }))[0]).toMatchObject({
      ok: false,
      found: expect.stringContaining('HERALD_BASE_URL is not set'),
    })
    const own = `http://localhost:${here.port}`
    const stranger = await startHttpPeer(() => ({ status: 200, body: 'hello' }))
    await led(async () => {
      expect(await at(own)).toEqual({ ok: true, found: `${own} leads to this installation` })
      expect(await at(other.address)).toEqual({
        ok: false,
        found: `${other.address} leads to another installation of Herald`,
      })
      expect(await at(stranger.url)).toEqual({ ok: false, found: `${stranger.url} does not answer like Herald` })
      await stranger.stop()
      expect(await at(stranger.url)).toEqual({
        ok: true,
        found: `${stranger.url}; it cannot be reached from this machine (ECONNREFUSED)`,
      })
    })
    // Only a service that does not run here is said not to run here.
    const checkAt = async (port: number, more: Record<string, string> = {}) => {
      const checks = await doctor({ HERALD_PORT: String(port), HERALD_BASE_URL: own, ...more })
      return ['Public address', 'Service'].map(wanted => checks.find(({ name }) => name === wanted)?.found)
    }
    expect(await checkAt(await freePort())).toEqual([
      `${own}; not checked, because the service does not run here`,
      expect.stringMatching(/^does not run on /),
    ])
    expect(await checkAt(other.port)).toEqual([
      `${own}; not checked, because another installation of Herald answers here`,
      expect.stringMatching(/^another installation of Herald answers on /),
    ])
    const noDatabase = { DATABASE_URL: `postgresql://127.0.0.1:${await freePort()}/none` }
    expect(await checkAt(here.port, noDatabase)).toEqual([
      `${own} leads to this installation`,
      `answers on http://127.0.0.1:${here.port}`,
    ])
  }, 120_000)

  test('DKIM: half a pair, an unusable key, a record that is missing, revoked, of another key, or unknown', async () => {
    const dns = await dnsServer()
    ends.push(async () => dns.stop())
    const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const keys = [
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      generateKeyPairSync('ed25519').privateKey,
    ]
    const NAME = 'mail._domainkey.permits.city.ca'
    const ask = (more: Record<string, string>) =>
      checkDkim(readConfig({ ...env, HERALD_SENDING_DOMAIN: 'permits.city.ca', ...more }), dnsLookUp([dns.server]))
    expect(await ask({})).toMatchObject({ ok: true })
    expect(await ask({ HERALD_DKIM_SELECTOR: 'mail' })).toMatchObject({ ok: false, remedy: 'Set both or neither.' })
    const small = generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey
    expect(await ask({ HERALD_DKIM_SELECTOR: 'mail', HERALD_DKIM_KEY: pem(small) })).toMatchObject({
      ok: false,
      found: 'the key cannot be used: it has 512 bits but needs at least 1024',
    })
    const broken = '-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----'
    expect(await ask({ HERALD_DKIM_SELECTOR: 'mail', HERALD_DKIM_KEY: broken })).toMatchObject({
      ok: false,
      found: 'the key cannot be used: it is not a readable private key',
    })
    for (const key of keys) {
      const set = { HERALD_DKIM_SELECTOR: 'mail', HERALD_DKIM_KEY: pem(key) }
      dns.records.clear()
      const missing = await ask(set)
      expect(missing).toMatchObject({ ok: false, found: expect.stringContaining(`there is no public key at ${NAME}`) })
      // The DNS record that doctor prints is correct: published, it matches.
      const record = /(v=DKIM1; k=\w+; p=[A-Za-z0-9+/=]+)\.$/.exec(missing.remedy ?? '')?.[1] ?? ''
      dns.records.set(NAME, record.replace('; p=', ';p= '))
      expect(await ask(set)).toMatchObject({ ok: true, found: `the key matches its public record at ${NAME}` })
      dns.records.set(NAME, 'v=DKIM1; p=')
      expect(await ask(set)).toMatchObject({ ok: false, found: `the public key at ${NAME} is revoked` })
      dns.records.set(NAME, 'v=DKIM1; p=MCowBQYDK2VwAyEA')
      expect((await ask(set)).found).toContain('belongs to another private key')
      dns.fail(true)
      expect(await ask(set)).toMatchObject({
        ok: true,
        found: expect.stringMatching(/^the key is valid; .* DNS did not answer \(ESERVFAIL\)/),
      })
      dns.fail(false)
    }
  }, 60_000)
})

describe('providers, by a real handshake', () => {
  const mail = (more: Record<string, string>) => ({
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SENDING_DOMAIN: 'permits.city.ca',
    ...more,
  })

  test('SMTP: connected, encrypted and authenticated; a wrong password is found, and no message is sent', async () => {
    const certificate = selfSigned('localhost')
    if (!certificate) return // without openssl
    const relay = await smtpServer({
      login: { user: 'herald', pass: 'right' },
      key: certificate.key,
      cert: certificate.certificate,
    })
    ends.push(relay.stop)
    const set = (password: string) =>
      mail({
        HERALD_SMTP_URL: `smtp://herald:${password}@localhost:${relay.port}`,
        HERALD_SMTP_TLS: 'required',
        HERALD_SMTP_CA: certificate.certificate,
      })
    expect(await found('Provider of e-mails', set('right'))).toEqual([
      { ok: true, found: 'smtp takes the connection, with encryption and login as they are set' },
    ])
    expect(await problems(set('wrong'))).toEqual([
      expect.stringMatching(
        /^Provider of e-mails: smtp cannot be used: localhost:\d+: the server refused the login \(535\)\. Check /,
      ),
    ])
    expect(
      await problems(mail({ HERALD_SMTP_URL: `smtp://localhost:${relay.port}`, HERALD_SMTP_TLS: 'required' })),
    ).toEqual([expect.stringMatching(/^Provider of e-mails: smtp cannot be used: /)])
    expect(relay.letters).toEqual([])
  }, 60_000)

  test('SMPP: one bind, and receipts that arrive meanwhile are stored; a refused bind is found', async () => {
    const smsc = await startSmppServer()
    ends.push(smsc.stop)
    const set = { HERALD_TEXT_PROVIDERS: 'smpp', HERALD_SMPP_URL: `smpp://us:them@127.0.0.1:${smsc.port}` }
    expect(await found('Provider of text messages', set)).toEqual([{ ok: true, found: 'smpp takes a bind' }])
    expect([smsc.counts().binds, smsc.messages.length]).toEqual([1, 0])
    smsc.mode('bind-refused')
    expect(await problems(set)).toEqual([
      `Provider of text messages: smpp cannot be used: 127.0.0.1:${smsc.port}: the server refused the login (0x0000000e). Check system_id and password in HERALD_SMPP_URL.`,
    ])
  }, 60_000)

  test('Twilio and HTTP: what can be checked without sending a message', async () => {
    let status = 200
    const peer = await startHttpPeer(() => ({ status, body: '{}' }))
    ends.push(peer.stop)
    const twilio = {
      HERALD_TEXT_PROVIDERS: 'twilio',
      HERALD_TWILIO_ACCOUNT: 'AC00000000000000000000000000000001',
      HERALD_TWILIO_TOKEN: 'x'.repeat(32),
      HERALD_TWILIO_URL: peer.url,
      HERALD_TWILIO_SENDER: '+16135550100',
    }
    expect(await found('Provider of text messages', twilio)).toEqual([{ ok: true, found: 'twilio knows the account' }])
    status = 401
    expect(await problems(twilio)).toEqual(['Provider of text messages: twilio cannot be used: answered 401'])
    const http = {
      HERALD_TEXT_PROVIDERS: 'http',
      HERALD_HTTP_SMS_URL: `${peer.url}/send`,
      HERALD_HTTP_SMS_BODY: '{"to":"{to}","text":"{text}"}',
    }
    expect(await found('Provider of text messages', http)).toEqual([
      { ok: true, found: 'http can be reached; only a message would show whether its login is right' },
    ])
    expect(peer.requests.filter(request => request.method !== 'GET')).toEqual([])
    const encrypted = { ...http, HERALD_HTTP_SMS_URL: http.HERALD_HTTP_SMS_URL.replace('http:', 'https:') }
    expect(await problems(encrypted)).toEqual([
      expect.stringMatching(/^Provider of text messages: http cannot be used: /),
    ])
  }, 60_000)

  test('captured, not sent; where others can reach it, a start would be refused', async () => {
    expect(await found('Settings', { HERALD_HOST: '0.0.0.0' })).toEqual([
      { ok: false, found: expect.stringContaining('there is no provider for e-mails, and HERALD_HOST is 0.0.0.0') },
    ])
    for (const name of ['Provider of e-mails', 'Provider of text messages'])
      expect((await found(name))[0]?.found).toMatch(/^none: captured, not sent/)
  })
})

test('a provider that the running service considers down, and messages it has given up', async () => {
  const running = await world(
    { HERALD_EMAIL_PROVIDERS: 'smtp', HERALD_SMTP_URL: 'smtp://127.0.0.1:1', HERALD_SMTP_TLS: 'never' },
    { engine: true },
  )
  const key = await (await running.service()).key()
  const body = {
    email_address: 'ada@example.net',
    template_id: await emailTemplate(key),
    personalisation: { name: 'Ada' },
  }
  const asked = {
    HERALD_PORT: String(running.port),
    DATABASE_URL: running.config.databaseUrl ?? '',
    HERALD_DATA: running.config.dataFolder,
  }
  expect(await found('Running service', asked)).toEqual([])
  await key.post(EMAIL, body)
  running.parts.metrics.setAside.inc({ lane: 'email-low' }, 2)
  await expect
    .poll(async () => (await found('Running service', asked)).map(check => check.found), { timeout: 25_000 })
    .toEqual([
      'provider smtp is down; messages wait',
      '2 pieces of work were set aside since its start, after repeated faults',
    ])
})
