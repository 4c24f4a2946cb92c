// Real processes: a configured provider is used, and an installation that others can reach does not capture by accident.
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { programs } from '../support/program.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { CATEGORY, callerWith, world } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const { newData, newDatabase, herald, start } = programs()
const relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
afterAll(() => relay.stop())

test('HERALD_SMTP_URL alone: the banner names smtp, and a live message reaches the mail server', async () => {
  const env = { ...(await newDatabase()), HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}` }
  const program = await start(env)
  expect(program.out()).toContain(
    'E-mails are sent by smtp.\nText messages are captured, not sent: the inbox keeps them.\nMessages that are not sent are in the inbox: /inbox',
  )
  const run = async (...argv: string[]) => JSON.parse((await herald([...argv, '--json'], env)).out)
  await run('service', 'create', 'Permits', '--live')
  const { key } = await run('key', 'create', 'Permits', '--name', 'k', '--type', 'live', '--manage-templates')
  const caller = callerWith(program.address, key)
  const template = await caller.post('/v2/manage-template', {
    name: 'Hello',
    template_type: 'email',
    subject: 'Hello',
    content: 'By the configured provider',
    template_category_id: CATEGORY.general,
  })
  const sent = await caller.post('/v2/notifications/email', {
    template_id: template.body.id,
    email_address: 'ada@example.net',
  })
  expect(sent.status).toBe(201)
  await relay.arrived(1)
  expect(relay.letters[0]?.raw).toContain('By the configured provider')
  await program.end('SIGTERM')
})

describe('an installation that others can reach', () => {
  test('does not start without a provider, changes nothing, and says what to set', async () => {
    const data = newData()
    const { code, out, err } = await herald(['start'], { HERALD_DATA: data, HERALD_HOST: '0.0.0.0' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(
      /^Herald cannot start with these settings:\n {2}- there is no provider for e-mails, .*HERALD_SMTP_URL.*\n {2}- there is no provider for text messages, .*\n$/,
    )
    expect(existsSync(data)).toBe(false)
  })

  test('starts as a declared trial', async () => {
    const program = await start({ ...(await newDatabase()), HERALD_HOST: '0.0.0.0', HERALD_CAPTURE: '1' })
    expect(program.out()).toContain('E-mails are captured, not sent: the inbox keeps them.')
    expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
  })
})

test('a settings file serves the service and the command line alike; readable secrets cause a warning', async () => {
  const { DATABASE_URL, HERALD_DATA } = await newDatabase()
  const path = join(dirname(HERALD_DATA), 'herald.env')
  writeFileSync(path, `DATABASE_URL=${DATABASE_URL}\nHERALD_DATA=${HERALD_DATA}\nHERALD_TEXT_PROVIDERS=none\n`, {
    mode: 0o600,
  })
  const program = await start({ HERALD_ENV_FILE: path })
  expect(program.out()).toContain('Text messages are switched off.')
  expect(await herald(['service', 'create', 'By file'], { HERALD_ENV_FILE: path })).toMatchObject({ code: 0, err: '' })
  chmodSync(path, 0o644)
  const { code, out, err } = await herald(['service', 'list', '--json'], { HERALD_ENV_FILE: path })
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^\S+herald\.env holds secrets, .*: chmod o-r \S+\n$/),
  })
  expect(JSON.parse(out).services.map((service: { name: string }) => service.name)).toContain('By file')
  await program.end('SIGTERM')
})

test('a channel that is switched off: no service may send by it, and messages accepted before end as a failure', async () => {
  const before = await world()
  const key = await (await before.service()).key()
  const text = { name: 'T', template_type: 'sms', content: 'Hi', template_category_id: CATEGORY.general }
  const template = await key.post('/v2/manage-template', text)
  const message = { template_id: template.body.id, phone_number: '+16135550123' }
  const waiting = await key.post('/v2/notifications/sms', message)
  expect(waiting.status).toBe(201)

  const { databaseUrl, dataFolder } = before.config
  const same = { DATABASE_URL: databaseUrl ?? '', HERALD_DATA: dataFolder }
  const off = await world({ ...same, HERALD_TEXT_PROVIDERS: 'none' }, { engine: true })
  const caller = callerWith(off.address, key.key)
  expect((await caller.post('/v2/notifications/sms', message)).body).toEqual({
    errors: [{ error: 'BadRequestError', message: 'Service is not allowed to send text messages' }],
    status_code: 400,
  })
  expect((await caller.post('/v2/manage-template', text)).status).toBe(403)
  const status = async () => (await caller.get(`/v2/notifications/${waiting.body.id}`)).body
  await expect
    .poll(status, { timeout: 10_000 })
    .toMatchObject({ status: 'technical-failure', provider_response: 'this channel is switched off' })
})
