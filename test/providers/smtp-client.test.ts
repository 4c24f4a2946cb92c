// The SMTP client alone: how replies are parsed, how a connection is opened, and what a hostile server can do to it.
import { Resolver } from 'node:dns/promises'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { authenticate } from '../../src/providers/smtp/client/auth.ts'
import { unfit } from '../../src/providers/smtp/client/envelope.ts'
import { readExtensions } from '../../src/providers/smtp/client/extensions.ts'
import { createReplyReader, LONGEST_REPLY, MOST_LINES } from '../../src/providers/smtp/client/reply.ts'
import { addressesOf } from '../../src/providers/smtp/client/resolve.ts'
import { afterReply, begin, broken } from '../../src/providers/smtp/client/transaction.ts'
import { type Mail, open, type SentMail, type Session } from '../../src/providers/smtp/session.ts'
import { selfSigned } from '../support/certificates.ts'
import { dnsServer } from '../support/dns-server.ts'
import { type Scene, scene, scriptedServer, smtpServer } from '../support/smtp-server.ts'
import { relay } from '../support/smtp-settings.ts'

const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const neverGivesUp = new AbortController().signal
const options = { onClosed: () => {}, mayChunk: () => true }
const fast = { connectSeconds: 1.5, replySeconds: 1.5 }

async function opened(play: Scene, changes: Parameters<typeof relay>[1] = {}) {
  const server = await scriptedServer(play)
  ends.push(server.stop)
  const result = await open(relay(server.port, { ...fast, ...changes }), options, neverGivesUp)
  if (result.ok) ends.push(result.session.destroy)
  return { server, result }
}

async function sessionWith(play: Scene): Promise<{ session: Session; wire(): string }> {
  const { result, server } = await opened(play)
  if (!result.ok) throw new Error(result.fault.problem)
  return { session: result.session, wire: () => server.state.wire }
}

const piped = '250-test\r\n250-PIPELINING\r\n250 SIZE 1000000'
const envelope = { from: 'a@herald.example', to: 'jo@example.net', utf8: false }
const DATA = 'Subject: x\r\n\r\nHello\r\n'
const mail: Mail = { envelope, data: DATA }
const mailTo = (to: string): Mail => ({ envelope: { ...envelope, to }, data: DATA })

const transact = (session: Session, given: Mail, onEnd = () => {}) =>
  new Promise<SentMail>(onSent => session.transact(given, { onEnd, onSent }))

describe('replies', () => {
  const read = (...chunks: string[]) => {
    const reader = createReplyReader()
    const replies: string[] = []
    for (const chunk of chunks) {
      reader.feed(chunk)
      for (let reply = reader.next(); reply !== null; reply = reader.next()) replies.push(reply)
    }
    return { replies, violation: reader.violation(), hasUnread: reader.hasUnread() }
  }
  const whole = (...replies: string[]) => ({ replies, violation: null, hasUnread: false })

  test('one line, several lines, no text, bare LF, NUL and other octets', () => {
    expect(read('250 ok\r\n')).toEqual(whole('250 ok'))
    expect(read('250-a\r\n250-b\r\n250 c\r\n')).toEqual(whole('250-a\n250-b\n250 c'))
    expect(read('250\r\n250-\r\n250\r\n')).toEqual(whole('250', '250-\n250'))
    expect(read('250 ok\n250 ok\n')).toEqual(whole('250 ok', '250 ok'))
    expect(read('550 a\0b\x07\xff\r\n')).toEqual(whole('550 a\0b\x07\xff'))
    expect(read('250 a\rb\r\n')).toEqual(whole('250 a\rb'))
  })

  test('however they are split over packets', () => {
    const text = '220 hi\r\n250-a\r\n250 b\r\n354 go on\r\n250\r\n'
    const expected = ['220 hi', '250-a\n250 b', '354 go on', '250']
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        const chunks = at.slice(1).map((end, i) => text.slice(at[i], end))
        expect(read(...chunks)).toEqual(whole(...expected))
      }),
    )
    expect(read(...text)).toEqual(whole(...expected))
  })

  test('an unfinished one stays unread', () => {
    expect(read('250 ok\r\n25')).toEqual({ replies: ['250 ok'], violation: null, hasUnread: true })
    expect(read('250-ok\r\n')).toEqual({ replies: [], violation: null, hasUnread: true })
  })

  test.each([
    'HTTP/1.1 400 no\r\n',
    '\r\n',
    '25\r\n',
    '2500 x\r\n',
    '250_x\r\n',
    ' 250 x\r\n',
    '250-a\r\n550 b\r\n',
    '\xff\xf4\n',
  ])('%j is no SMTP, and nothing is read after it', text => {
    const { replies, violation } = read(text, '250 ok\r\n')
    expect(replies).toEqual([])
    expect(violation).toBe('The provider does not speak SMTP')
  })

  test('length and number of lines are bounded, and nothing is kept after that', () => {
    const tooLong = { replies: [], violation: 'The provider does not stop talking', hasUnread: false }
    expect(read(`250 ${'x'.repeat(LONGEST_REPLY)}\r\n`)).toEqual(tooLong)
    expect(read('x'.repeat(LONGEST_REPLY + 1))).toEqual(tooLong)
    expect(read(...Array.from({ length: 20 }, () => 'x'.repeat(1_000)))).toEqual(tooLong)
    expect(read('250-\r\n'.repeat(MOST_LINES + 1))).toEqual(tooLong)
    expect(read(`250-${'x'.repeat(400)}\r\n`.repeat(100))).toEqual(tooLong)
    expect(read(`250-x\r\n`.repeat(MOST_LINES - 1), '250 x\r\n').replies).toHaveLength(1)
  })

  test('whatever bytes come, it ends and keeps little', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('2', '5', '0', '-', ' ', '\r', '\n', '\0', 'x') })),
        chunks => {
          for (const reply of read(...chunks).replies)
            expect(reply).toMatch(/^\d{3}(?:[ -][^\n]*)?(?:\n\d{3}(?:[ -][^\n]*)?)*$/)
        },
      ),
    )
  })
})

