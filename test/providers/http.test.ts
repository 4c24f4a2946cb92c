// The generic text provider: templates, paths, signatures.
import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { parseJson, readPath, textAt } from '../../src/providers/http/json-path.ts'
import type { WebhookSettings } from '../../src/providers/http/receipts.ts'
import { createHttpSms, type HttpSmsSettings } from '../../src/providers/http/send.ts'
import { type HttpSmsConfig, httpSmsSettings } from '../../src/providers/http/settings.ts'
import { fill, isSafeAddress } from '../../src/providers/http/template.ts'
import { smppSettings } from '../../src/providers/smpp/settings.ts'
import { twilioSettings } from '../../src/providers/twilio/settings.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { type Given, startHttpPeer } from '../support/http-peer.ts'
import { httpFor } from '../support/text-providers.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function peer(given: Given, some: (url: string) => Partial<HttpSmsSettings> = () => ({})) {
  const api = await startHttpPeer(() => given)
  ends.push(api.stop)
  const recorded = recordedWorld()
  const provider = createHttpSms(httpFor(api.url, some(api.url)), recorded.world)
  return { api, provider, ...recorded }
}

describe('templates', () => {
  const values = { to: '+1613', digits: '1613', from: 'A"B', text: '"}\\\n{id}&to=+9 %', id: 'id-1' }
  test('values cannot escape their place or be taken for placeholders', () => {
    expect(JSON.parse(fill('{"t":"{text}","f":"{from}","n":{digits}}', values, 'json'))).toEqual({
      t: values.text,
      f: 'A"B',
      n: 1613,
    })
    expect([...new URLSearchParams(fill('to={to}&text={text}', values, 'form'))]).toEqual([
      ['to', '+1613'],
      ['text', values.text],
    ])
    expect(fill('{unknown} {{to}}', values, 'json')).toBe('{unknown} {+1613}')
  })
  test('S-23: an address depends on a message only in its query', () => {
    for (const good of ['https://a.example/send', 'https://a.example/send?to={digits}&t={text}'])
      expect(isSafeAddress(good)).toBe(true)
    for (const bad of [
      'https://{to}.example/',
      'https://a.example/{from}',
      'file:///etc',
      'https://u:p@a.example/',
      'x',
    ])
      expect(isSafeAddress(bad)).toBe(false)
  })
})

test('paths', () => {
  const json = { messages: [{ id: 7, 'message-id': 'm' }], deep: { x: null } }
  const at = (path: string) => textAt(json, readPath(path) ?? ['?'])
  expect([at('messages[0].id'), at('messages[0].message-id'), at('deep.x'), at('messages[9].id')]).toEqual([
    '7',
    'm',
    '',
    '',
  ])
  expect(at('constructor.name')).toBe('')
  expect(at('__proto__')).toBe('')
  for (const wrong of ['a..b', 'a[', 'a[x]', '[', 'a b', '1a']) expect(readPath(wrong)).toBe(null)
  expect(parseJson('{')).toBe(undefined)
})

