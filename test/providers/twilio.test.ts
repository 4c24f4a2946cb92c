// The Twilio adapter: its requests, the meaning of answers, and which callbacks are trusted. Signatures are made and checked by
// Twilio's own package, which the product does not use.
import twilio from 'twilio'
import { afterEach, describe, expect, test } from 'vitest'
import type { WebhookEndpoint } from '../../src/providers/port.ts'
import { createTwilio, type TwilioSettings } from '../../src/providers/twilio/send.ts'
import { type TwilioConfig, twilioSettings } from '../../src/providers/twilio/settings.ts'
import { isSigned, sign } from '../../src/providers/twilio/signature.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { type Given, startHttpPeer } from '../support/http-peer.ts'
import { twilioFor } from '../support/text-providers.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function peer(given: Given = { status: 201, body: '{"sid":"SM1"}' }, some: Partial<TwilioSettings> = {}) {
  const api = await startHttpPeer(() => given)
  ends.push(api.stop)
  const provider = createTwilio(twilioFor(api.url, some), recordedWorld().world)
  return { api, provider }
}

describe('requests', () => {
  test('a form, with basic authentication and the callback address', async () => {
    const { api, provider } = await peer()

    expect(await provider.send(textMessage({ from: '+16135550100', text: 'Hi & bye' }))).toEqual({
      kind: 'accepted',
      ref: 'SM1',
    })

    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = api.requests
    expect([method, url]).toEqual(['POST', '/2010-04-01/Accounts/AC0123456789/Messages.json'])
    expect(headers.authorization).toBe(`Basic ${Buffer.from('AC0123456789:secret-token').toString('base64')}`)
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      To: '+16135550123',
      From: '+16135550100',
      Body: 'Hi & bye',
      StatusCallback: 'https://notify.example.org/receipts/twilio',
    })
  })

  test('without a sender of its own a message uses the messaging service', async () => {
    const { api, provider } = await peer(undefined, { messagingService: 'MG1', sender: '999', callbackUrl: null })
    await provider.send(textMessage({ from: null }))
    expect(Object.fromEntries(new URLSearchParams(api.requests[0]?.body))).toEqual({
      To: '+16135550123',
      Body: 'Your code is 4711',
      MessagingServiceSid: 'MG1',
    })
    expect(provider.reports).toBe(false)
    expect(provider.webhook).toBe(undefined)
  })

  test('a redirect is not followed', async () => {
    const { api, provider } = await peer()
    api.mode('redirect')
    expect(await provider.send(textMessage())).toMatchObject({ kind: 'deferred', down: true })
    expect(api.requests.length).toBe(1)
  })

  test('the probe requests the account and sends nothing', async () => {
    const { api, provider } = await peer({ status: 200, body: '{}' })
    expect(await provider.probe()).toEqual({ ok: true })
    expect(api.requests).toMatchObject([{ method: 'GET', url: '/2010-04-01/Accounts/AC0123456789.json' }])
    api.answer(() => ({ status: 401, body: '{}' }))
    expect(await provider.probe()).toEqual({ ok: false, detail: 'answered 401' })
  })
})

