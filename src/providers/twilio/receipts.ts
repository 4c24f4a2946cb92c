// Status callbacks of messages. Source: https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
import type { Receipt, WebhookEndpoint } from '../port.ts'
import { timeOf } from '../smpp/receipts.ts'
import { reported } from './errors.ts'
import { isSigned } from './signature.ts'

export type WebhookSettings = { account: string; token: string; callbackUrl: string }

const mostOctets = 65_536

export function createWebhookEndpoint(name: string, { account, token, callbackUrl }: WebhookSettings): WebhookEndpoint {
  return {
    name,
    read({ headers, body }) {
      const signature = headers['x-twilio-signature']
      if (typeof signature !== 'string') return refuse(401, 'signature missing')
      if (body.length > mostOctets) return refuse(400, 'body too long')
      const form = new URLSearchParams(body.toString('utf8'))
      // The configured address, never the one in the request (S-41).
      if (!isSigned(signature, token, callbackUrl, form)) return refuse(401, 'signature wrong')
      if (form.get('AccountSid') !== account) return refuse(403, 'another account')
      const ref = form.get('MessageSid') ?? form.get('SmsSid') ?? ''
      if (!/^[\w-]{1,64}$/.test(ref)) return refuse(400, 'message id missing')
      const status = (form.get('MessageStatus') ?? form.get('SmsStatus') ?? '').toLowerCase()
      const receipt = readStatus(ref, status, form)
      return Promise.resolve({ ok: true, receipts: receipt ? [receipt] : [] })
    },
  }
}

function readStatus(ref: string, status: string, form: URLSearchParams): Receipt | null {
  const code = /^[0-9]{1,6}$/.test(form.get('ErrorCode') ?? '') ? Number(form.get('ErrorCode')) : 0
  const at = timeOf(form.get('RawDlrDoneDate') ?? '')
  const news = { ref, eventId: `${ref}:${status}${code === 0 ? '' : `:${code}`}`, at }
  switch (status) {
    case 'delivered':
    case 'read':
      return { ...news, result: 'delivered', detail: null, response: null }
    case 'sent': // a carrier accepted it: not final (contract 6.3)
      return { ...news, result: 'pending', detail: null, response: null }
    case 'failed':
    case 'undelivered':
    case 'canceled':
      return { ...news, ...reported(code) }
    default: // accepted, scheduled, queued, sending: nothing new after the send was accepted
      return null
  }
}

const refuse = (status: 400 | 401 | 403, why: string) => Promise.resolve({ ok: false, status, why } as const)
