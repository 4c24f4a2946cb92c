// A real SMTP server for tests: npm smtp-server for normal behaviour, a raw socket with a script for misbehaviour.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Behaviour } from '../conformance/email-provider.ts'

export type Letter = {
  from: string
  to: string[]
  /** After dot-unstuffing, as smtp-server hands it over; a byte string. */
  raw: string
  /** ESMTP parameters of MAIL FROM. */
  parameters: Record<string, string | true>
  secure: boolean
  user: string | null
}

export type Mode = {
  /** The reply at each step instead of acceptance: a code and text. `open`: instead of the greeting. */
  open?: { code: number; words: string }
  mail?: { code: number; words: string }
  rcpt?: { code: number; words: string }
  end?: { code: number; words: string }
}

/** A well-behaved server that stores what it receives and refuses what it is configured to. */
export async function smtpServer(
  options: SMTPServerOptions & { mode?: Mode; login?: { user: string; pass: string } } = {},
) {
  const letters: Letter[] = []
  const state: { mode: Mode; connections: number; onData?: () => Promise<void> } = {
    mode: options.mode ?? {},
    connections: 0,
  }
  const waiting: { count: number; resolve(): void }[] = []
  const { login, mode: _mode, ...rest } = options
  const refusal = (no: { code: number; words: string }) => Object.assign(new Error(no.words), { responseCode: no.code })
  const server = new SMTPServer({
    hideSize: false,
    disabledCommands: login ? [] : ['AUTH'],
    logger: false,
    ...rest,
    onConnect(_session, done) {
      state.connections += 1
      done(state.mode.open ? refusal(state.mode.open) : null)
    },
    onAuth(auth, _session, done) {
      if (login && auth.username === login.user && auth.password === login.pass) done(null, { user: auth.username })
      else done(refusal({ code: 535, words: '5.7.8 Error: authentication failed' }))
    },
    onMailFrom(_address, _session, done) {
      done(state.mode.mail ? refusal(state.mode.mail) : null)
    },
    onRcptTo(_address, _session, done) {
      done(state.mode.rcpt ? refusal(state.mode.rcpt) : null)
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        await state.onData?.()
        if (state.mode.end) return done(refusal(state.mode.end))
        const from = session.envelope.mailFrom
        letters.push({
          from: from ? from.address : '',
          to: session.envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('latin1'),
          // biome-ignore lint/complexity/useOptionalChain: smtp-server says false where there is none
          parameters: from && from.args ? (from.args as Record<string, string | true>) : {},
          secure: session.secure,
          user: typeof session.user === 'string' ? session.user : null,
        })
        done(null, 'Ok 0102018f5e1b2c3d-0a1b2c3d-4e5f-6789-abcd-ef0123456789-000000')
        for (const one of waiting) if (letters.length >= one.count) one.resolve()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    letters,
    state,
    arrived: (count: number) =>
      new Promise<void>(resolve => {
        if (letters.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    stop: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

export type Scene = (peer: {
  socket: Socket
  say(text: string): void
  /** The next line from the client, without CRLF; null when it has disconnected. */
  hear(): Promise<string | null>
  /** Everything up to and including CRLF.CRLF, as bytes on the wire; null when the client has disconnected. */
  data(): Promise<string | null>
  /** So many octets, as after BDAT; null when the client has disconnected. */
  octets(count: number): Promise<string | null>
}) => Promise<void>

/** A server that follows a script for every connection. `wire` is everything received. */
export async function scriptedServer(scene: Scene) {
  const sockets = new Set<Socket>()
  const state = { wire: '', connections: 0, scene }
  const server = createServer(socket => {
    state.connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    void perform(socket, state.scene, text => {
      state.wire += text
    })
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    state,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function perform(socket: Socket, play: Scene, onText: (text: string) => void): Promise<void> {
  let heard = ''
  let gone = false
  let wake = () => {}
  socket.on('error', () => {})
  socket.on('close', () => {
    gone = true
    wake()
  })
  socket.on('data', chunk => {
    heard += chunk.toString('latin1')
    onText(chunk.toString('latin1'))
    wake()
  })
  const until = (mark: string) =>
    taken(() => {
      const at = heard.indexOf(mark)
      return at === -1 ? null : at + mark.length
    })
  /** What has arrived up to `end`, as soon as it is known where that is. */
  const taken = async (end: () => number | null) => {
    for (;;) {
      const at = end()
      if (at !== null) {
        const found = heard.slice(0, at)
        heard = heard.slice(at)
        return found
      }
      if (gone) return null
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return play({
    socket,
    say: text => {
      if (!socket.destroyed) socket.write(text)
    },
    hear: async () => (await until('\r\n'))?.slice(0, -2) ?? null,
    data: () => until('\r\n.\r\n'),
    octets: count => taken(() => (heard.length < count ? null : count)),
  })
}

/** A script that behaves normally until `at`, where it does what it is configured to. Every reply may be replaced. */
export function scene(replies: {
  greeting?: string
  ehlo?: string
  mail?: string
  rcpt?: string
  data?: string
  end?: string
  /** Reset the connection instead of replying at this step. */
  resetAt?: 'greeting' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'end'
  /** Send nothing at this step, and keep the connection open. */
  hangAt?: 'greeting' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'end'
}): Scene {
  return async ({ socket, say, hear, data, octets }) => {
    const isRefused = [replies.mail, replies.rcpt].some(reply => reply !== undefined && !reply.startsWith('2'))
    const step = (name: 'greeting' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'end', usual: string) => {
      if (replies.resetAt === name) socket.resetAndDestroy()
      else if (replies.hangAt !== name) say(`${replies[name] ?? usual}\r\n`)
    }
    step('greeting', '220 test ESMTP')
    for (;;) {
      const line = await hear()
      if (line === null) return
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO' || verb === 'HELO') step('ehlo', '250 test')
      else if (verb === 'MAIL') step('mail', '250 ok')
      else if (verb === 'RCPT') step('rcpt', '250 ok')
      else if (verb === 'DATA') {
        step('data', '354 go on')
        if (replies.data !== undefined && !replies.data.startsWith('354')) continue
        if ((await data()) === null) return
        step('end', '250 ok')
      } else if (verb === 'BDAT') {
        if ((await octets(Number(line.split(' ')[1]))) === null) return
        if (isRefused) say('503 5.5.1 no valid recipients\r\n')
        else if (replies.data !== undefined || replies.resetAt === 'data') step('data', '')
        else step('end', '250 ok')
      } else if (verb === 'QUIT') {
        socket.end('221 bye\r\n')
        return
      } else say('250 ok\r\n')
    }
  }
}

/** A proxy in front of a real server that can be closed, or switched to something that is no mail server. */
export async function moodyServer() {
  const behind = await smtpServer()
  const sockets = new Set<Socket>()
  let play: Scene | null = null
  const make = () =>
    createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
      if (play) return void perform(socket, play, () => {})
      const inner = connect(behind.port, '127.0.0.1')
      inner.on('error', () => socket.destroy())
      socket.on('close', () => inner.destroy())
      inner.on('close', () => socket.destroy())
      socket.pipe(inner).pipe(socket)
    })
  const listen = (server: Server, port: number) =>
    new Promise<void>(resolve => {
      server.listen(port, '127.0.0.1', () => resolve())
    })
  let server = make()
  await listen(server, 0)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const shut = () =>
    new Promise<void>(resolve => {
      if (server.listening) server.close(() => resolve())
      else resolve()
      for (const socket of sockets) socket.destroy()
    })
  return {
    port,
    letters: behind.letters,
    /** Kept connections are closed, so that the next message meets the new behaviour. */
    async behave(how: Behaviour) {
      await shut()
      play =
        how === 'garbage'
          ? scene({ greeting: 'HTTP/1.1 400 Bad Request' })
          : how === 'resets-before-end'
            ? scene({ resetAt: 'data' })
            : how === 'resets-after-end'
              ? scene({ resetAt: 'end' })
              : null
      behind.state.mode =
        how === 'rejects'
          ? { rcpt: { code: 550, words: '5.1.1 <jo@example.net>: Recipient address rejected: User unknown' } }
          : how === 'defers'
            ? { rcpt: { code: 450, words: '4.2.0 <jo@example.net>: Recipient address rejected: Greylisted' } }
            : {}
      if (how === 'refuses-connections') return
      server = make()
      await listen(server, port)
    },
    async stop() {
      await shut()
      await behind.stop()
    },
  }
}