describe('sending', () => {
  test('JSON, with headers from the settings', async () => {
    const { api, provider } = await peer({ status: 202, body: '{"messages":[{"id":"m-1"}]}' })
    const message = textMessage({ text: 'say "hi"' })
    expect(await provider.send(message)).toEqual({ kind: 'accepted', ref: 'm-1' })
    const [got] = api.requests
    expect(got?.headers).toMatchObject({ authorization: 'Bearer secret-bearer', 'content-type': 'application/json' })
    expect(JSON.parse(got?.body ?? '')).toEqual({
      to: '+16135550123',
      from: '12345',
      text: 'say "hi"',
      ref: message.id,
    })
  })

  test('a form', async () => {
    const { api, provider } = await peer({ status: 200, body: 'OK' }, () => ({
      body: 'number={digits}&msg={text}',
      format: 'form',
      refPath: null,
    }))
    const message = textMessage({ text: 'a&b=c+d €' })
    expect(await provider.send(message)).toEqual({ kind: 'accepted', ref: message.id })
    expect(Object.fromEntries(new URLSearchParams(api.requests[0]?.body))).toEqual({
      number: '16135550123',
      msg: 'a&b=c+d €',
    })
  })

  test('everything in the address', async () => {
    const { api, provider } = await peer({ status: 200, body: '{"id":5}' }, url => ({
      method: 'GET',
      url: `${url}/send?to={to}&text={text}`,
      body: null,
      refPath: ['id'],
    }))
    expect(await provider.send(textMessage({ text: '#1 & more' }))).toEqual({ kind: 'accepted', ref: '5' })
    expect(api.requests).toMatchObject([{ method: 'GET', url: '/send?to=%2B16135550123&text=%231%20%26%20more' }])
  })

  test.each([
    [400, '{"error":"bad number 16135550123"}', { kind: 'rejected', detail: 'bad number …' }],
    [422, '', { kind: 'rejected', detail: 'Refused (422)' }],
    [200, '{"error":"INVALID recipient"}', { kind: 'rejected', detail: 'INVALID recipient' }],
    [503, '{"error":"invalid"}', { kind: 'rejected', detail: 'invalid' }],
    [408, '', { kind: 'deferred', detail: 'Provider answered 408', uncertain: true }],
    [425, '', { kind: 'deferred', detail: 'Provider answered 425' }],
    [429, '', { kind: 'deferred', detail: 'Provider answered 429' }],
    [500, '', { kind: 'deferred', detail: 'Provider answered 500', uncertain: true }],
    [502, '', { kind: 'deferred', detail: 'Provider answered 502', uncertain: true, down: true }],
    [503, '', { kind: 'deferred', detail: 'Provider answered 503', uncertain: true, down: true }],
    [507, '', { kind: 'deferred', detail: 'Provider answered 507', uncertain: true }],
    [200, '<html>', { kind: 'deferred', detail: 'The answer is not JSON', uncertain: true }],
    [418, '{}', { kind: 'deferred', detail: 'Provider answered 418' }],
    [403, '{}', { kind: 'deferred', detail: 'Provider answered 403', down: true }],
    [302, '', { kind: 'deferred', detail: 'Provider answered 302', down: true }],
  ])('%i %s', async (status, body, outcome) => {
    const { provider } = await peer({ status, body }, () => ({ rejectPattern: /invalid/iu }))
    expect(await provider.send(textMessage())).toEqual(outcome)
  })

  test('success without a reference is a success, and logged', async () => {
    const { provider, lines } = await peer({ status: 200, body: '{"queued":true}' })
    const message = textMessage()
    expect(await provider.send(message)).toEqual({ kind: 'accepted', ref: message.id })
    expect(lines).toEqual([expect.stringContaining('no reference')])
  })
})

