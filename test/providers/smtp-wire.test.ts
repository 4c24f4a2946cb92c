// The bytes on the wire: headers, encodings, attachments, and that no text can become a command or a header.
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { readAddress } from '../../src/providers/smtp/address.ts'
import { compose } from '../../src/providers/smtp/compose.ts'
import { type Encoded, encodePieces, encodeText } from '../../src/providers/smtp/encode.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { readEmail } from '../../src/recipients/email.ts'
import { message } from '../conformance/email-provider.ts'
import { scene, scriptedServer, smtpServer } from '../support/smtp-server.ts'
import { providerWorld, smtpSettingsFor } from '../support/smtp-settings.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function peer(options: Parameters<typeof smtpServer>[0] = {}) {
  const server = await smtpServer(options)
  const provider = createSmtp(smtpSettingsFor(server.port), providerWorld().world)
  ends.push(server.stop, provider.stop)
  return { server, provider }
}

/** Header lines unfolded, by name in lower case; each name once or the test fails. */
function headersOf(raw: string): Map<string, string> {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]/g, ' ')
  const pairs = head.split('\r\n').map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length)
  return new Map(pairs)
}

const words = (value: string) =>
  value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/g, (_, text: string) => Buffer.from(text, 'base64').toString())

const NAMES = ['from', 'to', 'subject', 'date', 'message-id', 'auto-submitted', 'mime-version', 'content-type']