describe('extensions', () => {
  test('of EHLO', () => {
    const ehlo =
      '250-mx at your service\n250-SIZE 35882577\n250-8bitmime\n250-PIPELINING \n250-AUTH PLAIN login\n250 SMTPUTF8'
    expect(readExtensions(ehlo)).toEqual({
      pipelining: true,
      chunking: false,
      startTls: false,
      eightBitMime: true,
      utf8: true,
      deliveryStatus: false,
      size: true,
      largest: 35_882_577,
      auth: new Set(['PLAIN', 'LOGIN']),
    })
  })

  test('the name of the server is none; sizes and old forms are read with care', () => {
    expect(readExtensions('250 PIPELINING STARTTLS')).toMatchObject({ pipelining: false, startTls: false })
    expect(readExtensions('').pipelining).toBe(false)
    expect(readExtensions('250-a\n250 SIZE')).toMatchObject({ size: true, largest: 0 })
    expect(readExtensions('250-a\n250 SIZE -1')).toMatchObject({ size: true, largest: 0 })
    expect(readExtensions(`250-a\n250 SIZE ${'9'.repeat(40)}`)).toMatchObject({ largest: 0 })
    expect(readExtensions('250-a\n250-AUTH=LOGIN PLAIN\n250 AUTH CRAM-MD5').auth).toEqual(
      new Set(['LOGIN', 'PLAIN', 'CRAM-MD5']),
    )
    expect(readExtensions('250-a\n250 AUTHOR PLAIN').auth).toEqual(new Set())
  })
})

describe('authentication', () => {
  const given = { user: 'jo', password: 'pé' }
  async function asked(offered: string[], replies: string[]) {
    const commands: string[] = []
    const ask = async (command: string) => {
      commands.push(command)
      return replies.shift() ?? '235 ok'
    }
    return { last: await authenticate(ask, new Set(offered), given), commands }
  }
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  test('PLAIN where it is offered, or nothing is', async () => {
    const expected = { last: '235 ok', commands: [`AUTH PLAIN ${base64('\0jo\0pé')}`] }
    expect(await asked(['LOGIN', 'PLAIN'], [])).toEqual(expected)
    expect(await asked([], [])).toEqual(expected)
  })

  test('LOGIN, which may be refused at every step', async () => {
    const all = ['AUTH LOGIN', base64('jo'), base64('pé')]
    expect(await asked(['LOGIN'], ['334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6'])).toEqual({ last: '235 ok', commands: all })
    expect(await asked(['LOGIN'], ['334 x', '535 no'])).toEqual({ last: '535 no', commands: all.slice(0, 2) })
    expect(await asked(['LOGIN'], ['504 no'])).toEqual({ last: '504 no', commands: all.slice(0, 1) })
  })

  test('CRAM-MD5 by the example of RFC 2195', async () => {
    const commands: string[] = []
    const challenge = 'PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+'
    const ask = async (command: string) => {
      commands.push(command)
      return commands.length === 1 ? `334 ${challenge}` : '235 ok'
    }
    const timeline = { user: 'tim', password: 'tanstaaftanstaaf' }
    expect(await authenticate(ask, new Set(['CRAM-MD5']), timeline)).toBe('235 ok')
    expect(commands).toEqual(['AUTH CRAM-MD5', 'dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw'])
  })
})

