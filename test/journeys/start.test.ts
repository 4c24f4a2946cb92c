// From an empty folder to the last signal: real processes of the built program.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import pg from 'pg'
import { describe, expect, inject, test, vi } from 'vitest'
import { startEmbedded } from '../../src/db/embedded.ts'
import { databaseUrl, onServer } from '../support/database.ts'
import { type Env, hasCurl, hasScript, isAlive, type Program, postgresOf, programs } from '../support/program.ts'
import { call } from '../support/world.ts'

vi.setConfig({ testTimeout: 120_000 }) // several starts and stops in one test

const { newData, newDatabase, herald, start, begin, sample } = programs()
const curlLine = ({ out }: Program) => /^curl .*$/m.exec(out())?.[0] ?? ''
const keysIn = ({ out }: Program) =>
  [...out().matchAll(/(?:test|team|live) key +(herald-\S+)/g)].map(([, key]) => String(key))
/** For a busy machine; waits end as soon as what they wait for is there. */
const SOON = { timeout: 60_000 }
const secretIn = (data: string) => readFileSync(join(data, 'secret'), 'utf8').trim()

/** The signed token of the client libraries. */
function token(key: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: key.slice(-73, -37), iat: Math.floor(Date.now() / 1000) }
  const signed = `${part({ typ: 'JWT', alg: 'HS256' })}.${part(claims)}`
  return `${signed}.${createHmac('sha256', key.slice(-36)).update(signed).digest('base64url')}`
}

/** The names of the templates that the key may see, with both authentication schemes; for a refusal its text. */
async function templatesBy({ address }: Program, key: string): Promise<unknown[]> {
  const schemes = [`ApiKey-v1 ${key}`, `Bearer ${token(key)}`]
  return Promise.all(
    schemes.map(async authorization => {
      const { body } = await call(address, 'GET', '/v2/templates', { headers: { authorization } })
      return body.templates?.map((template: { name: string }) => template.name) ?? body
    }),
  )
}
const BOTH = [
  ['Short welcome', 'Welcome'],
  ['Short welcome', 'Welcome'],
]

/** The result of the curl line pasted into a shell; without curl the test parses and sends it itself. */
async function paste(line: string): Promise<unknown> {
  if (hasCurl()) return JSON.parse(execFileSync('sh', ['-c', `${line} --fail-with-body`], { encoding: 'utf8' }))
  const [, address = '', authorization = '', raw = ''] =
    /^curl -sS '([^']+)' -H 'Authorization: ([^']+)' -H 'Content-Type: application\/json' -d '([^']+)'$/.exec(line) ??
    []
  const { origin, pathname } = new URL(address)
  const reply = await call(origin, 'POST', pathname, { raw, headers: { authorization } })
  expect(reply.status).toBeLessThan(300)
  return reply.body
}

