// What is kept of every request: a line of the log, the metric, and for requests with a key the request log of its service. Route,
// caller, status and duration; no address, no value, no key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readId } from './core/id.ts'
import { answerOf, refusalOf } from './http/errors.ts'
import { serviceOf } from './keys/hook.ts'
import type { Parts } from './parts.ts'
import { pathOf } from './requests/request.ts'
import { loggable } from './sentences.ts'
import { createRequestLog } from './telemetry/log.ts'

type App = Pick<Parts, 'log' | 'metrics' | 'requests' | 'trace' | 'config'>

export function answeredBy({ log, metrics, requests, trace, config }: App) {
  const requestLog = createRequestLog(log)
  const labelsOf = createLabels(config.consolePath)
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { id, method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    const route = routeOptions.url ?? 'unknown'
    const refusal = refusalOf(reply)
    const limit = LIMITS[refusal?.kind ?? '']
    if (limit) metrics.limited.inc({ limit })
    // The time that a request waits for events is the caller's wish, not ours to improve.
    const labels = labelsOf(method, route)
    metrics.requests.observe(labels, (elapsedTime - request.waitedMs) / 1000)
    metrics.answers.inc({ ...labels, status })
    const error = refusal && answerOf(refusal.kind)[1]
    const reason = refusal ? loggable(refusal.messages) : null
    const key = request.caller?.key ?? request.refusedKey
    if (key)
      requests.note(key.service_id, status, () => ({
        ...{ key_id: key.id, method, path: pathOf(route, request.params) },
        ...{ error: error ?? (status >= 500 ? 'Exception' : null), reason, took_ms: Math.round(elapsedTime) },
      }))
    const service = serviceOf(request) ?? request.pageOf ?? undefined
    const about = aboutIn(request.params)
    const isProbe = PROBES.has(route) && !refusal
    if (!isProbe)
      trace?.answered({
        ...{ name: `${method} ${route}`, ms: elapsedTime, made: request.made },
        traceparent: request.headers.traceparent as string | undefined,
        attributes: {
          ...{ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
          ...{ 'herald.request_id': id, 'herald.service_id': service, 'herald.id': request.made ?? about },
        },
        error: status >= 500 ? (error ?? 'Exception') : null,
      })
    requestLog({
      level: isProbe ? 'debug' : 'info',
      request: id,
      method,
      route,
      status,
      ms: Math.round(elapsedTime * 10) / 10,
      service,
      made: request.made,
      about,
      error,
      reason,
    })
  }
}

/** Asked every few seconds, for as long as the process runs. A scrape that is refused is logged as any request. */
const PROBES = new Set(['/health/live', '/health/ready', '/metrics'])

const LABELLED_METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']

/**
 * Labels from a short list, whatever is asked for: a scrape stays small. The console has over a hundred pages, which share one; a
 * method that no route has is `other`.
 */
const createLabels = (consolePath: string) => (given: string, route: string) => {
  const method = given === 'HEAD' ? 'GET' : given
  return {
    method: LABELLED_METHODS.includes(method) ? method : 'other',
    route: route === consolePath || route.startsWith(`${consolePath}/`) ? consolePath : route,
  }
}

/** The last id in the address: `/services/<id>/messages/<id>` is about a message. Anything else is the caller's own text. */
function aboutIn(params: unknown): string | null {
  let about: string | null = null
  for (const value of Object.values(params ?? {}))
    if (typeof value === 'string' && value.length === PRINTED_LENGTH) about = readId(value) ?? about
  return about
}

const PRINTED_LENGTH = 36

const LIMITS: Readonly<Record<string, string>> = { RateLimitError: 'rate', TooManyRequestsError: 'daily' }
