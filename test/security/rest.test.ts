// S-31, S-32: personal data is stored sealed, and deleted after its retention. The whole database is searched for canaries.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClock } from '../../src/core/clock.ts'
import { makeEventPartitions } from '../../src/events/partitions.ts'
import { maintenanceOf } from '../../src/lanes.ts'
import { type Running, start } from '../../src/main.ts'
import type { EngineParts } from '../../src/parts.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { ALLOWED } from '../support/hooks.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { type World, world } from '../support/world.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const WORD = 'canary'
const ADDRESS = `${WORD}@example.net`
const PHONE = '+16135550147'
const DAY = 86_400_000

let relay: Awaited<ReturnType<typeof smtpServer>>
let receiver: Receiver
let here: World
let engine: Running
let key: Key
let ids: Record<'email' | 'refused' | 'text' | 'scheduled', string>

beforeAll(async () => {
  relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
  // It says in its answers what it got: recipients.
  receiver = await startReceiver((hook, response) => response.writeHead(200).end(hook.body))
  here = await world({
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    HERALD_SMTP_TLS: 'never',
    ...ALLOWED,
  })
  engine = await start(here.config, { only: 'engine' })
  key = await (await here.service({ may_send_files: true })).key({ manageWebhooks: true })
  const hook = { url: `${receiver.url}/${WORD}`, include_recipient: true }
  for (const more of [{}, { format: 'callback', token: `${WORD}-token-of-a-callback` }])
    expect((await key.post('/herald/v1/webhooks', { ...hook, ...more })).status).toBe(201)
  const email = await emailTemplate(key, 'Hello ((name)) ((file))')
  const text = await smsTemplate(key)
  const personalisation = {
    name: `${WORD}-name`,
    file: { file: Buffer.from(`${WORD}-content`).toString('base64'), filename: `${WORD}.txt`, sending_method: 'link' },
  }
  const post = async (path: string, body: object) => {
    const reply = await key.post(path, body, { 'idempotency-key': `${WORD}-${randomUUID()}` })
    expect(reply.status, reply.text).toBe(201)
    return (reply.body.id ?? reply.body.data.id) as string
  }
  const settled = (id: string, status: string) =>
    vi.waitFor(async () => expect((await key.get(`${LIST}/${id}`)).body.status).toBe(status), { timeout: 50_000 })
  const plain = { phone_number: PHONE, template_id: text, personalisation: { name: `${WORD}-name` } }
  const mail = { email_address: ADDRESS, template_id: email, personalisation }
  const sent = await post(EMAIL, mail)
  await settled(sent, 'delivered')
  // Servers repeat the address they refuse, in any case.
  const words = `5.1.1 <${ADDRESS}>: Recipient ${ADDRESS.toLowerCase()} unknown`
  relay.state.mode = { rcpt: { code: 550, words } }
  const refused = await post(EMAIL, { ...mail, email_address: `Canary@example.net` })
  await settled(refused, 'permanent-failure')
  relay.state.mode = { mail: { code: 550, words } }
  const again = await post(EMAIL, { ...mail, reference: 'second' })
  await settled(again, 'technical-failure')
  relay.state.mode = {}
  const texted = await post(SMS, plain)
  await settled(texted, 'delivered')
  ids = {
    email: sent,
    refused: again,
    text: texted,
    scheduled: await post(SMS, { ...plain, scheduled_for: inMinutes(60) }),
  }
  const csv = `phone number,name\n${PHONE},${WORD}-name\n`
  await post('/v2/notifications/bulk', { name: 'Now', template_id: text, csv })
  await post('/v2/notifications/bulk', { name: 'Later', template_id: text, csv, scheduled_for: inMinutes(60) })
  const told = () => receiver.hooks.filter(hook => hook.body.includes(ADDRESS)).length
  await vi.waitFor(() => expect(told()).toBeGreaterThan(3), { timeout: 50_000 })
  const attempts = async () => (await here.parts.db.sql`select from webhook_attempts where answer is not null`).length
  await vi.waitFor(async () => expect(await attempts()).toBeGreaterThan(1), { timeout: 50_000 })
})

afterAll(async () => {
  await engine.stop() // the mail server waits for kept connections
  await relay.stop()
  await receiver.stop()
})