describe('a folder of its own', () => {
  test('the first start shows a sample whose curl line works, the next start finds everything and shows nothing', async () => {
    const data = newData()
    const first = await start({ HERALD_DATA: data })
    // No terminal, so the output may be stored in a log: only the test key is shown.
    expect(keysIn(first)).toHaveLength(1)
    expect(first.out()).toMatch(/test key +herald-/)
    expect(first.out()).toMatch(/live key +only on a terminal, or by: herald sample --show-keys\n/)
    expect(first.err()).toBe('')
    const listed = await herald(['key', 'list', 'Sample service', '--json'], { HERALD_DATA: data })
    expect(JSON.parse(listed.out).keys).toMatchObject([{ type: 'test' }])
    expect(await paste(curlLine(first))).toMatchObject({ content: { subject: 'Hello Ada' } })
    for (const key of keysIn(first)) expect(await templatesBy(first, key)).toEqual(BOTH)
    expect(statSync(join(data, 'secret')).mode & 0o777).toBe(0o600)
    expect(secretIn(data)).toMatch(/^[0-9a-f]{64}$/)

    const postgres = postgresOf(data) ?? 0
    expect(isAlive(postgres)).toBe(true)
    const stopped = await first.end('SIGTERM')
    expect(stopped).toMatchObject({ code: 0, out: expect.stringMatching(/Herald has stopped\.\n$/) })
    expect(stopped.seconds).toBeLessThan(10)
    expect(isAlive(postgres)).toBe(false)
    expect(postgresOf(data)).toBe(undefined)

    const second = await start({ HERALD_DATA: data })
    expect(second.out()).not.toMatch(/sample service|test key|curl/)
    // Whoever reads a journal must not be able to sign in.
    for (const { out } of [first, second]) {
      expect(out()).not.toContain('/sign-in/link/')
      expect(out()).toMatch(
        /^The console is at http\S+\/console\. A sign-in link: (?:npx )?herald user sign-in-link sam@example\.org$/m,
      )
    }
    expect(await templatesBy(second, String(keysIn(first)[0]))).toEqual(BOTH)
    const again = postgresOf(data) ?? 0
    expect(await second.end('SIGINT')).toMatchObject({ code: 0, err: '' })
    expect(isAlive(again)).toBe(false)
  })

  test('kill -9 loses nothing, whether PostgreSQL survives as an orphan or dies too; no two installs share a secret', async () => {
    const data = newData()
    const first = await start({ HERALD_DATA: data })
    const [key = ''] = keysIn(first)
    const other = newData()
    await (await start({ HERALD_DATA: other })).end('SIGTERM')
    expect(secretIn(other)).not.toBe(secretIn(data))

    const headers = { authorization: `ApiKey-v1 ${key}` }
    const template = {
      name: 'Kept',
      template_type: 'sms',
      content: 'Still here',
      template_category_id: '207b293c-2ae5-48e8-836d-fcabd60b2153',
    }
    const made = await call(first.address, 'POST', '/v2/manage-template', { body: template, headers })
    expect(made.status).toBe(201)
    await first.end('SIGKILL')
    const orphan = postgresOf(data) ?? 0
    expect(isAlive(orphan)).toBe(true)

    const second = await start({ HERALD_DATA: data })
    expect(postgresOf(data)).toBe(orphan)
    expect((await call(second.address, 'GET', `/v2/template/${made.body.id}`, { headers })).body.body).toBe(
      'Still here',
    )
    const changed = await call(second.address, 'PATCH', `/v2/manage-template/${made.body.id}`, {
      body: { content: 'Changed' },
      headers,
    })
    expect(changed.status).toBe(200)
    process.kill(orphan, 'SIGKILL')
    await second.end('SIGKILL')

    const third = await start({ HERALD_DATA: data })
    expect((await call(third.address, 'GET', `/v2/template/${made.body.id}`, { headers })).body).toMatchObject({
      body: 'Changed',
      version: 2,
    })
    expect(third.out()).not.toContain('curl')
    const last = postgresOf(data) ?? 0
    expect(await third.end('SIGTERM')).toMatchObject({ code: 0, err: '' })
    expect(isAlive(last)).toBe(false)
  })
})

