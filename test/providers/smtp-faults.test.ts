// reliability 2.6: the outcome of every fault of a mail server. Never a throw, never a crash, never a false "sent".
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { EmailProvider, Outcome } from '../../src/providers/port.ts'
import { outcomeOf } from '../../src/providers/smtp/replies.ts'
import { createSmtp } from '../../src/providers/smtp/send.ts'
import { smtpSettings } from '../../src/providers/smtp/settings.ts'
import { mapped, unmap } from '../../src/runtime/mapped.ts'
import { message } from '../conformance/email-provider.ts'
import { selfSigned } from '../support/certificates.ts'
import { type Scene, scene, scriptedServer, smtpServer } from '../support/smtp-server.ts'
import { providerWorld, relay, smtpSettingsFor } from '../support/smtp-settings.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** `seconds`: for a reply of the server. Only one that is silent at some point gets few. */
async function against(play: Scene, changes: Parameters<typeof smtpSettingsFor>[1] & { seconds?: number } = {}) {
  const { seconds = 15, ...others } = changes
  const server = await scriptedServer(play)
  const told = providerWorld()
  const within = relay(server.port, { connectSeconds: seconds, replySeconds: seconds })
  const provider = createSmtp(smtpSettingsFor(server.port, { relay: within, connections: 1, ...others }), told.world)
  ends.push(server.stop, provider.stop)
  return { server, provider, ...told }
}

const piped = '250-test\r\n250-PIPELINING\r\n250 SIZE 1000000'
const chunked = `${piped}\r\n250 CHUNKING`.replace('250 SIZE', '250-SIZE')
const down = { kind: 'deferred', detail: expect.any(String), down: true } as const
const downBecause = (reason: RegExp) => ({ ...down, reason: expect.stringMatching(reason) })
const uncertain = { kind: 'deferred', detail: expect.any(String), uncertain: true } as const
const deferred = (detail: string) => ({ kind: 'deferred', detail })
const rejected = (detail: string) => ({ kind: 'rejected', detail })
const noSuchAddress = (detail: string) => ({ ...rejected(detail), permanent: 'hard-bounce no-email' })
const blocked = (detail: string) => ({ ...rejected(detail), permanent: 'blocked' })
const tooLarge = (detail: string) => ({ ...rejected(detail), permanent: 'hard-bounce message-too-large' })
const contentRejected = (detail: string) => ({ ...rejected(detail), permanent: 'hard-bounce content-rejected' })