/** Every table with every row as text, one line per table; partitions are read through their parents. */
async function dump(): Promise<Map<string, string>> {
  const client = here.parts.db.client()
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace and not relispartition`,
    )
    const tables = new Map<string, string>()
    for (const { name } of rows) {
      const told = await client.query<{ text: string }>(`select t::text as text from ${name} t`)
      tables.set(name, told.rows.map(row => row.text).join('\n'))
    }
    return tables
  } finally {
    await client.end()
  }
}

/** Every encoding of a canary. */
const spellings = [WORD, 'Canary', '6135550147', '5550147'].flatMap(text => [
  text,
  Buffer.from(text).toString('hex'),
  // Base64 of the same text, at any offset.
  ...[0, 1, 2].map(shift =>
    Buffer.from(' '.repeat(shift) + text)
      .toString('base64')
      .slice(shift + 1, -4),
  ),
])
const found = (tables: Map<string, string>) =>
  [...tables].flatMap(([name, text]) =>
    spellings
      .filter(spelling => spelling.length > 3 && text.includes(spelling))
      .map(spelling => `${name}: ${spelling}`),
  )

describe('S-32', () => {
  test('recipients, values and files cannot be read in the database, nor what a provider said about them', async () => {
    const tables = await dump()
    const messages = ['notifications', 'states', 'chunks', 'files', 'file_pieces', 'inbox', 'replays', 'jobs']
    for (const name of [...messages, 'events', 'webhooks', 'webhook_attempts'])
      expect(tables.get(name), `something is in ${name}`).toBeTruthy()
    expect(found(tables)).toEqual([])
  })

  test('replies are sealed in the log of events, and so are answers of webhooks', async () => {
    const sealed = await here.parts.db.sql<{ sealed: Buffer }>`select sealed from events where sealed is not null`
    expect(sealed.map(row => here.parts.seal.open('provider reply', row.sealed).toString()).join()).toContain('unknown')
    const answers = await here.parts.db.sql<{
      answer: Buffer
    }>`select answer from webhook_attempts where answer is not null`
    expect(answers.map(row => here.parts.seal.open('webhook answer', row.answer).toString()).join()).toContain(ADDRESS)
  })

  test('a refusal is stored without the address it was about', async () => {
    const { provider_response } = (await key.get(`${LIST}/${ids.refused}`)).body
    expect(provider_response).toBe('550 5.1.1 <…>: Recipient … unknown')
  })
})

const NOTHING = {
  ...{ notifications: 0, states: 0, chunks: 0, files: 0, file_pieces: 0, inbox: 0, replays: 0 },
  ...{ events: 0, webhook_attempts: 0, webhook_retries: 0, mails: 0 },
}

describe('S-31', () => {
  const engineParts = () => ({ ...here.parts, onFault() {} }) as unknown as EngineParts
  const rows = async () => {
    const tables = await dump()
    return Object.fromEntries(
      [...Object.keys(NOTHING)].map(name => [
        name,
        tables.get(name) === '' ? 0 : (tables.get(name)?.split('\n').length ?? -1),
      ]),
    )
  }

  test('after twelve days of maintenance nothing of it is left; until then it is there', async () => {
    const maintain = async () => {
      for (const task of maintenanceOf(engineParts())) {
        // Events are logged by the clock of the database, whose day is long past for the process.
        await makeEventPartitions(here.parts.db, createClock())
        await runSteps(task.steps())
      }
    }
    await maintain()
    expect((await rows()).notifications).toBeGreaterThan(4)
    // Its own maintenance would remove the partitions of a day that is long past.
    await engine.stop()
    here.moveClock(7 * DAY + 60_000)
    for (const id of Object.values(ids)) expect((await key.get(`${LIST}/${id}`)).status).toBe(404)
    expect((await key.get(LIST)).body.notifications).toEqual([])
    // Rows that the database clock expires are made as old as the process clock says.
    await here.parts.db.sql`update replays set created_at = created_at - interval '12 days'`
    await here.parts.db.sql`update webhook_attempts set at = at - interval '12 days'`
    here.moveClock(5 * DAY)
    await maintain()
    await maintain() // what the first run has logged
    expect(await rows()).toEqual(NOTHING)
  })
})
