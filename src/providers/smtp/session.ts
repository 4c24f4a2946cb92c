// One kept connection. The mail library opens it (DNS, TLS, STARTTLS, login: the parts where mistakes are dangerous);
// the transactions are ours: where the server offers PIPELINING (RFC 2920) the envelope is one write, and that of the next
// message rides behind the end of this one; exact knowledge of whether the end of data has left, and a reply reader that
// believes nothing.
import type { Socket } from 'node:net'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { crashPoint } from '../../telemetry/crash.ts'
import type { Fault, Stage } from './replies.ts'

/** The mail server that messages are handed to, and how to reach it. */
export type Relay = {
  host: string
  port: number
  /** TLS from the first byte, as on port 465. */
  implicitTls: boolean
  tls: 'required' | 'opportunistic' | 'never'
  user: string | null
  password: string | null
  /** Certificate authorities to believe instead of the system's, PEM. */
  ca: string | null
  /** What we call ourselves in EHLO. */
  name: string
  connectSeconds: number
  replySeconds: number
}

export type Envelope = { from: string; to: string; utf8: boolean }

export type Sent = { ok: true; reply: string } | { ok: false; fault: Fault }

export type Session = {
  /** How many messages it has carried. */
  carried(): number
  isOpen(): boolean
  /** Whether a message is under way. */
  isBusy(): boolean
  /**
   * One at a time; only while `onEnd` is called, with the end of the data, the next may be begun. `data` is ASCII unless the
   * envelope says utf8, with CRLF line ends only.
   */
  transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<Sent>
  quit(): void
  destroy(): void
}

export type Opened = { ok: true; session: Session } | { ok: false; fault: Fault }

/** `onClosed` is called once when a session that had been opened ends, whoever ended it. */
export async function open(relay: Relay, onClosed: () => void, giveUp: AbortSignal): Promise<Opened> {
  const connection = new SMTPConnection({
    host: relay.host,
    port: relay.port,
    secure: relay.implicitTls,
    requireTLS: !relay.implicitTls && relay.tls === 'required',
    ignoreTLS: relay.tls === 'never',
    opportunisticTLS: relay.tls === 'opportunistic',
    name: relay.name,
    connectionTimeout: relay.connectSeconds * 1000,
    greetingTimeout: relay.connectSeconds * 1000,
    dnsTimeout: relay.connectSeconds * 1000,
    socketTimeout: relay.connectSeconds * 1000,
    maxResponseSize: LONGEST_REPLY,
    tls: {
      minVersion: 'TLSv1.2',
      // Whoever takes no TLS at all for good enough need not ask for a certificate.
      rejectUnauthorized: relay.tls === 'required',
      ...(relay.ca && { ca: relay.ca }),
    },
  })
  // Errors may come at any time, also after close; without a listener one would end the process.
  connection.on('error', () => {})
  const greeted = await handshake(connection, relay, giveUp)
  const socket = connection._socket
  if ('fault' in greeted || !socket || socket.destroyed) {
    connection.close()
    return { ok: false, fault: 'fault' in greeted ? greeted.fault : silent('The connection closed at once') }
  }
  return { ok: true, session: takeOver(connection, socket, greeted.ehlo, relay, onClosed) }
}

const LONGEST_REPLY = 16_384
export const NO_ANSWER = 'The provider did not answer in time'

type LibraryError = Error & { code?: string; response?: string }

/** What EHLO said last, that is over TLS where there is TLS; the library keeps its own list private. */
type Greeted = { ehlo: string } | { fault: Fault }

/** Connects and logs in; bounded as a whole, because a server may be slow at every step. */
function handshake(connection: SMTPConnection, relay: Relay, giveUp: AbortSignal): Promise<Greeted> {
  return new Promise(resolve => {
    const done = (greeted: Greeted) => {
      clearTimeout(timer)
      giveUp.removeEventListener('abort', stopped)
      resolve(greeted)
    }
    const fail = (fault: Fault) => done({ fault })
    const timer = setTimeout(() => fail(silent('The provider took too long to greet')), 3 * relay.connectSeconds * 1000)
    const stopped = () => fail(silent('The provider is being stopped'))
    giveUp.addEventListener('abort', stopped)
    connection.once('error', (error: LibraryError) => fail(faultOf(error)))
    connection.once('end', () => fail(silent('The provider closed the connection')))
    connection.connect((error?: LibraryError) => {
      if (error) return fail(faultOf(error))
      const ehlo = String(connection.lastServerResponse)
      const { user, password } = relay
      if (user === null || password === null) return done({ ehlo })
      if (!connection.secure && relay.tls !== 'never' && !isLoopback(relay.host))
        return fail(silent('The provider offers no encryption, so the password was not sent'))
      connection.login({ user, pass: password }, (error: LibraryError | null) =>
        error ? fail(faultOf(error)) : done({ ehlo }),
      )
    })
  })
}

const silent = (problem: string): Fault => ({ stage: 'open', reply: null, problem })