describe('a message', () => {
  test('has both bodies, its fixed id, a date and its sender, and nothing else', async () => {
    const { server, provider } = await peer()
    const sent = message({ replyTo: 'help@herald.example', subject: 'Prêt à partir', text: 'Déjà\nvu\n' })

    await provider.send(sent)

    const raw = server.letters[0]?.raw ?? ''
    const headers = headersOf(raw)
    expect([...headers.keys()].sort()).toEqual([...NAMES, 'reply-to'].sort())
    expect(headers.get('from')).toBe('Permits <permits@herald.example>')
    expect(headers.get('reply-to')).toBe('help@herald.example')
    expect(words(headers.get('subject') ?? '')).toBe('Prêt à partir')
    expect(headers.get('message-id')).toBe(sent.messageId)
    expect(headers.get('date')).toMatch(
      /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/,
    )
    expect(raw).toContain(
      'Content-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nD=C3=A9j=C3=A0\r\nvu\r\n',
    )
    expect(raw).toContain(
      'Content-Type: text/html; charset=UTF-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n<p>It is ready.</p>\r\n',
    )
    expect(raw).not.toMatch(/[^\x00-\x7f]/)
  })

  test.each([
    ['Permits', 'Permits <permits@herald.example>'],
    ['Permits, and "more"', '"Permits, and \\"more\\"" <permits@herald.example>'],
    ['a@b.c <evil@x.y>', '"a@b.c <evil@x.y>" <permits@herald.example>'],
    ['', 'permits@herald.example'],
  ])('display name %j', (name, expected) => {
    const composed = compose(message({ from: { name, address: 'permits@herald.example' } }), 0)
    expect('headers' in composed && composed.headers[0]).toBe(`From: ${expected}`)
  })

  test('long and non-ASCII subjects are folded into words that decode to the same', () => {
    for (const subject of [
      'x'.repeat(2000),
      'word '.repeat(400).trim(),
      'é😀'.repeat(300),
      '=?UTF-8?B?aGk=?=',
      'a  b',
    ]) {
      const composed = compose(message({ subject }), 0)
      const line = ('headers' in composed ? composed.headers : []).find(header => header.startsWith('Subject:')) ?? ''
      for (const part of line.split('\r\n')) expect(part.length).toBeLessThan(998)
      for (const part of line.split('\r\n').slice(1)) expect(part).toMatch(/^ ./)
      expect(words(line.replace(/\r\n/g, '').replace(/^Subject: /, ''))).toBe(subject)
    }
  })

  test('attachments keep their bytes, and their names in any script', async () => {
    const { server, provider } = await peer()
    const content = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256))
    const attachments = [
      { filename: 'plan.pdf', mediaType: 'application/pdf', content },
      {
        filename: 'Übersicht – Straße 日本語 und noch viel mehr Text, damit es lang wird.csv',
        mediaType: 'text/csv',
        content,
      },
      { filename: 'a";\r\nX-Evil: 1;x="', mediaType: 'text/html\r\nX-Evil: 2', content },
      { filename: 'mail.eml', mediaType: 'message/rfc822', content },
    ]

    await provider.send(message({ attachments }))

    const raw = server.letters[0]?.raw ?? ''
    expect(headersOf(raw).get('content-type')).toMatch(/^multipart\/mixed;/)
    expect(raw).toContain('Content-Disposition: attachment;\r\n filename="plan.pdf"\r\n')
    expect(raw).toContain("\r\n filename*0*=UTF-8''%C3%9Cbersicht%20%E2%80%93%20Stra%C3%9Fe%20%E6")
    const pieces = [...raw.matchAll(/ filename\*\d\*=(?:UTF-8'')?([^;\r]*)/g)].map(([, piece]) => piece).join('')
    expect(decodeURIComponent(pieces)).toBe(attachments[1]?.filename)
    expect(raw).not.toMatch(/^X-Evil/m)
    expect(raw).not.toContain('message/rfc822')
    const bodies = [...raw.matchAll(/base64\r\nContent-Disposition[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/g)].map(
      ([, body]) => body,
    )
    expect(bodies.map(body => Buffer.from(body ?? '', 'base64').equals(content))).toEqual([true, true, true, true])
    for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  test('transfer encodings decode to the same text', () => {
    const texts = [
      'plain\n',
      'From here\nFrom there',
      'trailing \t \nspace ',
      'é'.repeat(200),
      'a=b é',
      `${'x'.repeat(5000)}é`,
      '\u0000\u001b[31m',
      'Καλημέρα',
      '',
      '\n\n',
      'a\r\nb\rc\nd',
    ]
    for (const text of texts) decodes(text)
  })

  const fragment = fc.oneof(
    fc.constantFrom('\r', '\n', '\r\n', ' ', '\t', '=', '.', 'From ', 'é', '•', '\u{1f600}', '\0', '\u0085', '\u2028'),
    fc.constantFrom('x'.repeat(74), 'x'.repeat(75), 'y'.repeat(899), 'y'.repeat(901), 'z'.repeat(12_000)),
    fc.string({ unit: 'grapheme' }),
  )

  test('whatever the text, its encoding is safe on the wire and decodes to it', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), all => decodes(all.join(''))),
      { numRuns: 2_000 },
    )
  })

  test('two values with half an emoji each are one emoji, as in the text', () => {
    const fixed = ['•', '', `${'x'.repeat(80)}\n`]
    const values = ['\ud83d', '\ude00']
    const whole = `•\ud83d\ude00${fixed[2]}`
    decodes(whole, encodePieces(whole, { fixed, values }))
  })

  test('whatever its pieces, a text decodes to the same, and most are encoded piece by piece', () => {
    const word = fc.constantFrom(
      'Ada Lovelace',
      'Renée',
      '',
      'a',
      ' a ',
      '.b',
      'From me',
      'F',
      'rom c',
      '李',
      '=3D',
      '"q"',
    )
    const half = fc.constantFrom('\ud83d', '\ude00')
    const text = (most: number) =>
      fc
        .array(fc.oneof({ weight: 9, arbitrary: word }, { weight: 3, arbitrary: fragment }, half), { maxLength: most })
        .map(all => all.join(''))
    let pieced = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text(6), text(2)), { maxLength: 6 }),
        fc.boolean(),
        text(6),
        (pairs, hasEnd, last) => {
          const fixed = ['<title>•', ...pairs.map(([between]) => between), hasEnd ? `${last}\n` : last]
          const values = ['A-7919', ...pairs.map(([, value]) => value)]
          const whole = fixed.map((piece, i) => piece + (values[i] ?? '')).join('')
          const encoded = encodePieces(whole, { fixed, values })
          expect(encoded.encoding).toBe(encodeText(whole).encoding)
          decodes(whole, encoded)
          // The second message with the same fixed texts.
          expect(encodePieces(whole, { fixed, values })).toEqual(encoded)
          if (encoded.body.includes('=\r\nA-7919=\r\n')) pieced++
        },
      ),
      { numRuns: 500 },
    )
    expect(pieced).toBeGreaterThan(50)
  })

  function decodes(text: string, { encoding, body }: Encoded = encodeText(text)) {
    expect(body).not.toMatch(/[^\x00-\x7f]|\x00|[^\r]\n|^\n|\r(?!\n)/)
    if (encoding !== '7bit') for (const line of body.split('\r\n')) expect(line.length).toBeLessThanOrEqual(76)
    if (encoding === 'quoted-printable') expect(body).not.toMatch(/[ \t](\r\n|$)|^From /m)
    const decoded =
      encoding === '7bit'
        ? body
        : encoding === 'base64'
          ? Buffer.from(body, 'base64').toString()
          : Buffer.from(
              body
                .replace(/=\r\n/g, '')
                .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            ).toString()
    expect(decoded).toBe(text.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n'))
  }
})