type Replies = Parameters<typeof scene>[0]
const cases: [string, Replies, object][] = [
  [
    'greeting 4xx',
    { greeting: '421 4.3.2 All server ports are busy' },
    { ...down, detail: '421 4.3.2 All server ports are busy' },
  ],
  ['greeting 5xx', { greeting: '554 5.7.1 blocked' }, { ...down, detail: '554 5.7.1 blocked' }],
  ['no greeting', { hangAt: 'greeting' }, downBecause(/^127\.0\.0\.1:\d+: .* sent no greeting in time\. /)],
  ['reset instead of a greeting', { resetAt: 'greeting' }, downBecause(/: the server closed the connection\. /)],
  ['garbage greeting', { greeting: 'SSH-2.0-OpenSSH_9.2' }, down],
  ['no answer to EHLO', { hangAt: 'ehlo' }, downBecause(/: no answer in time\. /)],
  ['450 at RCPT', { rcpt: '450 4.2.0 Greylisted' }, deferred('450 4.2.0 Greylisted')],
  ['451 at MAIL', { mail: '451 4.3.0 later' }, deferred('451 4.3.0 later')],
  ['452 at DATA', { data: '452 4.3.1 Insufficient system storage' }, deferred('452 4.3.1 Insufficient system storage')],
  ['421 at RCPT', { rcpt: '421 4.7.0 too many errors' }, deferred('421 4.7.0 too many errors')],
  ['451 after the end', { end: '451 4.3.0 queue file write error' }, deferred('451 4.3.0 queue file write error')],
  ['550 at RCPT', { rcpt: '550 5.1.1 User unknown' }, noSuchAddress('550 5.1.1 User unknown')],
  ['550 without a code at RCPT', { rcpt: '550 Unrouteable address' }, noSuchAddress('550 Unrouteable address')],
  ['556 at RCPT', { rcpt: '556 5.1.10 null MX' }, noSuchAddress('556 5.1.10 null MX')],
  ['552 at RCPT', { rcpt: '552 5.2.2 Mailbox full' }, noSuchAddress('552 5.2.2 Mailbox full')],
  ['554 5.7.1 at RCPT', { rcpt: '554 5.7.1 Access denied' }, blocked('554 5.7.1 Access denied')],
  ['550-5.7.1 at RCPT', { rcpt: '550-5.7.1 listed\r\n550 5.7.1 by us' }, blocked('550-5.7.1 listed 5.7.1 by us')],
  [
    '552 at MAIL',
    { mail: '552 5.3.4 Message size exceeds fixed limit' },
    tooLarge('552 5.3.4 Message size exceeds fixed limit'),
  ],
  [
    '550 5.2.3 after the end',
    { end: '550 5.2.3 too large for this recipient' },
    tooLarge('550 5.2.3 too large for this recipient'),
  ],
  ['554 5.6.0 after the end', { end: '554 5.6.0 bad content' }, contentRejected('554 5.6.0 bad content')],
  [
    '550 5.7.1 after the end',
    { end: '550 5.7.1 Message rejected as spam' },
    contentRejected('550 5.7.1 Message rejected as spam'),
  ],
  [
    '554 without a code after the end',
    { end: '554 Message rejected: Email address is not verified.' },
    rejected('554 Message rejected: Email address is not verified.'),
  ],
  [
    '550 5.1.8 at MAIL',
    { mail: '550 5.1.8 Sender address rejected: Domain not found' },
    rejected('550 5.1.8 Sender address rejected: Domain not found'),
  ],
  [
    'several lines',
    { rcpt: '550-5.1.1 The account\r\n550 5.1.1 does not exist' },
    noSuchAddress('550-5.1.1 The account 5.1.1 does not exist'),
  ],
  ['553 at MAIL', { mail: '553 5.7.1 not owned by user' }, rejected('553 5.7.1 not owned by user')],
  ['554 at DATA', { data: '554 5.7.1 refused' }, contentRejected('554 5.7.1 refused')],
  ['552 after the end', { end: '552 5.3.4 too big' }, tooLarge('552 5.3.4 too big')],
  [
    '530 at MAIL',
    { mail: '530 5.7.0 Must issue a STARTTLS command first' },
    { ...down, detail: '530 5.7.0 Must issue a STARTTLS command first' },
  ],
  ['503 at RCPT', { rcpt: '503 5.5.1 Error: need MAIL command' }, down],
  ['reset at MAIL', { resetAt: 'mail' }, down],
  ['reset at DATA', { resetAt: 'data' }, down],
  ['reset after the end', { resetAt: 'end' }, uncertain],
  ['silence at MAIL', { hangAt: 'mail' }, down],
  ['silence after the end', { hangAt: 'end' }, uncertain],
  ['garbage at RCPT', { rcpt: 'what?' }, down],
  ['garbage after the end', { end: 'okay!' }, uncertain],
  ['a wrong number after the end', { end: '999 what' }, uncertain],
  ['control characters', { rcpt: '550 a\u0007\u001b[31mb\u0000c' }, noSuchAddress('550 a [31mb c')],
  ['a reply of 2,000 characters', { rcpt: `550 ${'x'.repeat(2000)}` }, noSuchAddress(`550 ${'x'.repeat(496)}`)],
  ['a reply line of 1 MB', { rcpt: `550 ${'x'.repeat(1_000_000)}` }, down],
  ['a reply that never ends', { rcpt: `${'550-x\r\n'.repeat(100_000)}550 x` }, down],
  ['a greeting of 1 MB', { greeting: `220 ${'x'.repeat(1_000_000)}` }, down],
]

/** With CHUNKING the content has been sent whole before there is any reply. */
const UNCERTAIN_CHUNKED: ReadonlySet<string> = new Set([
  'reset at MAIL',
  'reset at DATA',
  'silence at MAIL',
  'garbage at RCPT',
  'a reply line of 1 MB',
  'a reply that never ends',
])

describe.each([
  ['one command at a time', undefined],
  ['with PIPELINING', piped],
  ['with PIPELINING and CHUNKING', chunked],
])('%s', (_, ehlo) => {
  test.each(cases)('%s', async (name, replies, expected) => {
    const { provider } = await against(scene({ ...(ehlo && { ehlo }), ...replies }), {
      seconds: 'hangAt' in replies ? 1 : undefined,
    })
    const isUncertain = ehlo === chunked && UNCERTAIN_CHUNKED.has(name)
    expect(await provider.send(message())).toEqual(isUncertain ? uncertain : expected)
  })

  test('after a refusal the same connection sends the next message', async () => {
    const { server, provider } = await against(
      scene({ ...(ehlo && { ehlo, data: '503 5.5.1 no valid recipients' }), rcpt: '550 5.1.1 no' }),
    )
    await provider.send(message())
    await provider.send(message())
    expect(server.state.connections).toBe(1)
    expect(server.state.wire.match(/RSET\r\n/g)).toHaveLength(1)
  })
})