describe('a message', () => {
  const plain = readExtensions('250 test')
  const first = { isReset: false, isChunk: false }

  test('commands and stages, with and without a reset', () => {
    expect(begin(envelope, 10, plain, first)).toMatchObject({
      commands: ['MAIL FROM:<a@herald.example>', 'RCPT TO:<jo@example.net>', 'DATA'],
      stages: ['mail', 'rcpt', 'data'],
    })
    const able = readExtensions('250-test\n250-SIZE\n250-DSN\n250-8BITMIME\n250 SMTPUTF8')
    expect(begin({ ...envelope, utf8: true }, 10, able, { isReset: true, isChunk: false }).commands).toEqual([
      'RSET',
      'MAIL FROM:<a@herald.example> SIZE=10 SMTPUTF8 BODY=8BITMIME RET=HDRS',
      'RCPT TO:<jo@example.net>',
      'DATA',
    ])
  })

  test('what each reply leads to', () => {
    const steps = (isPipelined: boolean, ...replies: string[]) => {
      const transaction = begin(envelope, 10, plain, first)
      return replies.map(reply => afterReply(transaction, reply, isPipelined))
    }
    expect(steps(false, '250', '250', '354 go', '250 ok')).toEqual(['command', 'command', 'data', 'accepted'])
    expect(steps(true, '250', '250', '354 go', '250 ok')).toEqual(['wait', 'wait', 'data', 'accepted'])
    expect(steps(false, '250', '550 no')).toEqual(['command', 'refused'])
    expect(steps(true, '250', '550 no', '503 no')).toEqual(['wait', 'wait', 'refused'])
    expect(steps(true, '250', '550 no', '354 go')).toEqual(['wait', 'wait', 'untrusted'])
    expect(steps(true, '421 bye')).toEqual(['refused-closing'])
    expect(steps(true, '250', '250', '354', '421 bye')).toEqual(['wait', 'wait', 'data', 'refused-closing'])
    expect(steps(true, '250', '250', '354', '999 what')).toEqual(['wait', 'wait', 'data', 'refused-closing'])
    expect(steps(false, '354 go')).toEqual(['refused-closing'])
  })

  test('what each reply leads to when the content was sent with the envelope', () => {
    const steps = (...replies: string[]) => {
      const transaction = begin(envelope, 10, plain, { isReset: false, isChunk: true })
      expect(transaction.commands.at(-1)).toBe('BDAT 10 LAST')
      return replies.map(reply => afterReply(transaction, reply, true))
    }
    expect(steps('250', '250', '250 ok')).toEqual(['wait', 'wait', 'accepted'])
    expect(steps('250', '550 no', '503 no')).toEqual(['wait', 'wait', 'refused'])
    expect(steps('250', '250', '552 no')).toEqual(['wait', 'wait', 'refused'])
    expect(steps('250', '550 no', '250 ok')).toEqual(['wait', 'wait', 'untrusted'])
    expect(steps('250', '250', '502 what')).toEqual(['wait', 'wait', 'refused-closing'])
    expect(steps('250', '421 bye')).toEqual(['wait', 'refused-closing'])
  })

  test('where it stood when the connection broke', () => {
    const transaction = begin(envelope, 10, plain, { isReset: true, isChunk: false })
    expect(broken(transaction, null, 'p')).toEqual({ stage: 'mail', reply: null, problem: 'p' })
    for (const reply of ['250', '250']) afterReply(transaction, reply, true)
    expect(broken(transaction, null, 'p')).toMatchObject({ stage: 'rcpt' })
    transaction.isEnded = true
    expect(broken(transaction, '421 x', 'p')).toEqual({ stage: 'end', reply: '421 x', problem: 'p', ended: true })
    expect(broken(transaction, null, 'p', true)).toEqual({ stage: 'rcpt', reply: null, problem: 'p' })
  })

  test.each(['a@b\r\nDATA', 'a@b\n', 'a@b\r', 'a@b\0', 'a@b>', '<a@b', 'a b@c', 'a@b\x7f', 'a\t@b'])(
    'the address %j reaches no command',
    async address => {
      expect(unfit({ ...envelope, to: address }, 10, plain)).toBe('An address cannot be put into SMTP')
      expect(unfit({ ...envelope, from: address }, 10, plain)).toBe('An address cannot be put into SMTP')
      const { session, wire } = await sessionWith(scene({}))
      const before = wire()
      expect(await transact(session, mailTo(address))).toMatchObject({ fault: { refused: true } })
      expect(wire()).toBe(before)
      expect((await transact(session, mail)).ok).toBe(true)
    },
  )
})