describe('the webhook', () => {
  const now = Date.UTC(2026, 10, 15, 5)
  const secret = 'shared-secret-of-32-characters-at-least'
  const timestamp = String(now / 1000)
  const made = (some: Partial<WebhookSettings> = {}) => {
    const settings = httpFor('http://127.0.0.1:1')
    const recorded = recordedWorld()
    const webhook =
      settings.webhook &&
      createHttpSms({ ...settings, webhook: { ...settings.webhook, ...some } }, recorded.world).webhook
    if (!webhook) throw new Error('no webhook')
    return { webhook, ...recorded }
  }
  const signed = (body: string, at = timestamp) => ({
    url: '/receipts/http',
    headers: {
      'x-timestamp': at,
      'x-signature': createHmac('sha256', secret).update(`${at}.${body}`).digest('hex'),
    },
    body: Buffer.from(body),
  })

  test('one receipt, found by paths', async () => {
    const body = JSON.stringify({ id: 'm-1', status: 'Delivered', time: '2026-11-15T04:59:00Z', event_id: 'e-1' })
    expect(await made().webhook.read(signed(body))).toEqual({
      ok: true,
      receipts: [{ ref: 'm-1', eventId: 'e-1', at: now - 60_000, result: 'delivered', detail: null, response: null }],
    })
  })

  test('a list, by paths and status words of the settings; without an event id its digest', async () => {
    const { webhook } = made({
      listPath: ['results'],
      refPath: ['message', 'id'],
      statusPath: ['code'],
      timePath: ['at'],
      words: { '1': 'delivered', '2': 'blocked', '3': 'opted-out', '4': 'ignored', '5': 'temporary-failure' },
    })
    const results = [1, 2, 3, 4, 5].map(code => ({ message: { id: `m${code}` }, code, at: now }))
    const answer = await webhook.read(signed(JSON.stringify({ results })))
    const receipts = answer.ok ? answer.receipts : []
    expect(receipts.map(({ ref, result, detail }) => [ref, result, detail])).toEqual([
      ['m1', 'delivered', null],
      ['m2', 'permanent-failure', 'blocked'],
      ['m3', 'technical-failure', 'opted out'],
      ['m5', 'temporary-failure', null],
    ])
    expect(receipts[2]?.response).toBe('Phone number is opted out')
    expect(new Set(receipts.map(({ eventId }) => eventId)).size).toBe(4)
    expect(receipts.every(({ at }) => at === now)).toBe(true)
    expect(await webhook.read(signed(JSON.stringify({ results })))).toEqual(answer)
  })

  test('signature in base64 or with its name in front', async () => {
    const { webhook } = made()
    const request = signed('{"id":"m","status":"sent"}')
    const octets = Buffer.from(request.headers['x-signature'], 'hex')
    for (const signature of [octets.toString('base64'), `sha256=${octets.toString('hex')}`])
      expect(
        await webhook.read({ ...request, headers: { ...request.headers, 'x-signature': signature } }),
      ).toMatchObject({
        receipts: [{ result: 'pending' }],
      })
  })

  test('F10, S-24: forged, old and malformed receipts are refused', async () => {
    const { webhook } = made()
    const good = signed('{"id":"m","status":"delivered"}')
    const statusOf = async (request: Parameters<typeof webhook.read>[0]) => {
      const answer = await webhook.read(request)
      return answer.ok ? 200 : answer.status
    }
    expect(await statusOf(good)).toBe(200)
    expect(await statusOf({ ...good, body: Buffer.from('{"id":"n","status":"delivered"}') })).toBe(401)
    expect(await statusOf({ ...good, headers: {} })).toBe(401)
    expect(await statusOf({ ...good, headers: { ...good.headers, 'x-signature': '' } })).toBe(401)
    expect(await statusOf({ ...good, headers: { ...good.headers, 'x-timestamp': `${now / 1000 + 1}` } })).toBe(401)
    expect(await statusOf(signed(good.body.toString(), `${now / 1000 - 301}`))).toBe(401)
    expect(await statusOf(signed(good.body.toString(), `${now / 1000 + 301}`))).toBe(401)
    expect(await statusOf(signed(good.body.toString(), `${now - 299_000}`))).toBe(200)
    expect(await statusOf(signed(good.body.toString(), 'yesterday'))).toBe(401)
    for (const body of ['', '{', 'null', '[]x', '{"id":"m"}', '{"status":"delivered"}', '[1]', '{"id":{},"status":[]}'])
      expect(await statusOf(signed(body)), body).toBe(400)
  })

  test('an unknown status word changes nothing and is logged without being quoted', async () => {
    const { webhook, lines } = made()
    expect(await webhook.read(signed('{"id":"m","status":"toString"}'))).toEqual({ ok: true, receipts: [] })
    expect(lines.join()).toContain('unknown status')
    expect(lines.join()).not.toContain('toString')
  })
})

