// The SMTP client against three mail servers that share no line of code with it or with each other: Postfix, Exim, OpenSMTPD.
// scripts/install-mail-servers.sh fetches them on Debian, for root. Where they are absent the test says so and is skipped.
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EmailMessage } from '../../src/providers/port.ts'
import { authenticate } from '../../src/providers/smtp/client/auth.ts'
import { createDialogue } from '../../src/providers/smtp/client/dialogue.ts'
import { compose } from '../../src/providers/smtp/compose.ts'
import { wholeText } from '../../src/providers/smtp/content.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { message } from '../conformance/email-provider.ts'
import { selfSigned } from '../support/certificates.ts'
import {
  areThere,
  LARGEST,
  LOGIN,
  type MailServer,
  startExim,
  startOpenSmtpd,
  startPostfix,
} from '../support/mail-servers.ts'
import { type Letter, smtpServer } from '../support/smtp-server.ts'
import { providerWorld, relay, smtpSettingsFor } from '../support/smtp-settings.ts'

const certificate = areThere ? selfSigned('localhost') : null
if (!certificate)
  console.warn(
    'SKIPPED: Postfix, Exim and OpenSMTPD are not here; scripts/install-mail-servers.sh needs root and Debian 12',
  )

const AT = Date.UTC(2026, 10, 16)
const PATIENT = { connectSeconds: 10, replySeconds: 20 }

