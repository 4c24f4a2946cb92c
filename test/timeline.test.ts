// The timeline of a message, on real journeys: each ends as its recipient and its provider decide, and the timeline says how.
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import type { Id } from '../src/core/id.ts'
import { ofMessage } from '../src/events/sql.ts'
import { endOverdueMessages } from '../src/maintenance/expire.ts'
import { holdSending } from '../src/queue/hold.ts'
import { IDENTITY_TABLES } from '../src/sending.ts'
import { EICAR } from './support/documents.ts'
import { explained } from './support/explain.ts'
import { startHttpPeer } from './support/http-peer.ts'
import { scannerPeer } from './support/scanner.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate } from './support/sends.ts'
import { smtpServer } from './support/smtp-server.ts'
import { call, type World, world } from './support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
type Json = any

const SECRET = 'shared-secret-of-32-characters-at-least'
const relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
const scanner = await scannerPeer()
const accepted = () => ({ status: 200, body: JSON.stringify({ messages: [{ id: randomUUID() }] }) })
const carrier = await startHttpPeer(accepted)
afterAll(async () => {
  await Promise.all([relay.stop(), scanner.stop(), carrier.stop()])
})

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id
let text: Id

beforeAll(async () => {
  here = await world(
    {
      HERALD_EMAIL_PROVIDERS: 'smtp',
      HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
      HERALD_TEXT_PROVIDERS: 'http',
      HERALD_HTTP_SMS_URL: `${carrier.url}/send`,
      HERALD_HTTP_SMS_BODY: '{"to":"{to}","from":"{from}","text":"{text}","ref":"{id}"}',
      HERALD_HTTP_SMS_REF_PATH: 'messages[0].id',
      HERALD_HTTP_SMS_RECEIPT_SECRET: SECRET,
      HERALD_SCANNER: 'clamd',
      HERALD_CLAMD_URL: scanner.url,
      HERALD_WEBHOOK_ALLOW: '127.0.0.1',
      HERALD_WEBHOOK_SCHEMES: 'http',
      HERALD_WEBHOOK_PORTS: '1024-65535',
    },
    { engine: true },
  )
  service = await here.service({ name: 'Parking permits', may_send_files: true })
  await service.addSender('PERMITS')
  key = await service.key({ name: 'website' })
  template = await emailTemplate(key)
  text = await smsTemplate(key)
}, 60_000)