describe('answers', () => {
  const error = (code: number, message = 'The number +16135550123 is wrong') => JSON.stringify({ code, message })
  test.each([
    [400, error(21211), { kind: 'rejected', detail: 'Invalid phone number (21211)' }],
    [400, error(21614), { kind: 'rejected', detail: 'Not a mobile phone number (21614)' }],
    [400, error(21610), { kind: 'rejected', detail: 'Phone number is opted out' }],
    [403, error(21610), { kind: 'rejected', detail: 'Phone number is opted out' }],
    [400, error(21408), { kind: 'rejected', detail: 'Region is not enabled (21408)' }],
    [400, error(29999), { kind: 'rejected', detail: 'The number … is wrong (29999)' }],
    [400, 'no JSON', { kind: 'rejected', detail: 'Refused (400)' }],
    [401, error(20003), { kind: 'deferred', detail: 'Credentials refused (20003)', down: true }],
    [404, '{}', { kind: 'deferred', detail: 'Provider answered 404', down: true }],
    [429, error(20429), { kind: 'deferred', detail: 'Too many requests (20429)', retryAfterSeconds: 3 }],
    [429, error(21211), { kind: 'deferred', detail: 'Provider answered 429', retryAfterSeconds: 3 }],
    [400, error(21611), { kind: 'deferred', detail: 'Queue of the sender is full (21611)' }],
    [408, '{}', { kind: 'deferred', detail: 'Provider answered 408', uncertain: true }],
    [500, '{}', { kind: 'deferred', detail: 'Provider answered 500', retryAfterSeconds: 3, uncertain: true }],
    [
      502,
      '{}',
      { kind: 'deferred', detail: 'Provider answered 502', retryAfterSeconds: 3, down: true, uncertain: true },
    ],
    [
      503,
      '{}',
      { kind: 'deferred', detail: 'Provider answered 503', retryAfterSeconds: 3, down: true, uncertain: true },
    ],
    [504, '', { kind: 'deferred', detail: 'Provider answered 504', retryAfterSeconds: 3, down: true, uncertain: true }],
    [201, '<html>', { kind: 'deferred', detail: 'The answer has no message id', uncertain: true }],
    [201, '{"sid":"bad id\\n"}', { kind: 'deferred', detail: 'The answer has no message id', uncertain: true }],
  ])('%i %s', async (status, body, outcome) => {
    const headers: Record<string, string> = status === 429 || status >= 500 ? { 'retry-after': '3' } : {}
    const { provider } = await peer({ status, body, headers })
    expect(await provider.send(textMessage())).toEqual(outcome)
  })

  test('Retry-After as a date', async () => {
    const headers = { 'retry-after': new Date(Date.UTC(2026, 10, 15, 5, 1)).toUTCString() }
    const { provider } = await peer({ status: 503, body: '', headers })
    expect(await provider.send(textMessage())).toMatchObject({ retryAfterSeconds: 60 })
  })

  test('a refused connection is down, and certainly not sent', async () => {
    const { api, provider } = await peer()
    await api.stop()
    expect(await provider.send(textMessage())).toMatchObject({
      kind: 'deferred',
      detail: 'request failed: ECONNREFUSED',
      down: true,
    })
    const odd = createTwilio(twilioFor('http://127.0.0.1:1'), recordedWorld().world)
    expect(await odd.send(textMessage())).toMatchObject({
      kind: 'deferred',
      detail: 'request failed: ERR_INVALID_PORT',
      down: true,
    })
  })

  test('S-25: a long reason is cut and has no line breaks', async () => {
    const message = `a\r\nb\u202e${'x'.repeat(5_000)}`
    const { provider } = await peer({ status: 400, body: JSON.stringify({ code: 1, message }) })
    const outcome = await provider.send(textMessage())
    expect(outcome.kind === 'rejected' && outcome.detail).toMatch(/^a b x{496}$/)
  })
})

