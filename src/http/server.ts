// Fastify with our limits, timeouts and error responses; no routes. Every error, also Fastify's own, has the interface's error
// shape, and a stop lets requests in progress finish (recipe: reliability 5.2).
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
import { readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { BODY, type BodyReadOptions, readBodies } from './bodies.ts'
import { createExchanges } from './closing.ts'
import { answerOnSocket, sendError } from './errors.ts'
import { isAuthority } from './links.ts'
import { refuse } from './refusals.ts'

export type ServerOptions = BodyReadOptions & {
  log: FastifyBaseLogger
  trustedProxies: readonly string[]
  corsOrigins: readonly string[]
  headerSeconds: number
  keepAliveSeconds: number
  noticeSeconds: number
  drainSeconds: number
  /** Called with every response, for the request log and the metrics. */
  answered(request: FastifyRequest, reply: FastifyReply): void
}

export type HttpServer = { app: FastifyInstance; drain(): Promise<void> }

/** How long reading of a body may be paused before Node itself closes the connection. */
const HELD_SECONDS = 300

export function createServer(options: ServerOptions): HttpServer {
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost more than the line that one in a thousand writes: these lines name the request themselves.
    childLoggerFactory: log => log,
    bodyLimit: BODY.other,
    requestTimeout: (options.requestSeconds + HELD_SECONDS) * 1000,
    keepAliveTimeout: options.keepAliveSeconds * 1000,
    http: {
      headersTimeout: options.headerSeconds * 1000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false, // checked below, so that the refusal has our shape
    },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    genReqId: request => requestId(request.headers['x-request-id']),
    // A longer segment of a path is an unknown path (contract 23.2).
    routerOptions: { maxParamLength: 1_024 },
    return503OnClosing: false,
    // The router refuses these before any hook is called.
    frameworkErrors: (error, request, reply) =>
      sendError(error, request as FastifyRequest, (reply as FastifyReply).header('x-request-id', request.id)),
    clientErrorHandler: (error, socket) => {
      const isLost = error.code === 'ECONNRESET' || !socket.writable
      if (isLost || !exchanges.endAfterAnswer(socket as net.Socket)) answerOnSocket(error, socket as net.Socket)
    },
    onProtoPoisoning: 'ignore',
  })

  const exchanges = createExchanges(app.server, options.requestSeconds * 1000)
  // Without a listener Node closes the connection of a CONNECT request without a response.
  app.server.on('connect', (_request, socket: net.Socket) => answerOnSocket({}, socket))

  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.admission) throw new Error(`${String(method)} ${url} has no admission class (docs/admission.md)`)
  })

  let draining = false
  const answerUnknown = createUnknown(app)
  // Hooks of every request call `done`: a promise for each would cost more than the hook itself.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    allowOrigin(options.corsOrigins, request, reply)
    const { host } = request
    // RFC 9112, 3.2. Of a trusted proxy, the host that it forwards.
    if (host ? !isAuthority(host) : !isHttp10(request.raw)) return done(refuse.unreadable())
    // Before authentication and before the size is checked (contract 22.6).
    if (request.is404) return answerUnknown(request, reply)
    done()
  })
  app.decorateRequest('made', null)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 201) request.made = madeIn(payload)
    // Set on the response: a request may have started before the stop.
    if (draining) reply.header('connection', 'close')
    // Fastify adds a charset, which JSON does not have (contract 22.14).
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    options.answered(request, reply)
    done()
  })
  app.setErrorHandler(sendError)
  // The nouns' routes validate bodies with our own validators: Fastify only passes the schemas on to openapi.json.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  // A body of DELETE is ignored like one of GET, whatever its size and type (contract 22.6).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  readBodies(app, options)

  return {
    app,
    async drain() {
      draining = true
      // A load balancer notices by /health/ready, which takes a moment; until then new connections are still accepted.
      if (app.server.listening) await new Promise(resume => setTimeout(resume, options.noticeSeconds * 1000))
      await closeListener(app.server, options.drainSeconds)
      await app.close()
    },
  }
}

/** Every 201 begins with the id of the new object, also a replayed one; the id of a job is in `data`. */
const MADE = ['{"id":"', '{"data":{"id":"'] as const
const ID_LENGTH = 36
const MADE_WITHIN = 60

/** A large answer is encoded already. */
function madeIn(payload: unknown): string | null {
  if (Buffer.isBuffer(payload)) return madeIn(payload.toString('latin1', 0, MADE_WITHIN))
  if (typeof payload !== 'string') return null
  const start = MADE.find(start => payload.startsWith(start))
  return start === undefined ? null : readId(payload.slice(start.length, start.length + ID_LENGTH))
}

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

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the object that a request created, for the request log. */
    made: string | null
  }
  interface FastifyContextConfig {
    /** Makes the path unknown for one method although another method has it (POST /v2/notifications/anything). */
    hidden?: boolean
  }
}

type Known = { pattern: RegExp; methods: Set<string> }

// Unknown path or wrong method: answered before authentication.
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

// http.Server.close() would drop idle keep-alive sockets that a caller is about to use. So only the listening handle is closed,
// every response from now on has `Connection: close`, and connections still open after the time limit are closed.
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
