// Sends text messages by the REST API of Twilio, or of any provider with the same API.
// Source: https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource
import { createCapacity } from '../../runtime/admission.ts'
import { createAsker } from '../http/ask.ts'
import { parseJson, readPath, textAt } from '../http/json-path.ts'
import { postponed, reason, unreached } from '../http/outcomes.ts'
import type { Outcome, ProviderWorld, TextMessage, TextProvider } from '../port.ts'
import { withoutControls } from '../smpp/alphabet.ts'
import type { SettingNames } from '../unreachable.ts'
import { answered } from './errors.ts'
import { createWebhookEndpoint } from './receipts.ts'

export type TwilioSettings = {
  /** Absent: the variables of this kind. */
  names?: SettingNames
  /** Address of the API, without a path. */
  apiUrl: string
  account: string
  token: string
  /** Messaging service that chooses the sender of a message without one. */
  messagingService: string | null
  /** Default sender when there is no messaging service. */
  sender: string | null
  /** Public address of status callbacks; null: none are requested. */
  callbackUrl: string | null
  perSecond: number | null
  timeoutMillis: number
}

const sidPath = readPath('sid') ?? []
const codePath = readPath('code') ?? []
const messagePath = readPath('message') ?? []

const NAMES = { address: 'HERALD_TWILIO_URL', login: null, ca: null, tls: null }

export function createTwilio(settings: TwilioSettings, world: ProviderWorld, name = 'twilio'): TextProvider {
  const { apiUrl, account, token, callbackUrl, timeoutMillis } = settings
  const folder = `${apiUrl}/2010-04-01/Accounts/${account}`
  const authorization = `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`
  const asker = createAsker(settings.names ?? NAMES)
  let isStopped = false

  return {
    name,
    channel: 'sms',
    reports: callbackUrl !== null,
    capacity: createCapacity({ perSecond: settings.perSecond }),
    ...(callbackUrl !== null && { webhook: createWebhookEndpoint(name, { account, token, callbackUrl }) }),
    async send(message) {
      if (isStopped) return { kind: 'deferred', detail: 'The provider is being stopped', down: true }
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
      const body = formOf(message, settings).toString()
      const answer = await asker.ask({ method: 'POST', url: `${folder}/Messages.json`, headers, body }, timeoutMillis)
      if (answer.kind === 'failed') return unreached(answer)
      return read(answer.status, answer.headers, answer.body, message.to, world.now())
    },
    async probe() {
      const answer = await asker.ask(
        { method: 'GET', url: `${folder}.json`, headers: { authorization } },
        timeoutMillis,
      )
      if (answer.kind === 'failed')
        return { ok: false, detail: answer.why, ...(answer.reason !== undefined && { reason: answer.reason }) }
      return answer.status === 200 ? { ok: true } : { ok: false, detail: `answered ${answer.status}` }
    },
    stop() {
      isStopped = true
      asker.stop()
      return Promise.resolve()
    },
  }
}

function formOf(message: TextMessage, settings: TwilioSettings): URLSearchParams {
  const form = new URLSearchParams({ To: message.to, Body: withoutControls(message.text) })
  if (message.from !== null) form.set('From', withoutControls(message.from))
  else if (settings.messagingService !== null) form.set('MessagingServiceSid', settings.messagingService)
  else if (settings.sender !== null) form.set('From', settings.sender)
  if (settings.callbackUrl !== null) form.set('StatusCallback', settings.callbackUrl)
  return form
}

function read(status: number, headers: Headers, body: string, to: string, now: number): Outcome {
  const json = parseJson(body)
  if (status >= 200 && status < 300) {
    const ref = textAt(json, sidPath)
    if (/^[\w-]{1,64}$/.test(ref)) return { kind: 'accepted', ref }
    // Not a response of Twilio: the page of a proxy, or incomplete. The message may have been accepted.
    return { kind: 'deferred', detail: 'The answer has no message id', uncertain: true }
  }
  const byStatus = postponed(status, headers, now)
  const code = Number(textAt(json, codePath))
  const byCode = answered(code)
  // 21610 comes with 400 or 403; other codes refine a refusal, but do not override a temporary failure.
  if (byCode && (byCode.kind === 'rejected' ? status < 500 && status !== 429 : true))
    return byCode.kind === 'deferred' && byStatus ? { ...byStatus, ...byCode } : byCode
  if (byStatus) return byStatus
  return { kind: 'rejected', detail: reason(`${textAt(json, messagePath) || 'Refused'} (${code || status})`, to) }
}
