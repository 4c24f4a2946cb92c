// The fake providers, in one process of their own: a mail server, text providers over HTTP and SMPP, and a scanner. What arrives
// is logged BEFORE it is answered, so that the log contains every message a sender may believe delivered. Behaviour is set
// through a control port.
import { createHash, createHmac } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { EICAR } from '../../test/support/documents.ts'
import { scannerPeer } from '../../test/support/scanner.ts'
import { type SmppMode, startSmppServer } from '../../test/support/smpp-server.ts'
import type { Arrival, Rule, Settings } from './sink.ts'

const log = openSync(process.argv[2] ?? '', 'a')
const host = process.argv[3] ?? '127.0.0.1'
let settings: Settings = { smtp: 'ok', http: 'ok', scanner: 'ok', delayMs: 0, rules: [], receipts: null }
let used = new Map<string, number>()
const count = { connections: 0, refused: 0 }

/**
 * What to do with this recipient now; a rule counts per recipient. A rule for the end of the data counts only then: a pipelined
 * envelope may be repeated on another connection.
 */
function ruleFor(to: string, isEnd = false): Rule['what'] {
  for (const rule of settings.rules) {
    if (!to.startsWith(rule.prefix)) continue
    const key = `${rule.prefix} ${to}`
    const times = used.get(key) ?? 0
    if (times >= rule.times) continue
    if (isEnd || !AT_THE_END.has(rule.what)) used.set(key, times + 1)
    return rule.what
  }
  return 'ok'
}

const AT_THE_END: ReadonlySet<Rule['what']> = new Set([
  '4xx-end',
  'reset-after',
  'hang-after',
  'garbage',
  'half-line',
  'slow',
])

function note(arrival: Omit<Arrival, 'at'>) {
  writeSync(log, `${JSON.stringify({ ...arrival, at: Date.now() })}\n`)
}

// --- mail

const sockets = new Set<net.Socket>()

const mail = net.createServer(socket => {
  count.connections++
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => {}) // senders may disconnect at any time
  socket.setNoDelay(true)
  if (settings.smtp === 'hang') return
  if (settings.smtp === 'garbage') return void socket.end('\u0000\u00ff%%% what\r\nhalf a li')
  if (settings.smtp === '421') return void socket.end('421 4.3.2 All server ports are busy\r\n')
  serve(socket)
})

const END = '\r\n.\r\n'

function serve(socket: net.Socket) {
  let buffer = ''
  let tail = ''
  let to = ''
  let what: Rule['what'] = 'ok'
  let data: string | null = null
  let isBusy = false
  const say = (line: string) => socket.write(`${line}\r\n`)
  say('220 sink.example ESMTP')
  socket.on('data', chunk => {
    const text = chunk.toString('latin1')
    buffer += text
    const hasEnd = (tail + text).includes(END)
    tail = (tail + text).slice(-END.length)
    if (data !== null && what === 'reset-before') return void socket.resetAndDestroy()
    // A large body is searched once, when its end has arrived; the next envelope may follow in the same read.
    if (!isBusy && (data === null || hasEnd)) void read()
  })

  async function read() {
    isBusy = true
    while (buffer !== '') {
      if (data !== null) {
        const end = `\r\n${buffer}`.indexOf('\r\n.\r\n')
        if (end === -1) break
        data = buffer.slice(0, end)
        buffer = buffer.slice(end + 3)
        await taken(data)
        data = null
        // Closed or silent: pipelined input is ignored.
        if (socket.destroyed || socket.writableEnded || what === 'hang-after') return
        continue
      }
      const end = buffer.indexOf('\r\n')
      if (end === -1) break
      const line = buffer.slice(0, end)
      buffer = buffer.slice(end + 2)
      command(line)
    }
    isBusy = false
  }

  function command(line: string) {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO')
      return say('250-sink.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 SIZE 50000000')
    if (verb === 'QUIT') return void socket.end('221 2.0.0 Bye\r\n')
    if (verb === 'RCPT') return recipient(line)
    if (verb === 'MAIL' || verb === 'RSET') to = ''
    if (verb !== 'DATA') return say('250 2.0.0 Ok')
    if (to === '') return say('554 5.5.1 No valid recipients')
    say('354 Go ahead')
    data = ''
  }

  function recipient(line: string) {
    const address = /<([^>]*)>/.exec(line)?.[1] ?? ''
    what = ruleFor(address)
    if (what === '4xx') return say('451 4.3.0 Try again later')
    if (what === '421') return void socket.end('421 4.7.0 Too many errors\r\n')
    if (what === '5xx') return say('550 5.1.1 User unknown')
    if (what === 'garbage-early') return say('\u0001\u0002 %%% \u00ff')
    to = address
    say('250 2.1.5 Ok')
  }

  async function taken(text: string) {
    if (AT_THE_END.has(what)) ruleFor(to, true)
    if (what === '4xx-end') return say('452 4.3.1 Insufficient system storage')
    note({ channel: 'email', ...read5322(text), to, answer: what })
    if (settings.delayMs > 0 || what === 'slow') await new Promise(go => setTimeout(go, settings.delayMs || 2_000))
    if (what === 'reset-after') return void socket.resetAndDestroy()
    if (what === 'hang-after') return
    if (what === 'garbage') return say('\u0000\u00fe what')
    if (what === 'half-line') return void socket.end('250 2.0')
    say('250 2.0.0 Ok: queued')
  }
}

