// Callers: open-loop load over several services, with and without idempotency keys, and a log of every answer.
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Sender = {
  service: string
  key: string
  testKey: string
  templates: { email: string; sms: string; urgent: string }
}

export type Asked = {
  sender: Sender
  channel: 'email' | 'sms'
  to: string
  token: string
  idempotencyKey: string | null
  isTest: boolean
  isUrgent: boolean
  scheduledFor: string | null
}

/** `status` 0: no answer came. */
export type Answer = Asked & {
  status: number
  id: string | null
  body: string
  sentAt: number
  answeredAt: number
  tries: number
}

export type Client = {
  answers: Answer[]
  send(asked: Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer>
  /** So many a second, whether answers come or not. */
  load(count: number, perSecond: number, what: (n: number) => Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer[]>
}

const MOST_TRIES = 200

export function createClient(addresses: () => readonly string[]): Client {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64, timeout: 15_000 })
  const answers: Answer[] = []
  let turn = 0
  let tokens = 0

  async function send(given: Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer> {
    const n = ++tokens
    const asked: Asked = {
      channel: 'email',
      to: `ok-${n}@example.org`,
      token: `tk${n.toString(36)}k`,
      idempotencyKey: null,
      isTest: false,
      isUrgent: false,
      scheduledFor: null,
      ...given,
    }
    const sentAt = Date.now()
    for (let tries = 1; ; tries++) {
      const { status, body } = await once(asked)
      // Only who names the request may ask again: without a name it may be accepted twice.
      if ((status === 0 || status >= 500 || status === 409) && asked.idempotencyKey !== null && tries < MOST_TRIES) {
        await sleep(100)
        continue
      }
      const id = status === 201 ? (JSON.parse(body) as { id: string }).id : null
      const answer = { ...asked, status, id, body, sentAt, answeredAt: Date.now(), tries }
      answers.push(answer)
      return answer
    }
  }

  function once(asked: Asked): Promise<{ status: number; body: string }> {
    const all = addresses()
    const address = all[turn++ % all.length]
    if (address === undefined) return Promise.resolve({ status: 0, body: '' }) // everything is down at this moment
    const { sender, channel } = asked
    const recipient = channel === 'email' ? { email_address: asked.to } : { phone_number: asked.to }
    const payload = JSON.stringify({
      ...recipient,
      template_id: asked.isUrgent ? sender.templates.urgent : sender.templates[channel],
      personalisation: { token: asked.token },
      ...(asked.scheduledFor !== null && { scheduled_for: asked.scheduledFor }),
    })
    return new Promise(resolve => {
      const request = http.request(`${address}/v2/notifications/${channel}`, {
        method: 'POST',
        agent,
        headers: {
          authorization: `ApiKey-v1 ${asked.isTest ? sender.testKey : sender.key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
          ...(asked.idempotencyKey !== null && { 'idempotency-key': asked.idempotencyKey }),
        },
      })
      const none = () => resolve({ status: 0, body: '' })
      request.on('error', none)
      request.on('timeout', () => request.destroy())
      request.on('response', response => {
        let body = ''
        response.setEncoding('utf8').on('data', text => {
          body += text
        })
        response.on('aborted', none)
        response.on('error', none)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      })
      request.end(payload)
    })
  }

  return {
    answers,
    send,
    async load(count, perSecond, what) {
      const since = performance.now()
      const under: Promise<Answer>[] = []
      for (let n = 0; n < count; n++) {
        const wait = since + (n * 1000) / perSecond - performance.now()
        if (wait > 1) await sleep(wait)
        under.push(send(what(n)))
      }
      return Promise.all(under)
    },
  }
}

export const newKey = () => randomUUID()