describe('settings', () => {
  const config: HttpSmsConfig = {
    httpSmsUrl: 'https://sms.example/send',
    httpSmsMethod: 'POST',
    httpSmsHeaders: '{"Authorization": "Bearer x"}',
    httpSmsBody: '{"to": "{to}"}',
    httpSmsFormat: 'json',
    httpSmsSender: null,
    httpSmsRefPath: 'data.id',
    httpSmsRejectStatuses: ['400', '422'],
    httpSmsErrorPath: null,
    httpSmsRejectPattern: '^bad',
    httpSmsPerSecond: 5,
    httpSmsReceiptSecret: 'x'.repeat(32),
    httpSmsReceiptSignatureHeader: 'X-Signature',
    httpSmsReceiptTimestampHeader: 'X-Timestamp',
    httpSmsReceiptListPath: null,
    httpSmsReceiptRefPath: 'id',
    httpSmsReceiptStatusPath: 'status',
    httpSmsReceiptTimePath: 'time',
    httpSmsReceiptEventPath: 'event_id',
    httpSmsReceiptStatuses: ['DONE=delivered', 'Sent=ignored'],
  }
  test('become what the adapter needs', () => {
    expect(httpSmsSettings(config)).toMatchObject({
      headers: { authorization: 'Bearer x' },
      refPath: ['data', 'id'],
      rejectStatuses: [400, 422],
      perSecond: 5,
      webhook: {
        signatureHeader: 'x-signature',
        words: { done: 'delivered', sent: 'ignored', failed: 'permanent-failure' },
      },
    })
    expect(httpSmsSettings({ ...config, httpSmsUrl: null })).toBe(null)
    expect(httpSmsSettings({ ...config, httpSmsReceiptSecret: null })?.webhook).toBe(null)
    expect(httpSmsSettings({ ...config, httpSmsMethod: 'GET' })?.body).toBe(null)
  })
  test.each([
    ['HERALD_HTTP_SMS_URL', { httpSmsUrl: 'https://{to}.example' }],
    ['HERALD_HTTP_SMS_HEADERS', { httpSmsHeaders: '[]' }],
    ['HERALD_HTTP_SMS_HEADERS', { httpSmsHeaders: '{"X-A": "a\\r\\nb"}' }],
    ['HERALD_HTTP_SMS_BODY', { httpSmsBody: null }],
    ['HERALD_HTTP_SMS_BODY', { httpSmsBody: '{to: {to}}' }],
    ['HERALD_HTTP_SMS_REF_PATH', { httpSmsRefPath: '$..id' }],
    ['HERALD_HTTP_SMS_REJECT_STATUSES', { httpSmsRejectStatuses: ['200'] }],
    ['HERALD_HTTP_SMS_REJECT_PATTERN', { httpSmsRejectPattern: '(' }],
    ['HERALD_HTTP_SMS_RECEIPT_STATUSES', { httpSmsReceiptStatuses: ['done=maybe'] }],
  ])('%s wrong is told by name', (name, some) => {
    expect(() => httpSmsSettings({ ...config, ...some })).toThrow(name)
  })
})

test('the table of settings gives every adapter what it needs', () => {
  const config = readConfig({
    HERALD_SMPP_URL: 'smpps://me:pass@smsc.example',
    HERALD_TWILIO_ACCOUNT: 'AC1',
    HERALD_TWILIO_TOKEN: 'token',
    HERALD_HTTP_SMS_URL: 'https://sms.example/send',
    HERALD_HTTP_SMS_BODY: '{"to": "{to}"}',
  })
  expect(smppSettings(config)).toMatchObject({ port: 3550, window: 10, binds: 1, perSecond: null, reports: true })
  expect(twilioSettings(config)).toMatchObject({ apiUrl: 'https://api.twilio.com', callbackUrl: null })
  expect(httpSmsSettings(config)).toMatchObject({ rejectStatuses: [400, 409, 413, 422], webhook: null })
  const none = readConfig({})
  expect([smppSettings(none), twilioSettings(none), httpSmsSettings(none)]).toEqual([null, null, null])
})

test('S2 a stop does not wait for a hanging provider: the send is uncertain, and recorded as such', async () => {
  const { api, provider } = await peer({ status: 200, body: '{}' }, () => ({ timeoutMillis: 120_000 }))
  api.mode('hang')
  const sending = provider.send(textMessage())
  await expect.poll(() => api.requests.length).toBe(1)

  await provider.stop()

  expect(await sending).toMatchObject({ kind: 'deferred', uncertain: true })
}, 60_000)