test('connection refused: deferred and down, one warning without a recipient', async () => {
  const { server, provider, warnings } = await against(scene({}))
  await server.stop()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => provider.send(message())))
  const reason = `127.0.0.1:${server.port}: nothing listens there. Start that server, or correct HERALD_SMTP_URL.`
  for (const outcome of outcomes) expect(outcome).toEqual({ ...down, detail: 'No connection to the provider', reason })
  expect(warnings).toEqual([
    { fields: { provider: 'smtp', code: null, reason }, sentence: 'No connection to the provider' },
  ])
})

test('half a reply and then the end of the connection', async () => {
  const { provider } = await against(async ({ socket, say, hear }) => {
    say('220 test\r\n')
    await hear()
    say('250 test\r\n')
    await hear()
    say('25')
    socket.end()
  })
  expect(await provider.send(message())).toEqual(down)
})

test('DATA accepted although the recipient was refused: nothing is sent, the connection is closed', async () => {
  const { server, provider } = await against(scene({ ehlo: piped, rcpt: '550 5.1.1 no' }), {})
  server.state.scene = async ({ say, hear }) => {
    say('220 test\r\n')
    await hear()
    say(`${piped}\r\n`)
    await hear()
    say('250 ok\r\n550 5.1.1 no\r\n354 go on\r\n')
    await hear()
  }
  expect(await provider.send(message())).toEqual(noSuchAddress('550 5.1.1 no'))
  expect(server.state.wire).not.toContain('Subject:')
})

test('a kept connection that the server closed meanwhile is replaced transparently', async () => {
  const { server, provider } = await against(async peer => {
    const { say, hear, data, socket } = peer
    say('220 test\r\n')
    await hear()
    say('250 test\r\n')
    for (const reply of ['250 ok', '250 ok', '354 go on']) {
      await hear()
      say(`${reply}\r\n`)
    }
    await data()
    say('250 ok\r\n')
    if ((await hear()) !== null) socket.end('421 4.4.2 idle for too long\r\n')
  })
  expect((await provider.send(message())).kind).toBe('accepted')
  expect((await provider.send(message())).kind).toBe('accepted')
  expect((await provider.send(message())).kind).toBe('accepted')
  expect(server.state.connections).toBe(3)
})

