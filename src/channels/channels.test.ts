import { expect, test } from 'vitest'
import { CHANNELS, channelNames, keyOfAny, recipientKey } from './index.ts'

test('contract 15.4 two spellings of one recipient have one key', () => {
  expect(recipientKey(' User@Example.COM', 'email')).toBe('user@example.com')
  expect(recipientKey('(613) 555-0123', 'sms')).toBe('+16135550123')
  expect(recipientKey('+33 6 12 34 56 78', 'sms')).toBe('+33612345678')
  expect(recipientKey('user@example.com', 'sms')).toBeUndefined()
  expect(recipientKey('6135550123@example.com', 'email')).toBe('6135550123@example.com')
})

test('a recipient of an unknown channel is read by the first channel that can read it', () => {
  expect(keyOfAny('User@Example.com')).toBe('user@example.com')
  expect(keyOfAny('(613) 555-0123')).toBe('+16135550123')
  expect(keyOfAny('nobody')).toBe('nobody')
})

test.each(channelNames)('%s: its name is its key, and it compiles templates of its own type', name => {
  const channel = CHANNELS[name]
  expect(channel.name).toBe(name)
  const version = channel.template.compile({ subject: 'Hi', content: 'Hello ((name))', literal_values: false })
  expect(version).toMatchObject({ type: name, source: { content: 'Hello ((name))' } })
  expect(version.compiled.names).toEqual(['name'])
  expect(version.excess({ name: 'Ann' }, null)).toBeNull()
  expect(version.stored({ name: 'Ann' })).toMatchObject({ body: 'Hello Ann' })
  expect(version.received({ name: 'Ann' }, null).body).toContain('Hello Ann')
})

test('a message over the limit of its channel is detected before it is rendered', () => {
  const content = { subject: '', content: '((value))', literal_values: false }
  const [email, sms] = [CHANNELS.email.template.compile(content), CHANNELS.sms.template.compile(content)]
  const long = { value: 'x'.repeat(613) }
  const large = { value: 'x'.repeat(2_000_001) }
  expect([email.excess(long), sms.excess(long, null)]).toEqual([null, 'tooLong'])
  expect([email.excess(large), sms.excess(large, null)]).toEqual(['tooLarge', 'tooLong'])
  expect(email.stored(large)).toEqual({ subject: '', body: '' })
})

test('text messages have the country of their number, e-mails have none', () => {
  expect(CHANNELS.sms.recipient.homePrefix()).toBe('+1')
  expect(CHANNELS.email.recipient.homePrefix()).toBeNull()
  expect(CHANNELS.sms.recipient.read('+33612345678', { international: false })).toMatchObject({ ok: false })
})
