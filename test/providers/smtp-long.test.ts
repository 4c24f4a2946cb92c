// A long message is encoded and signed in pieces, so that it never blocks the event loop (contract 22.13).
import { createHash, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { compose, encodedLong, isLong } from '../../src/providers/smtp/compose.ts'
import { base64Pieces, sizeOf, wholeText } from '../../src/providers/smtp/content.ts'
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

const LETTER = {
  id: '01900000-0000-7000-8000-000000000000' as Id,
  messageId: '<x@example.org>',
  from: { name: 'Permits', address: 'permits@example.org' },
  replyTo: null,
  to: 'a@example.org',
  attachments: [],
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
    const message = { ...LETTER, ...email }
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

const octetsOf = (count: number) => Buffer.from(Array.from({ length: count }, (_, n) => (n * 7919) % 251))

const lineOctets = 57
const pieceOctets = 840 * lineOctets

test.each([0, 1, 2, 3, 56, lineOctets, 58, pieceOctets - 1, pieceOctets, pieceOctets + 1, pieceOctets * 3, LONG])(
  'a file of %i octets that is encoded as it is written',
  octets => {
    const file = octetsOf(octets)
    const written = wholeText([file])
    expect(written).toBe(`${base64Lines(file)}\r\n`)
    expect(sizeOf(['a\r\n', file, 'b\r\n'])).toBe(written.length + 6)
    expect(written.split('\r\n').every(line => line.length <= 76)).toBe(true)
    for (const piece of base64Pieces(file)) expect(piece.toString('latin1')).toMatch(/^[A-Za-z0-9+/=\r\n]*\r\n$/)
  },
)

test('a message with large and small files is the same as one text', async () => {
  const files = [LONG - 1, LONG, 10, LONG + 100].map((octets, n) => ({
    filename: `${n}.bin`,
    mediaType: 'application/octet-stream',
    content: octetsOf(octets),
  }))
  const composed = compose({ ...LETTER, subject: 's', text: 'Hello', html: '<p>Hello</p>', attachments: files }, 0)
  if ('refused' in composed) throw new Error(composed.refused)
  const { body } = composed
  if (typeof body === 'string') throw new Error('the large files are encoded')
  expect(body.filter(part => typeof part !== 'string')).toHaveLength(2)
  const whole = wholeText(body)
  expect(sizeOf(body)).toBe(whole.length)
  for (const { filename, content } of files) {
    const [, encoded] = new RegExp(`filename="${filename}"\r\n\r\n([^-]*)\r\n--=_`).exec(whole) ?? []
    expect(encoded).toBe(base64Lines(content))
  }
  const sign = signer()
  const hashOf = (signature: string) => /bh=([^;]+);/.exec(signature)?.[1]
  expect(hashOf(await sign(composed.headers, body, 0))).toBe(hashOf(await sign(composed.headers, whole, 0)))
})
