// Two mail servers from HERALD_PROVIDERS_FILE: the first is preferred, the second takes over while it is down.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { readConfig } from '../../src/config/index.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { CATEGORY, world } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'herald-relays-'))
const first = await smtpServer({ disabledCommands: ['STARTTLS'], login: { user: 'me', pass: 's3cret' } })
const second = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  rmSync(folder, { recursive: true, force: true })
})

async function doctor(env: Record<string, string>) {
  let out = ''
  const streams = {
    out(text: string) {
      out += text
    },
    err() {},
  }
  await run(['doctor', '--json'], streams, () => readConfig({ HERALD_PORT: '0', HERALD_LOG_LEVEL: 'silent', ...env }))
  return (JSON.parse(out) as { checks: { name: string; ok: boolean; found: string }[] }).checks
}

test('order is preference, the password comes from its file, and the second relay takes over', async () => {
  writeFileSync(join(folder, 'password'), 's3cret\n')
  const path = join(folder, 'providers.json')
  const email = [
    { name: 'relay-a', kind: 'smtp', url: `smtp://me@127.0.0.1:${first.port}`, password_file: 'password' },
    { name: 'relay-b', kind: 'smtp', url: `smtp://127.0.0.1:${second.port}` },
  ]
  writeFileSync(path, JSON.stringify({ email }))
  const here = await world({ HERALD_PROVIDERS_FILE: path }, { engine: true })
  expect((await here.call('GET', '/health/ready')).body).toMatchObject({
    providers: { email: ['relay-a', 'relay-b'], sms: ['capture'] },
    details: ['E-mails are sent by relay-a, and by relay-b while it is down.', expect.any(String)],
  })
  const checks = await doctor({
    DATABASE_URL: here.config.databaseUrl ?? '',
    HERALD_DATA: here.config.dataFolder,
    HERALD_PROVIDERS_FILE: path,
  })
  expect(checks.filter(check => check.name === 'Provider of e-mails').map(({ ok, found }) => [ok, found])).toEqual([
    [true, expect.stringMatching(/^relay-a takes the connection/)],
    [true, expect.stringMatching(/^relay-b takes the connection/)],
  ])
  const caller = await (await here.service()).key()
  const template = await caller.post('/v2/manage-template', {
    name: 'Hello',
    template_type: 'email',
    subject: 'Hello',
    content: 'By one of two',
    template_category_id: CATEGORY.general,
  })
  const send = async () => {
    const message = { template_id: template.body.id, email_address: 'ada@example.net' }
    return (await caller.post('/v2/notifications/email', message)).body.id
  }
  const providerOf = async (id: string) => {
    const { sql } = here.parts.db
    const [state] = await sql<{ provider: string | null }>`select provider from states where id = ${id}`
    return state?.provider
  }

  const one = await send()
  await first.arrived(1)
  expect(first.letters[0]).toMatchObject({ user: 'me', to: ['ada@example.net'] })
  await expect.poll(() => providerOf(one)).toBe('relay-a')
  expect(second.letters).toEqual([])

  await first.stop()
  const two = await send()
  await second.arrived(1)
  await expect.poll(() => providerOf(two), { timeout: 10_000 }).toBe('relay-b')
  const metrics = (await here.call('GET', '/metrics')).text
  expect(metrics).toMatch(/herald_provider_up\{[^}]*provider="relay-a"[^}]*\} 0/)
  expect(metrics).toMatch(/herald_provider_up\{[^}]*provider="relay-b"[^}]*\} 1/)
}, 60_000)
