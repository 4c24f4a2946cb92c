// Sends text messages to any provider that takes one HTTP request per message, configured by templates and paths.
import { connect, isIP } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { createCapacity } from '../../runtime/admission.ts'
import { cleanRef } from '../clean.ts'
import type { Outcome, ProviderWorld, TextMessage, TextProvider } from '../port.ts'
import { withoutControls } from '../smpp/alphabet.ts'
import { refusedCertificate, type SettingNames, type Trouble, troubleOf, unreachable } from '../unreachable.ts'
import { createAsker, peerOf } from './ask.ts'
import { type JsonPath, parseJson, textAt } from './json-path.ts'
import { postponed, reason, unreached } from './outcomes.ts'
import { createWebhookEndpoint, type WebhookSettings } from './receipts.ts'
import { type Format, fill } from './template.ts'

export type HttpSmsSettings = {
  method: string
  /** Its query may contain placeholders. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Null: no body; all values are in the address. */
  body: string | null
  format: Format
  /** Default sender. */
  sender: string | null
  /** Path of the provider's message id in the response; null: our id is used. */
  refPath: JsonPath | null
  /** HTTP statuses that mean a permanent refusal. */
  rejectStatuses: readonly number[]
  /** Path of the reason in the response, which is shown and matched with the pattern; the empty path: the whole body. */
  errorPath: JsonPath
  /** A response that matches is a permanent refusal, whatever its status. */
  rejectPattern: RegExp | null
  webhook: WebhookSettings | null
  perSecond: number | null
  timeoutMillis: number
  /** Absent: the variables of this kind. */
  names?: SettingNames
}

const NAMES = { address: 'HERALD_HTTP_SMS_URL', login: null, ca: null, tls: null }

const probeMillis = 10_000

export function createHttpSms(settings: HttpSmsSettings, world: ProviderWorld, name = 'http'): TextProvider {
  const names = settings.names ?? NAMES
  const asker = createAsker(names)
  const stopping = new AbortController()
  let isStopped = false
  return {
    name,
    channel: 'sms',
    reports: settings.webhook !== null,
    capacity: createCapacity({ perSecond: settings.perSecond }),
    ...(settings.webhook !== null && { webhook: createWebhookEndpoint(name, settings.webhook, world) }),
    async send(message) {
      if (isStopped) return { kind: 'deferred', detail: 'The provider is being stopped', down: true }
      const answer = await asker.ask(requestOf(message, settings), settings.timeoutMillis)
      if (answer.kind === 'failed') return unreached(answer)
      return read(answer, message, settings, { ...world, name })
    },
    probe: () => reaches(settings.url, names, stopping.signal),
    stop() {
      isStopped = true
      stopping.abort()
      asker.stop()
      return Promise.resolve()
    },
  }
}

function requestOf(message: TextMessage, { method, url, headers, body, format, sender }: HttpSmsSettings) {
  const values = {
    to: message.to,
    digits: message.to.replace('+', ''),
    from: withoutControls(message.from ?? sender ?? ''),
    text: withoutControls(message.text),
    id: message.id,
  }
  const type = format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
  return {
    method,
    url: fill(url, values, 'form'),
    headers: { ...(body !== null && { 'content-type': type }), ...headers },
    ...(body !== null && { body: fill(body, values, format) }),
  }
}

type Named = ProviderWorld & { name: string }
type Read = { status: number; headers: Headers; body: string }

function read({ status, headers, body }: Read, message: TextMessage, settings: HttpSmsSettings, world: Named) {
  const json = parseJson(body)
  const words = settings.errorPath.length === 0 ? body : textAt(json, settings.errorPath)
  const rejected = (): Outcome => ({ kind: 'rejected', detail: reason(words, message.to) || `Refused (${status})` })
  if (settings.rejectPattern?.test(words.slice(0, 10_000))) return rejected()
  if (status >= 200 && status < 300) return accepted(json, message, settings, world)
  if (settings.rejectStatuses.includes(status)) return rejected()
  return postponed(status, headers, world.now()) ?? { kind: 'deferred', detail: `Provider answered ${status}` }
}

function accepted(json: unknown, { id }: TextMessage, { refPath }: HttpSmsSettings, world: Named): Outcome {
  if (refPath === null) return { kind: 'accepted', ref: id }
  const ref = cleanRef(textAt(json, refPath))
  if (ref !== '') return { kind: 'accepted', ref }
  // Not JSON, or incomplete: the page of a proxy, or a broken connection.
  if (json === undefined) return { kind: 'deferred', detail: 'The answer is not JSON', uncertain: true }
  // 2xx means accepted. A wrongly configured path must not make every message be sent again for four hours.
  world.warn({ provider: world.name, id }, 'The response has no reference at the configured path')
  return { kind: 'accepted', ref: id }
}

type Reached = Awaited<ReturnType<TextProvider['probe']>>

/** Only connects: a generic provider has no request that sends nothing. */
function reaches(url: string, names: SettingNames, signal: AbortSignal): Promise<Reached> {
  return new Promise(resolve => {
    const peer = peerOf(url, names)
    const { host, port } = peer
    const servername = isIP(host) === 0 && { servername: host }
    // The certificate is judged when the connection is there (refusedCertificate).
    const socket = url.startsWith('https:')
      ? connectTls({ host, port, rejectUnauthorized: false, ...servername })
      : connect({ host, port })
    if (signal.aborted) socket.destroy()
    const end = (result: Reached) => {
      socket.destroy()
      resolve(result)
    }
    const fail = (detail: string, trouble: Trouble) => end({ ok: false, detail, reason: unreachable(peer, trouble) })
    socket.setTimeout(probeMillis, () => fail('no connection in time', { code: 'timeout' }))
    signal.addEventListener('abort', () => end({ ok: false, detail: 'stopped' }), { once: true })
    socket.on(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      const trouble = socket instanceof TLSSocket ? refusedCertificate(socket) : null
      return trouble ? fail(trouble.code, trouble) : end({ ok: true })
    })
    socket.on('error', error => fail('code' in error ? String(error.code) : 'no connection', troubleOf(error)))
  })
}
