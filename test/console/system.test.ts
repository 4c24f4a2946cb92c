// The pages of operators over HTTP: the system with processes, providers and their tests, hold and release, and the audit log. The
// console runs in a process without an engine; two engines are processes of their own.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { noteBackup } from '../../src/db/last-backup.ts'
import { type Process, processes } from '../support/processes.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let operator: SignedInAs
let sink: Awaited<ReturnType<typeof smtpServer>>
beforeAll(async () => {
  sink = await smtpServer()
  here = await place({ HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.port}`, HERALD_SMTP_TLS: 'opportunistic' })
  operator = await here.signIn('operator')
})
afterAll(() => sink?.stop())

const SYSTEM = '/operator/system'
const get = async (path = SYSTEM) => (await here.request(operator, path)).text
const post = (path: string, form: Record<string, string> = {}) => here.request(operator, SYSTEM + path, { form })
const poll = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 40_000, interval: 200 })
/** The texts of the cells of a row of a table. */
const row = (html: string, name: string): string[] =>
  [
    ...(html.split('<tr').find(one => one.includes(`data-id="${name}"`)) ?? '').matchAll(
      /<t[hd][^>]*>(.*?)<\/t[hd]>/gs,
    ),
  ].map(([, cell = '']) =>
    cell
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
const EMAIL_TEST = '/providers/email/smtp/test'

test('the system page shows lanes, the database and settings without secrets', async () => {
  const text = await get()
  expect(text).toContain('email-high')
  expect(text).toContain('PostgreSQL')
  expect(text).toMatch(/Partitions<\/dt><dd>\d+, from \w+ \d+ \w+ to \w+ \d+ \w+, 3 days ahead/)
  expect(text).toContain('HERALD_SENDING_DOMAIN')
  const secrets = [here.config.databaseUrl, ...here.parts.secrets].flatMap(secret => secret ?? [])
  expect(secrets.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('of an embedded database the page shows the newest backup, and that it is too old', async () => {
  expect(await get()).not.toContain('Last backup')
  const { config } = here.parts
  const { databaseUrl, dataFolder } = config
  const home = mkdtempSync(join(tmpdir(), 'herald-backed-up-'))
  const shown = async () => /Last backup<\/dt><dd>(.*?)<\/dd>/.exec(await get())?.[1]
  try {
    chmodSync(home, 0o755)
    mkdirSync(join(home, 'postgres', 'data'), { recursive: true })
    writeFileSync(join(home, 'postgres', 'data', 'PG_VERSION'), '18')
    Object.assign(config, { databaseUrl: null, dataFolder: home })
    expect(await shown()).toBe('none yet')
    noteBackup(join(home, 'postgres'), { folder: '/backups/x', begun: new Date().toISOString(), bytes: 1 })
    expect(await shown()).toMatch(/^<time [^>]*>[^<]*<\/time>$/)
    noteBackup(join(home, 'postgres'), { folder: '/backups/x', begun: '2020-01-02 03:04:05.6+00', bytes: 1 })
    expect(await shown()).toMatch(/<time datetime="2020-01-02T.*More than 2 days without one/)
  } finally {
    Object.assign(config, { databaseUrl, dataFolder })
    rmSync(home, { recursive: true })
  }
})

test('without an engine the page says that nothing is sent, and a test of a provider is refused', async () => {
  await poll(get).toContain(`${hostname()}:${process.pid}`)
  const text = await get()
  expect(text).toContain('HTTP only')
  expect(text).toContain('No process leads.')
  expect(row(text, 'email-smtp')[1]).toBe('No process sends')
  const answer = await post(EMAIL_TEST, { recipient: 'duty@example.org' })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('No running process has the provider smtp.')
  expect(answer.text).toContain('value="duty@example.org"')
})

test('the process that shows the page runs, also when its last heartbeat is from before an outage', async () => {
  await here.parts.db.sql`update processes set seen_at = clock_timestamp() - interval '20 s'`
  const text = await get()
  expect(text).toContain('1 process,')
  expect(text).not.toContain('Not seen for')
})

test('the ports of webhooks are shown as they are set', async () => {
  expect(await get()).toMatch(/<code>HERALD_WEBHOOK_PORTS<\/code><\/dt><dd><bdi>443<\/bdi>/)
})

describe('with two engines', () => {
  let engines: Process[]
  beforeAll(async () => {
    const secret = here.parts.secrets[0] ?? ''
    const env = { HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.port}`, HERALD_CAPTURE: '1' }
    engines = await processes(2, { databaseUrl: here.config.databaseUrl ?? '', secret }, { only: 'engine', env })
  }, 60_000)
  const nameOf = (engine: Process | undefined) => `${hostname()}:${engine?.pid}`

  test('each has told its providers when its start is done', async () => {
    const told = await here.parts.db.sql<{ names: string[] }>`
      select array(select jsonb_array_elements(providers) ->> 'name') as names
      from processes
      where name = any (${engines.map(nameOf)})`
    expect(told.map(({ names }) => names)).toEqual([
      ['smtp', 'capture'],
      ['smtp', 'capture'],
    ])
  })

  test('all processes are shown, and one of them leads', async () => {
    await poll(async () => (await get()).split('Engine only').length - 1).toBe(2)
    await poll(async () => (await get()).split('Leads since').length - 1).toBe(1)
    const text = await get()
    for (const engine of engines) expect(text).toContain(nameOf(engine))
    expect(text).toContain('The leader runs maintenance.')
    expect(text).toContain('3 processes')
    expect(row(text, 'email-smtp').slice(0, 2)).toEqual(['smtp E-mail', 'Working'])
    expect(row(text, 'sms-capture')[1]).toBe('Captured, not sent')
  }, 60_000)

  test('what is in flight is the sum over the processes', async () => {
    let go = () => {}
    const gate = new Promise<void>(resolve => {
      go = resolve
    })
    sink.state.onData = () => gate
    const { service } = here.planted
    const key = service.keys[0]?.key ?? ''
    const body = {
      email_address: 'anna@example.org',
      template_id: service.templates.unused,
      personalisation: { 'first name': 'Anna' },
    }
    const sent = await here.call('POST', '/v2/notifications/email', {
      body,
      headers: { authorization: `ApiKey-v1 ${key}` },
    })
    expect(sent.status, sent.text).toBe(201)
    const inFlight = async () => {
      const text = await get()
      return ['email-high', 'email-medium', 'email-low'].map(lane => row(text, lane)[4])
    }
    try {
      await poll(async () => (await inFlight()).includes('1')).toBe(true)
    } finally {
      go()
      delete sink.state.onData
    }
    await poll(inFlight).toEqual(['0', '0', '0'])
    await poll(async () => Number(row(await get(), 'email-smtp')[2])).toBeGreaterThan(0)
  }, 60_000)

  test('a test is sent by exactly this provider; its answer is shown, and the recipient is nowhere', async () => {
    const answer = await post(EMAIL_TEST, { recipient: 'night.duty@example.org' })
    expect(answer.status).toBe(303)
    const text = await get(answer.location?.replace('/console', ''))
    expect(text).toContain('The provider has accepted the message.')
    expect(text).toMatch(/Reference of the provider<\/dt><dd><bdi>[^<]+/)
    expect(engines.some(engine => text.includes(nameOf(engine)))).toBe(true)
    const letters = sink.letters.filter(({ to }) => to.includes('night.duty@example.org'))
    expect(letters).toHaveLength(1)
    expect(letters[0]?.raw).toContain('Test of the provider smtp')
    const audit = await get('/operator/audit?what=installation')
    expect(audit).toContain('Test sent by a provider')
    expect(audit).toContain('provider: smtp')
    expect(audit).not.toContain('night.duty')
    const { sql } = here.parts.db
    const kept = await sql<{
      text: string
    }>`select to_jsonb(t)::text as text from provider_tests t where recipient is not null`
    expect(kept).toEqual([])
    expect(JSON.stringify(await sql`select * from processes`)).not.toContain('night.duty')
  }, 30_000)

  test('a refusal has its class and the sentence of the provider', async () => {
    sink.state.mode = { rcpt: { code: 550, words: '5.1.1 no mailbox here by that name' } }
    const answer = await post(EMAIL_TEST, { recipient: 'nobody@example.org' })
    sink.state.mode = {}
    const text = await get(answer.location?.replace('/console', ''))
    expect(text).toContain('The provider refuses this message for good.')
    expect(text).toContain('550 5.1.1')
    expect(text).toContain('no mailbox here by that name')
    // About the recipient, not about the provider.
    expect(row(await get(), 'email-smtp')[3]).toBe('–')
  }, 30_000)

  test('a captured test is in the inbox of operators, and the page says so', async () => {
    expect(await get(`${SYSTEM}/providers/sms/capture/test`)).toContain('This installation captures such messages')
    const refused = await post('/providers/sms/capture/test', { recipient: 'not a number' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('Enter a phone number with its country code to send the test to.')
    const answer = await post('/providers/sms/capture/test', { recipient: '+16135550177' })
    expect(await get(answer.location?.replace('/console', ''))).toContain('The message reached nobody')
    const { messages } = (await here.inbox()).body
    expect(messages[0]).toMatchObject({
      to: '+16135550177',
      text: expect.stringContaining('a test of the provider capture'),
    })
  }, 30_000)

  test('while sending is held, no test is sent', async () => {
    expect((await post('/hold')).status).toBe(303)
    const answer = await post(EMAIL_TEST, { recipient: 'held@example.org' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('Sending is held, so nothing is sent, not even a test.')
    expect((await post('/release')).status).toBe(303)
    expect(sink.letters.filter(({ to }) => to.includes('held@example.org'))).toEqual([])
  })

  test('herald provider test shows the answer', async () => {
    const test = async (...argv: string[]) => {
      const lines: string[] = []
      const say = (text: string) => void lines.push(text)
      const streams = { out: say, err: say }
      const code = await run(['provider', 'test', ...argv], streams, () => here.config)
      return { code, said: lines.join('') }
    }
    expect(await test('smtp', '--to', 'duty@example.org')).toEqual({
      code: 0,
      said: expect.stringMatching(/^Accepted, sent by .*\. Reference of the provider: /),
    })
    expect(await test('nothing', '--to', 'duty@example.org')).toMatchObject({
      code: 2,
      said: expect.stringContaining('No running process has a provider "nothing".'),
    })
  }, 30_000)

  test('a provider that refuses everybody is shown as paused, with the class of its answer and no word of it', async () => {
    const busy = { code: 421, words: '4.3.2 the secret words of the server' }
    sink.state.mode = { open: busy, mail: { code: 503, words: '5.5.1 the secret words of the server' } }
    const answer = await post(EMAIL_TEST, { recipient: 'duty@example.org' })
    expect(await get(answer.location?.replace('/console', ''))).toContain('Refused for now')
    await poll(async () => row(await get(), 'email-smtp')[1]).toMatch(/^(Paused after errors|Trying again) since /)
    const text = await get()
    expect(row(text, 'email-smtp')[3]).toMatch(/^(421 4\.3\.2|503 5\.5\.1) \d/)
    expect(text).not.toContain('the secret words')
    // The other process has not tried: both are named.
    expect(row(text, 'email-smtp')[0]).toContain(`${nameOf(engines[0])} : `)
    expect(row(text, 'email-smtp')[0]).toContain(`${nameOf(engines[1])} : `)
    sink.state.mode = {}
    await poll(async () => row(await get(), 'email-smtp')[1]).toBe('Working')
  }, 90_000)

  test('a process that was killed is shown as not seen, and an orderly stop removes its row', async () => {
    await engines[0]?.kill()
    const { sql } = here.parts.db
    const name = nameOf(engines[0])
    await sql`update processes set seen_at = clock_timestamp() - interval '20 s' where name = ${name}`
    expect(await get()).toMatch(/Not seen for \d\d s/)
    await sql`update processes set seen_at = clock_timestamp() - interval '2 hours' where name = ${name}`
    expect(await get()).not.toContain(name)
    await engines[1]?.stop()
    expect(await sql`select from processes where name = ${nameOf(engines[1])}`).toEqual([])
  }, 30_000)
})

test('sending is held with a banner for everybody, and released; both are recorded', async () => {
  const viewer = await here.signIn('viewer')
  const page = async (who: SignedInAs) => (await here.request(who, `/s/${here.planted.service.id}`)).text
  expect(await page(viewer)).not.toContain('class="banner"')
  expect((await here.request(viewer, `${SYSTEM}/hold`, { form: {} })).status).toBe(403)
  expect(await get(`${SYSTEM}/hold`)).toMatch(/\d+ messages are due now\./)
  expect((await post('/hold')).status).toBe(303)
  expect(await page(viewer)).toContain('Sending is paused by the operator.')
  expect(await page(operator)).toContain('/operator/system#sending')
  expect(await get()).toContain('Release all sending')
  expect((await here.request(operator, `${SYSTEM}/hold`)).status).toBe(303)
  expect(await get(`${SYSTEM}/release`)).toContain('What is sent cannot be recalled.')
  expect((await post('/release')).status).toBe(303)
  expect(await page(viewer)).not.toContain('class="banner"')
  const audit = await get('/operator/audit?what=installation')
  expect(audit).toMatch(/Sending released.*Sending held/s)
  expect(audit).not.toContain('Template made')
})

test('herald hold and herald release are recorded too', async () => {
  const silent = { out: () => {}, err: () => {} }
  for (const argv of [['hold'], ['release', '--cut-off', 'now']])
    expect(await run(argv, silent, () => here.config)).toBe(0)
  const entries = await here.parts.db.sql`
    select action, actor_kind from audit where actor_kind = 'operator' and action like 'sending %' order by id`
  expect(entries).toEqual([
    { action: 'sending held', actor_kind: 'operator' },
    { action: 'sending released', actor_kind: 'operator' },
  ])
})

test('the audit log is filtered by service and person, and downloaded', async () => {
  const { service, people } = here.planted
  const of = await get(`/operator/audit?service=${service.id}`)
  expect(of).toContain('Template made')
  expect(of).not.toContain('Signed in')
  const mine = await get(`/operator/audit?who=${people.operator.id}`)
  expect(mine).toContain('Signed in')
  expect(mine).not.toContain('Template made')
  const csv = await here.request(operator, '/operator/audit/export?what=accounts')
  expect(csv.text).toContain('"signed in"')
  expect((await here.request(await here.signIn('manager'), '/operator/audit')).status).toBe(403)
})
