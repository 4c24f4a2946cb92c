// Mail servers whose TLS is odd: the message waits for another attempt, is never sent in clear, and no attempt hangs.
import { createServer, connect as dial, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { type Mail, open, type SentMail, type Session } from '../../src/providers/smtp/session.ts'
import { selfSigned } from '../support/certificates.ts'
import { scriptedServer, smtpServer } from '../support/smtp-server.ts'
import { relay } from '../support/smtp-settings.ts'

const made = selfSigned('localhost')
if (!made) console.warn('SKIPPED: no openssl on this machine, so odd TLS of mail servers is not tested')
const { key, certificate } = made ?? { key: '', certificate: '' }
const withTls = test.skipIf(!made)
const strict = { host: 'localhost', tls: 'required', ca: certificate, connectSeconds: 1, replySeconds: 1 } as const
const neverGivesUp = new AbortController().signal

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const attempt = (port: number, changes: Parameters<typeof relay>[1] = {}) =>
  open(relay(port, { ...strict, ...changes }), { onClosed: () => {}, mayChunk: () => true }, neverGivesUp)

/** Listens, and gives every connection to `play`. */
async function peer(play: (socket: Socket) => void): Promise<number> {
  const server = createServer(socket => {
    ends.push(() => socket.destroy())
    socket.on('error', () => {})
    play(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

withTls.each(['250 injected\r\n', '220 go on\r\n', '\x16\x03\x01'])(
  'clear text in a packet of its own after the reply to STARTTLS: %j',
  async injected => {
    const server = await scriptedServer(async ({ say, hear, octets }) => {
      say('220 test\r\n')
      await hear()
      say('250-test\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n')
      await hear()
      say('220 go on\r\n')
      await octets(1) // its TLS has begun
      say(injected)
      await hear()
    })
    ends.push(server.stop)
    for (const tls of ['required', 'opportunistic'] as const)
      expect(await attempt(server.port, { tls, user: 'herald', password: 'hunter2' })).toMatchObject({
        ok: false,
        fault: { stage: 'open', reply: null },
      })
    expect(server.state.wire).not.toContain('AUTH')
  },
)

withTls.each([1, 5, 60, 500, 1_200])(
  'a handshake that stops after %i octets of the server ends in time',
  async most => {
    const server = await smtpServer({ key, cert: certificate, secure: true })
    ends.push(server.stop)
    const port = await peer(near => {
      const far = dial(server.port, '127.0.0.1')
      ends.push(() => far.destroy())
      far.on('error', () => {})
      near.pipe(far)
      let sent = 0
      far.on('data', data => {
        const rest = data.subarray(0, Math.max(0, most - sent))
        sent += rest.length
        if (rest.length > 0) near.write(rest)
      })
    })
    expect(await attempt(port, { implicitTls: true })).toMatchObject({
      ok: false,
      fault: { stage: 'open', problem: 'The provider did not answer in time' },
    })
  },
)

withTls('the name of the server is sent, and a certificate for another name is refused', async () => {
  const names: (string | undefined)[] = []
  const stranger = selfSigned('elsewhere.example')
  const server = createTlsServer(
    {
      ...{ key, cert: certificate },
      SNICallback(name, done) {
        names.push(name)
        done(null)
      },
    },
    socket => socket.on('error', () => {}).write('220 test\r\n'),
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  // It is silent after its greeting.
  expect(await attempt(port, { implicitTls: true })).toMatchObject({ ok: false })
  expect(names).toEqual(['localhost'])

  const other = await smtpServer({ key: stranger?.key, cert: stranger?.certificate, secure: true })
  ends.push(other.stop)
  expect(await attempt(other.port, { implicitTls: true, ca: stranger?.certificate ?? '' })).toMatchObject({
    ok: false,
    fault: { problem: 'No TLS connection to the provider' },
  })
})

const mail: Mail = {
  envelope: { from: 'a@herald.example', to: 'jo@example.net', utf8: false },
  data: 'Subject: x\r\n\r\nHello\r\n',
}
const transact = (session: Session) =>
  new Promise<SentMail>(onSent => session.transact(mail, { onEnd: () => {}, onSent }))

/** Behaves until the content has arrived, and then does what it is told with the TLS connection and the one below it. */
async function sendTo(then: (secure: TLSSocket, plain: Socket) => void): Promise<SentMail> {
  const port = await peer(plain => {
    const secure = new TLSSocket(plain, { isServer: true, key, cert: certificate })
    ends.push(() => secure.destroy())
    secure.on('error', () => {})
    const replies = ['250 test\r\n', '250 ok\r\n', '250 ok\r\n', '354 go on\r\n']
    let heard = ''
    secure.write('220 test\r\n')
    secure.setEncoding('latin1').on('data', (text: string) => {
      heard += text
      if (heard.endsWith('\r\n.\r\n')) return then(secure, plain)
      const reply = replies.shift()
      if (reply !== undefined) secure.write(reply)
    })
  })
  const result = await attempt(port, { implicitTls: true })
  if (!result.ok) throw new Error(result.fault.problem)
  ends.push(result.session.destroy)
  return transact(result.session)
}

withTls.each<[string, (secure: TLSSocket, plain: Socket) => void]>([
  ['a half-closed TLS connection', secure => secure.end()],
  ['an end without close_notify', (_secure, plain) => plain.end()],
  ['a reset', (_secure, plain) => plain.resetAndDestroy()],
  ['clear text between the records', (_secure, plain) => plain.write('250 2.0.0 Ok: queued\r\n')],
  ['silence', () => {}],
])('%s instead of the last reply: the outcome is uncertain, and not an acceptance', async (_, then) => {
  expect(await sendTo(then)).toMatchObject({ ok: false, fault: { stage: 'end', reply: null, ended: true } })
})
