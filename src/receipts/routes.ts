// POST /receipts/<provider>: the webhooks of providers. Each endpoint authenticates its provider.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { envelope } from '../http/errors.ts'
import type { AcceptReceipts, WebhookEndpoint } from '../providers/port.ts'

export const receiptEndpoint =
  (webhook: WebhookEndpoint, accept: AcceptReceipts, publicAddress: (request: FastifyRequest) => string) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const read = await webhook.read({ url: publicAddress(request) + request.url, headers: request.headers, body })
    if (!read.ok) {
      request.log.warn({ request: request.id, provider: webhook.name, why: read.why }, 'receipts were refused')
      const name = read.status === 400 ? 'BadRequestError' : 'AuthError'
      return reply
        .code(read.status)
        .type('application/json')
        .send(envelope(name, [read.why], read.status))
    }
    await accept(webhook.name, read.receipts)
    return read.answer
      ? reply.code(200).type(read.answer.type).send(read.answer.body)
      : reply.code(200).type('application/json').send('{}')
  }