describe('the sample', () => {
  test('is not created on an external database', async () => {
    const env = await newDatabase()
    const program = await start(env)
    expect(program.out()).not.toMatch(/sample|key|curl/)
    expect(JSON.parse((await herald(['service', 'list', '--json'], env)).out).services).toEqual([])
    await program.end('SIGTERM')
  })

  test('with --json is one line on stdout, and nothing of it is in the log', async () => {
    const data = newData()
    const program = begin({ HERALD_DATA: data, HERALD_LOG_LEVEL: 'trace' }, '--json')
    await program.hasSaid('"address"')
    const [made, running] = program
      .out()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(Object.keys(made.sample.keys)).toEqual(['test'])
    expect(await paste(made.sample.curl)).toMatchObject({ content: { subject: 'Hello Ada' } })
    expect(running).toEqual({
      address: expect.stringMatching(/^http:/),
      providers: { email: ['capture'], sms: ['capture'] },
      console: `${running.address}/console`,
    })
    // The first operator is the person of the sample; opening the link does not spend it.
    const port = { HERALD_PORT: new URL(running.address).port }
    const printed = await herald(['user', 'sign-in-link', 'sam@example.org', '--json'], { HERALD_DATA: data, ...port })
    const { link } = JSON.parse(printed.out)
    for (const _ of [1, 2]) expect(await (await fetch(link)).text()).toContain('sam@example.org')
    const { err } = await program.end('SIGTERM')
    expect(err).not.toMatch(/curl|Sample service/)
    expect(err).not.toContain(link.slice(-43))
    expect(err).not.toContain(made.sample.keys.test)
  })

  test.skipIf(!hasScript)('on a terminal shows every key, and a link that signs the first operator in', async () => {
    const out = await onTerminal({ HERALD_DATA: newData() })
    const keys = [...out.matchAll(/(test|team|live) key +(herald-\S+)/g)]
    expect(keys.map(([, kind]) => kind)).toEqual(['test', 'team', 'live'])
    expect(out).toMatch(/Open the console: http\S+\/console\/sign-in\/link\/[\w-]{43}\s/)
  })

  test.skipIf(!hasScript)('on a terminal shows no link when people sign in with single sign-on only', async () => {
    const out = await onTerminal({
      HERALD_DATA: newData(),
      HERALD_CAPTURE: '1',
      HERALD_LOCAL_SIGN_IN: 'off',
      HERALD_BASE_URL: 'https://notify.example.org',
      HERALD_OIDC_ISSUER: 'https://id.example.org',
      HERALD_OIDC_CLIENT_ID: 'herald',
      HERALD_OIDC_CLIENT_SECRET: 'secret',
    })
    expect(out).not.toContain('sign-in')
    expect(out).toContain('The console is at https://notify.example.org/console. People sign in with single sign-on.')
  })

  test.skipIf(!hasScript).each(['1', '2'])(
    'whose terminal is closed stops in order, as by SIGTERM: HERALD_PROCESSES=%s',
    async processes => {
      const data = newData()
      const terminal = openTerminal({ HERALD_DATA: data, HERALD_PROCESSES: processes })
      await terminal.hasShown(/Herald listens on \S+/)
      const users = readdirSync(join(data, 'postgres', 'users')).map(name => Number(name.split('.')[0]))
      expect(users.filter(isAlive).length).toBeGreaterThanOrEqual(Number(processes))
      const postgres = postgresOf(data) ?? 0

      terminal.child.kill('SIGKILL') // the kernel hangs up, and nothing can be printed any more
      await expect.poll(() => users.filter(isAlive), SOON).toEqual([])
      expect(isAlive(postgres)).toBe(false)
      expect(postgresOf(data)).toBe(undefined)
    },
  )
})

/** Starts Herald on a terminal, presses Ctrl-C as soon as it listens, and returns what it has printed. */
async function onTerminal(settings: Env): Promise<string> {
  const { child, out, closed, hasShown } = openTerminal(settings)
  try {
    await hasShown(/Herald listens on \S+/)
  } finally {
    child.stdin.write('\u0003') // Ctrl-C, as the terminal would give it
  }
  expect(await closed).toBe(0)
  return stripVTControlCharacters(out())
}

function openTerminal(settings: Env) {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  const argv = ['-qefc', `exec ${process.execPath} bin/herald.js start`, '/dev/null']
  const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), HERALD_PORT: '0', HERALD_PROCESSES: '1', ...settings }
  const child = spawn('script', argv, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', text => {
    out += String(text)
  })
  const closed = new Promise(resolve => child.once('close', resolve))
  const hasShown = (pattern: RegExp) =>
    vi.waitFor(() => expect(out).toMatch(pattern), { timeout: 60_000, interval: 50 })
  return { child, out: () => out, closed, hasShown }
}

test('a key created by the command line works at once in the running service, in both schemes', async () => {
  const env = await newDatabase()
  const program = await start(env)
  await sample(env)
  const argv = ['key', 'create', 'Sample service', '--name', 'A & B', '--type', 'live', '--json']
  const { code, out, err } = await herald(argv, env)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const { key, id } = JSON.parse(out)
  expect(await templatesBy(program, key)).toEqual(BOTH)

  await herald(['key', 'revoke', id], env)
  const refused = { errors: [{ error: 'AuthError', message: 'Invalid token: API key revoked' }], status_code: 403 }
  await expect.poll(() => templatesBy(program, key)).toEqual([refused, refused])
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0, err: '' })
})

const CAN_NOTIFY = ['/usr/bin/systemd-notify', '/usr/bin/perl'].every(program => existsSync(program))

