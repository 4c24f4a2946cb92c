// Maps a refusal to its status and body. Any other error is logged here and answered as a 500 without details.
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Kind, type Problem, Refusal } from '../core/refusal.ts'
import { SecretMissing } from '../core/secret-missing.ts'
import { faultOf } from '../telemetry/fault.ts'
import { refuse } from './refusals.ts'

// The interface's name of an error where it differs from ours, and its status.
const ANSWERS: Record<Kind, readonly [status: number, name: string]> = {
  AuthError: [403, 'AuthError'],
  BadRequestError: [400, 'BadRequestError'],
  ChangedMeanwhile: [409, 'ChangedMeanwhile'],
  ForbiddenError: [403, 'ForbiddenError'],
  IdempotencyConflictError: [409, 'IdempotencyConflictError'],
  IdempotencyKeyReusedError: [422, 'IdempotencyKeyReusedError'],
  JobAlreadyCancelledError: [409, 'JobAlreadyCancelledError'],
  JobCancellationNotAllowedError: [409, 'JobCancellationNotAllowedError'],
  JobNotFoundError: [404, 'JobNotFoundError'],
  MethodNotAllowed: [405, 'MethodNotAllowed'],
  NoResultFound: [404, 'NoResultFound'],
  NotFound: [404, 'NotFound'],
  PreconditionRequired: [428, 'PreconditionRequired'],
  RateLimitError: [429, 'RateLimitError'],
  RequestEntityTooLarge: [413, 'RequestEntityTooLarge'],
  Suspended: [403, 'BadRequestError'],
  TemplateCategoryNotFoundError: [400, 'TemplateCategoryNotFoundError'],
  TemplateCategoryValidationError: [400, 'TemplateCategoryValidationError'],
  TooManyRequestsError: [429, 'TooManyRequestsError'],
  Unauthorized: [401, 'AuthError'],
  UnsupportedMediaType: [415, 'BadRequestError'],
  ValidationError: [400, 'ValidationError'],
}

export const answerOf = (kind: Kind) => ANSWERS[kind]

/** Problems as the envelope of a refusal lists them. */
export const shownProblems = (problems: readonly Problem[]) =>
  problems.map(({ kind, message }) => ({ error: ANSWERS[kind][1], message }))

export function envelope(error: string, messages: readonly string[], status: number): string {
  return JSON.stringify({ errors: messages.map(message => ({ error, message })), status_code: status })
}

/** The complete response for a refusal, also for code that writes to the socket directly. */
function worded(refusal: Refusal): { status: number; body: string } {
  const [status, name] = ANSWERS[refusal.kind]
  return { status, body: envelope(name, refusal.messages, status) }
}

// The kind of a refusal, for metrics and the request log.
const refused = new WeakMap<FastifyReply, Refusal>()
export const noteRefusal = (reply: FastifyReply, refusal: Refusal) => void refused.set(reply, refusal)
export const refusalOf = (reply: FastifyReply): Refusal | undefined => refused.get(reply)

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = error instanceof Refusal ? error : refusalFrom(error)
  if (refusal) {
    const { status, body } = worded(refusal)
    noteRefusal(reply, refusal)
    return sendEnvelope(reply.code(status).headers(refusal.headers), body)
  }
  const { id, routeOptions } = request
  if (error instanceof SecretMissing) {
    request.log.error({ request: id, route: routeOptions.url, sealed: error.purpose }, SECRET_MISSING)
    return sendEnvelope(reply.code(503), envelope('Exception', ['Service unavailable'], 503))
  }
  request.log.error({ request: id, error: faultOf(error), route: routeOptions.url }, 'request failed')
  return sendEnvelope(reply.code(500), envelope('Exception', ['Internal server error'], 500))
}

const SECRET_MISSING =
  'data was sealed with a secret that is not configured: add it to HERALD_OLD_SECRETS (herald doctor counts what needs it)'

/** As bytes: Fastify would add a charset to a text, and no hook that removes it is called for errors of the router (contract 22.14). */
const sendEnvelope = (reply: FastifyReply, body: string) => reply.type('application/json').send(Buffer.from(body))

// Answers a malformed HTTP request directly on the socket.
export function answerOnSocket(error: { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const [status, reason, body] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', envelope('BadRequestError', refuse.unreadable().messages, 431)]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', envelope('BadRequestError', refuse.unreadable().messages, 408)]
        : [400, 'Bad Request', worded(refuse.unreadable()).body]
  // The socket is destroyed, so that bytes after a malformed request are never parsed as another request.
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

/** Errors of Fastify about a request, as refusals of the interface. */
export function refusalFrom(error: unknown): Refusal | null {
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return refuse.notJson()
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT' || statusCode === 414)
    return refuse.unknownPath()
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return refuse.unreadable()
  return null
}
