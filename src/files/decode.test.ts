// Contract 2.4: what base64 is to us. The old, slow way of looking at every letter is the judge of the fast one.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode, takeContents } from './decode.ts'

function isBase64(text: string): boolean {
  const plain = text.replace(/[ \t\r\n]/g, '')
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain)
}

test.each(['', 'YQ==', 'YWI=', 'YWJj', 'YW\nJj', ' Y W J j ', 'YQ=\r\n=', '+/+/', 'QUJDRA=='])('%j is base64', text => {
  expect(decode(text)).toEqual(Buffer.from(text, 'base64'))
})

test.each([
  'abc',
  'a',
  '====',
  '=',
  'YQ=A',
  'YQ==YQ==',
  'Y=Q=',
  '-_-_',
  'YW Jj!',
  'YWJ\u0000',
  'ÄÖÜß',
  '😀😀',
  'YWJj\u00a0',
  'YWJj\f',
])('%j is not', text => {
  expect(decode(text)).toBe(null)
})

test('both decoders agree on any input', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'ABab01+/=-_ \n!é'), maxLength: 24 })
  fc.assert(
    fc.property(fc.oneof(letters, fc.string(), fc.base64String()), text => {
      expect(decode(text) !== null).toBe(isBase64(text))
    }),
    { numRuns: 20_000 },
  )
})

test('contents are removed from the body; invalid base64 stays for the error message', () => {
  const body = { personalisation: { a: { file: 'YWJj' }, b: { file: '?' }, c: 'YWJj', d: { file: 7 }, e: ['x'] } }
  expect(takeContents(body)).toEqual(
    new Map<string, Buffer | null>([
      ['a', Buffer.from('abc')],
      ['b', null],
    ]),
  )
  expect(body.personalisation.a.file).toBe('')
  expect(body.personalisation.b.file).toBe('?')
  for (const odd of [null, [], 'x', { personalisation: [] }, {}]) expect(takeContents(odd).size).toBe(0)
})