test.skipIf(!CAN_NOTIFY)('systemd is told when Herald is ready, not before', async () => {
  const env = await newDatabase()
  const socket = join(dirname(env.HERALD_DATA), 'notify')
  // Node.js has no Unix datagram sockets.
  const receiver = `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])) or die; $| = 1; print "bound\n";
    while (defined recv(S, my $text, 4096, 0)) { print "$text\n" }`
  const systemd = spawn('/usr/bin/perl', ['-e', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let heard = ''
    systemd.stdout.on('data', text => {
      heard += String(text)
    })
    await vi.waitFor(() => expect(heard).toBe('bound\n'), SOON)
    expect(await herald(['start'], { ...env, NOTIFY_SOCKET: socket, HERALD_PROT: '1' })).toMatchObject({ code: 2 })
    expect(heard).toBe('bound\n')
    const program = await start({ ...env, NOTIFY_SOCKET: socket })
    await vi.waitFor(() => expect(heard).toMatch(/^bound\nREADY=1$/m), SOON)
    expect(await program.end('SIGTERM')).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('could not be notified'),
    })
  } finally {
    systemd.kill()
  }
})

describe('a refused start', () => {
  test('reports every problem of the settings at once, and no secret', async () => {
    const data = newData()
    const wrong = {
      HERALD_DATA: data,
      HERALD_PORT: 'x',
      HERALD_SECRET: 'short-but-secret',
      HERALD_FOO: '1',
      HERALD_LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://user:hidden@host/db',
    }
    const { code, out, err } = await herald(['start'], wrong)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.trimEnd().split('\n')).toEqual([
      'Herald cannot start with these settings:',
      '  - DATABASE_URL must be an address like postgresql://user:password@host:5432/database',
      '  - HERALD_PORT is "x"; it must be a whole number from 0 to 65535',
      '  - HERALD_SECRET is too short: 16 characters, at least 32 are needed',
      '  - HERALD_LOG_LEVEL is "loud"; it must be one of fatal, error, warn, info, debug, trace, silent',
      '  - HERALD_FOO is not a setting of Herald; docs/settings.md lists them all',
    ])
    expect(existsSync(data)).toBe(false)
  })

  test('also reports settings that contradict each other, before the database is opened or migrated', async () => {
    const name = `t_${randomUUID().replaceAll('-', '')}`
    await onServer(inject('server'), `create database ${name}`)
    const url = databaseUrl(inject('server'), name)
    try {
      const { code, out, err } = await herald(['start'], {
        DATABASE_URL: url,
        HERALD_DATA: newData(),
        HERALD_HOST: '0.0.0.0',
        HERALD_PROT: '80',
        HERALD_EMAIL_PROVIDERS: 'smtp',
        HERALD_HTTP_SMS_URL: 'http://127.0.0.1/sms',
        HERALD_SCANNER: 'clamd',
      })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err.trimEnd().split('\n')).toEqual([
        'Herald cannot start with these settings:',
        '  - HERALD_PROT is not a setting of Herald; did you mean HERALD_PORT?',
        '  - HERALD_EMAIL_PROVIDERS names smtp, but HERALD_SMTP_URL is not set',
        '  - HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set',
        '  - HERALD_HTTP_SMS_BODY is missing; or set HERALD_HTTP_SMS_FORMAT to query',
      ])
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query(`select relname from pg_class where relnamespace = 'public'::regnamespace`)
      await client.end()
      expect(rows).toEqual([])
    } finally {
      await onServer(inject('server'), `drop database ${name} with (force)`)
    }
  })

  test('refuses a secret that the data was not sealed with, and rotates to a new one when the old one is given', async () => {
    const env = await newDatabase()
    const [old, next] = ['the first secret of 32 characters..', 'the next secret of 32 characters...']
    const first = await start({ ...env, HERALD_SECRET: old })
    const key = (await sample({ ...env, HERALD_SECRET: old })).keys.live
    await first.end('SIGTERM')

    const refused = await herald(['start'], { ...env, HERALD_SECRET: next })
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^This database was sealed with another secret\. .*HERALD_OLD_SECRETS\.\n$/),
    })

    const rotation: Env[] = [{ HERALD_SECRET: next, HERALD_OLD_SECRETS: old }, { HERALD_SECRET: next }]
    for (const secrets of rotation) {
      const program = await start({ ...env, ...secrets })
      expect(await templatesBy(program, key)).toEqual(BOTH)
      expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
    }

    expect(await herald(['start'], { ...env, HERALD_SECRET: old })).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^This database was sealed with another secret\./),
    })
  })

  test('refuses a secret that was removed too early, and says how many rows need it', async () => {
    const env = await newDatabase()
    const [old, next] = ['the first secret of 32 characters..', 'the next secret of 32 characters...']
    const first = await start({ ...env, HERALD_SECRET: old })
    const { keys, templates } = await sample({ ...env, HERALD_SECRET: old }, first)
    const headers = { authorization: `ApiKey-v1 ${keys.test}`, 'content-type': 'application/json' }
    const ids: string[] = []
    for (const name of ['Ada', 'Grace']) {
      const body = JSON.stringify({
        ...{ template_id: templates.email.id, email_address: 'ada@example.org', personalisation: { name } },
      })
      const sent = await fetch(`${first.address}/v2/notifications/email`, { method: 'POST', headers, body })
      expect(sent.status).toBe(201)
      ids.push(((await sent.json()) as { id: string }).id)
    }
    await first.end('SIGTERM')
    const read = async ({ address }: { address: string }) =>
      (await fetch(`${address}/v2/notifications/${ids[0]}`, { headers })).status

    const rotated = await start({ ...env, HERALD_SECRET: next, HERALD_OLD_SECRETS: old })
    expect(await read(rotated)).toBe(200)
    await rotated.end('SIGTERM')

    const FOUND = '2 messages need a sealing secret that was removed too early'
    expect(await herald(['start'], { ...env, HERALD_SECRET: next })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(new RegExp(`^${FOUND}\\. Add that secret to HERALD_OLD_SECRETS .*\\.\n$`)),
    })
    const doctor = await herald(['doctor'], { ...env, HERALD_SECRET: next })
    expect(doctor.out).toContain(`Sealing secret: ${FOUND}`)

    const without = await start({ ...env, HERALD_SECRET: next, HERALD_ALLOW_UNREADABLE_DATA: 'true' })
    expect(await read(without)).toBe(503)
    await without.hasSaid('data was sealed with a secret that is not configured')
    await without.end('SIGTERM')

    const whole = await start({ ...env, HERALD_SECRET: next, HERALD_OLD_SECRETS: old })
    expect(await read(whole)).toBe(200)
    expect((await herald(['doctor'], { ...env, HERALD_SECRET: next, HERALD_OLD_SECRETS: old })).out).toContain(
      'Sealing secret: matches this database',
    )
    await whole.end('SIGTERM')
  })

  test('refuses a database without durability, unless a setting allows it', async () => {
    const env = await newDatabase()
    await onServer(inject('server'), `alter database ${env.name} set synchronous_commit = off`)
    expect(await herald(['start'], env)).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^This database may lose messages .*: synchronous_commit is off\. .*\n$/),
    })
    const allowed = await start({ ...env, HERALD_ALLOW_UNSAFE_DATABASE: 'true' })
    const { keys } = await sample({ ...env, HERALD_ALLOW_UNSAFE_DATABASE: 'true' })
    expect(await templatesBy(allowed, keys.test)).toEqual(BOTH)
    await allowed.end('SIGTERM')

    const data = newData()
    const careless = await startEmbedded(join(data, 'postgres'), {
      settings: { fsync: 'off', full_page_writes: 'off' },
    })
    try {
      expect(await herald(['start'], { HERALD_DATA: data })).toMatchObject({
        code: 1,
        err: expect.stringContaining('fsync, full_page_writes are off'),
      })
    } finally {
      await careless.stop()
    }
  })
})

