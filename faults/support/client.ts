// Callers: open-loop load over several services, with and without idempotency keys, and a log of every answer.
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Id } from '../../src/core/id.ts'

export type Sender = {
  service: Id
  key: string
  testKey: string
  templates: { email: Id; sms: Id; urgent: Id; medium: Id }
}

export type Asked = {
  sender: Sender
  channel: 'email' | 'sms'
  to: string
  token: string
  idempotencyKey: string | null
  isTest: boolean
  isUrgent: boolean
  isMedium: boolean
  scheduledFor: string | null
  /** Personalisation besides the token: files, for example. */
  values: Record<string, unknown>
}

/** `status` 0: no answer. */
export type Answer = Asked & {
  status: number
  id: string | null
  body: string
  sentAt: number
  answeredAt: number
  tries: number
}

/** A bulk send: the contents of each row, and the id of the job if it was accepted. */
export type Job = {
  sender: Sender
  rows: { to: string; token: string }[]
  idempotencyKey: string | null
  status: number
  id: string | null
  body: string
  sentAt: number
  answeredAt: number
}

export type Reply = { status: number; body: string; sentAt: number; answeredAt: number }
export type Question = { key?: string; body?: unknown; headers?: Record<string, string>; address?: string }

export type Client = {
  answers: Answer[]
  jobs: Job[]
  /** Every refusal of `ask`, whose shape is checked; and the number of 5xx answers of any kind. */
  refusals: Reply[]
  faults(): number
  /** Any request to any process, or to the one at `address`, without a retry. */
  ask(method: string, path: string, question?: Question): Promise<Reply>
  bulk(asked: Pick<Job, 'sender'> & { count: number; idempotencyKey?: string; scheduledFor?: string }): Promise<Job>
  send(asked: Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer>
  /** A fixed number of requests per second, whether answers come or not. */
  load(count: number, perSecond: number, what: (n: number) => Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer[]>
}

const MOST_TRIES = 200
/** A large body may wait for its share of memory before it is read. */
const PATIENCE_MS = 120_000

/**
 * `scheduling` fifo: every open connection is used in turn, like those of a busy caller. `first`: the number of its first token,
 * where several clients send to the same services.
 */
export function createClient(
  addresses: () => readonly string[],
  {
    sockets = 64,
    scheduling = 'lifo',
    first = 0,
  }: { sockets?: number; scheduling?: 'lifo' | 'fifo'; first?: number } = {},
): Client {
  const agent = new http.Agent({ keepAlive: true, maxSockets: sockets, timeout: 15_000, scheduling })
  const patient = new http.Agent({ keepAlive: true, maxSockets: 128, timeout: PATIENCE_MS })
  const answers: Answer[] = []
  const jobs: Job[] = []
  const refusals: Reply[] = []
  let faults = 0
  let turn = 0
  let tokens = first

  async function send(given: Partial<Asked> & Pick<Asked, 'sender'>): Promise<Answer> {
    const n = ++tokens
    const asked: Asked = {
      channel: 'email',
      to: `ok-${n}@example.org`,
      token: `tk${n.toString(36)}k`,
      idempotencyKey: null,
      isTest: false,
      isUrgent: false,
      isMedium: false,
      scheduledFor: null,
      values: {},
      ...given,
    }
    const sentAt = Date.now()
    const { status, body, tries } = await persistently(asked.idempotencyKey, () => once(asked))
    const id = status === 201 ? (JSON.parse(body) as { id: string }).id : null
    const answer = { ...asked, values: {}, status, id, body, sentAt, answeredAt: Date.now(), tries }
    answers.push(answer)
    return answer
  }

  // Only a request with an idempotency key is retried: without one it might be accepted twice.
  async function persistently(key: string | null, ask: () => Promise<{ status: number; body: string }>) {
    for (let tries = 1; ; tries++) {
      const { status, body } = await ask()
      const isOpen = status === 0 || status >= 500 || status === 409
      if (!isOpen || key === null || tries >= MOST_TRIES) return { status, body, tries }
      await sleep(100)
    }
  }

  function once(asked: Asked): Promise<{ status: number; body: string }> {
    const { sender, channel } = asked
    const recipient = channel === 'email' ? { email_address: asked.to } : { phone_number: asked.to }
    return request('POST', `/v2/notifications/${channel}`, {
      key: asked.isTest ? sender.testKey : sender.key,
      headers: named(asked.idempotencyKey),
      body: {
        ...recipient,
        template_id: sender.templates[asked.isUrgent ? 'urgent' : asked.isMedium ? 'medium' : channel],
        personalisation: { token: asked.token, ...asked.values },
        ...(asked.scheduledFor !== null && { scheduled_for: asked.scheduledFor }),
      },
      agent: Object.keys(asked.values).length > 0 ? patient : agent,
    })
  }

  function request(method: string, path: string, question: Question & { agent: http.Agent }) {
    const all = addresses()
    const address = question.address ?? all[turn++ % all.length]
    if (address === undefined) return Promise.resolve({ status: 0, body: '' }) // all processes are down at this moment
    const payload =
      question.body === undefined || Buffer.isBuffer(question.body) ? question.body : JSON.stringify(question.body)
    return new Promise<{ status: number; body: string }>(resolve => {
      const request = http.request(address + path, {
        method,
        agent: question.agent,
        headers: {
          ...(question.key !== undefined && { authorization: `ApiKey-v1 ${question.key}` }),
          ...(payload !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
          ...question.headers,
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
        response.on('end', () => {
          if ((response.statusCode ?? 0) >= 500) faults++
          resolve({ status: response.statusCode ?? 0, body })
        })
      })
      request.end(payload)
    })
  }

  async function ask(method: string, path: string, question: Question = {}): Promise<Reply> {
    const sentAt = Date.now()
    const reply = { ...(await request(method, path, { ...question, agent: patient })), sentAt, answeredAt: Date.now() }
    if (reply.status >= 400) refusals.push(reply)
    return reply
  }

  const bulk: Client['bulk'] = async ({ sender, count, idempotencyKey = null, scheduledFor }) => {
    const rows = Array.from({ length: count }, () => {
      const n = ++tokens
      return { to: `row-${n}@example.org`, token: `tk${n.toString(36)}k` }
    })
    // Serialised once: every retry of a large body sends the same bytes.
    const body = Buffer.from(
      JSON.stringify({
        name: 'Faults',
        template_id: sender.templates.email,
        rows: [['email address', 'token'], ...rows.map(row => [row.to, row.token])],
        ...(scheduledFor !== undefined && { scheduled_for: scheduledFor }),
      }),
    )
    const question = { key: sender.key, body, headers: named(idempotencyKey), agent: patient }
    const sentAt = Date.now()
    const reply = await persistently(idempotencyKey, () => request('POST', '/v2/notifications/bulk', question))
    const id = reply.status === 201 ? (JSON.parse(reply.body) as { data: { id: string } }).data.id : null
    const job = { sender, rows, idempotencyKey, ...reply, id, sentAt, answeredAt: Date.now() }
    jobs.push(job)
    return job
  }

  return {
    answers,
    jobs,
    refusals,
    faults: () => faults,
    ask,
    bulk,
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

const named = (key: string | null): Record<string, string> => (key === null ? {} : { 'idempotency-key': key })

export const newKey = () => randomUUID()
