// Fastify with our limits, time-outs and answers; no routes. Every failure, the framework's own included, leaves in the
// interface's envelope, and a stop lets requests under way finish (recipe: reliability 5.2).
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import net from 'node:net'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { Refusal } from '../core/refusal.ts'
import { createBudget } from './budget.ts'
import { envelope, sendError, worded } from './errors.ts'
import { readJson } from './json.ts'
import { refuse } from './refusals.ts'

export type ServerOptions = {
  log: FastifyBaseLogger
  trustedProxies: readonly string[]
  corsOrigins: readonly string[]
  requestSeconds: number
  headerSeconds: number
  keepAliveSeconds: number
  noticeSeconds: number
  drainSeconds: number
  /** Mebibytes of bodies in memory at the same time. */
  bodyBudget: number
  /** Told about every answer: for the request log and the metrics. */
  answered(request: FastifyRequest, reply: FastifyReply): void
}

export type HttpServer = { app: FastifyInstance; drain(): Promise<void> }

const MIB = 1024 * 1024
/** Caps on bodies (contract 1.3). */
export const BODY = { single: 20 * MIB, bulk: 64 * MIB, other: MIB } as const

export function createServer(options: ServerOptions): HttpServer {
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    bodyLimit: BODY.other,
    requestTimeout: (options.requestSeconds + WAIT_SECONDS) * 1000,
    keepAliveTimeout: options.keepAliveSeconds * 1000,
    http: {
      headersTimeout: options.headerSeconds * 1000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false, // asked for below, so that the refusal has our shape
    },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    genReqId: request => requestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: 1_000 },
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: answerBrokenRequest,
    onProtoPoisoning: 'ignore',
  })

  // Without a listener Node would hang up on the method CONNECT without a word.
  app.server.on('connect', (_request, socket: net.Socket) => answerBrokenRequest({}, socket))

  let draining = false
  const answerUnknown = createUnknown(app)
  // Hooks that every request passes say `done`: a promise for each would cost more than what they do.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    allowOrigin(options.corsOrigins, request, reply)
    if (!request.headers.host && !isHttp10(request.raw)) return done(refuse.unreadable())
    // Before the key is asked for and before the size is looked at (contract 22.6).
    if (request.is404) return answerUnknown(request, reply)
    done()
  })
  app.decorateRequest('made', null)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 201 && typeof payload === 'string') request.made = MADE.exec(payload)?.[1] ?? null
    // Not before the answer: a request may have begun before the stop.
    if (draining) reply.header('connection', 'close')
    // The framework adds a charset, which JSON does not have (contract 22.14).
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    options.answered(request, reply)
    done()
  })
  app.setErrorHandler(sendError)
  // Bodies are read by our own validators, in the noun's routes: the framework only carries the schemas to openapi.json.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  // A body of DELETE is ignored like one of GET, whatever its size and type (contract 22.6).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  readBodies(app)
  boundBodies(app, options)

  return {
    app,
    async drain() {
      draining = true
      // Who balances the load learns it from /health/ready and needs a moment; until then new connections are still served.
      if (app.server.listening) await new Promise(resume => setTimeout(resume, options.noticeSeconds * 1000))
      await closeListener(app.server, options.drainSeconds)
      await app.close()
    },
  }
}