test('an embedded PostgreSQL that is killed while the service runs is restarted, and nothing is lost', async () => {
  const data = newData()
  const program = await start({ HERALD_DATA: data })
  const line = curlLine(program)
  expect(await paste(line)).toMatchObject({ content: { subject: 'Hello Ada' } })
  process.kill(postgresOf(data) ?? 0, 'SIGKILL')
  await expect
    .poll(() => paste(line), { interval: 200, timeout: 20_000 })
    .toMatchObject({ content: { subject: 'Hello Ada' } })
  const [key = ''] = keysIn(program)
  const listed = await fetch(`${program.address}/v2/notifications`, { headers: { authorization: `ApiKey-v1 ${key}` } })
  expect(((await listed.json()) as { notifications: unknown[] }).notifications).toHaveLength(2)
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
  expect(postgresOf(data)).toBe(undefined)
})

describe('stop', () => {
  test('SIGHUP is as SIGTERM, and a later one does not cut the stop short', async () => {
    const data = newData()
    const program = await start({ HERALD_DATA: data, HERALD_NOTICE_SECONDS: '3' })
    const ended = program.end('SIGHUP')
    await program.hasSaid('Herald is stopping')
    // For three seconds; one second after the first signal a second SIGTERM would end it immediately.
    const isListening = () => canConnect(Number(new URL(program.address).port))
    while (await isListening()) process.kill(program.pid, 'SIGHUP')
    expect(await ended).toMatchObject({ code: 0, out: expect.stringMatching(/Herald has stopped\.\n$/) })
    expect(postgresOf(data)).toBe(undefined)
  })

  test('SIGTERM to npm start reaches Herald', async () => {
    const data = newData()
    const { PATH = '', HOME = '', TMPDIR } = process.env
    const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), HERALD_DATA: data, HERALD_PORT: '0', HERALD_PROCESSES: '1' }
    // Without prestart, which builds what is built already.
    const npm = spawn('npm', ['start', '--ignore-scripts'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    let out = ''
    npm.stdout.on('data', text => {
      out += String(text)
    })
    const closed = new Promise(resolve => npm.once('close', resolve))
    try {
      await vi.waitFor(() => expect(out).toContain('Herald listens on'), { timeout: 60_000, interval: 50 })
      npm.kill('SIGTERM')
      await vi.waitFor(() => expect(out).toMatch(/Herald has stopped\.\n$/), { timeout: 60_000, interval: 50 })
      await closed
      expect(postgresOf(data)).toBe(undefined)
    } finally {
      if (!out.includes('Herald has stopped') && npm.pid) process.kill(-npm.pid, 'SIGKILL')
    }
  })

  test('answers requests in progress with Connection: close', async () => {
    const env = await newDatabase()
    const program = await start(env)
    const { keys, curl } = await sample(env, program)
    const key = keys.test
    const { port, pathname } = new URL(/'(http[^']+)'/.exec(curl)?.[1] ?? '')
    const body = / -d '([^']+)'$/.exec(curl)?.[1] ?? ''
    const socket = net.connect(Number(port), '127.0.0.1')
    const received = collect(socket)
    // The answer to `Expect` shows that the server has begun to handle the request.
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey-v1 ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    await received.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)

    const ended = program.end('SIGTERM')
    await program.hasSaid('Herald is stopping')
    await expect.poll(() => canConnect(Number(port))).toBe(false)
    socket.write(body)
    const answer = await received.whole()
    expect(answer).toMatch(/\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    expect(answer).toContain('Hello Ada')

    const { code, seconds } = await ended
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(10)
  })

  test('fails no request of fifty callers that keep their connections busy', async () => {
    const env = await newDatabase()
    const program = await start(env)
    const key = (await sample(env)).keys.test
    let answered = 0
    let stopped: Promise<{ code: number | null; seconds: number }> | undefined
    const caller = async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      for (;;) {
        const { status, connection } = await get(agent, `${program.address}/v2/templates`, `ApiKey-v1 ${key}`)
        expect(status).toBe(200)
        answered++
        if (answered === 500) stopped = program.end('SIGTERM')
        if (connection === 'close') return agent.destroy()
      }
    }
    await Promise.all(Array.from({ length: 50 }, caller)) // rejects with the first request that fails
    expect(answered).toBeGreaterThanOrEqual(500)
    const { code, seconds } = (await stopped) ?? { code: null, seconds: 0 }
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(10)
  })

  test('does not wait for idle connections', async () => {
    const program = await start(await newDatabase())
    const agent = new http.Agent({ keepAlive: true })
    expect((await get(agent, `${program.address}/health/live`)).status).toBe(200)
    const { code, seconds } = await program.end('SIGTERM')
    agent.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(5)
  })
})

function get(agent: http.Agent, address: string, authorization?: string) {
  return new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
    http
      .get(address, { agent, headers: { ...(authorization && { authorization }) } }, reply => {
        reply.resume()
        reply.once('end', () => resolve({ status: reply.statusCode, connection: reply.headers.connection }))
        reply.once('error', reject)
      })
      .once('error', reject)
  })
}

function collect(socket: net.Socket) {
  let text = ''
  const waiting = new Set<() => void>()
  socket.on('data', chunk => {
    text += String(chunk)
    for (const look of waiting) look()
  })
  const ended = new Promise<string>((resolve, reject) => {
    socket.once('end', () => resolve(text))
    socket.once('error', reject)
  })
  return {
    until: (pattern: RegExp) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (pattern.test(text)) resolve()
        }
        waiting.add(look)
        look()
      }),
    whole: () => ended,
  }
}

const canConnect = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