describe('addresses of a relay', () => {
  const asked = (server: string) => {
    const resolver = new Resolver({ tries: 1 })
    resolver.setServers([server])
    return resolver
  }

  test('an address is its own, a name is asked of DNS, and kept for a while', async () => {
    const dns = await dnsServer()
    ends.push(dns.stop)
    dns.addresses.set('mail.herald.example', '127.0.0.9')
    expect(await addressesOf(relay(25, { host: '::1' }), asked(dns.server))).toEqual(['::1'])
    const named = relay(25, { host: 'mail.herald.example' })
    expect(await addressesOf(named, asked(dns.server))).toEqual(['127.0.0.9'])
    dns.addresses.set('mail.herald.example', '127.0.0.10')
    expect(await addressesOf(named, asked(dns.server))).toEqual(['127.0.0.9'])
    expect(await addressesOf(named, asked(dns.server), 0)).toEqual(['127.0.0.10'])
  })

  test('while DNS does not answer, the last addresses stay; the hosts file knows others', async () => {
    const dns = await dnsServer()
    ends.push(dns.stop)
    dns.addresses.set('mail.herald.example', '127.0.0.9')
    const named = relay(25, { host: 'mail.herald.example' })
    await addressesOf(named, asked(dns.server))
    dns.fail(true)
    expect(await addressesOf(named, asked(dns.server), 0)).toEqual(['127.0.0.9'])
    expect(await addressesOf(relay(25, { host: 'localhost' }), asked(dns.server))).toContain('127.0.0.1')
    expect(await addressesOf(relay(25, { host: 'no-such-host.invalid' }), asked(dns.server))).toEqual([])
  })
})