/** Every 201 begins with the id of what was made, also one that repeats a stored answer; a job's stands in `data`. */
const MADE = /^\{(?:"data":\{)?"id":"([0-9a-f-]{36})"/

const isHttp10 = ({ httpVersionMajor, httpVersionMinor }: IncomingMessage) =>
  httpVersionMajor === 1 && httpVersionMinor === 0

const PLAIN_ID = /^[A-Za-z0-9._:-]{1,100}$/
const requestId = (given: string | string[] | undefined) =>
  typeof given === 'string' && PLAIN_ID.test(given) ? given : randomUUID()

function allowOrigin(origins: readonly string[], { headers }: FastifyRequest, reply: FastifyReply) {
  if (origins.length === 0) return
  reply.header('vary', 'Origin')
  if (!headers.origin || !origins.includes(headers.origin)) return
  reply.header('access-control-allow-origin', headers.origin)
  reply.header('access-control-allow-headers', 'Content-Type,Authorization,Idempotency-Key')
  reply.header('access-control-allow-methods', 'GET,PUT,POST,PATCH,DELETE')
}

// The content type is checked here and not by the framework, whose per-type parsing has been bypassed before.
const JSON_TYPE = /^\s*application\/(?:json|[^\s;/]+\+json)\s*(?:;|$)/i

function readBodies(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    const isJson = JSON_TYPE.test(type) && encoding === 'identity'
    const isFine = isJson || !takesBody(request) || request.routeOptions.config.anyType
    done(isFine ? null : refuse.notJson(), payload)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    try {
      if (!takesBody(request)) request.body = undefined
      else if (!request.routeOptions.config.rawBody) request.body = parsed(request.body)
      done()
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Smaller bodies are not worth the waiting. */
const SMALL_BODY = 256 * 1024
/** How long a body may wait for its share; then Node itself cuts the connection. */
const WAIT_SECONDS = 300

// After the caller is known, before the body is read. Only from then on does the caller's time run, and the share is given
// back when there is an answer: a caller who has hung up may have left a body that is still being worked on.
function boundBodies(app: FastifyInstance, { bodyBudget, requestSeconds }: ServerOptions) {
  const budget = createBudget(bodyBudget * MIB)
  const shares = new WeakMap<FastifyRequest, () => void>()
  // One look around now and then instead of a timer for each body: most are there before it could start.
  const reading = new Map<IncomingMessage, number>()
  const sweep = setInterval(cutLate, Math.min(1_000, requestSeconds * 250))
  sweep.unref()
  app.addHook('onClose', async () => clearInterval(sweep))

  function cutLate() {
    const latest = performance.now() - requestSeconds * 1000
    for (const [raw, since] of reading) {
      if (raw.complete || raw.destroyed) reading.delete(raw)
      else if (since < latest) answerBrokenRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, raw.socket)
    }
  }

  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { raw, headers } = request
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    if (!takesBody(request) || (length === undefined && encoding === undefined)) return done(null, payload)
    const limit = request.routeOptions.bodyLimit ?? BODY.other
    // Without a length a body may become as large as is allowed.
    const wanted = length === undefined ? limit : Math.min(Number(length), limit)
    const read = () => {
      reading.set(raw, performance.now())
      done(raw.destroyed ? refuse.unreadable() : null, payload)
    }
    if (wanted <= SMALL_BODY) return read()
    void budget.take(wanted).then(giveBack => {
      shares.set(request, giveBack)
      read()
    })
  })
  app.addHook('preValidation', (request, _reply, done) => {
    reading.delete(request.raw)
    done()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    shares.get(request)?.()
    done(null, payload)
  })
}

const takesBody = (request: FastifyRequest) =>
  (request.method === 'POST' || request.method === 'PATCH') && !request.is404

function parsed(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) throw refuse.unreadable()
  return readJson(body)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of what a request made, for the request log. */
    made: string | null
  }
  interface FastifyContextConfig {
    /** The route reads the bytes itself (bulk: off the event loop). */
    rawBody?: boolean
    /** The route takes bodies of any type (receipts: each provider has its own). */
    anyType?: boolean
    /** Takes the path away from a method although another method has it (POST /v2/notifications/anything). */
    hidden?: boolean
  }
}

type Known = { pattern: RegExp; methods: Set<string> }

// Unknown path or wrong method: decided before anyone is asked who they are.
function createUnknown(app: FastifyInstance) {
  const known = new Map<string, Known>()
  app.addHook('onRoute', route => {
    if (route.config?.hidden) return
    const entry = known.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set(['OPTIONS']) }
    for (const method of [route.method].flat()) entry.methods.add(method)
    known.set(route.url, entry)
  })
  function answer(request: FastifyRequest, reply: FastifyReply): void {
    const path = request.url.split('?', 1)[0] ?? ''
    const matching = [...known.values()].filter(entry => entry.pattern.test(path))
    if (matching.length === 0) return void sendError(refuse.unknownPath(), request, reply)
    const methods = [...new Set(matching.flatMap(entry => [...entry.methods]))].sort()
    if (request.method === 'OPTIONS') return void reply.code(200).header('allow', methods.join(', ')).send()
    const refusal = refuse.wrongMethod()
    sendError(new Refusal(refusal.kind, refusal.messages, { allow: methods.join(', ') }), request, reply)
  }
  app.setNotFoundHandler(answer)
  return answer
}

const patternOf = (url: string) =>
  new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z_]+/g, '[^/]+')}$`)

// A request too broken to become one: answered on the bare socket.
function answerBrokenRequest(error: { code?: string }, socket: net.Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const [status, reason, body] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', envelope('BadRequestError', refuse.unreadable().messages, 431)]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', envelope('BadRequestError', refuse.unreadable().messages, 408)]
        : [400, 'Bad Request', worded(refuse.unreadable()).body]
  // Gone for good: what comes in after a no must not be taken for a request after all.
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

// http.Server.close() would drop idle keep-alive sockets that a caller is about to use: only the listening handle is
// closed, every answer from now on says `Connection: close`, and what is still open after the cap is cut.
async function closeListener(server: Server, seconds: number) {
  if (!server.listening) return
  net.Server.prototype.close.call(server)
  for (let waited = 0; waited < seconds * 1000; waited += 50) {
    const open = await new Promise<number>(done => server.getConnections((_error, count) => done(count)))
    if (open === 0) return
    if (waited > 500) server.closeIdleConnections()
    await new Promise(resume => setTimeout(resume, 50))
  }
  server.closeAllConnections()
}
