import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replyClass } from './reply-class.ts'

test('a reply is reduced to its code or to a class of ours', () => {
  const classes = [
    ['451 4.7.1 greylisted <anna@example.org>', '451 4.7.1'],
    ['421 anna@example.org is busy', '421'],
    ['Provider answered 503', '503'],
    ['Throttled (0x00000058)', '0x00000058'],
    ['The provider did not answer in time', 'no answer in time'],
    ['No answer in time', 'no answer in time'],
    ['No connection to the provider', 'connection refused'],
    ['No TLS connection to the provider', 'TLS connection failed'],
    ['request failed: ECONNREFUSED', 'connection refused'],
    ['request failed: ECONNRESET', 'connection lost'],
    ['request failed: CERT_HAS_EXPIRED', 'CERT_HAS_EXPIRED'],
    ['The provider closed the connection', 'connection lost'],
    ['Line broken: anna', 'connection lost'],
    ['no provider is up', 'no provider is up'],
    ['Rate used up', 'rate limit'],
    ['anna@example.org', 'other'],
    ['', 'other'],
  ] as const
  for (const [reply, wanted] of classes) expect(replyClass(reply), reply).toBe(wanted)
})

test('no word of a reply is in its class', () => {
  const word = fc.stringMatching(/^[a-z]{4,12}@[a-z]{4,12}\.org$/)
  fc.assert(
    fc.property(
      word,
      fc.constantFrom('', '451 ', '451 4.7.1 ', 'Provider answered 503 ', 'request failed: '),
      (name, start) => {
        expect(replyClass(`${start}${name}`)).not.toContain(name.slice(0, 4))
      },
    ),
  )
})