describe('S-10 no header can be injected', () => {
  const breaks = ['\r\n', '\n', '\r', '\u0000', '\u2028', '\u2029', '\u0085', '\u000b', '\r\n ', '\r\n\r\n']
  for (const mark of breaks)
    test(`by ${JSON.stringify(mark)}`, async () => {
      const { server, provider } = await peer()
      const evil = `x${mark}Bcc: evil@example.com${mark}y`
      await provider.send(
        message({
          subject: evil,
          from: { name: evil, address: 'permits@herald.example' },
          attachments: [
            { filename: evil, mediaType: `text/plain${mark}Bcc: evil@example.com`, content: Buffer.from('a') },
          ],
        }),
      )
      const [letter] = server.letters
      expect(letter?.to).toEqual(['jo@example.net'])
      expect([...headersOf(letter?.raw ?? '').keys()].sort()).toEqual([...NAMES].sort())
      expect(letter?.raw).not.toMatch(/^Bcc:/im)
      expect(letter?.raw).not.toMatch(/\x00|[^\r]\n|\r(?!\n)/)

      const addresses = [{ replyTo: `a@b.example${mark}Bcc: e@f.example` }, { messageId: `<a@b${mark}>` }]
      for (const changes of [
        ...addresses,
        { from: { name: '', address: `a@b.example${mark}` } },
        { to: `a@b.example${mark}` },
      ])
        expect(await provider.send(message(changes))).toMatchObject({ kind: 'rejected' })
      expect(server.letters).toHaveLength(1)
    })
})

const hostile = [
  'a@b.example\r\nRCPT TO:<evil@z.example>',
  'a@b.example, evil@z.example',
  'a@b.example;evil@z.example',
  '<a@b.example>',
  'a@b.example>',
  '"a b"@c.example',
  'a b@c.example',
  'a@b@c.example',
  'group:a@b.example;',
  'a@b.example (x)',
  '(x)a@b.example',
  'a@[127.0.0.1]',
  'a@b.example\u0000',
  'a\u0000@b.example',
  'a@b.example\n',
  ' a@b.example',
  'a@b.example ',
  '@a,@b:c@d.example',
  'a@b%2eexample',
  'a@b/../c',
  'a@b?c',
  'a@b#c',
  'a@b:25',
  'a\u2028@b.example',
  'a@b\u2028.example',
  'a@b\u3002\r\n',
  'a',
  '@',
  '',
  'a@',
  '@b.example',
  'a@-b.example',
  'a@b..example',
  'a@.example',
  'a\\@b.example',
  'a@b\\c',
  'a@b_c.example',
  'a@b.example>RCPT',
  'ä"@b.example',
  'a\t@b.example',
  'a@\tb.example',
  'a<@b.example',
  `a@${'b'.repeat(64)}.example`,
  'a\u0100@b.example',
]