describe('where the server offers PIPELINING, the next envelope is sent with the end of the data', () => {
  const to = (name: string) => message({ to: `${name}@example.net` })

  /** Scripts the first message of the first connection up to its end; everything later succeeds. */
  function firstEnds(end: (peer: Parameters<Scene>[0]) => void | Promise<void>): Scene {
    let isFirst = true
    return async peer => {
      const goesWell = scene({ ehlo: piped })
      if (!isFirst) return goesWell(peer)
      isFirst = false
      peer.say('220 test\r\n')
      await peer.hear()
      peer.say(`${piped}\r\n`)
      for (const reply of ['250 ok', '250 ok', '354 go on']) {
        await peer.hear()
        peer.say(`${reply}\r\n`)
      }
      await peer.data()
      await end(peer)
      await goesWell({ ...peer, say: text => text.startsWith('220') || peer.say(text) })
    }
  }

  test('before there is an answer to the end', async () => {
    const behind: (string | null)[] = []
    const { server, provider } = await against(
      firstEnds(async ({ hear, say }) => {
        for (let i = 0; i < 4; i++) behind.push(await hear())
        say('250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n')
      }),
    )
    const outcomes = await Promise.all([provider.send(to('a')), provider.send(to('b'))])
    expect(behind).toEqual(['RSET', expect.stringContaining('MAIL FROM'), 'RCPT TO:<b@example.net>', 'DATA'])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
    expect(server.state.connections).toBe(1)
    expect(server.state.wire.match(/^Message-ID/gm)).toHaveLength(2)
  })

  test('a refusal of one message does not affect the other', async () => {
    const { server, provider } = await against(firstEnds(({ say }) => say('552 5.3.4 too big\r\n')))
    const [a, b] = await Promise.all([provider.send(to('a')), provider.send(to('b'))])
    expect(a).toEqual(tooLarge('552 5.3.4 too big'))
    expect(b.kind).toBe('accepted')
    expect(server.state.connections).toBe(1)
  })

  test.each<[string, (peer: Parameters<Scene>[0]) => void, object]>([
    ['a connection that breaks', ({ socket }) => socket.resetAndDestroy(), uncertain],
    ['silence', () => {}, uncertain],
    ['421', ({ socket }) => socket.end('421 4.3.2 closing\r\n'), deferred('421 4.3.2 closing')],
  ])('%s: the next one has not begun, and goes another way, once', async (_, end, expected) => {
    const { server, provider } = await against(
      firstEnds(async peer => {
        end(peer)
        await new Promise(gone => peer.socket.once('close', gone))
      }),
      { seconds: 2 },
    )
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map(name => provider.send(to(name))))
    expect(a).toEqual(expected)
    expect([b?.kind, c?.kind]).toEqual(['accepted', 'accepted'])
    expect(server.state.connections).toBe(2)
    expect(server.state.wire.match(/^To: b@/gm)).toHaveLength(1)
  })

  test('two messages that end at the same moment leave one free connection, not two', async () => {
    const { server, provider } = await against(
      firstEnds(async ({ hear, say }) => {
        for (let i = 0; i < 4; i++) await hear()
        say('250 ok\r\n250 ok\r\n250 ok\r\n550 5.1.1 no\r\n503 5.5.1 no\r\n')
      }),
    )
    const ended = await Promise.all([provider.send(to('a')), provider.send(to('b'))])
    expect(ended).toEqual([expect.objectContaining({ kind: 'accepted' }), noSuchAddress('550 5.1.1 no')])
    // An urgent message uses any free connection.
    const outcomes = await Promise.all([false, true, true].map((urgent, n) => provider.send(to(`next${n}`), urgent)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(server.state.connections).toBe(1)
    expect(server.state.wire.match(/^To: next\d@/gm)).toHaveLength(3)
  })

  test('a server that fell silent after a pipelined envelope gets no further one', async () => {
    const { server, provider } = await against(
      firstEnds(async ({ socket }) => {
        await new Promise(gone => socket.once('close', gone))
      }),
      { seconds: 2 },
    )
    const [first, ...others] = await Promise.all(['a', 'b', 'c', 'd'].map(name => provider.send(to(name))))
    expect(first).toEqual(uncertain)
    expect(others.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(server.state.wire.match(/\r\n\.\r\nRSET/g)).toHaveLength(1)
  })

  test('a quarter of the connections is reserved for urgent messages', async () => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const slow: Scene = peer =>
      scene({ ehlo: piped })({
        ...peer,
        async data() {
          const text = await peer.data()
          if (text?.includes('To: slow@')) await released
          return text
        },
      })
    const server = await scriptedServer(slow)
    const patient = createSmtp(smtpSettingsFor(server.port, { connections: 4 }), providerWorld().world)
    ends.push(server.stop, patient.stop)
    const ordinary = Array.from({ length: 8 }, () => patient.send(to('slow')))
    await expect.poll(() => server.state.wire.match(/^To: slow@/gm)?.length).toBe(3)
    expect((await patient.send(to('code'), true)).kind).toBe('accepted')
    release()
    for (const outcome of await Promise.all(ordinary)) expect(outcome.kind).toBe('accepted')
  })
})

describe('where the server offers CHUNKING too, several messages are in flight with their content', () => {
  const to = (name: string) => message({ to: `${name}@example.net` })
  const names = ['a', 'b', 'c', 'd', 'e']
  const all = (provider: Pick<EmailProvider, 'send'>, some = names) =>
    Promise.all(some.map(name => provider.send(to(name))))

  /** The first connection gets this answer when its first four messages have arrived; everything later succeeds. */
  function firstFour(answer: (peer: Parameters<Scene>[0]) => void | Promise<void>): Scene {
    let isFirst = true
    return async peer => {
      const goesWell = scene({ ehlo: chunked })
      if (!isFirst) return goesWell(peer)
      isFirst = false
      peer.say('220 test\r\n')
      await peer.hear()
      peer.say(`${chunked}\r\n`)
      for (let n = 0; n < 4; n++) {
        for (let line = await peer.hear(); line !== null; line = await peer.hear())
          if (line.startsWith('BDAT')) {
            await peer.octets(Number(line.split(' ')[1]))
            break
          }
      }
      await answer(peer)
      await goesWell({ ...peer, say: text => text.startsWith('220') || peer.say(text) })
    }
  }
  const OK = '250 ok\r\n'
  /** The replies to the first message, and to those behind it, which begin with RSET. */
  const [first, next] = [OK.repeat(3), OK.repeat(4)]
  const gone = ({ socket }: Parameters<Scene>[0]) => new Promise<void>(closed => socket.once('close', () => closed()))
  const accepted = { kind: 'accepted', ref: expect.any(String) }
  const timesSent = (wire: string) => names.map(name => wire.match(new RegExp(`^To: ${name}@`, 'gm'))?.length ?? 0)

  test('in one write, without waiting for a reply', async () => {
    const packets: string[] = []
    const { server, provider } = await against(peer => {
      peer.socket.on('data', chunk => packets.push(chunk.toString('latin1')))
      return firstFour(({ say }) => say(first + next.repeat(3)))(peer)
    })
    expect(await all(provider)).toEqual(names.map(() => accepted))
    expect(server.state.connections).toBe(1)
    expect(timesSent(packets[1] ?? '')).toEqual([1, 1, 1, 1, 0])
    expect(server.state.wire).not.toContain('DATA')
    const [, size, content] = /BDAT (\d+) LAST\r\n([\s\S]*?)RSET\r\n/.exec(server.state.wire) ?? []
    expect(content).toHaveLength(Number(size))
  })

  test('lines that begin with a dot stay as they are', async () => {
    const { server, provider } = await against(scene({ ehlo: chunked }))
    expect(await provider.send(message({ text: 'x\n.\n..y\n' }))).toEqual(accepted)
    expect(server.state.wire).toContain('\r\nx\r\n.\r\n..y\r\n')
  })

  test('a refusal of one message does not affect the others', async () => {
    const { server, provider } = await against(
      firstFour(({ say }) =>
        say(`${first}${OK}${OK}550 5.1.1 no\r\n503 5.5.1 no recipients\r\n${OK}${OK}${OK}552 5.3.4 too big\r\n${next}`),
      ),
    )
    expect(await all(provider)).toEqual([
      accepted,
      noSuchAddress('550 5.1.1 no'),
      tooLarge('552 5.3.4 too big'),
      accepted,
      accepted,
    ])
    expect(server.state.connections).toBe(1)
    expect(timesSent(server.state.wire)).toEqual([1, 1, 1, 1, 1])
  })

  test.each<[string, string, object[]]>([
    ['before any reply', '', [uncertain, uncertain, uncertain, uncertain]],
    ['after the first message', first, [accepted, uncertain, uncertain, uncertain]],
    ['after two recipients', first + OK.repeat(3), [accepted, uncertain, uncertain, uncertain]],
    [
      'after a refused recipient',
      `${first}${OK}${OK}550 5.1.1 no\r\n`,
      [accepted, noSuchAddress('550 5.1.1 no'), uncertain, uncertain],
    ],
    ['after all but the last reply', first + next.repeat(2), [accepted, accepted, accepted, uncertain]],
  ])('a connection that breaks %s: uncertain is what has no reply', async (_, replies, expected) => {
    const { server, provider } = await against(
      firstFour(async peer => {
        if (replies !== '') await new Promise<void>(written => void peer.socket.write(replies, () => written()))
        peer.socket.end()
        await gone(peer)
      }),
    )
    expect(await all(provider, names.slice(0, 4))).toEqual(expected)
    expect(await provider.send(to('e'))).toEqual(accepted)
    expect(timesSent(server.state.wire)).toEqual([1, 1, 1, 1, 1])
    expect(server.state.connections).toBe(2)
  })

  test('a server that closes with 421 has not read what came after: it goes another way, and nothing is uncertain', async () => {
    const { server, provider } = await against(
      firstFour(async peer => {
        peer.socket.end(`${first}${OK}${OK}${OK}421 4.3.2 closing\r\n`)
        await gone(peer)
      }),
    )
    expect(await all(provider)).toEqual([accepted, deferred('421 4.3.2 closing'), accepted, accepted, accepted])
    expect(server.state.connections).toBe(2)
    expect(timesSent(server.state.wire)).toEqual([1, 1, 2, 2, 1])
  })

  test('content accepted although the recipient was refused: the connection is closed', async () => {
    const { server, provider } = await against(
      firstFour(async peer => {
        peer.say(`${OK}550 5.1.1 no\r\n${OK}`)
        await gone(peer)
      }),
    )
    const outcomes = await all(provider)
    expect(outcomes[0]).toEqual(noSuchAddress('550 5.1.1 no'))
    expect(server.state.connections).toBe(2)
  })

  test('a message whose content is not sent whole is certainly not sent', async () => {
    const { provider } = await against(async ({ say, hear, octets, socket }) => {
      say('220 test\r\n')
      await hear()
      say('250-test\r\n250-PIPELINING\r\n250 CHUNKING\r\n')
      for (const reply of ['250 ok', '250 ok', '354 go on']) {
        await hear()
        say(`${reply}\r\n`)
      }
      await octets(1_000)
      socket.resetAndDestroy()
    })
    // More than the buffers of a socket hold.
    const content = Buffer.alloc(20_000_000)
    const attachments = [{ filename: 'a.bin', mediaType: 'application/octet-stream', content }]
    expect(await provider.send(message({ attachments }))).toEqual(down)
  })

  test('a server that offers BDAT and does not know it gets the message again with DATA', async () => {
    const { server, provider } = await against(async peer => {
      let isUnknown = false
      const hear = async () => {
        const line = await peer.hear()
        isUnknown = line?.startsWith('BDAT') ?? false
        return isUnknown ? 'NOOP' : line
      }
      const say = (text: string) => peer.say(isUnknown ? '502 5.5.2 unknown command\r\n' : text)
      await scene({ ehlo: chunked })({ ...peer, hear, say })
    })
    expect(await provider.send(message())).toEqual(accepted)
    expect(await provider.send(message())).toEqual(accepted)
    expect(server.state.wire.match(/^BDAT/gm)).toHaveLength(1)
    expect(server.state.wire.match(/^DATA/gm)).toHaveLength(2)
  })

  test('a server that falls silent after BDAT gets DATA from then on', async () => {
    const { server, provider } = await against(firstFour(gone), { seconds: 2 })
    expect((await all(provider)).slice(0, 4)).toEqual([uncertain, uncertain, uncertain, uncertain])
    expect(await provider.send(to('next'))).toEqual(accepted)
    expect(server.state.wire.match(/^BDAT/gm)).toHaveLength(4)
  })

  test('over a connection that was idle, the envelope goes first', async () => {
    const { server, provider } = await against(scene({ ehlo: chunked }))
    expect(await provider.send(to('a'))).toEqual(accepted)
    await new Promise(resume => setTimeout(resume, 1_100)) // a second counts as idle
    expect(await provider.send(to('b'))).toEqual(accepted)
    expect(server.state.wire.match(/^(BDAT|DATA)/gm)).toEqual(['BDAT', 'DATA'])
    expect(server.state.connections).toBe(1)
  })
})

test("messages over the server's size limit are not sent", async () => {
  const { server, provider } = await against(scene({ ehlo: '250-test\r\n250 SIZE 2000' }))
  const outcome = await provider.send(message({ text: 'x\n'.repeat(5000) }))
  expect(outcome).toEqual(rejected('The message is larger than the 2000 bytes the provider takes'))
  expect(server.state.wire).not.toContain('MAIL FROM')
})

test('a large message is sent in pieces and arrives complete', async () => {
  const server = await smtpServer()
  const patient = relay(server.port, { connectSeconds: 15, replySeconds: 15 })
  const provider = createSmtp(smtpSettingsFor(server.port, { relay: patient }), providerWorld().world)
  ends.push(server.stop, provider.stop)
  const content = Buffer.alloc(3_000_000, 'herald ')
  const attachments = [{ filename: 'a.bin', mediaType: 'application/octet-stream', content }]
  expect((await provider.send(message({ attachments }))).kind).toBe('accepted')
  const [, body] = /filename="a.bin"\r\n\r\n([\s\S]*?)\r\n--/.exec(server.letters[0]?.raw ?? '') ?? []
  expect(Buffer.from(body ?? '', 'base64').equals(content)).toBe(true)
})

describe.each([
  ['one command at a time', '250 test'],
  ['with PIPELINING', '250-test\r\n250 PIPELINING'],
])('%s, a server that replies before the end of a large message', (_, ehlo) => {
  test.each([
    ['552 5.3.4 too large', tooLarge('552 5.3.4 too large')],
    ['451 4.3.0 try again later', deferred('451 4.3.0 try again later')],
    // It cannot have taken what was not sent.
    ['250 2.0.0 queued', down],
  ])('%s', async (early, expected) => {
    let settle: (rest: string | null) => void = () => {}
    const rest = new Promise<string | null>(resolve => {
      settle = resolve
    })
    const { server, provider } = await against(async peer => {
      if (server.state.connections > 1) return scene({})(peer)
      const { say, hear, octets, data } = peer
      say('220 test\r\n')
      await hear()
      say(`${ehlo}\r\n`)
      for (const reply of ['250 ok', '250 ok', '354 go on']) {
        await hear()
        say(`${reply}\r\n`)
      }
      await octets(1_000)
      say(`${early}\r\n`)
      settle(await data())
    })
    // More than the buffers of a socket hold. Its memory is gone as soon as there is an outcome.
    const content = mapped(20_000_000)
    const attachments = [{ filename: 'a.bin', mediaType: 'application/octet-stream', content }]
    expect(await provider.send(message({ attachments }))).toEqual(expected)
    unmap(content)
    // The rest is not sent, and the next message does not go into the middle of it.
    expect(await rest).toBeNull()
    await expect.poll(async () => (await provider.send(message())).kind).toBe('accepted')
    expect(server.state.connections).toBe(2)
  })
})

test('a provider that accepts fewer connections than configured is not down', async () => {
  let open = 0
  const { provider } = await against(
    async peer => {
      open += 1
      await scene(open > 2 ? { greeting: '421 4.7.0 too many connections' } : {})(peer)
      open -= 1
    },
    { connections: 10 },
  )
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => provider.send(message())))
  expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([])
})