/** Id and token from the header, and a digest of the rest without the MIME boundary (which may differ between attempts). */
function read5322(text: string) {
  const split = text.indexOf('\r\n\r\n')
  const header = text.slice(0, split).replace(/\r\n[ \t]+/g, ' ')
  const messageId = /^message-id:\s*(\S+)/im.exec(header)?.[1] ?? ''
  const boundary = /boundary="?([^";\s]+)/i.exec(header)?.[1]
  const body = boundary ? text.slice(split).replaceAll(boundary, '') : text.slice(split)
  return {
    id: /<([0-9a-f-]{36})@/.exec(messageId)?.[1] ?? '',
    messageId,
    token: /^subject:.*?(tk[0-9a-z]+k)/im.exec(header)?.[1] ?? '',
    hash: digest(body),
    ...(VIRUSES.some(virus => body.replaceAll('\r\n', '').includes(virus)) && { hasVirus: true }),
  }
}

const VIRUSES = [EICAR, Buffer.from(EICAR).toString('base64').slice(0, 60)]

// --- text messages over HTTP

const texts = http.createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', () => void text(body, request, response))
})

async function text(body: string, request: http.IncomingMessage, response: http.ServerResponse) {
  const { to, text: words, id } = JSON.parse(body) as { to: string; text: string; id: string }
  const what = settings.http === 'ok' ? ruleFor(to, true) : settings.http
  const answer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  if (what === '4xx' || what === '503') return answer(503, { error: 'busy' })
  if (what === '429') return answer(429, { error: 'slow down' }, { 'retry-after': '1' })
  if (what === '5xx') return answer(400, { error: 'no such number' })
  if (what === 'reset-before') return void request.socket.resetAndDestroy()
  const ref = `ref-${id}`
  noteText({ id, to, words, answer: what })
  if (what === 'reset-after') return void request.socket.resetAndDestroy()
  if (what === 'garbage') return void response.writeHead(200).end('{"ref": "half')
  await tell(ref, 'early')
  answer(200, { ref })
  setTimeout(() => void tell(ref, 'late'), 50)
}

const noteText = ({ id, to, words, answer }: { id: string; to: string; words: string; answer: Rule['what'] }) =>
  note({
    channel: 'sms',
    id,
    messageId: id,
    to,
    token: /tk[0-9a-z]+k/.exec(words)?.[0] ?? '',
    hash: digest(words),
    answer,
  })

const digest = (what: string | Buffer) => createHash('sha256').update(what).digest('hex').slice(0, 16)

/** Receipts: before the answer, after it, or several out of order and duplicated. */
async function tell(ref: string, when: 'early' | 'late') {
  const wanted = settings.receipts
  if (!wanted) return
  const now = Date.now()
  const one = (status: string, at: number) => ({
    id: ref,
    status,
    time: new Date(at).toISOString(),
    event_id: `${ref}-${status}`,
  })
  const sent = { early: [one('delivered', now)], late: [one('delivered', now)], mixed: [] as ReturnType<typeof one>[] }
  sent.mixed =
    when === 'early' ? [one('delivered', now)] : [one('sent', now - 10), one('delivered', now), one('failed', now + 10)]
  if (wanted.mode === 'early' && when === 'late') return
  if (wanted.mode === 'late' && when === 'early') return
  for (const body of [sent[wanted.mode], ...(wanted.twice ? [sent[wanted.mode]] : [])].map(list =>
    JSON.stringify(list),
  )) {
    const timestamp = String(Date.now())
    const signature = createHmac('sha256', wanted.secret).update(`${timestamp}.${body}`).digest('hex')
    for (let tries = 0; tries < 20; tries++) {
      const url = wanted.urls[(ref.charCodeAt(ref.length - 1) + tries) % wanted.urls.length] ?? ''
      const status = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-signature': signature, 'x-timestamp': timestamp },
      }).then(
        reply => reply.status,
        () => 0,
      )
      if (status === 200) break
      if (when === 'early') break // the sender waits for our answer
      await new Promise(go => setTimeout(go, 200))
    }
  }
}

// --- text messages over SMPP

/** Explicit refusals: the provider does not have the message. After any other fault it may have it. */
const REFUSED: readonly string[] = ['reject', 'throttle', 'queue-full']

const smsc = await startSmppServer(null, (digits, words) => {
  const to = `+${digits}`
  const what = ruleFor(to, true)
  if (!REFUSED.includes(what)) noteText({ id: '', to, words, answer: what })
  return what as SmppMode
})

// --- scanner

const scanner = await scannerPeer('ok', content =>
  note({ channel: 'scan', id: '', messageId: '', to: '', token: '', hash: digest(content), answer: 'ok' }),
)

async function setScanner(now: Settings['scanner'], before: Settings['scanner']) {
  if (now === before) return
  if (now === 'down') return scanner.down()
  if (before === 'down') await scanner.up()
  scanner.state.mode = now
  scanner.hangUp() // disconnects callers that still wait under the previous behaviour
}

// --- control

const control = http.createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', () => void set(body).then(() => response.end(JSON.stringify(count))))
})

async function set(body: string) {
  if (body === '') return
  const before = settings
  settings = { ...settings, ...(JSON.parse(body) as Partial<Settings>) }
  if (settings.rules.length === 0) used = new Map()
  await setScanner(settings.scanner, before.scanner)
  if (settings.smtp !== 'ok') for (const socket of sockets) socket.destroy()
  const refuses = settings.smtp === 'refuse'
  if (refuses && before.smtp !== 'refuse') await new Promise(done => mail.close(done))
  if (!refuses && before.smtp === 'refuse') await new Promise<void>(done => mail.listen(mailPort, host, done))
}

const listen = (server: net.Server, at: string) =>
  new Promise<number>(resolve =>
    server.listen(0, at, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    }),
  )
const mailPort = await listen(mail, host)
const ports = { smtp: mailPort, http: await listen(texts, host), smpp: smsc.port, scanner: scanner.url }
console.log(JSON.stringify({ ...ports, control: await listen(control, '127.0.0.1') }))
