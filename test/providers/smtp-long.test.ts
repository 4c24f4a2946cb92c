// A long message is encoded and signed in pieces, so that it never blocks the event loop (contract 22.13).
import { createHash, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { compose, encodedLong, isLong } from '../../src/providers/smtp/compose.ts'
import { createSigner } from '../../src/providers/smtp/dkim.ts'
import { base64Lines, type Encoded, encodeLong, encodeText, LONG } from '../../src/providers/smtp/encode.ts'
import { compileEmail } from '../../src/rendering/compile.ts'
import { longestHold } from '../support/held.ts'

function decoded({ encoding, body }: Encoded): string {
  if (encoding === '7bit') return body
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  const plain = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1').toString()
}

const unit = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '.',
  'é',
  '=',
  'word ',
  'From ',
  '\n\n',
  'x'.repeat(200),
  'Привет ',
)

test('text encoded in pieces decodes to the same, in lines that are short enough', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(unit, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (units, by) => {
        const text = units.join('').repeat(Math.ceil((by * 60_000) / units.join('').length))
        const long = await encodeLong(text)
        expect(long.encoding).toBe(encodeText(text).encoding)
        expect(decoded(long) === decoded(encodeText(text))).toBe(true)
        if (long.encoding !== '7bit') expect(long.body.split('\r\n').every(line => line.length <= 76)).toBe(true)
        expect(/[^\r]\n|\r(?!\n)/.test(long.body)).toBe(false)
      },
    ),
    { numRuns: 25 },
  )
}, 60_000)

function signer() {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return createSigner({ domain: 'example.org', selector: 's', privateKey })
}

test('the hash of a long body is the hash of the whole', async () => {
  const sign = signer()
  const relaxed = (body: string) =>
    `${body
      .replace(/[\t ]+/g, ' ')
      .replace(/ \r\n/g, '\r\n')
      .replace(/(?:\r\n)+$/, '')}\r\n`
  const lines = ['a  b \t c', '', '', ' x ', 'y'.repeat(70), '\t', '']
  for (const size of [1, 200_000, 300_000, 1_100_000]) {
    let body = ''
    for (let at = 0; body.length < size; at++) body += `${lines[(at * at) % lines.length]}\r\n`
    for (const end of ['', '\r\n\r\n \r\n', 'last\r\n']) {
      const signature = await sign(['From: a@example.org'], body + end, 0)
      const expected = createHash('sha256')
        .update(relaxed(body + end))
        .digest('base64')
      expect(/bh=([^;]+);/.exec(signature)?.[1]).toBe(expected)
    }
  }
})

test.each([
  ['plain words', 'word and another word. '],
  ['Markdown', `* **a** _b_ [x](http://y.zz) "q" it's <b>\n`],
  ['letters outside Latin', 'Привет, это сообщение.\n'],
])(
  '§22.13 the longest e-mail of %s is encoded and signed in turns',
  async (_, words) => {
    const a = words.repeat(Math.floor(50_000 / words.length))
    const email = compileEmail({ subject: 'Subject', content: '((a))'.repeat(40) }).render({ a })
    const id = '01900000-0000-7000-8000-000000000000' as Id
    const from = { name: 'Permits', address: 'permits@example.org' }
    const message = {
      id,
      messageId: '<x@example.org>',
      from,
      replyTo: null,
      to: 'a@example.org',
      attachments: [],
      ...email,
    }
    expect(isLong(message)).toBe(true)
    const hold = await longestHold(async () => {
      const composed = compose(message, 0, [], await encodedLong(message))
      if ('refused' in composed) throw new Error(composed.refused)
      await signer()(composed.headers, composed.body, 0)
    })
    expect(hold).toBeLessThan(50)
  },
  60_000,
)

test.each([LONG - 1, LONG, LONG + 1, LONG + 56, 57 * 5_000, 57 * 5_000 + 1])(
  'a file of %i octets in lines of 76 characters',
  octets => {
    const content = Buffer.from(Array.from({ length: octets }, (_, n) => (n * 7919) % 251))
    const lines = base64Lines(content).split('\r\n')
    expect(lines.slice(0, -1).every(line => line.length === 76)).toBe(true)
    expect(lines.at(-1)?.length).toBeGreaterThan(0)
    expect(lines.join('')).toBe(content.toString('base64'))
  },
)