test('connections are replaced after their share of messages, and closed when idle', async () => {
  const { server, provider } = await against(scene({}), { messagesPerConnection: 3, idleSeconds: 0.05 })
  for (let i = 0; i < 7; i++) expect((await provider.send(message())).kind).toBe('accepted')
  expect(server.state.connections).toBe(3)
  await expect.poll(() => server.state.wire.match(/QUIT\r\n/g)?.length).toBe(3)
})

describe('login and TLS', () => {
  const made = selfSigned('localhost')
  const withTls = test.skipIf(!made)
  if (!made) console.warn('SKIPPED: no openssl on this machine, so TLS to a mail server is not tested')
  const { key, certificate } = made ?? { key: '', certificate: '' }

  async function tlsPeer(changes: Parameters<typeof relay>[1], options: Parameters<typeof smtpServer>[0] = {}) {
    const server = await smtpServer({ key, cert: certificate, ...options })
    const told = providerWorld()
    const provider = createSmtp(smtpSettingsFor(server.port, { relay: relay(server.port, changes) }), told.world)
    ends.push(server.stop, provider.stop)
    return { server, provider, ...told }
  }

  withTls('STARTTLS with a certificate we believe, and a login', async () => {
    const login = { user: 'herald', pass: 'se cret' }
    const { server, provider } = await tlsPeer(
      { host: 'localhost', tls: 'required', ca: certificate, user: login.user, password: login.pass },
      { login, authOptional: false },
    )
    expect((await provider.send(message())).kind).toBe('accepted')
    expect(server.letters[0]).toMatchObject({ secure: true, user: 'herald' })
  })

  withTls('TLS from the first byte', async () => {
    const { server, provider } = await tlsPeer(
      { host: 'localhost', tls: 'required', implicitTls: true, ca: certificate },
      { secure: true },
    )
    expect((await provider.send(message())).kind).toBe('accepted')
    expect(server.letters[0]?.secure).toBe(true)
  })

  withTls('a certificate nobody vouches for: not sent when required, sent when opportunistic', async () => {
    const strict = await tlsPeer({ host: 'localhost', tls: 'required' })
    expect(await strict.provider.send(message())).toEqual(
      downBecause(/^localhost:\d+: the certificate is self-signed\. Set HERALD_SMTP_CA_FILE to /),
    )
    expect(strict.server.letters).toEqual([])
    const lenient = await tlsPeer({ host: 'localhost', tls: 'opportunistic' })
    expect((await lenient.provider.send(message())).kind).toBe('accepted')
    expect(lenient.server.letters[0]?.secure).toBe(true)
  })

  test('S-39 STARTTLS required but not offered: nothing is sent, not even the envelope', async () => {
    const { server, provider } = await against(scene({}), {})
    const strict = createSmtp(
      smtpSettingsFor(server.port, { relay: relay(server.port, { tls: 'required', user: 'u', password: 'hunter2' }) }),
      providerWorld().world,
    )
    ends.push(strict.stop, provider.stop)
    expect(await strict.send(message())).toEqual(downBecause(/: the server offers no encryption \(STARTTLS\)\. /))
    expect(server.state.wire).not.toMatch(/AUTH|MAIL|RCPT|Subject/)
  })

  test('a broken TLS handshake', async () => {
    const { server, provider } = await against(async ({ say, hear }) => {
      say('220 test\r\n')
      await hear()
      say('250-test\r\n250 STARTTLS\r\n')
      await hear()
      say('220 go on\r\nthis is not TLS\r\n')
      await hear()
    }, {})
    const strict = createSmtp(
      smtpSettingsFor(server.port, { relay: relay(server.port, { tls: 'required' }) }),
      providerWorld().world,
    )
    ends.push(strict.stop, provider.stop)
    expect(await strict.send(message())).toMatchObject(down)
    expect(server.state.wire).not.toContain('MAIL')
  })

  withTls('a refused login is the provider being down, and shows neither name nor password', async () => {
    const { provider, warnings } = await tlsPeer(
      { host: 'localhost', tls: 'required', ca: certificate, user: 'herald', password: 'wrong' },
      { login: { user: 'herald', pass: 'right' }, authOptional: false },
    )
    const outcome = await provider.send(message())
    expect(outcome).toMatchObject({ ...down, detail: '535 The provider refused the login' })
    expect(await provider.probe()).toMatchObject({ ok: false, detail: '535 The provider refused the login' })
    expect(JSON.stringify(outcome)).not.toMatch(/wrong|herald"/)
    expect(JSON.stringify(warnings)).not.toMatch(/wrong|herald"/)
  })

  test('a password is not sent in the clear, except to this machine or when a setting allows it', async () => {
    const { server } = await against(scene({ ehlo: '250-test\r\n250 AUTH PLAIN LOGIN' }))
    const secret = { user: 'herald', password: 'hunter2' }
    // 0.0.0.0 reaches this machine without being one of its usual names.
    for (const [changes, kind] of [
      [{ host: '0.0.0.0', tls: 'opportunistic' }, 'deferred'],
      [{ host: '127.0.0.1', tls: 'opportunistic' }, 'accepted'],
      [{ host: '0.0.0.0', tls: 'never' }, 'accepted'],
    ] as const) {
      server.state.wire = ''
      const settings = smtpSettingsFor(server.port, { relay: relay(server.port, { ...changes, ...secret }) })
      const provider = createSmtp(settings, providerWorld().world)
      ends.push(provider.stop)
      expect((await provider.send(message())).kind).toBe(kind)
      expect(server.state.wire.includes('AUTH')).toBe(kind === 'accepted')
    }
  })

  test('settings from an address', () => {
    expect(smtpSettings(config('smtp://u:p@mail.example.org'), ['s'])?.relay).toMatchObject({
      tls: 'required',
      port: 587,
    })
    expect(smtpSettings(config('smtps://u:p%40ss@mail.example.org'), ['s'])?.relay).toMatchObject({
      implicitTls: true,
      port: 465,
      password: 'p@ss',
    })
    expect(smtpSettings(config('smtp://localhost:1025'), ['s'])?.relay).toMatchObject({
      tls: 'opportunistic',
      user: null,
    })
    expect(smtpSettings(config('smtp://[::1]:1025'), ['s'])?.relay).toMatchObject({ host: '::1', tls: 'opportunistic' })
  })
})

const config = (smtpUrl: string) => ({
  smtpUrl,
  smtpTls: null,
  smtpCa: null,
  smtpConnections: 1,
  smtpReplySeconds: 30,
  smtpPerSecond: null,
  dkimDomain: null,
  dkimSelector: null,
  dkimKey: null,
  bounceDomain: null,
  bounceHost: '127.0.0.1',
  bouncePort: 0,
  sendingDomain: 'herald.example',
})

test('stop while messages are in progress answers all of them', async () => {
  const { provider } = await against(scene({ hangAt: 'end' }), { connections: 2 })
  const sent = Array.from({ length: 10 }, () => provider.send(message()))
  await new Promise<void>(resolve => setImmediate(resolve))
  await provider.stop()
  const outcomes: Outcome[] = await Promise.all(sent)
  expect(outcomes.every(({ kind }) => kind === 'deferred')).toBe(true)
})

test('F8 any bytes at any step: an outcome, no crash, and no unsent message counted as sent', async () => {
  const { server, provider } = await against(scene({}), { messagesPerConnection: 1, seconds: 0.3 })
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map(octets => Buffer.from(octets).toString('latin1')),
    fc.constantFrom(
      '',
      '\r\n',
      '2',
      '25',
      '250',
      '250-',
      '250 ok',
      '250 ok\n',
      '354\r\n354',
      '421 bye\r\n',
      '\u0016\u0003\u0001',
    ),
    fc.string({ maxLength: 40 }).map(text => `${text}\r\n`),
  )
  const steps = fc.constantFrom('greeting', 'ehlo', 'mail', 'rcpt', 'data', 'end')
  await fc.assert(
    fc.asyncProperty(steps, bytes, fc.boolean(), fc.boolean(), async (step, text, pipelining, hangUp) => {
      const usual = scene({ ...(pipelining && { ehlo: piped }), ...{ [step]: text } })
      let taken = false
      server.state.scene = async peer => {
        const data = async () => {
          const letter = await peer.data()
          taken ||= letter !== null
          if (hangUp) setTimeout(() => peer.socket.destroy(), 5)
          return letter
        }
        await usual({ ...peer, data })
      }
      const outcome = await provider.send(message())
      if (outcome.kind === 'accepted') expect(taken).toBe(true)
      // The reverse is not an error: the end may have been sent and never arrived.
      if (taken && outcome.kind === 'deferred' && !/^[45]\d\d/.test(text)) expect(outcome.uncertain).toBe(true)
    }),
    { numRuns: 60 },
  )
  server.state.scene = scene({})
  expect((await provider.send(message())).kind).toBe('accepted')
})

test('every stage and every reply has an outcome', () => {
  for (const stage of ['open', 'login', 'mail', 'rcpt', 'data', 'end'] as const)
    for (const reply of [null, '', '250 ok', '4', '450', '550-', '5xx', '\u0000', '🙂', '354'])
      expect(['rejected', 'deferred']).toContain(outcomeOf({ stage, reply, problem: 'p' }).kind)
})