describe('a connection', () => {
  test('a name with a line end is not sent', async () => {
    const { server, result } = await opened(scene({}), { name: 'a\r\nMAIL FROM:<evil@example.net>' })
    expect(result).toMatchObject({ ok: false, fault: { stage: 'open' } })
    expect(server.state.wire).toBe('')
  })

  test('HELO where EHLO is not known', async () => {
    const { server, result } = await opened(async ({ say, hear }) => {
      say('220 test\r\n')
      for (const reply of ['502 unknown', '250 test', '250 ok']) {
        await hear()
        say(`${reply}\r\n`)
      }
    })
    expect(result.ok).toBe(true)
    expect(server.state.wire).toBe('EHLO herald.example\r\nHELO herald.example\r\n')
  })

  test.each<[string, Parameters<typeof scene>[0], object]>([
    ['421 as a greeting', { greeting: '421 4.3.2 busy' }, { stage: 'open', reply: '421 4.3.2 busy' }],
    ['421 to EHLO', { ehlo: '421 4.3.2 busy' }, { stage: 'open', reply: '421 4.3.2 busy' }],
    ['250 as a greeting', { greeting: '250 ok' }, { stage: 'open', reply: '250 ok' }],
    ['two greetings', { greeting: '220 a\r\n220 b' }, { reply: null, problem: 'The provider spoke out of turn' }],
    ['two replies to EHLO', { ehlo: '250 a\r\n250 b' }, { reply: null, problem: 'The provider spoke out of turn' }],
    ['silence', { hangAt: 'greeting' }, { reply: null, problem: 'The provider did not answer in time' }],
    ['a reset', { resetAt: 'ehlo' }, { reply: null, problem: 'The connection broke' }],
  ])('%s', async (_, replies, fault) => {
    expect((await opened(scene(replies))).result).toEqual({ ok: false, fault: expect.objectContaining(fault) })
  })

  test('slow at every step: bounded as a whole', async () => {
    const { result } = await opened(async ({ say, hear, socket }) => {
      say('220 test\r\n')
      await hear()
      // A reply that never ends.
      const timer = setInterval(() => say('250-x\r\n'), 100)
      await new Promise(gone => socket.once('close', gone))
      clearInterval(timer)
    })
    expect(result).toMatchObject({ ok: false, fault: { problem: 'The provider did not answer in time' } })
  })

  test('given up while it is being opened', async () => {
    const server = await scriptedServer(scene({ hangAt: 'greeting' }))
    ends.push(server.stop)
    const giveUp = new AbortController()
    const result = open(relay(server.port), options, giveUp.signal)
    await expect.poll(() => server.state.connections).toBe(1)
    giveUp.abort()
    expect(await result).toMatchObject({ ok: false, fault: { problem: 'The provider is being stopped' } })
    expect(await open(relay(server.port), options, giveUp.signal)).toMatchObject({ ok: false })
    expect(server.state.connections).toBe(1)
  })

  test('a name that does not exist, a port where nobody listens', async () => {
    const nowhere = await open(relay(25, { host: 'no-such-host.invalid' }), options, neverGivesUp)
    expect(nowhere).toMatchObject({ ok: false, fault: { stage: 'open', reply: null } })
    const server = await scriptedServer(scene({}))
    await server.stop()
    const closed = await open(relay(server.port), options, neverGivesUp)
    expect(closed).toMatchObject({ ok: false, fault: { problem: 'No connection to the provider' } })
  })

  test('by name, over IPv6 or IPv4', async () => {
    const { result } = await opened(scene({}), { host: 'localhost' })
    expect(result.ok).toBe(true)
  })

  test('a 421 that nobody asked for ends it, and the next message is told so', async () => {
    const { session } = await sessionWith(async ({ say, hear, socket }) => {
      say('220 test\r\n')
      await hear()
      say('250 test\r\n')
      setTimeout(() => socket.end('421 4.4.2 idle\r\n'), 20)
    })
    await expect.poll(session.isOpen).toBe(false)
    expect(await transact(session, mail)).toMatchObject({ ok: false, fault: { stage: 'mail', reply: null } })
  })

  test('a server that closes after DATA: the message may have been taken or not, by when it closed', async () => {
    const closing =
      (atEnd: boolean): Scene =>
      async ({ say, hear, data, socket }) => {
        say('220 test\r\n')
        await hear()
        say('250 test\r\n')
        for (const reply of ['250 ok', '250 ok']) {
          await hear()
          say(`${reply}\r\n`)
        }
        await hear()
        if (!atEnd) return void socket.end()
        say('354 go on\r\n')
        await data()
        socket.end()
      }
    const before = await sessionWith(closing(false))
    expect(await transact(before.session, mail)).toEqual({
      ok: false,
      fault: { stage: 'data', reply: null, problem: 'The provider closed the connection' },
    })
    const after = await sessionWith(closing(true))
    expect(await transact(after.session, mail)).toEqual({
      ok: false,
      fault: { stage: 'end', reply: null, problem: 'The provider closed the connection', ended: true },
    })
  })

  test('with PIPELINING a message is two writes, and one when the next envelope is waiting', async () => {
    const packets: string[] = []
    const { session } = await sessionWith(peer => {
      peer.socket.on('data', chunk => packets.push(chunk.toString('latin1')))
      return scene({ ehlo: piped })(peer)
    })
    let second: Promise<unknown> = Promise.resolve()
    const first = transact(session, mail, () => {
      second = transact(session, mailTo('b@example.net'))
    })
    expect(await first).toMatchObject({ ok: true })
    expect(await second).toMatchObject({ ok: true })
    const commands = (to: string) => `MAIL FROM:<a@herald.example> SIZE=${DATA.length}\r\nRCPT TO:<${to}>\r\nDATA\r\n`
    expect(packets).toEqual([
      'EHLO herald.example\r\n',
      commands('jo@example.net'),
      `${DATA}.\r\nRSET\r\n${commands('b@example.net')}`,
      `${DATA}.\r\n`,
    ])
  })

  test('QUIT waits for its reply, and nothing begins after it', async () => {
    const { session, wire } = await sessionWith(scene({}))
    session.quit()
    expect(await transact(session, mail)).toMatchObject({ ok: false, fault: { stage: 'mail' } })
    await expect.poll(session.isOpen).toBe(false)
    expect(wire()).toBe('EHLO herald.example\r\nQUIT\r\n')
  })
})

