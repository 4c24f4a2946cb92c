// Input of providers is cleaned where it enters: a reference, a reply or a receipt with NUL, control characters, lone surrogates
// or of any length becomes text that can be stored and shown. One part for each adapter.
import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { createHttpSms } from '../../src/providers/http/send.ts'
import type { Outcome, Receipt } from '../../src/providers/port.ts'
import { readNotification } from '../../src/providers/ses/receipts.ts'
import { createSes } from '../../src/providers/ses/send.ts'
import { createSmpp } from '../../src/providers/smpp/send.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { createTwilio } from '../../src/providers/twilio/send.ts'
import { message } from '../conformance/email-provider.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { startHttpPeer } from '../support/http-peer.ts'
import { startSmppServer } from '../support/smpp-server.ts'
import { scene, scriptedServer } from '../support/smtp-server.ts'
import { providerWorld, relay, smtpSettingsFor } from '../support/smtp-settings.ts'
import { httpFor, smppFor, twilioFor } from '../support/text-providers.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Hostile text around a recognisable word. */
const HOSTILE: readonly [string, string][] = [
  ['NUL', 'ref\u0000-1'],
  ['other control characters', 'ref\u0001\u001b\u0085\u200b\u202e-1'],
  ['lone surrogates', 'ref\ud800\udc00\ud800-1\udfff'],
  ['5,000 characters', `ref-1${'x'.repeat(5_000)}`],
]
const hostile = describe.each(HOSTILE)

const isClean = (text: string | null, longest: number) =>
  text === null || (!/[\p{C}\ufffd]/u.test(text) && text.isWellFormed() && text.length <= longest)

function expectClean(outcome: Outcome) {
  const text = outcome.kind === 'accepted' ? outcome.ref : outcome.detail
  expect(isClean(text, outcome.kind === 'accepted' ? 200 : 500)).toBe(true)
  expect(text).not.toBe('')
}

function expectCleanReceipts(receipts: readonly Receipt[]) {
  for (const { ref, eventId, detail, response, at } of receipts) {
    expect([ref, eventId].map(text => text !== '' && isClean(text, 200))).toEqual([true, true])
    expect([detail, response].map(text => isClean(text, 500))).toEqual([true, true])
    expect(at === null || Number.isFinite(at)).toBe(true)
  }
}

hostile('http: %s', (_name, words) => {
  async function made(status: number, body: string) {
    const api = await startHttpPeer(() => ({ status, body }))
    const provider = createHttpSms(httpFor(api.url), recordedWorld().world)
    ends.push(api.stop, provider.stop)
    return provider
  }

  test('the reference of an answer', async () => {
    const provider = await made(200, JSON.stringify({ messages: [{ id: words }] }))
    const outcome = await provider.send(textMessage())
    expect(outcome.kind).toBe('accepted')
    expectClean(outcome)
  })

  test('the words of a refusal', async () => {
    const outcome = await (await made(422, JSON.stringify({ error: words }))).send(textMessage())
    expect(outcome.kind).toBe('rejected')
    expectClean(outcome)
  })

  test('a receipt names the message as the answer did', async () => {
    const provider = await made(200, JSON.stringify({ messages: [{ id: words }] }))
    const outcome = await provider.send(textMessage())
    const body = Buffer.from(JSON.stringify({ id: words, status: 'delivered', event_id: words, time: 1e300 }))
    const at = String(Date.UTC(2026, 10, 15, 5) / 1000)
    const signature = createHmac('sha256', 'shared-secret-of-32-characters-at-least').update(`${at}.`).update(body)
    const headers = { 'x-signature': signature.digest('hex'), 'x-timestamp': at }
    const read = await provider.webhook?.read({ url: '/receipts/http', headers, body })
    if (!read?.ok) return expect.fail('refused')
    expect(read.receipts.map(one => one.ref)).toEqual([outcome.kind === 'accepted' && outcome.ref])
    expectCleanReceipts(read.receipts)
  })
})

hostile('twilio: %s', (_name, words) => {
  async function answer(status: number, body: object) {
    const api = await startHttpPeer(() => ({ status, body: JSON.stringify(body) }))
    const provider = createTwilio(twilioFor(api.url), recordedWorld().world)
    ends.push(api.stop, provider.stop)
    return provider.send(textMessage())
  }
  test('the id of an answer', async () => {
    // Twilio's ids are letters and digits: any other answer is not Twilio's, and the message may have been accepted.
    expect(await answer(201, { sid: words })).toMatchObject({ kind: 'deferred', uncertain: true })
  })
  test('the words of a refusal', async () => {
    const outcome = await answer(400, { code: 99999, message: words })
    expect(outcome.kind).toBe('rejected')
    expectClean(outcome)
  })
})