describe.skipIf(!certificate).each([
  { name: 'Postfix', start: startPostfix, hasTls: true, hasChunks: true },
  { name: 'Exim', start: startExim, hasTls: true, hasChunks: true },
  { name: 'OpenSMTPD', start: startOpenSmtpd, hasTls: false, hasChunks: false },
])('$name', ({ name, start, hasTls, hasChunks }) => {
  if (certificate && !hasTls) console.warn(`SKIPPED: TLS and AUTH of ${name}, which Debian's package cannot do`)
  const withTls = test.skipIf(!hasTls)
  let server: MailServer
  let destination: Awaited<ReturnType<typeof smtpServer>>
  const ends: (() => void | Promise<void>)[] = []
  beforeAll(async () => {
    if (!certificate) return
    destination = await smtpServer({ size: 10_000_000 })
    server = await start({ relayPort: destination.port, certificate })
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  afterAll(async () => {
    await server?.stop()
    await destination?.stop()
  })

  function sender(port: number, changes: Parameters<typeof relay>[1] = {}, connections = 1) {
    const to = relay(port, { ...PATIENT, ...changes })
    const world = { ...providerWorld().world, now: () => AT }
    const provider = createSmtp(smtpSettingsFor(port, { relay: to, connections }), world)
    ends.push(provider.stop)
    return provider
  }

  /** The message as it reached its destination; behind the server's own headers it must be what was composed. */
  async function arrived(sent: EmailMessage): Promise<Letter> {
    const find = () => destination.letters.find(({ raw }) => raw.includes(`Message-ID: ${sent.messageId}`))
    await expect.poll(find, { timeout: 20_000, interval: 50, message: server.log() }).toBeDefined()
    const letter = find()
    const composed = compose(sent, AT)
    if (!letter || 'refused' in composed) throw new Error('there is no such message')
    const whole = Buffer.from(`${composed.headers.join('\r\n')}\r\n\r\n${wholeText(composed.body)}`).toString('latin1')
    expect(letter.raw.slice(-whole.length)).toBe(whole)
    expect(letter.raw.slice(0, -whole.length)).toMatch(/^(?:[A-Za-z-]+:(?:[^\r\n]|\r\n[ \t])*\r\n)+$/)
    return letter
  }

  const submission = () => server.submission ?? 0
  const required = () => ({ host: 'localhost', tls: 'required', ca: certificate?.certificate ?? '' }) as const

  test('messages arrive as they were composed', async () => {
    const provider = sender(server.port)
    const texts = [
      '.\n..\n.a\n\n.\nMAIL FROM:<evil@example.net>\n.\n',
      `${'long '.repeat(500)}\n`,
      'Grüße, 日本語, \u{1f600} und ein Punkt\n.\n',
      'From the start\nFrom here\n>From there\n',
      'spaces at the end   \t\n\n\n',
      'Καλημέρα κόσμε '.repeat(300),
    ]
    const sent = texts.map(text => message({ text, html: `<p>${text}</p>`, subject: `Ünïcode ${text.length}` }))
    const content = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
    for (const file of [content, Buffer.concat([content, content, content, content])])
      sent.push(message({ attachments: [{ filename: 'ä.bin', mediaType: 'application/octet-stream', content: file }] }))
    for (const one of sent) expect(await provider.send(one)).toEqual({ kind: 'accepted', ref: one.id })
    for (const one of sent) expect((await arrived(one)).to).toEqual(['jo@example.net'])
  })

  test('many at once over few connections, each exactly once', async () => {
    const provider = sender(server.port, {}, 3)
    const sent = Array.from({ length: 60 }, (_, n) => message({ text: `number ${n}\n` }))
    const outcomes = await Promise.all(sent.map(one => provider.send(one)))
    expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([])
    for (const one of sent) await arrived(one)
    const ids = destination.letters.map(({ raw }) => /Message-ID: (\S+)/.exec(raw)?.[1])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('an unknown recipient is refused, and the messages around it are not', async () => {
    const provider = sender(server.port)
    const sent = ['jo', 'nobody', 'jo', 'no.body', 'jo'].map(name => message({ to: `${name}@example.net` }))
    const outcomes = await Promise.all(sent.map(one => provider.send(one)))
    const no = { kind: 'rejected', detail: expect.stringMatching(/^550 /), permanent: 'hard-bounce no-email' }
    const yes = { kind: 'accepted', ref: expect.any(String) }
    expect(outcomes).toEqual([yes, no, yes, no, yes])
  })

  test('a message over the size limit, whether the server has announced it or not', async () => {
    const large = message({ text: 'x\n'.repeat(LARGEST) })
    expect(await sender(server.port).send(large)).toEqual({
      kind: 'rejected',
      detail: `The message is larger than the ${LARGEST} bytes the provider takes`,
    })
    const silent = sender(await withoutSize(server.port))
    expect(await silent.send(large)).toMatchObject({ kind: 'rejected', detail: expect.stringMatching(/^55[24]/) })
    const small = message()
    expect((await silent.send(small)).kind).toBe('accepted')
    await arrived(small)
  })

  test.skipIf(!hasChunks)('envelopes and content in one write, several at once, and some are refused', async () => {
    let wire = ''
    const provider = sender(
      await proxied(server.port, {
        onSent: octets => {
          wire += octets
        },
      }),
    )
    const sent = Array.from({ length: 12 }, (_, n) =>
      message({ to: n % 5 === 3 ? 'nobody@example.net' : 'jo@example.net', text: `.\n..\nnumber ${n}\n.\n` }),
    )
    const outcomes = await Promise.all(sent.map(one => provider.send(one)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(
      sent.map(one => (one.to === 'jo@example.net' ? 'accepted' : 'rejected')),
    )
    for (const one of sent) if (one.to === 'jo@example.net') await arrived(one)
    expect(wire.match(/^BDAT \d+ LAST\r$/gm)).toHaveLength(12)
    expect(wire.match(/^EHLO /gm)).toHaveLength(1)
  })

  const withoutSize = (port: number) => proxied(port, { changed: octets => octets.replace(/^250-SIZE.*\r\n/m, '') })

  /** A way to the server that sees what is sent, and may change what the server says. */
  async function proxied(
    port: number,
    {
      onSent = () => {},
      changed = octets => octets,
    }: { onSent?(octets: string): void; changed?(octets: string): string },
  ): Promise<number> {
    const sockets = new Set<Socket>()
    const proxy = createServer(client => {
      const inner = connect(port, '127.0.0.1')
      for (const socket of [client, inner]) sockets.add(socket.on('error', () => {}))
      client.on('data', chunk => onSent(chunk.toString('latin1')))
      client.pipe(inner)
      inner.on('data', chunk => client.write(changed(chunk.toString('latin1')), 'latin1'))
      inner.on('close', () => client.destroy())
    })
    await new Promise<void>(ready => {
      proxy.listen(0, '127.0.0.1', () => ready())
    })
    ends.push(() => {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    })
    const address = proxy.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  withTls('STARTTLS, with a certificate that is checked', async () => {
    const sent = message({ text: 'Über TLS\n.\n' })
    expect((await sender(server.port, required()).send(sent)).kind).toBe('accepted')
    expect((await arrived(sent)).raw).toMatch(/with esmtps /i)
    const stranger = sender(server.port, { ...required(), ca: null })
    expect(await stranger.send(message())).toMatchObject({ kind: 'deferred', down: true })
  })

  withTls('TLS from the first byte and a login', async () => {
    const login = { ...required(), implicitTls: true, ...LOGIN }
    const sent = message()
    expect(await sender(submission(), login).send(sent)).toMatchObject({ kind: 'accepted' })
    expect((await arrived(sent)).raw).toMatch(/with esmtpsa /i)
    const wrong = await sender(submission(), { ...login, password: 'wrong' }).send(message())
    expect(wrong).toMatchObject({ kind: 'deferred', detail: '535 The provider refused the login', down: true })
    const anonymous = await sender(submission(), { ...login, user: null, password: null }).send(message())
    expect(anonymous.kind).not.toBe('accepted')
  })

  withTls('AUTH LOGIN', async () => {
    const dialogue = createDialogue(relay(submission(), { ...PATIENT, ...required(), implicitTls: true }))
    ends.push(dialogue.connection.close)
    await dialogue.step(dialogue.connection.connect)
    await dialogue.step(dialogue.connection.secure)
    expect(await dialogue.greeting()).toMatch(/^220/)
    expect(await dialogue.ask('EHLO herald.example')).toMatch(/^250[- ]AUTH .*\bLOGIN\b/m)
    expect(await authenticate(dialogue.ask, new Set(['LOGIN']), LOGIN)).toMatch(/^235/)
  })

  test('an address outside ASCII, where the server takes one', async () => {
    const sent = message({ to: 'renée@example.net' })
    const outcome = await sender(server.port).send(sent)
    if (!server.hasUtf8) {
      expect(outcome).toEqual({
        kind: 'rejected',
        detail: 'The provider cannot send to addresses outside ASCII',
      })
      return
    }
    expect(outcome.kind).toBe('accepted')
    expect((await arrived(sent)).to).toEqual(['renée@example.net'])
  })
})