describe('TLS', () => {
  const made = selfSigned('localhost')
  if (!made) console.warn('SKIPPED: no openssl on this machine, so TLS of the SMTP client is not tested')
  const { key, certificate } = made ?? { key: '', certificate: '' }
  const withTls = test.skipIf(!made)
  const strict = { host: 'localhost', tls: 'required', ca: certificate } as const

  withTls.each([
    ['a whole reply', '250 injected\r\n'],
    ['a part of a reply', '250-inj'],
  ])('%s behind the reply to STARTTLS is refused', async (_, injected) => {
    for (const tls of ['required', 'opportunistic'] as const) {
      const { server, result } = await opened(
        async ({ say, hear }) => {
          say('220 test\r\n')
          await hear()
          say('250-test\r\n250 STARTTLS\r\n')
          await hear()
          say(`220 go on\r\n${injected}`)
          await hear()
        },
        { ...strict, tls },
      )
      expect(result).toMatchObject({ ok: false, fault: { stage: 'open', reply: null } })
      expect(server.state.wire).toBe('EHLO herald.example\r\nSTARTTLS\r\n')
    }
  })

  withTls('what the server said before TLS is forgotten', async () => {
    const server = await smtpServer({ key, cert: certificate, authOptional: true })
    ends.push(server.stop)
    const result = await open(relay(server.port, strict), options, neverGivesUp)
    if (!result.ok) throw new Error(result.fault.problem)
    ends.push(result.session.destroy)
    expect((await transact(result.session, mail)).ok).toBe(true)
    expect(server.letters[0]?.secure).toBe(true)
  })

  withTls('STARTTLS refused: without TLS only where that is allowed, and never after 421', async () => {
    const refusing =
      (reply: string): Scene =>
      async ({ say, hear }) => {
        say('220 test\r\n')
        await hear()
        say('250-test\r\n250 STARTTLS\r\n')
        await hear()
        say(`${reply}\r\n`)
        await hear()
      }
    const unavailable = refusing('454 4.7.0 TLS not available')
    expect((await opened(unavailable, { tls: 'opportunistic' })).result.ok).toBe(true)
    expect((await opened(unavailable, { tls: 'required' })).result).toMatchObject({
      fault: { reply: '454 4.7.0 TLS not available', problem: 'No TLS connection to the provider' },
    })
    expect((await opened(refusing('421 bye'), { tls: 'opportunistic' })).result.ok).toBe(false)
  })

  withTls('a certificate for another name, or of another authority, is refused where TLS is required', async () => {
    const server = await smtpServer({ key, cert: certificate, secure: true })
    ends.push(server.stop)
    const attempt = (changes: Parameters<typeof relay>[1]) =>
      open(relay(server.port, { ...strict, implicitTls: true, ...changes }), options, neverGivesUp)
    const problem = (reason: RegExp) => ({
      ok: false,
      fault: {
        ...{ stage: 'open', reply: null, problem: 'No TLS connection to the provider' },
        reason: expect.stringMatching(reason),
      },
    })
    // 127.0.0.1 is in the certificate, 127.0.0.2 and 0.0.0.0 are not.
    expect(await attempt({ host: '0.0.0.0' })).toEqual(
      problem(/^0\.0\.0\.0:\d+: the certificate is for localhost, 127\.0\.0\.1, not for 0\.0\.0\.0\. /),
    )
    expect(await attempt({ ca: null })).toEqual(
      problem(/: the certificate is self-signed\. Set HERALD_SMTP_CA_FILE to /),
    )
    for (const good of [{}, { host: '127.0.0.1' }, { ca: null, tls: 'opportunistic' as const }]) {
      const result = await attempt(good)
      expect(result.ok).toBe(true)
      if (result.ok) result.session.destroy()
    }
  })

  withTls('TLS older than 1.2 is refused', async () => {
    const server = createTlsServer({ key, cert: certificate, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })
    server.on('tlsClientError', () => {})
    await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
    ends.push(() => void server.close())
    const { port } = server.address() as AddressInfo
    const result = await open(relay(port, { ...strict, implicitTls: true }), options, neverGivesUp)
    expect(result).toMatchObject({ ok: false, fault: { problem: 'No TLS connection to the provider' } })
  })

  withTls('a TLS handshake that never ends', async () => {
    const { result } = await opened(
      async ({ socket }) => {
        await new Promise(gone => socket.once('close', gone))
      },
      { ...strict, implicitTls: true },
    )
    expect(result).toMatchObject({ ok: false, fault: { problem: 'The provider did not answer in time' } })
  })
})
