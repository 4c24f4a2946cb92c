// herald doctor, for every trouble it knows: it is named in plain words, with what to do, and it is gone when it is mended.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config.ts'
import { realClamd } from './support/clamd.ts'
import { s3Server } from './support/s3.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

type Check = { name: string; ok: boolean; found: string; remedy?: string }
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

/** The problems; every one says what to do. */
async function problems(more: Record<string, string> = {}): Promise<string[]> {
  const all = (await doctor(more)).filter(check => !check.ok)
  for (const check of all) expect(check.remedy, check.name).toMatch(/\w{3,}.*\.$/s)
  return all.map(({ name, found }) => `${name}: ${found}`)
}
const found = async (name: string, more: Record<string, string> = {}) =>
  (await doctor(more)).filter(check => check.name === name).map(({ ok, found }) => ({ ok, found }))

test('a healthy service has no problem, and everything was looked at', async () => {
  const checks = await doctor()
  expect(checks.filter(check => !check.ok)).toEqual([])
  expect(checks.map(check => check.name)).toEqual([
    'Node.js',
    'Settings',
    'Disk',
    'Database',
    'Durability',
    'Migrations',
    'Sealing secret',
    'Sending',
    'Queue',
    'Partitions',
    'Clock',
    'Scanner',
    'File store',
    'Provider of e-mails',
    'Provider of text messages',
    'Service',
  ])
})

test('sending is held', async () => {
  const hold = (...argv: string[]) => run(argv, { out() {}, err() {} }, () => readConfig(env))
  await hold('hold')
  expect(await problems()).toEqual([expect.stringMatching(/^Sending: held since \S+Z: an operator asked for it/)])
  await hold('release', '--all')
  expect(await problems()).toEqual([])
})

test('a backlog, what is kept back, waits for a scan, or speaks of unknown messages', async () => {
  const put = (lane: string, seconds: number, count = 1, attempts = 0) => sql`
    insert into tickets (id, lane, service_id, subjects, due_at, attempts)
    select gen_random_uuid(), ${lane}, gen_random_uuid(), array[${here.parts.ids.next()}::uuid],
           clock_timestamp() - make_interval(secs => ${seconds}), ${attempts}
    from generate_series(1, ${count}::integer)`
  await put('email-high', 5)
  await put('email-low', 60)
  expect(await found('Queue')).toEqual([{ ok: true, found: '2 tickets wait their turn, none for long' }])
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
    'Receipts: 101 are about messages that are not known here',
  ])
  await sql`delete from tickets`
  expect(await problems()).toEqual([])
})

test('tomorrow has no partitions', async () => {
  const names = (
    await sql<{ name: string }>`
      select relname as name from pg_class where relname ~ '^states_\\d{8}$' order by relname desc limit 3`
  ).map(row => row.name)
  for (const name of names) await here.parts.db.script(`alter table states detach partition ${name}`)
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
      const child = spawn(process.execPath, ['--import', preload, '--import', 'tsx', 'src/cli/index.ts', 'doctor'], {
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
  expect(await asked(0)).toMatch(/ok +Clock: agrees/)
}, 180_000)

describe('files', () => {
  test('clamd is away, or something else answers', async () => {
    const away = { HERALD_SCANNER: 'clamd', HERALD_CLAMD_URL: 'tcp://127.0.0.1:1' }
    expect(await problems(away)).toEqual(['Scanner: clamd does not answer: clamd cannot be reached: ECONNREFUSED'])
    const stranger = createServer(socket => socket.resume().end('hello\0')).listen(0, '127.0.0.1')
    await new Promise(resolve => stranger.once('listening', resolve))
    ends.push(() => new Promise(resolve => stranger.close(resolve)))
    const { port } = stranger.address() as { port: number }
    expect(await problems({ ...away, HERALD_CLAMD_URL: `tcp://127.0.0.1:${port}` })).toEqual([
      'Scanner: clamd does not answer: clamd answered something else',
    ])
    expect(await found('Files', { HERALD_SCANNER: 'clamd' })).toEqual([
      { ok: false, found: 'The scanner clamd is asked for, but HERALD_CLAMD_URL is not set.' },
    ])
    const real = await realClamd()
    if (real) {
      ends.push(real.stop)
      expect(await found('Scanner', { ...away, HERALD_CLAMD_URL: real.url })).toEqual([
        { ok: true, found: 'clamd answers' },
      ])
    }
  })

  test('S3 works, has another bucket, another key, or is away', async () => {
    const store = await s3Server()
    ends.push(store.stop)
    const s3 = {
      HERALD_FILE_STORE: 's3',
      HERALD_S3_URL: store.url,
      HERALD_S3_BUCKET: store.bucket,
      HERALD_S3_KEY: store.key,
      HERALD_S3_SECRET: store.secret,
    }
    expect(await found('File store', s3)).toEqual([{ ok: true, found: 's3 takes, gives and removes files' }])
    expect(await problems({ ...s3, HERALD_S3_BUCKET: 'elsewhere' })).toEqual([
      'File store: s3 does not work: the file store answered 404 to PUT',
    ])
    expect(await problems({ ...s3, HERALD_S3_SECRET: 'wrong' })).toEqual([
      'File store: s3 does not work: the file store answered 403 to PUT',
    ])
    await store.down()
    expect(await problems(s3)).toEqual([expect.stringMatching(/^File store: s3 does not work: /)])
  })
})

test('a provider that the running service finds down, and work that it has set aside', async () => {
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
  const asked = { HERALD_PORT: String(running.port) }
  expect(await found('Running service', asked)).toEqual([])
  await key.post(EMAIL, body)
  running.parts.metrics.setAside.inc({ lane: 'email-low' }, 2)
  await expect
    .poll(async () => (await found('Running service', asked)).map(check => check.found), { timeout: 25_000 })
    .toEqual([
      'its provider smtp is down, and messages wait',
      '2 pieces of work were set aside since its start, after repeated faults',
    ])
})