const timeline = (id: string) => `/herald/v1/notifications/${id}/timeline`
const read = async (id: string, by: Key = key): Promise<Json> => {
  const answer = await by.get(timeline(id))
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
/** The timeline as soon as the message has this status. */
const readAt = async (status: string, id: string, by: Key = key): Promise<Json> => {
  await expect.poll(async () => (await read(id, by)).message.status, { interval: 20, timeout: 10_000 }).toBe(status)
  return read(id, by)
}
const sendEmail = async (more: object = {}, by: Key = key): Promise<Id> => {
  const body = { email_address: 'jo@example.net', template_id: template, personalisation: { name: 'Jo' }, ...more }
  const answer = await by.post(EMAIL, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.id
}
const sendText = async (by: Key = key): Promise<Id> =>
  (await by.post(SMS, { phone_number: '+16135550123', template_id: text, personalisation: { name: 'Jo' } })).body.id
const kinds = (found: Json) => found.entries.map((entry: Json) => entry.kind)
const statuses = (found: Json) => found.entries.map((entry: Json) => entry.status).filter(Boolean)
const last = (found: Json) => found.entries.at(-1)
/** Makes everything that waits due now. */
const hurry = () => here.parts.db.sql`update tickets set due_at = clock_timestamp() where owner is null`
const attemptsOf = async (id: Id) =>
  (await here.parts.db.sql<{ attempts: number }>`select attempts from states where id = ${id}`)[0]?.attempts ?? 0

async function receipt(id: Id, status: string, time = new Date()) {
  const [handover] = await here.parts.db.sql<{ ref: string }>`select ref from handovers where id = ${id}`
  const raw = JSON.stringify({ id: handover?.ref, status, event_id: randomUUID(), time: time.toISOString() })
  const at = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', SECRET).update(`${at}.${raw}`).digest('hex')
  const answer = await call(here.address, 'POST', '/receipts/http', {
    raw,
    headers: { 'content-type': 'application/json', 'x-signature': signature, 'x-timestamp': at },
  })
  expect(answer.status).toBe(200)
}

describe('journeys', () => {
  test('an e-mail that a relay without receipts accepted', async () => {
    const id = await sendEmail({ reference: 'permit-1' })
    const found = await readAt('delivered', id)
    expect(found.message).toMatchObject({
      ...{ id, type: 'email', status: 'delivered', status_description: 'Delivered', reference: 'permit-1' },
      ...{ template: { id: template, version: 1 }, job_id: null, scheduled_for: null, attempts: 1 },
    })
    expect(kinds(found)).toEqual(['accepted', 'attempt'])
    expect(found.entries[0]).toMatchObject({
      ...{ event_id: null, event_type: null, status: 'created' },
      text: 'Accepted from the key "website" (live key); template "A template", version 1.',
    })
    expect(found.entries[1]).toMatchObject({
      ...{
        event_type: 'notification.delivered',
        status: 'delivered',
        provider: 'smtp',
        latency_ms: expect.any(Number),
      },
      text: expect.stringMatching(
        /^The provider smtp accepted it in \d+ ms; no receipt is expected, so it counts as delivered\.$/,
      ),
    })
    expect(found.sentence).toMatch(/^Accepted by the provider smtp at .* no receipt confirms it; /)
    expect(found.omitted).toBe(0)
  })

  test('a text with its receipts, the last of which changes nothing; events have the ids of the feed', async () => {
    const id = await sendText()
    await readAt('sending', id)
    const time = new Date(Date.now() - 2_000)
    await receipt(id, 'delivered', time)
    await readAt('delivered', id)
    await receipt(id, 'failed')
    await expect.poll(async () => kinds(await read(id)), { timeout: 10_000 }).toHaveLength(4)
    const found = await read(id)
    expect(kinds(found)).toEqual(['accepted', 'attempt', 'receipt', 'receipt'])
    expect(statuses(found)).toEqual(['created', 'sending', 'delivered'])
    expect(found.entries[2].provider_time).toBe(`${time.toISOString().slice(0, 23)}000Z`)
    expect(last(found)).toMatchObject({ event_type: 'notification.receipt', status: null })
    expect(last(found).text).toMatch(/^Receipt of .* from http: permanent-failure; it changed nothing\.$/)
    expect(found.sentence).toMatch(/^Delivered at .*, as the provider http reported; nothing to do\.$/)
    const ids = found.entries.map((entry: Json) => entry.event_id).filter(Boolean)
    const logged = async () => {
      const feed = await key.get('/herald/v1/events?limit=1000')
      return feed.body.events.filter((event: Json) => event.data.notification_id === id).map((event: Json) => event.id)
    }
    await expect.poll(logged, { timeout: 10_000 }).toEqual(ids)
  })

  test('an address that does not exist; the reply is shown to the service and stored sealed', async () => {
    relay.state.mode = { rcpt: { code: 550, words: '5.1.1 <canary@elsewhere.example>: User unknown' } }
    const id = await sendEmail()
    const found = await readAt('permanent-failure', id)
    relay.state.mode = {}
    expect(last(found)).toMatchObject({
      ...{ kind: 'attempt', status: 'permanent-failure', reply_class: 'hard-bounce no-email' },
      reply: '550 5.1.1 <canary@elsewhere.example>: User unknown',
      text: 'The provider smtp refused it: unknown address, hard-bounce no-email.',
    })
    expect(found.sentence).toMatch(
      /^There is no such address at the recipient's provider; tried once at .*; check the address/,
    )
    expect(found.sentence).not.toContain('canary')
    const { sql } = here.parts.db
    const stored = [
      await sql`select t::text as row from events t`,
      await sql`select t::text as row from states t`,
      await sql`select t::text as row from notifications t`,
    ]
    for (const rows of stored) {
      expect(rows.length).toBeGreaterThan(0)
      expect(JSON.stringify(rows)).not.toMatch(/canary|jo@example/)
      // As bytes, in case the text is there but not sealed.
      for (const word of ['canary', 'jo@example'])
        expect(JSON.stringify(rows)).not.toContain(Buffer.from(word).toString('hex'))
    }
  })

  test('deferred several times, then delivered', async () => {
    relay.state.mode = { rcpt: { code: 452, words: '4.2.2 Mailbox full' } }
    const id = await sendEmail()
    const tries = async () => {
      await hurry()
      return attemptsOf(id)
    }
    await expect.poll(tries, { interval: 50, timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    const waiting = await read(id)
    expect(waiting.sentence).toMatch(
      /^Mailbox full at the recipient's provider; tried \d+ times until .* UTC; next try (at .* UTC|soon); nothing to do\.$/,
    )
    expect(last(waiting)).toMatchObject({
      event_type: 'notification.deferred',
      reply: '452 4.2.2 Mailbox full',
      status: null,
    })
    expect(Date.parse(last(waiting).next_try_at)).toBeGreaterThan(Date.parse(last(waiting).at))
    expect(last(waiting).text).toMatch(/^The provider smtp did not take it: mailbox full, 452 4\.2\.2; next try at /)
    relay.state.mode = {}
    await expect
      .poll(async () => [await hurry(), (await read(id)).message.status][1], { timeout: 10_000 })
      .toBe('delivered')
    const found = await read(id)
    expect(new Set(kinds(found).slice(1))).toEqual(new Set(['attempt']))
    expect(kinds(found)).toHaveLength(found.message.attempts + 1)
    expect(statuses(found)).toEqual(['created', 'delivered'])
    const moments = found.entries.map((entry: Json) => entry.at)
    expect([...moments].sort()).toEqual(moments)
  })

  test('an answer that was lost', async () => {
    let asked = 0
    carrier.answer(() => (++asked === 1 ? { status: 500, body: 'oops' } : accepted()))
    const id = await sendText()
    await expect
      .poll(async () => [await hurry(), (await read(id)).message.status][1], { timeout: 10_000 })
      .toBe('sending')
    carrier.answer(accepted)
    const found = await read(id)
    expect(kinds(found)).toEqual(['accepted', 'uncertain', 'attempt'])
    expect(found.entries[1].text).toMatch(/^The provider http may have taken it, but its answer was lost: /)
    expect(found.sentence).toMatch(
      /^Accepted by the provider http at .*; an earlier attempt may have arrived as well, /,
    )
  })

  test('a file with a virus', async () => {
    scanner.state.mode = 'hang-up'
    const file = { file: Buffer.from(EICAR).toString('base64'), filename: 'a.txt', sending_method: 'attach' }
    const id = await sendEmail({ personalisation: { name: 'Jo', doc: file } })
    expect((await read(id)).sentence).toMatch(/^Its files wait for the virus scanner; /)
    scanner.state.mode = 'ok'
    await expect
      .poll(async () => [await hurry(), (await read(id)).message.status][1], { timeout: 15_000 })
      .toBe('virus-scan-failed')
    const found = await read(id)
    expect(found.entries[0].status).toBe('pending-virus-check')
    expect(last(found)).toMatchObject({ kind: 'scan', text: 'The virus scanner found a virus in one of its files.' })
    expect(found.sentence).toBe(
      'A virus was found in one of its files; the message was not sent; remove the file and send again.',
    )
  })

  test('scheduled, then cancelled', async () => {
    const id = await sendEmail({ scheduled_for: inMinutes(60) })
    const before = await read(id)
    expect(before.sentence).toMatch(/^Scheduled for .* UTC; nothing was sent yet; it can be cancelled until then\.$/)
    expect(before.entries[0].text).toMatch(/; scheduled for .* UTC\.$/)
    expect((await key.delete(`${LIST}/${id}`)).status).toBe(200)
    expect((await key.get(`${LIST}/${id}`)).status).toBe(404)
    const found = await read(id)
    expect(kinds(found)).toEqual(['accepted', 'cancelled'])
    expect(last(found)).toMatchObject({
      ...{ status: 'cancelled', event_type: 'notification.cancelled' },
      text: 'Cancelled by the key "website"; it was not sent.',
    })
    expect(found.sentence).toMatch(/^Cancelled by the key "website" at .*; it was not sent; /)
  })

  test('a test key', async () => {
    const testKey = await service.key({ type: 'test', name: 'trial run' })
    const found = await readAt('delivered', await sendEmail({}, testKey), testKey)
    expect(found.entries[0].text).toContain('the key "trial run" (test key)')
    expect(last(found).text).toBe('Simulated as delivered; nothing was sent.')
    expect(found.sentence).toMatch(/^Made with a test key, so nothing was sent/)
  })

  test('a row of a job', async () => {
    const rows = [['email address', 'name'], ...['a', 'b'].map(name => [`${name}@example.net`, name])]
    const made = await key.post(`${LIST}/bulk`, { name: 'November', template_id: template, rows })
    const sent = async () => (await key.get(`${LIST}?include_jobs=true`)).body.notifications
    const ofRow = async () => (await sent()).find((one: Json) => one.email_address === 'b@example.net')?.id
    await expect.poll(ofRow, { timeout: 10_000 }).toBeDefined()
    const found = await readAt('delivered', await ofRow())
    expect(found.message.job_id).toBe(made.body.data.id)
    expect(found.entries[0].text).toBe(
      'Made from row 2 of the job "November", accepted from the key "website" (live key); template "A template", version 1.',
    )
  })

  test('posts to webhooks stand between the events', async () => {
    const { sql } = here.parts.db
    const id = await sendText()
    const { entries } = await readAt('sending', id)
    const event = entries.at(-1).event_id
    const [webhook, other] = [randomUUID(), randomUUID()]
    for (const [one, keyType] of [
      [webhook, 'normal'],
      [other, 'team'],
    ])
      await sql`
        insert into webhooks (id, service_id, key_type, format, sealed, stamp, seq, n, state)
        values (${one}, ${service.id}, ${keyType}, 'standard', 'x', 0, 0, -1, 'paused')`
    const attempt = (of: string, status: number | null, error: string | null, took: number[], events: string[]) => sql`
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error)
      select ${here.parts.ids.next()}, ${of}, clock_timestamp(), ${events}::uuid[], stamp, ${took}, ${status}, ${error}
      from events
      where id = ${`${event.slice(0, -4)}0000`}`
    await attempt(webhook, null, 'timeout', [10_000], [randomUUID(), event])
    await attempt(webhook, 204, null, [7, 8], [randomUUID(), event])
    await attempt(webhook, 200, null, [3], [randomUUID()])
    await attempt(other, 200, null, [3], [event])
    await receipt(id, 'delivered')
    const found = await readAt('delivered', id)
    expect(kinds(found)).toEqual(['accepted', 'attempt', 'webhook', 'webhook', 'receipt'])
    expect(found.entries[2]).toMatchObject({
      webhook_id: webhook,
      event_id: null,
      status_code: null,
      latency_ms: 10_000,
    })
    expect(found.entries[2].text).toBe(
      `notification.sending (${event}) was posted to the webhook ${webhook}: timeout after 10000 ms.`,
    )
    expect(found.entries[3]).toMatchObject({ status_code: 204, latency_ms: 8 })
    await sql`delete from webhooks where id = any (${[webhook, other]}::uuid[])`
  })
})

test('what a webhook received is in the timeline, with the same ids', async () => {
  const receiver = await startHttpPeer(() => ({ status: 202, body: 'thanks' }))
  const manager = await service.key({ manageWebhooks: true })
  const made = await manager.post('/herald/v1/webhooks', { url: receiver.url })
  expect(made.status, made.text).toBe(201)
  const id = await sendEmail()
  const posted = async () => (await read(id)).entries.filter((entry: Json) => entry.kind === 'webhook')
  await expect.poll(posted, { timeout: 15_000 }).toHaveLength(1)
  const found = await read(id)
  expect(last(found)).toMatchObject({ webhook_id: made.body.id, status_code: 202, latency_ms: expect.any(Number) })
  const event = found.entries.find((entry: Json) => entry.event_id)?.event_id
  expect(receiver.requests.map(request => JSON.parse(request.body).id)).toContain(event)
  expect(last(found).text).toContain(`(${event})`)
  await manager.delete(`/herald/v1/webhooks/${made.body.id}`)
  await receiver.stop()
})

describe('who may read it', () => {
  test('any key of the service, and no other', async () => {
    const id = await sendEmail()
    const team = await service.key({ type: 'team' })
    expect((await read(id, team)).message.id).toBe(id)
    const stranger = await (await here.service()).key()
    const refused = await stranger.get(timeline(id))
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 404,
      body: { errors: [{ error: 'NoResultFound', message: 'No result found' }], status_code: 404 },
    })
    expect((await stranger.get(timeline(randomUUID()))).text).toBe(refused.text)
    expect((await call(here.address, 'GET', timeline(id))).status).toBe(401)
    const malformed = await key.get(timeline('nothing'))
    expect(malformed.body).toEqual({
      errors: [{ error: 'ValidationError', message: 'notification_id is not a valid UUID' }],
      status_code: 400,
    })
  })

  test('not after the retention period', async () => {
    const short = await here.service({ email_retention_days: 1 })
    const shortKey = await short.key()
    const id = await sendEmail({ template_id: await emailTemplate(shortKey) }, shortKey)
    await readAt('delivered', id, shortKey)
    here.moveClock(86_400_000)
    try {
      expect((await shortKey.get(timeline(id))).status).toBe(404)
    } finally {
      here.moveClock(-86_400_000)
    }
  })
})

describe('on the command line', () => {
  const herald = async (...argv: string[]) => {
    const said = { out: '', err: '' }
    const streams = {
      out(words: string) {
        said.out += words
      },
      err(words: string) {
        said.err += words
      },
    }
    return { code: await run(argv, streams, () => here.config), ...said }
  }

  test('message show prints facts, the sentence and every step in 80 columns', async () => {
    relay.state.mode = { rcpt: { code: 550, words: `5.1.1 User unknown, ${'words '.repeat(30)}` } }
    const id = await sendEmail()
    const { sentence } = await readAt('permanent-failure', id)
    relay.state.mode = {}
    const { out, code } = await herald('message', 'show', id)
    expect(code).toBe(0)
    const [facts = '', words = '', steps = ''] = out.split('\n\n')
    expect(facts).toMatch(/^status +permanent-failure \(No such address\)$/m)
    expect(words.replaceAll('\n', ' ')).toBe(sentence)
    expect(steps).toMatch(
      /^Timeline \(UTC\)\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}accepted {3}Accepted from the key "website"/,
    )
    expect(steps).toMatch(/^ +reply: 550 5\.1\.1 User unknown/m)
    expect(Math.max(...`${words}\n${steps}`.split('\n').map(line => line.length))).toBeLessThanOrEqual(80)
    const data = JSON.parse((await herald('message', 'show', id, '--json')).out)
    expect(data).toMatchObject({ message: { id, status: 'permanent-failure' }, sentence, omitted: 0 })
    expect(data.entries).toHaveLength(2)
  })
})

describe('of many events', () => {
  /** A message that was deferred this often, and as much about other messages. */
  async function deferred(times: number): Promise<Id> {
    const id = await sendEmail({ scheduled_for: inMinutes(60) })
    const { sql } = here.parts.db
    await sql`
      with moments as (
        select clock_timestamp() - make_interval(secs => ${times}::integer - n) as at, n from generate_series(1, ${times}::integer) n
      ),
      written as (
        insert into events (id, stamp, service_id, key_type, channel, type, at, subjects, cause, provider, detail, took, delays)
        select event_group(m.at), 1, ${service.id}::uuid, 'normal', 'email', 'notification.deferred', m.at,
               case when o = 1 then array[gen_random_uuid(), ${id}::uuid] else array[gen_random_uuid()] end, 'attempt', 'smtp', '451',
               array[1, m.n], array[1, 60]
        from moments m, generate_series(1, 10) o
      )
      update states
      set logged = array(select at from moments order by at),
          attempts = ${times}
      where id = ${id}`
    return id
  }

  test('the newest 200 are shown, the others are counted', async () => {
    const id = await deferred(500)
    const found = await read(id)
    expect(found.omitted).toBe(300)
    expect(kinds(found).slice(0, 3)).toEqual(['accepted', 'omitted', 'attempt'])
    expect(found.entries).toHaveLength(202)
    expect(found.entries[1].text).toBe('300 earlier events are not shown.')
    expect(found.entries.slice(2).map((entry: Json) => entry.latency_ms)).toEqual(
      Array.from({ length: 200 }, (_, n) => 301 + n),
    )
    expect(last(found).event_id).toMatch(/0001$/)
  })

  test('their cost depends on the message, not on the log', async () => {
    const { db } = here.parts
    const id = await deferred(5)
    const [state] = await db.sql<{ logged: string[] }>`select logged::text[] from states where id = ${id}`
    const measure = () => explained(db, sql => ofMessage(sql, id, state?.logged ?? []))
    const before = await measure()
    await db.sql`
      insert into events (id, stamp, service_id, key_type, channel, type, at, subjects, cause)
      select event_group(at), 1, ${service.id}::uuid, 'normal', 'email', 'notification.delivered', at,
             array(select gen_random_uuid() from generate_series(1, 20)), 'attempt'
      from (select now() - make_interval(secs => n / 3000.0) as at from generate_series(1, 30000) n) moments`
    const after = await measure()
    expect([before.rows, after.rows]).toEqual([5, 5])
    expect(after.buffers).toBeLessThanOrEqual(before.buffers * 1.5 + 16)
    expect(after.buffers).toBeLessThan(100)
  })
})

test('held and captured messages are not said to be delivered', async () => {
  const quiet = await world({}, { engine: true })
  const quietKey = await (await quiet.service()).key()
  const template_id = await emailTemplate(quietKey)
  const captured = await readAt('delivered', await sendEmail({ template_id }, quietKey), quietKey)
  expect(last(captured).text).toBe('Kept in the inbox; nothing was sent.')
  expect(captured.sentence).toMatch(/^Kept in the inbox of Herald and not delivered to anyone; /)
  await holdSending(quiet.parts.db.sql, 'asked', IDENTITY_TABLES)
  await quiet.parts.db.sql`select pg_sleep(0.2)`
  const held = await read(await sendEmail({ template_id, scheduled_for: inMinutes(60) }, quietKey), quietKey)
  expect(held.sentence).toMatch(/^Scheduled for/)
  await quiet.parts.db.sql`update notifications set scheduled_for = null where id = ${held.message.id}`
  expect((await read(held.message.id, quietKey)).sentence).toMatch(/^Sending is held by the operator/)
})

test.each([
  [
    'created',
    'technical-failure',
    null,
    'It could not be sent within 72 hours; send again if it is still needed.',
    'Given up: not sent within 72 hours.',
  ],
  [
    'pending-virus-check',
    'technical-failure',
    'The virus scan gave no verdict within 72 hours',
    'The virus scanner gave no result for the files; ask the operator to check the scanner, then send again.',
    'Given up: its files were not scanned within 72 hours.',
  ],
  [
    // Its receipt came, and the process that had sent it ended before it recorded that.
    'pending',
    'temporary-failure',
    null,
    'Accepted by the provider smtp; no receipt came within 72 hours, so nobody knows whether it arrived; ask the recipient before you send again.',
    'Given up: no receipt within 72 hours.',
  ],
])(
  'a message that stays %s and has no sent_at ends after 72 hours, with a reason',
  async (status, end, response, sentence, text) => {
    const { sql } = here.parts.db
    const id = await sendEmail({ scheduled_for: inMinutes(60) })
    const provider = status === 'pending' ? 'smtp' : null
    const overdueIn = async (hours: number) => {
      await sql`
      update states
      set status = ${status}, provider = ${provider}, scheduled_for = now() - make_interval(hours => ${hours})
      where id = ${id}`
      await sql`update notifications set scheduled_for = now() - make_interval(hours => ${hours}) where id = ${id}`
      const clock = { ...here.parts.clock, micros: () => here.parts.clock.micros() + 4 * 86_400_000_000 }
      for await (const _ of endOverdueMessages({ ...here.parts, clock }));
    }
    await overdueIn(71)
    expect((await read(id)).message.status).toBe(status)

    await overdueIn(73)
    const found = await read(id)
    expect([found.message.status, found.sentence]).toEqual([end, sentence])
    expect(found.entries.at(-1)).toMatchObject({ kind: 'expired', text, status: end, reply: response })
    const got = (await key.get(`/v2/notifications/${id}`)).body
    expect(got).toMatchObject({ status: end, provider_response: response, completed_at: expect.any(String) })
  },
)