describe('the webhook', () => {
  const callbackUrl = 'https://notify.example.org/receipts/twilio'
  const fields = { AccountSid: 'AC0123456789', MessageSid: 'SM1', MessageStatus: 'delivered', To: '+16135550123' }
  const webhookOf = (some: Partial<TwilioSettings> = {}): WebhookEndpoint => {
    const { webhook } = createTwilio(twilioFor('http://127.0.0.1:1', some), recordedWorld().world)
    if (!webhook) throw new Error('no webhook')
    return webhook
  }
  const theirs = (url: string, form: Record<string, string>) =>
    twilio.getExpectedTwilioSignature('secret-token', url, form)
  const call = (form: Record<string, string>, signature = theirs(callbackUrl, form), webhook = webhookOf()) =>
    webhook.read({
      url: 'http://evil.example/receipts/twilio',
      headers: { 'x-twilio-signature': signature, host: 'evil.example' },
      body: Buffer.from(new URLSearchParams(form).toString()),
    })

  test('our signature equals that of the twilio package, and each verifies the other', () => {
    const forms: Record<string, string>[] = [
      fields,
      {},
      { B: 'ü €', a: '1', A: '2', 'x[]': '&=' },
      { Z: '', Body: '🙂' },
    ]
    for (const form of forms)
      for (const url of [callbackUrl, 'https://a.example:8443/x?y=1', 'http://127.0.0.1:8080/r']) {
        const ours = sign('secret-token', url, new URLSearchParams(form))
        expect(ours).toBe(theirs(url, form))
        expect(twilio.validateRequest('secret-token', ours, url, form)).toBe(true)
        expect(isSigned(ours, 'secret-token', url, new URLSearchParams(form))).toBe(true)
        expect(isSigned(ours, 'other-token', url, new URLSearchParams(form))).toBe(false)
      }
  })

  test('the address may be signed with or without its port', async () => {
    expect(await call(fields, theirs('https://notify.example.org:443/receipts/twilio', fields))).toMatchObject({
      ok: true,
    })
    const webhook = webhookOf({ callbackUrl: 'https://notify.example.org:8443/receipts/twilio' })
    expect(await call(fields, theirs(callbackUrl, fields), webhook)).toMatchObject({ ok: true })
  })

  test.each([
    ['delivered', '', 'delivered', null, null],
    ['read', '', 'delivered', null, null],
    ['sent', '', 'pending', null, null],
    ['undelivered', '30003', 'temporary-failure', 'phone unreachable', null],
    ['undelivered', '30004', 'permanent-failure', 'blocked', null],
    ['undelivered', '30005', 'permanent-failure', 'invalid number', null],
    ['undelivered', '30006', 'permanent-failure', 'invalid number', null],
    ['undelivered', '30007', 'permanent-failure', 'blocked', null],
    ['undelivered', '30008', 'permanent-failure', 'unknown error', null],
    ['undelivered', '30010', 'temporary-failure', 'price cap exceeded', null],
    ['failed', '30036', 'temporary-failure', 'expired', null],
    ['failed', '21610', 'technical-failure', 'opted out', 'Phone number is opted out'],
    ['failed', '39999', 'permanent-failure', 'error 39999', null],
    ['failed', '', 'permanent-failure', 'unknown error', null],
    ['canceled', '', 'permanent-failure', 'unknown error', null],
  ])('contract 6.4: %s %s → %s', async (MessageStatus, ErrorCode, result, detail, response) => {
    const form = { ...fields, MessageStatus, ...(ErrorCode && { ErrorCode }) }
    const eventId = `SM1:${MessageStatus}${ErrorCode && `:${ErrorCode}`}`
    expect(await call(form)).toEqual({
      ok: true,
      receipts: [{ ref: 'SM1', eventId, at: null, result, detail, response }],
    })
  })

  test('callbacks without a new status are acknowledged and ignored', async () => {
    for (const MessageStatus of ['accepted', 'queued', 'sending', 'scheduled', 'receiving', 'whatever', ''])
      expect(await call({ ...fields, MessageStatus })).toEqual({ ok: true, receipts: [] })
  })

  test("the carrier's time is used where it is given", async () => {
    expect(await call({ ...fields, RawDlrDoneDate: '2611150507' })).toMatchObject({
      receipts: [{ at: Date.UTC(2026, 10, 15, 5, 7) }],
    })
  })

  test('F10: forged and malformed callbacks are refused', async () => {
    const good = theirs(callbackUrl, fields)
    expect(await call({ ...fields, MessageStatus: 'failed' }, good)).toMatchObject({ ok: false, status: 401 })
    expect(await call(fields, '')).toMatchObject({ ok: false, status: 401 })
    expect(await call(fields, `${good}=`)).toMatchObject({ ok: false, status: 401 })
    expect(await call(fields, theirs('http://evil.example/receipts/twilio', fields))).toMatchObject({ status: 401 })
    expect(await call({ ...fields, AccountSid: 'AC9' })).toMatchObject({ ok: false, status: 403 })
    expect(await call({ ...fields, MessageSid: 'a b' })).toMatchObject({ ok: false, status: 400 })
    expect(await webhookOf().read({ url: '/', headers: {}, body: Buffer.alloc(0) })).toMatchObject({
      status: 401,
    })
    const huge = { url: '/', headers: { 'x-twilio-signature': good }, body: Buffer.alloc(1_000_000, 0x41) }
    expect(await webhookOf().read(huge)).toMatchObject({ status: 400 })
  })
})

test('settings', () => {
  const config: TwilioConfig = {
    baseUrl: 'https://notify.example.org',
    twilioUrl: 'https://api.twilio.com',
    twilioAccount: 'AC1',
    twilioToken: 'token',
    twilioMessagingService: null,
    twilioSender: null,
    twilioPerSecond: 0,
  }
  expect(twilioSettings(config)).toMatchObject({
    callbackUrl: 'https://notify.example.org/receipts/twilio',
    perSecond: null,
  })
  expect(twilioSettings({ ...config, baseUrl: null })?.callbackUrl).toBe(null)
  expect(twilioSettings({ ...config, twilioAccount: null, twilioToken: null })).toBe(null)
  expect(() => twilioSettings({ ...config, twilioToken: null })).toThrow(/HERALD_TWILIO_TOKEN/)
  expect(() => twilioSettings({ ...config, twilioAccount: '../x' })).toThrow(/HERALD_TWILIO_ACCOUNT/)
})
