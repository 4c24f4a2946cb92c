import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signatureHeaders } from './sign.ts'

const [first, second, third] = ['a', 'b', 'c'].map(text => `whsec_${Buffer.alloc(32, text).toString('base64')}`) as [
  string,
  string,
  string,
]
const body = '{"type":"notification.delivered","text":"ü"}'
const signed = (secrets: string[], now = Date.now()) => signatureHeaders({ id: 'event-1', body, secrets, now })

test('the library of the specification accepts the signature', () => {
  expect(new Webhook(first).verify(body, signed([first]))).toEqual(JSON.parse(body))
})

test('during a rotation receivers with either secret accept it, others do not', () => {
  const headers = signed([first, second])
  for (const secret of [first, second]) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
  expect(() => new Webhook(third).verify(body, headers)).toThrow('No matching signature found')
})

test('the signature covers the body, the id and the time', () => {
  const verify = (changed: Record<string, string>, text = body) =>
    new Webhook(first).verify(text, { ...signed([first]), ...changed })
  expect(() => verify({}, `${body} `)).toThrow()
  expect(() => verify({ 'webhook-id': 'event-2' })).toThrow()
  expect(() => verify({ 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 1) })).toThrow()
  expect(() => verify(signed([first], Date.now() - 3_600_000))).toThrow('Message timestamp too old')
})
