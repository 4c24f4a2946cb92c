// From the 201 to the provider and back: each adapter against a real peer, through the whole service.
import { createHmac, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import twilio from 'twilio'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import type { Id } from '../../src/core/id.ts'
import type { Database } from '../../src/db/connect.ts'
import { historyOf } from '../../src/notifications/history.ts'
import { markHandingOver } from '../../src/notifications/sql/record.ts'
import { createReturnPaths } from '../../src/providers/smtp/verp.ts'
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts'
import { freePort } from '../support/port.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, SMS, smsTemplate } from '../support/sends.ts'
import { receiptText, startSmppServer } from '../support/smpp-server.ts'
import { smtpServer } from '../support/smtp-server.ts'
import { call, world } from '../support/world.ts'

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

async function running(env: Record<string, string>) {
  const here = await world(env, { engine: true })
  const service = await here.service({ name: `Permits ${randomUUID().slice(0, 8)}` })
  await service.addSender('PERMITS')
  await service.addReplyTo('office@example.org')
  return { here, key: await service.key() }
}

const statusOf = async (key: Key, id: string) => (await key.get(`/v2/notifications/${id}`)).body
const becomes = (key: Key, id: string, status: string) =>
  expect.poll(async () => (await statusOf(key, id)).status, { interval: 10, timeout: 10_000 }).toBe(status)
const email = async (key: Key, template_id: string, email_address = 'ada@example.net') =>
  (await key.post(EMAIL, { email_address, template_id, personalisation: { name: 'Ada' } })).body.id as string
const text = async (key: Key, template_id: string, phone_number = '+16135550123') =>
  (await key.post(SMS, { phone_number, template_id, personalisation: { name: 'Ada' } })).body.id as string

describe('e-mail by SMTP', async () => {
  const relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
  ends.push(relay.stop)
  const bouncePort = await freePort()
  const { here, key } = await running({
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    HERALD_BOUNCE_DOMAIN: 'bounces.example.org',
    HERALD_BOUNCE_PORT: String(bouncePort),
  })
  const template = await emailTemplate(key)

  test('a message accepted by the relay counts as delivered; it arrives as composed', async () => {
    const id = await email(key, template)
    await becomes(key, id, 'delivered')
    const letter = relay.letters.find(one => one.raw.includes(id))
    expect(letter?.to).toEqual(['ada@example.net'])
    expect(letter?.from).toMatch(/^bounce\+[0-9a-f]{32}-[0-9a-f]{16}@bounces\.example\.org$/)
    expect(letter?.raw).toContain(`Message-ID: <${id}@herald.example>`)
    expect(letter?.raw).toContain('Reply-To: office@example.org')
    expect(letter?.raw).toContain('Subject: Dear Ada')
    expect(await statusOf(key, id)).toMatchObject({
      status_description: 'Delivered',
      provider_response: null,
      sent_at: expect.any(String),
      completed_at: expect.any(String),
    })
  })

  test('a later bounce changes the status', async () => {
    const id = await email(key, template)
    await becomes(key, id, 'delivered')
    const letter = relay.letters.find(one => one.raw.includes(id))
    const report = readFileSync('test/providers/bounces/postfix-unknown-user.eml', 'utf8')
    expect(await deliverMail(bouncePort, letter?.from ?? '', report)).toMatch(/^250/)
    await becomes(key, id, 'permanent-failure')
    expect(await statusOf(key, id)).toMatchObject({ status_description: 'No such address', provider_response: null })
    // The same report again changes nothing.
    await deliverMail(bouncePort, letter?.from ?? '', report)
    const [counted] = await here.parts.db.sql<{ n: number }>`select count(*)::integer as n from receipts`
    expect(counted?.n).toBe(1)
    // Why it bounced is kept with the message, sealed, and nowhere else.
    const kept = await historyOf(here.parts, id as Id)
    expect(kept?.diagnosis).toBe(
      'smtp; 550 5.1.1 <jo@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
    )
    expect(kept?.detail).toBe('hard-bounce no-email')
    expect(await rawState(here.parts.db, id)).not.toContain('Recipient address rejected')
    const left = await here.parts.db.sql`select id from receipts where diagnosis is not null`
    expect(left).toEqual([])
    let said = ''
    const out = (text: string) => {
      said += text
    }
    expect(await run(['message', 'show', id], { out, err: out }, () => here.config)).toBe(0)
    expect(said).toContain('permanent-failure (No such address)')
    expect(said).toMatch(/^diagnosis +smtp; 550 5\.1\.1 <jo@example\.net>: Recipient address rejected/m)
    expect(await run(['message', 'show', randomUUID()], { out, err: out }, () => here.config)).toBe(2)
    expect(JSON.stringify(await statusOf(key, id))).not.toContain('rejected')
  })

  test('a forged return path is ignored', async () => {
    const forged = `bounce+${randomUUID().replaceAll('-', '')}-0123456789abcdef@bounces.example.org`
    expect(await deliverMail(bouncePort, forged, 'x')).toMatch(/^5\d\d/)
  })

  test('6.5 a permanent refusal that is not about the recipient is a technical failure at once, with the reply', async () => {
    relay.state.mode = { mail: { code: 550, words: '5.1.8 Sender address rejected: Domain not found' } }
    const id = await email(key, template)
    await becomes(key, id, 'technical-failure')
    relay.state.mode = {}
    const read = await statusOf(key, id)
    expect(read.provider_response).toContain('Domain not found')
    expect(read).toMatchObject({ status_description: 'Tech issue', sent_at: null })
  })

  test.each([
    ['550 5.1.1 at RCPT', { rcpt: { code: 550, words: '5.1.1 no such user here' } }, 'No such address'],
    ['550 without a code at RCPT', { rcpt: { code: 550, words: 'no such user here' } }, 'No such address'],
    ['554 5.7.1 at RCPT', { rcpt: { code: 554, words: '5.7.1 no such user here' } }, 'Blocked'],
    ['552 5.3.4 after the data', { end: { code: 552, words: '5.3.4 no such user here' } }, 'No such address'],
    ['550 5.7.1 after the data', { end: { code: 550, words: '5.7.1 no such user here' } }, 'No such address'],
  ])('14.1 %s is a permanent failure at once; the reply is kept sealed', async (_name, mode, description) => {
    relay.state.mode = mode
    const id = await email(key, template)
    await becomes(key, id, 'permanent-failure')
    relay.state.mode = {}
    expect(await statusOf(key, id)).toMatchObject({
      status_description: description,
      provider_response: null,
      completed_at: expect.any(String),
    })
    const kept = await historyOf(here.parts, id as Id)
    expect(kept).toMatchObject({ attempts: 1, moves: ['created', 'sending', 'permanent-failure'] })
    expect(kept?.diagnosis).toMatch(/^\d{3} .*no such user here$/)
    expect(await rawState(here.parts.db, id)).not.toContain('no such user')
  })

  test('14.4.11 after five crashes, a message that may have been handed over ends sending, any other as a technical failure', async () => {
    const { sql } = here.parts.db
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const send = async () =>
      (
        await key.post(EMAIL, {
          email_address: 'ada@example.net',
          template_id: template,
          personalisation: { name: 'Ada' },
          scheduled_for: at,
        })
      ).body.id as Id
    const [out, kept] = [await send(), await send()]
    // As five owners left them that ended without a word: of the first a hand-over was begun.
    await markHandingOver(sql, out)
    await sql`update tickets set takes = 5, due_at = now() where id = any (${[out, kept]}::uuid[])`
    await becomes(key, out, 'sending')
    await becomes(key, kept, 'technical-failure')
    expect((await statusOf(key, kept)).provider_response).toBe('set aside after repeated faults')
    expect(await historyOf(here.parts, out)).toMatchObject({ uncertain: true, detail: null, provider: null })
    expect(relay.letters.some(one => one.raw.includes(out) || one.raw.includes(kept))).toBe(false)
    // News still counts.
    const report = readFileSync('test/providers/bounces/postfix-unknown-user.eml', 'utf8')
    const path = createReturnPaths('bounces.example.org', here.parts.secrets).of(out)
    expect(await deliverMail(bouncePort, path, report)).toMatch(/^250/)
    await becomes(key, out, 'permanent-failure')
  })

  test('14.4.11 a message whose owners have crashed three times is marked before it is handed over', async () => {
    const { sql } = here.parts.db
    const sent = await key.post(EMAIL, {
      email_address: 'ada@example.net',
      template_id: template,
      personalisation: { name: 'Ada' },
      scheduled_for: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const id = sent.body.id as Id
    let seen: unknown
    relay.state.onData = async () => {
      seen = (await historyOf(here.parts, id))?.detail
    }
    await sql`update tickets set takes = 2, due_at = now() where id = ${id}`
    await becomes(key, id, 'delivered')
    delete relay.state.onData
    expect(seen).toBe('handing over')
    expect((await historyOf(here.parts, id))?.detail).toBe(null)
  })

  test('6.5 a temporary refusal is retried, and the message arrives once', async () => {
    relay.state.mode = { rcpt: { code: 451, words: '4.7.1 greylisted, come back later' } }
    const id = await email(key, template)
    await expect
      .poll(
        async () =>
          (await here.parts.db.sql<{ attempts: number }>`select attempts from states where id = ${id}`)[0]?.attempts,
      )
      .toBe(1)
    expect((await statusOf(key, id)).status).toBe('created')
    relay.state.mode = {}
    await becomes(key, id, 'delivered')
    expect(relay.letters.filter(one => one.raw.includes(id))).toHaveLength(1)
  })

  test('retries end four hours after the first attempt, however old the message is then', async () => {
    const { sql } = here.parts.db
    relay.state.mode = { rcpt: { code: 451, words: '4.7.1 greylisted, come back later' } }
    const sent = await key.post(EMAIL, {
      email_address: 'ada@example.net',
      template_id: template,
      personalisation: { name: 'Ada' },
      scheduled_for: inMinutes(5),
    })
    const id = sent.body.id as Id
    await sql`update notifications set scheduled_for = now() - interval '5 hours' where id = ${id}`
    await sql`update states set scheduled_for = now() - interval '5 hours' where id = ${id}`
    await sql`update tickets set due_at = now() where id = ${id}`
    const tried = async () => (await sql<{ n: number }>`select attempts as n from states where id = ${id}`)[0]?.n ?? 0
    await expect.poll(tried, { timeout: 10_000 }).toBeGreaterThan(0)
    expect((await statusOf(key, id)).status).toBe('created')

    const age = () => sql`
      update tickets
      set tried_at = now() - interval '5 hours', due_at = now()
      where subjects @> array[${id}::uuid] and owner is null
      returning id`
    await expect.poll(async () => (await age()).length, { timeout: 10_000 }).toBe(1)
    await becomes(key, id, 'technical-failure')
    relay.state.mode = {}
  })

  test('a scheduled message is sent when it is due, not before, and cannot be cancelled then', async () => {
    const at = new Date(Date.now() + 1_500)
    const sent = await key.post(EMAIL, {
      email_address: 'ada@example.net',
      template_id: template,
      personalisation: { name: 'Ada' },
      scheduled_for: at.toISOString(),
    })
    await becomes(key, sent.body.id, 'delivered')
    const { sent_at } = await statusOf(key, sent.body.id)
    expect(Date.parse(sent_at)).toBeGreaterThanOrEqual(at.getTime())
    expect(await key.delete(`/v2/notifications/${sent.body.id}`)).toBeRefused(
      400,
      'BadRequestError',
      'Notification has already been sent and cannot be deleted',
    )
  })

  test('a cancelled message never reaches the relay', async () => {
    const sent = await key.post(EMAIL, {
      email_address: 'ada@example.net',
      template_id: template,
      personalisation: { name: 'Ada' },
      scheduled_for: inMinutes(5),
    })
    expect((await key.delete(`/v2/notifications/${sent.body.id}`)).body).toEqual({ result: 'success' })
    const after = await email(key, template)
    await becomes(key, after, 'delivered')
    expect(relay.letters.some(one => one.raw.includes(sent.body.id))).toBe(false)
  })

  test('the text is that of the version that was current at acceptance (S-42)', async () => {
    const own = await emailTemplate(key, 'First ((name))')
    const sent = await key.post(EMAIL, {
      email_address: 'ada@example.net',
      template_id: own,
      personalisation: { name: 'Ada' },
      scheduled_for: new Date(Date.now() + 1_200).toISOString(),
    })
    await key.patch(`/v2/manage-template/${own}`, { content: 'Second' })
    await key.delete(`/v2/manage-template/${own}`)
    await becomes(key, sent.body.id, 'delivered')
    expect(relay.letters.find(one => one.raw.includes(sent.body.id))?.raw).toContain('First Ada')
  })

  test('3.1 a test key ends delivered and never reaches the relay; failures can be simulated', async () => {
    const testKey = await (await here.service({ name: `Testers ${randomUUID()}` })).key({ type: 'test' })
    const own = await emailTemplate(testKey)
    const ids = await Promise.all(
      ['ada@example.net', 'temp-fail@simulator.notify', 'perm-fail@simulator.notify'].map(to =>
        email(testKey, own, to),
      ),
    )
    for (const [at, status] of ['delivered', 'temporary-failure', 'permanent-failure'].entries())
      await becomes(testKey, ids[at] ?? '', status)
    expect(relay.letters.some(one => ids.some(id => one.raw.includes(id)))).toBe(false)
  })
})

describe('text by SMPP', async () => {
  const smsc = await startSmppServer()
  ends.push(smsc.stop)
  const { key } = await running({
    HERALD_TEXT_PROVIDERS: 'smpp',
    HERALD_SMPP_URL: `smpp://herald:secret@127.0.0.1:${smsc.port}`,
  })
  const template = await smsTemplate(key)

  test('sending, then the status of the receipt', async () => {
    const id = await text(key, template)
    await becomes(key, id, 'sending')
    const [message] = smsc.messages.slice(-1)
    expect(message).toMatchObject({ to: '16135550123', from: 'PERMITS' })
    expect(message?.text).toMatch(/: Hi Ada$/)
    smsc.deliver(receiptText(message?.ref ?? '', 'DELIVRD'))
    await becomes(key, id, 'delivered')
  })

  test('a receipt that arrives before the answer is not lost (O3)', async () => {
    smsc.earlyReceipt(ref => receiptText(ref, 'UNDELIV', '001'))
    const id = await text(key, template)
    await becomes(key, id, 'permanent-failure')
    smsc.earlyReceipt(null)
    expect((await statusOf(key, id)).status_description).toBe('No such number')
  })

  test('14.4.16 a receipt with NUL in it counts, and so do those in the same batch', async () => {
    const ids = [await text(key, template), await text(key, template)]
    for (const id of ids) await becomes(key, id, 'sending')
    const [first, second] = smsc.messages.slice(-2).map(message => message.ref)
    // Alphabet 3, ISO 8859-1: here a NUL is a NUL.
    smsc.deliver({ ...receiptText(`\u0000${first}`, 'DELIVRD'), data_coding: 3 })
    smsc.deliver(receiptText(second ?? '', 'DELIVRD'))
    for (const id of ids) await becomes(key, id, 'delivered')
  })

  test('3.1 an international number ends sent', async () => {
    const id = await text(key, template, '+447911123456')
    await becomes(key, id, 'sent')
    expect(await statusOf(key, id)).toMatchObject({ status_description: 'Sent', completed_at: expect.any(String) })
  })
})

describe('text by a Twilio-style API', async () => {
  const peer = await apiPeer(() => ({
    status: 201,
    body: JSON.stringify({ sid: `SM${randomUUID().replaceAll('-', '')}`, status: 'queued' }),
  }))
  const { here, key } = await running({
    HERALD_TEXT_PROVIDERS: 'twilio',
    HERALD_TWILIO_URL: peer.url,
    HERALD_TWILIO_ACCOUNT: 'AC0123456789abcdef0123456789abcdef',
    HERALD_TWILIO_TOKEN: 'a-token-that-nobody-knows',
    HERALD_BASE_URL: 'https://notify.example.org',
  })
  const template = await smsTemplate(key)

  test('sent, called back with a signature made by the independent package, delivered; a forgery changes nothing', async () => {
    const id = await text(key, template)
    await becomes(key, id, 'sending')
    const [handover] = await here.parts.db.sql<{ ref: string }>`select ref from handovers where id = ${id}`
    const url = 'https://notify.example.org/receipts/twilio'
    const news = (status: string, more: Record<string, string> = {}) => ({
      MessageSid: handover?.ref ?? '',
      MessageStatus: status,
      AccountSid: 'AC0123456789abcdef0123456789abcdef',
      ...more,
    })
    const callBack = (form: Record<string, string>, signature: string) =>
      call(here.address, 'POST', '/receipts/twilio', {
        raw: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
      })
    const signed = (form: Record<string, string>) =>
      twilio.getExpectedTwilioSignature('a-token-that-nobody-knows', url, form)
    const forged = await callBack(news('failed', { ErrorCode: '30005' }), signed(news('delivered')))
    expect([401, 403]).toContain(forged.status)
    expect((await statusOf(key, id)).status).toBe('sending')
    const delivered = news('delivered')
    expect((await callBack(delivered, signed(delivered))).status).toBe(200)
    await becomes(key, id, 'delivered')
    const late = news('undelivered', { ErrorCode: '30003' })
    await callBack(late, signed(late))
    expect((await statusOf(key, id)).status).toBe('delivered')
  })

  test('opted out', async () => {
    peer.answer(() => ({ status: 400, body: JSON.stringify({ code: 21610, message: 'blacklisted', status: 400 }) }))
    const id = await text(key, template)
    await becomes(key, id, 'technical-failure')
    expect((await statusOf(key, id)).provider_response).toBe('Phone number is opted out')
  })
})

describe('text by any HTTP aggregator', async () => {
  const secret = 'shared-secret-of-32-characters-at-least'
  const peer = await apiPeer(() => ({ status: 200, body: JSON.stringify({ messages: [{ id: randomUUID() }] }) }))
  const { here, key } = await running({
    HERALD_TEXT_PROVIDERS: 'http',
    HERALD_HTTP_SMS_URL: `${peer.url}/send`,
    HERALD_HTTP_SMS_BODY: '{"to":"{to}","from":"{from}","text":"{text}","ref":"{id}"}',
    HERALD_HTTP_SMS_REF_PATH: 'messages[0].id',
    HERALD_HTTP_SMS_RECEIPT_SECRET: secret,
  })
  const template = await smsTemplate(key)

  const tell = (news: object, sign = secret) => {
    const raw = JSON.stringify(news)
    const at = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', sign).update(`${at}.${raw}`).digest('hex')
    return call(here.address, 'POST', '/receipts/http', {
      raw,
      headers: { 'content-type': 'application/json', 'x-signature': signature, 'x-timestamp': at },
    })
  }

  test('the request follows the settings; receipts count once, and only when signed', async () => {
    const id = await text(key, template)
    await becomes(key, id, 'sending')
    expect(JSON.parse(peer.requests.at(-1)?.body ?? '{}')).toMatchObject({
      to: '+16135550123',
      from: 'PERMITS',
      ref: id,
    })
    const [handover] = await here.parts.db.sql<{ ref: string }>`select ref from handovers where id = ${id}`
    const news = { id: handover?.ref, status: 'delivered', event_id: randomUUID(), time: new Date().toISOString() }
    expect((await tell(news, 'another-secret-of-32-characters-or-more')).status).toBe(401)
    expect((await statusOf(key, id)).status).toBe('sending')
    const answers = await Promise.all(Array.from({ length: 10 }, () => tell(news)))
    expect(answers.map(answer => answer.status)).toEqual(Array(10).fill(200))
    await becomes(key, id, 'delivered')
    const [moves] = await here.parts.db.sql<{ moves: string[] }>`select moves from states where id = ${id}`
    expect(moves?.moves).toEqual(['created', 'sending', 'delivered'])
  })

  test.each([408, 500, 502, 503])(
    '14.4.12 a provider that accepts a message and answers %i: the repeat is marked',
    async status => {
      let taken = 0
      peer.answer(() =>
        ++taken === 1
          ? { status, body: 'oops' }
          : { status: 200, body: JSON.stringify({ messages: [{ id: randomUUID() }] }) },
      )
      const id = await text(key, template)
      await becomes(key, id, 'sending')
      expect(taken).toBe(2)
      const [state] = await here.parts.db.sql`select attempts, uncertain from states where id = ${id}`
      expect(state).toEqual({ attempts: 2, uncertain: true })
    },
  )

  test('14.4.6 a reference with NUL and other odd characters blocks nothing, and its receipt still finds the message', async () => {
    let n = 0
    peer.answer(() => ({ status: 200, body: JSON.stringify({ messages: [{ id: `a\u0000b\ud800${++n}` }] }) }))
    const ids = await Promise.all(Array.from({ length: 10 }, () => text(key, template)))
    for (const id of ids) await becomes(key, id, 'sending')
    for (let at = 1; at <= ids.length; at++)
      await tell({ id: `a\u0000b\ud800${at}`, status: 'delivered', event_id: `\u0000${randomUUID()}` })
    for (const id of ids) await becomes(key, id, 'delivered')
    expect(n).toBe(ids.length)
  })

  test('14.3.5 a result that the database rejects for its data is recorded without it, and blocks no other', async () => {
    await here.parts.db.sql`alter table handovers add check (ref <> 'refused')`
    let n = 0
    peer.answer(() => ({
      status: 200,
      body: JSON.stringify({ messages: [{ id: ++n === 3 ? 'refused' : `ok-${n}` }] }),
    }))
    const ids = await Promise.all(Array.from({ length: 20 }, () => text(key, template)))
    for (const id of ids) await becomes(key, id, 'sending')
    expect(n).toBe(ids.length)
    const handed = await here.parts.db.sql`select id from handovers where ref like 'ok-%'`
    expect(handed).toHaveLength(ids.length - 1)
    await expect.poll(async () => (await here.parts.db.sql`select id from tickets`).length).toBe(0)
  })
})

describe('several providers', async () => {
  const relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
  ends.push(relay.stop)
  const nobody = await freePort()
  const { here, key } = await running({
    HERALD_EMAIL_PROVIDERS: 'smtp,capture',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${nobody}`,
  })

  test('when the first is down the next one takes over', async () => {
    const id = await email(key, await emailTemplate(key))
    await becomes(key, id, 'delivered')
    const [state] = await here.parts.db.sql<{
      provider: string
      attempts: number
    }>`select provider, attempts from states where id = ${id}`
    expect(state).toEqual({ provider: 'capture', attempts: 1 })
  })
})

/** What the tables hold of a message, as anybody sees it who can read them. */
async function rawState({ sql }: Database, id: string): Promise<string> {
  const rows = await sql`
    select encode(diagnosis, 'escape') as seen, to_jsonb(s) as state from states s where id = ${id}`
  return JSON.stringify(rows)
}

async function apiPeer(answer: Parameters<typeof startHttpPeer>[0]): Promise<HttpPeer> {
  const peer = await startHttpPeer(answer)
  ends.push(peer.stop)
  return peer
}

/** A mail server that delivers a report; returns the reply to the last relevant command. */
async function deliverMail(port: number, to: string, mail: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  const lines: string[] = []
  let wake = () => {}
  socket.setEncoding('utf8')
  let rest = ''
  socket.on('data', data => {
    rest += data
    const parts = rest.split('\r\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.filter(line => /^\d{3} /.test(line)))
    wake()
  })
  const reply = async () => {
    while (lines.length === 0) await new Promise<void>(done => (wake = done))
    return lines.shift() ?? ''
  }
  await reply()
  const say = (line: string) => {
    socket.write(`${line}\r\n`)
    return reply()
  }
  await say('EHLO mx.example.net')
  await say('MAIL FROM:<>')
  const taken = await say(`RCPT TO:<${to}>`)
  if (!taken.startsWith('2')) {
    socket.destroy()
    return taken
  }
  await say('DATA')
  const last = await say(`${mail.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')}\r\n.`)
  socket.destroy()
  return last
}
