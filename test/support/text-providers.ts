// Each text adapter with short timeouts and its test server.

import { commonWords } from '../../src/providers/http/receipts.ts'
import { createHttpSms, type HttpSmsSettings } from '../../src/providers/http/send.ts'
import type { ProviderWorld } from '../../src/providers/port.ts'
import { createSmpp, type SmppSettings } from '../../src/providers/smpp/send.ts'
import { createTwilio, type TwilioSettings } from '../../src/providers/twilio/send.ts'
import type { Made } from '../conformance/sms-provider.ts'
import { type Given, type HttpPeer, startHttpPeer } from './http-peer.ts'
import { startSmppServer } from './smpp-server.ts'

export const smppFor = (port: number, some: Partial<SmppSettings> = {}): SmppSettings => ({
  host: '127.0.0.1',
  port,
  systemId: 'herald',
  password: 'secret',
  systemType: '',
  window: 10,
  binds: 1,
  perSecond: null,
  sender: null,
  long: 'parts',
  reports: true,
  ids: 'same',
  errors: {},
  connectMillis: 1_000,
  replyMillis: 2_000,
  patienceMillis: 10_000,
  enquireMillis: 30_000,
  retryMillis: [10, 50],
  ...some,
})

export const twilioFor = (apiUrl: string, some: Partial<TwilioSettings> = {}): TwilioSettings => ({
  apiUrl,
  account: 'AC0123456789',
  token: 'secret-token',
  messagingService: null,
  sender: null,
  callbackUrl: 'https://notify.example.org/receipts/twilio',
  perSecond: null,
  timeoutMillis: 6_000,
  ...some,
})

export const httpFor = (url: string, some: Partial<HttpSmsSettings> = {}): HttpSmsSettings => ({
  method: 'POST',
  url: `${url}/send`,
  headers: { authorization: 'Bearer secret-bearer' },
  body: '{"to":"{to}","from":"{from}","text":"{text}","ref":"{id}"}',
  format: 'json',
  sender: null,
  refPath: ['messages', 0, 'id'],
  rejectStatuses: [400, 409, 413, 422],
  errorPath: ['error'],
  rejectPattern: null,
  webhook: {
    secret: 'shared-secret-of-32-characters-at-least',
    signatureHeader: 'x-signature',
    timestampHeader: 'x-timestamp',
    listPath: [],
    refPath: ['id'],
    statusPath: ['status'],
    timePath: ['time'],
    eventPath: ['event_id'],
    words: commonWords,
  },
  perSecond: null,
  timeoutMillis: 6_000,
  ...some,
})

export async function smppMade(world: ProviderWorld): Promise<Made> {
  const server = await startSmppServer()
  const provider = createSmpp(smppFor(server.port), world)
  await provider.probe()
  return {
    provider,
    peer: {
      mode: server.mode,
      messages: () => server.messages.map(({ to, from, text }) => ({ to, from, text })),
      stop: server.stop,
    },
  }
}

export async function twilioMade(world: ProviderWorld): Promise<Made> {
  const { peer, state } = await httpPeer(
    got => Object.fromEntries(new URLSearchParams(got)),
    fields => ({ to: fields.To ?? '', from: fields.From ?? '', text: fields.Body ?? '' }),
    n => ({ status: 201, body: JSON.stringify({ sid: `SM${n}`, status: 'queued' }) }),
    { status: 400, body: JSON.stringify({ code: 21211, message: "The 'To' number +16135550123 is not valid" }) },
  )
  return { provider: createTwilio(twilioFor(peer.url), world), peer: state }
}

export async function httpMade(world: ProviderWorld): Promise<Made> {
  const { peer, state } = await httpPeer(
    got => JSON.parse(got) as Record<string, string>,
    fields => ({ to: fields.to ?? '', from: fields.from ?? '', text: fields.text ?? '' }),
    n => ({ status: 200, body: JSON.stringify({ messages: [{ id: `m-${n}` }] }) }),
    { status: 422, body: JSON.stringify({ error: 'no route to 16135550123\r\n<b>' }) },
  )
  return { provider: createHttpSms(httpFor(peer.url), world), peer: state }
}

type Fields = Record<string, string>
type Message = { to: string; from: string; text: string }

async function httpPeer(
  parse: (body: string) => Fields,
  messageIn: (fields: Fields) => Message,
  accepted: (n: number) => Given,
  rejected: Given,
): Promise<{ peer: HttpPeer; state: Made['peer'] }> {
  const messages: Message[] = []
  let refusal: Given | null = null
  const peer = await startHttpPeer(got => {
    if (got.method === 'GET') return { status: 200, body: '{}' }
    if (refusal) return refusal
    return accepted(messages.push(messageIn(parse(got.body))))
  })
  return {
    peer,
    state: {
      mode(next) {
        refusal = next === 'reject' ? rejected : null
        if (next === 'throttle') refusal = { status: 429, headers: { 'retry-after': '7' }, body: '{}' }
        peer.mode(next === 'reject' || next === 'throttle' ? 'ok' : next)
      },
      messages: () => messages,
      stop: peer.stop,
    },
  }
}
