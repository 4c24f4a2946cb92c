// The request log and its metric: route, caller, status and duration. No address, no value, no key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerOf, refusalOf } from './http/errors.ts'
import { serviceOf } from './keys/hook.ts'
import type { Parts } from './parts.ts'
import { loggable } from './sentences.ts'
import { createRequestLog } from './telemetry/log.ts'

export function answeredBy({ log, metrics }: Pick<Parts, 'log' | 'metrics'>) {
  const requestLog = createRequestLog(log)
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { id, method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    const route = routeOptions.url ?? 'unknown'
    const refusal = refusalOf(reply)
    const limit = LIMITS[refusal?.kind ?? '']
    if (limit) metrics.limited.inc({ limit })
    // The time that a request waits for events is the caller's wish, not ours to improve.
    metrics.requests.observe({ method, route, status }, (elapsedTime - request.waitedMs) / 1000)
    requestLog({
      request: id,
      method,
      route,
      status,
      ms: Math.round(elapsedTime * 10) / 10,
      service: serviceOf(request) ?? request.pageOf ?? undefined,
      made: request.made,
      error: refusal && answerOf(refusal.kind)[1],
      reason: refusal ? loggable(refusal.messages) : null,
    })
  }
}

const LIMITS: Readonly<Record<string, string>> = { RateLimitError: 'rate', TooManyRequestsError: 'daily' }