function faultOf(error: LibraryError): Fault {
  const reply = /^\d{3}(?:[ -]|$)/.test(error.response ?? '') ? (error.response ?? null) : null
  switch (error.code) {
    case 'EAUTH':
      return { stage: 'login', reply, problem: 'The provider refused the login' }
    case 'ETLS':
      return { stage: 'open', reply, problem: 'No TLS connection to the provider' }
    case 'EDNS':
      return { stage: 'open', reply, problem: 'The name of the provider was not found' }
    case 'ETIMEDOUT':
      return { stage: 'open', reply, problem: NO_ANSWER }
    case 'EPROTOCOL':
      return { stage: 'open', reply, problem: 'The provider does not speak SMTP' }
    default:
      return { stage: 'open', reply, problem: 'No connection to the provider' }
  }
}

export const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

type Step = { stage: Stage; command: string }

/** A message under way: what it does with the next reply, and when there will be none. */
type Transaction = { hear(reply: string): void; broken(reply: string | null, problem: string): void }

/** From here on the library only watches the socket's end; what is said over it is ours. */
function takeOver(
  connection: SMTPConnection,
  socket: Socket,
  ehlo: string,
  relay: Relay,
  onClosed: () => void,
): Session {
  const extensions = new Set(
    [...ehlo.matchAll(/^250[ -]([A-Za-z0-9-]+)/gm)].slice(1).map(([, word]) => word?.toUpperCase()),
  )
  const pipelining = extensions.has('PIPELINING')
  const largest = Number(/^250[ -]SIZE (\d{1,15})\s*$/im.exec(ehlo)?.[1] ?? 0)

  let carried = 0
  let closed = false
  /** A refused transaction must be reset before the next begins. */
  let unfinished = false
  let buffered = ''
  let reply = ''
  /** Replies come in this order. The second has said its envelope, and waits for the first one's end. */
  const under: Transaction[] = []
  let mayFollow = false

  const deadline = setTimeout(() => {
    if (under.length > 0) end(NO_ANSWER)
  }, relay.replySeconds * 1000)
  deadline.unref()

  function end(problem: string, words: string | null = null) {
    if (closed) return
    closed = true
    clearTimeout(deadline)
    const [first, ...others] = under.splice(0)
    connection.close()
    socket.destroy()
    first?.broken(words, problem)
    for (const other of others) other.broken(null, problem)
    onClosed()
  }

  socket.removeAllListeners('data')
  socket.removeAllListeners('timeout')
  socket.setTimeout(0)
  socket.on('error', () => end('The connection broke'))
  socket.on('close', () => end('The connection broke'))
  socket.on('end', () => end('The provider closed the connection'))
  socket.on('data', (chunk: Buffer) => read(chunk.toString('latin1')))
  if (socket.destroyed) queueMicrotask(() => end('The connection broke'))

  function read(text: string) {
    buffered += text
    for (;;) {
      const at = buffered.indexOf('\n')
      if (at === -1) break
      const words = buffered.slice(0, buffered[at - 1] === '\r' ? at - 1 : at)
      buffered = buffered.slice(at + 1)
      if (!/^\d{3}(?:[ -]|$)/.test(words)) return end('The provider does not speak SMTP')
      reply = reply === '' ? words : `${reply}\n${words}`
      if (reply.length > LONGEST_REPLY) return end('The provider does not stop talking')
      if (words[3] === '-') continue
      const whole = reply
      reply = ''
      // Unasked words: a closing server (421), or one that has lost the thread.
      if (!under[0]) return end('The provider spoke out of turn', decoded(whole))
      under[0].hear(whole)
      if (closed) return
    }
    if (buffered.length > LONGEST_REPLY) end('The provider does not stop talking')
  }

  function transact(envelope: Envelope, data: string, onEnd?: () => void): Promise<Sent> {
    return new Promise(resolve => {
      if (closed || (under.length > 0 && !mayFollow)) {
        const problem = closed ? 'The connection is closed' : 'The connection is busy'
        return resolve({ ok: false, fault: { stage: 'mail', reply: null, problem } })
      }
      const size = envelope.utf8 ? Buffer.byteLength(data) : data.length
      const problem = unfit(envelope, size)
      if (problem) return resolve({ ok: false, fault: { stage: 'mail', reply: null, problem, refused: true } })
      carried += 1
      mayFollow = false
      const steps: Step[] = [
        // Behind another one, too: nobody knows yet what becomes of that.
        ...(unfinished || under.length > 0 ? [{ stage: 'mail' as const, command: 'RSET' }] : []),
        { stage: 'mail', command: mailCommand(envelope, size) },
        { stage: 'rcpt', command: `RCPT TO:<${envelope.to}>` },
        { stage: 'data', command: 'DATA' },
      ]
      let at = 0
      let fault: Fault | null = null
      let ended = false

      const settle = (sent: Sent) => {
        under.shift()
        if (under.length > 0) deadline.refresh()
        resolve(sent)
      }
      const broken = (words: string | null, problem: string) => {
        // What the server had already refused stays its answer.
        if (fault) return resolve({ ok: false, fault })
        const stage = ended ? 'end' : (steps[at]?.stage ?? 'end')
        resolve({ ok: false, fault: { stage, reply: words, problem, ...(ended && { ended: true as const }) } })
      }

      const afterEnd = (words: string) => {
        if (/^2\d\d/.test(words)) {
          unfinished = false
          return settle({ ok: true, reply: decoded(words) })
        }
        fault = { stage: 'end', reply: decoded(words), problem: 'The provider refused the message', ended: true }
        finish(words)
      }

      /** The transaction is refused; the connection lives on unless the server says otherwise. */
      const finish = (words: string) => {
        const refused = fault
        if (!refused) return
        unfinished = true
        settle({ ok: false, fault: refused })
        if (/^421/.test(words) || !/^[45]\d\d/.test(refused.reply ?? '')) end('The provider is closing')
      }

      const hear = (words: string) => {
        const step = steps[at]
        if (!step) return afterEnd(words)
        at += 1
        const wanted = step.stage === 'data' ? /^354/ : /^2\d\d/
        if (!wanted.test(words) && !fault)
          fault = { stage: step.stage, reply: decoded(words), problem: 'The provider refused the message' }
        if (fault && /^421/.test(words)) return finish(words)
        if (fault && !pipelining) return finish(words)
        if (step.stage !== 'data') {
          if (!pipelining) write(steps[at]?.command)
          return
        }
        if (!fault) {
          unfinished = false
          return transfer()
        }
        // RFC 2920, 3.1: DATA taken although nobody is to receive it. An empty message would be the answer, but a
        // server that does this deserves no trust: the connection goes, and nothing was sent.
        if (/^354/.test(words)) {
          settle({ ok: false, fault })
          return end('The provider took data for nobody')
        }
        finish(words)
      }

      const transfer = () => {
        const stuffed = data.includes('\r\n.') ? data.replaceAll('\r\n.', '\r\n..') : data
        const encoding = envelope.utf8 ? 'utf8' : 'latin1'
        if (stuffed.length <= SLICE) return finalWrite(`${stuffed}.\r\n`, encoding)
        // Piece by piece, so that a slow line is not a dead one, and the end leaves only when all the rest has.
        const octets = Buffer.from(stuffed, encoding)
        const next = (from: number) => {
          if (closed) return
          if (from >= octets.length) return finalWrite('.\r\n', 'latin1')
          deadline.refresh()
          socket.write(octets.subarray(from, from + SLICE), () => next(from + SLICE))
        }
        next(0)
      }

      /** With the end of the data, or never: the last moment in which somebody else's envelope costs no write of its own. */
      const finalWrite = (last: string, encoding: 'utf8' | 'latin1') => {
        ended = true
        deadline.refresh()
        socket.cork()
        socket.write(last, encoding, afterEndOfData)
        mayFollow = pipelining
        if (mayFollow) onEnd?.()
        mayFollow = false
        socket.uncork()
      }

      const write = (command: string | undefined) => {
        deadline.refresh()
        if (command !== undefined) socket.write(`${command}\r\n`, envelope.utf8 ? 'utf8' : 'latin1')
      }
      under.push({ hear, broken })
      if (pipelining) write(steps.map(step => step.command).join('\r\n'))
      else write(steps[0]?.command)
    })
  }

  /** What this server said it cannot do need not be tried. */
  function unfit({ utf8 }: Envelope, size: number): string | null {
    if (utf8 && !(extensions.has('SMTPUTF8') && extensions.has('8BITMIME')))
      return 'The provider cannot send to addresses outside ASCII'
    if (largest > 0 && size > largest) return `The message is larger than the ${largest} bytes the provider takes`
    return null
  }

  function mailCommand({ from, utf8 }: Envelope, size: number): string {
    let command = `MAIL FROM:<${from}>`
    if (extensions.has('SIZE')) command += ` SIZE=${size}`
    if (utf8) command += ' SMTPUTF8 BODY=8BITMIME'
    // A bounce with all our attachments in it would help nobody (RFC 3461, 4.3).
    if (extensions.has('DSN')) command += ' RET=HDRS'
    return command
  }

  return {
    carried: () => carried,
    isOpen: () => !closed,
    isBusy: () => under.length > 0,
    transact,
    quit() {
      if (closed) return
      under.push({ hear: () => end('We said goodbye'), broken: () => {} })
      deadline.refresh()
      socket.write('QUIT\r\n')
      setTimeout(() => end('We said goodbye'), GOODBYE_MS).unref()
    },
    destroy: () => end('We closed the connection'),
  }
}

const afterEndOfData = () => crashPoint('after-end-of-data', () => [])

const SLICE = 65_536
const GOODBYE_MS = 1_000

/** Replies are bytes of no declared charset; most are UTF-8 (RFC 6531, 3.7.4). */
const decoded = (words: string) => Buffer.from(words, 'latin1').toString('utf8')