describe('S-11 one recipient, exactly the validated one', () => {
  test.each(hostile)('%j is not sent to', async to => {
    const server = await scriptedServer(scene({}))
    const provider = createSmtp(smtpSettingsFor(server.port), providerWorld().world)
    ends.push(server.stop, provider.stop)
    expect(await provider.send(message({ to }))).toEqual({
      kind: 'rejected',
      detail: 'The recipient address is not valid',
    })
    expect(server.state.wire).toBe('')
  })

  test('the address check accepts what recipients/email.ts accepts, with the same host', () => {
    for (const to of [
      'jo@example.net',
      "o'neil+tag@sub.example.co",
      'A.B@EXAMPLE.net',
      'x@bücher.example',
      'é@example.net',
      'jo@例え.テスト',
    ]) {
      const reading = readEmail(to)
      expect(readAddress(to)?.host).toBe(reading.ok && reading.host)
    }
  })

  test('the host is sent in ASCII', async () => {
    const server = await scriptedServer(scene({}))
    const provider = createSmtp(smtpSettingsFor(server.port), providerWorld().world)
    ends.push(server.stop, provider.stop)
    await provider.send(message({ to: 'Jo@Bücher.example' }))
    expect(server.state.wire).toContain('\r\nRCPT TO:<Jo@xn--bcher-kva.example>\r\n')
    expect(server.state.wire).toContain('\r\nTo: Jo@xn--bcher-kva.example\r\n')
  })

  test('SMTPUTF8 only where the local part needs it and the server offers it', async () => {
    const able = await peer()
    await able.provider.send(message({ to: 'jo@example.net' }))
    await able.provider.send(message({ to: 'renée@example.net' }))
    expect(able.server.letters.map(({ parameters }) => 'SMTPUTF8' in parameters)).toEqual([false, true])
    expect(able.server.letters[1]?.to).toEqual(['renée@example.net'])
    expect(Buffer.from(able.server.letters[1]?.raw ?? '', 'latin1').toString()).toContain(
      '\r\nTo: renée@example.net\r\n',
    )

    const unable = await peer({ hideSMTPUTF8: true })
    expect(await unable.provider.send(message({ to: 'renée@example.net' }))).toEqual({
      kind: 'rejected',
      detail: 'The provider cannot send to addresses outside ASCII',
    })
    expect(unable.server.letters).toEqual([])
  })
})

describe('S-12 no message can end early or contain another', () => {
  const lines = [
    '\r\n.\r\n',
    '\n.\n',
    '\r.\r',
    '\n.\r\n',
    '\r\n.\n',
    '\r\n.\r',
    '\r.\r\n',
    '.',
    '..',
    '\r\n..\r\n',
    '\r\n.a',
    '\u0000.\r\n',
  ]
  const smuggled = lines.map(
    mark => `x${mark}MAIL FROM:<e@z.example>\r\nRCPT TO:<evil@z.example>\r\nDATA\r\nevil${mark}`,
  )

  test('on the wire there is one end, only CRLF, and every leading dot is doubled', async () => {
    const server = await scriptedServer(scene({ ehlo: '250-test\r\n250 PIPELINING' }))
    const provider = createSmtp(smtpSettingsFor(server.port, { connections: 1 }), providerWorld().world)
    ends.push(server.stop, provider.stop)
    for (const text of smuggled) {
      server.state.wire = ''
      const sent = message({ text, html: text })
      expect(await provider.send(sent)).toEqual({ kind: 'accepted', ref: sent.id })
      const wire = server.state.wire
      expect(wire.split('\r\n.\r\n')).toHaveLength(2)
      expect(wire.endsWith('\r\n.\r\n')).toBe(true)
      expect(wire).not.toMatch(/[^\r]\n|\r(?!\n)|\x00/)
      expect(wire.slice(0, -5)).not.toMatch(/\r\n\.(?!\.)/)
    }
  })

  test('a real server gets one message each time, with the same text', async () => {
    const { server, provider } = await peer()
    for (const text of smuggled) await provider.send(message({ text, html: text }))
    expect(server.letters).toHaveLength(smuggled.length)
    expect(server.letters.flatMap(({ to }) => to)).toEqual(smuggled.map(() => 'jo@example.net'))
  })
})