hostile('smpp: %s', (_name, words) => {
  async function made() {
    const smsc = await startSmppServer()
    const recorded = recordedWorld()
    const provider = createSmpp(smppFor(smsc.port), recorded.world)
    ends.push(smsc.stop, provider.stop)
    await provider.probe()
    return { smsc, provider, ...recorded }
  }
  test('the id of an answer', async () => {
    const { smsc, provider } = await made()
    smsc.ids(() => words)
    const outcome = await provider.send(textMessage())
    expect(outcome.kind).toBe('accepted')
    expectClean(outcome)
  })
  test('a receipt, by its text and by its parameters', async () => {
    const { smsc, receipts } = await made()
    const text = `id:${words} sub:001 dlvrd:001 done date:2611150500 stat:DELIVRD err:000`
    const octets = Buffer.from(text).subarray(0, 254)
    // The default alphabet, ASCII, ISO 8859-1, binary, and one that is reserved (SMPP 3.4, 5.2.19).
    const codings = [0, 1, 3, 4, 15]
    for (const data_coding of codings) smsc.deliver({ esm_class: 0x04, data_coding, short_message: octets })
    smsc.deliver({ esm_class: 0x04, message_payload: { message: octets } })
    smsc.deliver({ esm_class: 0x04, receipted_message_id: words.slice(0, 60), message_state: 2, short_message: '' })
    const count = codings.length + 2
    await expect.poll(() => smsc.answers.length).toBe(count)
    expect(smsc.answers.map(one => one.status)).toEqual(Array(count).fill(0))
    expectCleanReceipts(receipts)
  })
})

hostile('smtp and ses: %s', (_name, words) => {
  async function serve(replies: Parameters<typeof scene>[0]) {
    const server = await scriptedServer(scene(replies))
    ends.push(server.stop)
    return server.port
  }
  const utf8 = Buffer.from(words).toString('utf8').slice(0, 900)

  test('smtp: the words of a refusal', async () => {
    const port = await serve({ rcpt: `550 5.1.1 ${utf8}` })
    const provider = createSmtp(smtpSettingsFor(port), providerWorld().world)
    ends.push(provider.stop)
    const outcome = await provider.send(message())
    expect(outcome.kind).toBe('rejected')
    expectClean(outcome)
  })

  test('ses: the id of an answer', async () => {
    const port = await serve({ end: `250 Ok ${utf8}0102018f5e1b2c3d` })
    const pool = { relay: relay(port), connections: 1, messagesPerConnection: 100, idleSeconds: 5 }
    const settings = { pool, perSecond: null, dkim: null, configurationSet: null, topics: [] }
    const provider = createSes(settings, providerWorld().world)
    ends.push(provider.stop)
    const outcome = await provider.send(message())
    // Not an id of SES: the message may have been accepted.
    expect(outcome).toMatchObject({ kind: 'deferred', uncertain: true })
    expectClean(outcome)
  })

  test('ses: a receipt', () => {
    const mail = { messageId: '0102018f5e1b2c3d-0a1b2c3d' }
    const about = { feedbackId: words, timestamp: '2026-06-15T12:30:07.123Z' }
    for (const news of [
      { notificationType: 'Bounce', mail, bounce: { ...about, bounceType: words, bounceSubType: words } },
      { notificationType: 'Complaint', mail, complaint: { ...about, complaintFeedbackType: words } },
      { eventType: 'DeliveryDelay', mail, deliveryDelay: { ...about, delayType: words } },
      { eventType: 'Reject', mail, reject: { reason: words } },
      { eventType: 'Delivery', mail, delivery: { timestamp: words } },
    ]) {
      const receipts = readNotification(JSON.stringify(news)) ?? []
      expect(receipts).toHaveLength(1)
      expectCleanReceipts(receipts)
    }
    expect(readNotification(JSON.stringify({ eventType: 'Delivery', mail: { messageId: words } })) ?? []).toEqual(
      /^[\w.-]{1,200}$/.test(words) ? expect.any(Array) : [],
    )
  })
})
