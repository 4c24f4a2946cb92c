// Adds the pages of the table of contents to a server. Only this folder knows Fastify: it finds out who asks and whether they may,
// reads forms, and sends answers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Id, readId } from '../../core/id.ts'
import { networkOf } from '../../core/network.ts'
import { Refusal } from '../../core/refusal.ts'
import { answerOf, noteRefusal, refusalFrom } from '../../http/errors.ts'
import { FOR_EVER, sendStatic } from '../../http/static.ts'
import type { Reader } from '../../limits/reads.ts'
import type { Parts } from '../../parts.ts'
import { actorOf, type SignedIn } from '../../people/person.ts'
import { readSession } from '../../people/session.ts'
import { pause } from '../../runtime/within.ts'
import { faultOf } from '../../telemetry/fault.ts'
import { DATABASE_MISSING } from '../../telemetry/routes.ts'
import * as say from '../errors.tsx'
import type { DirectAnswer, Handler, ServiceVisit, Visit } from '../page.ts'
import { pages } from '../routes.ts'
import type { FileRow, PageRow } from '../who.ts'
import { inLanguage } from '../words/index.ts'
import { sendAnswer } from './answers.ts'
import { writeLanguage } from './cookies.ts'
import { enter, type OnService, wrongArrival } from './enter.ts'
import { formOf, paramsOf } from './forms.ts'
import { chosenLanguage, languageOf } from './language.ts'
import { type MultipartForm, OTHER_BYTES, readMultipart } from './multipart.ts'
import { type Arrival, createSite } from './site.ts'
import { createEndWithRights, takesLong } from './streams.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The service of a page, for the request log. */
    pageOf: Id | null
  }
  interface FastifyContextConfig {
    /** The page takes a file. */
    file?: FileRow
  }
}

export type Console = {
  /** Where it begins, as the browser sees it. */
  path: string
  /** Ends event streams, so that a stop need not wait for them. */
  endStreams(): void
}

/** Its name changes with its content. */
const ASSET = { 'content-security-policy': "default-src 'none'", 'cache-control': FOR_EVER }

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** `rows`: the table of contents; tests have one of their own. */
export function addConsole(app: FastifyInstance, parts: Parts, rows: readonly PageRow[] = pages): Console {
  const { consolePath } = parts.config
  const site = createSite(parts, rows)
  const exportsOf = createExports()
  const endWithRights = createEndWithRights(parts)
  const stopping = new AbortController()
  const never = new AbortController().signal

  /** For an answer that is the same for all, such as an error before anybody is known. */
  const sendPlain = (answer: DirectAnswer, arrival: Arrival) =>
    sendAnswer(answer, { ...arrival, frame: site.frameOf(arrival, null, null), signal: never })

  async function serve(request: FastifyRequest, reply: FastifyReply, row: PageRow): Promise<FastifyReply> {
    const arrival = site.arrive(request, reply)
    const { signal, abort } = gone(request, reply)
    const choice = row[2].kind === 'anyone' ? chosenLanguage(request) : null
    if (choice) writeLanguage(reply, arrival.names, choice)
    let signedIn: SignedIn | null = null
    let on: OnService | null = null
    const send = (answer: DirectAnswer) => {
      if (answer.kind === 'events') endWith(stopping.signal, abort, reply)
      if (signedIn && takesLong(answer))
        void endWithRights({ who: row[2], signedIn, service: paramsOf(request).service }, reply, abort)
      const frame = site.frameOf(arrival, signedIn, on)
      return sendAnswer(answer, { ...arrival, frame, signal })
    }
    const answer = async () => {
      let multipart: MultipartForm | null = null
      try {
        multipart = row[4] ? await readMultipart(request, row[4]) : null
        const arrived = site.visitOf(arrival, signedIn, signal)
        const visit = multipart ? { ...arrived, form: multipart.form, upload: multipart.upload } : arrived
        const open = () => (row[3] as Handler<Visit>)(withPerson(visit, on))
        const reader = readerOf(row, visit)
        const refused = await parts.reads.visit(reader, async () => {
          signal.throwIfAborted()
          const entry = await enter(parts, row[2], visit, request)
          on = entry.on
          request.pageOf = on?.service.id ?? null
          return entry.refused ?? (multipart ? null : open())
        })
        // An upload takes as long as the browser needs, and a server of somebody else as it likes: meanwhile neither uses up a turn
        // of the database.
        const answer = refused ?? (await open())
        return send(await admitted(answer.kind === 'later' ? await answer.make() : answer, reader))
      } catch (error) {
        // Nobody reads the answer.
        if (signal.aborted) return reply.code(400).send()
        return send(failed(parts, error, arrival, on))
      } finally {
        multipart?.drop()
      }
    }
    /** What is read while it is sent takes turns as pages do. */
    const admitted = async (answer: DirectAnswer, reader: Reader): Promise<DirectAnswer> => {
      if (answer.kind !== 'download' && answer.kind !== 'export') return answer
      // Its chunks take turns of the file store, and none of the database meanwhile.
      if (answer.kind === 'download' && answer.isFromStore) return answer
      if (answer.kind === 'export' && !(await exportsOf.begin(reader.person ?? reader.owner, reply, signal)))
        return say.exportWaits(on?.service ?? null)
      return { ...answer, chunks: parts.reads.pieces(reader, answer.chunks) }
    }
    try {
      // Before anyone is known: many requests at the same time would use up the connections of the database.
      const stranger = { owner: networkOf(request.ip), person: null }
      signedIn =
        arrival.token === null ? null : await parts.reads.visit(stranger, () => readSession(parts, arrival.token))
      if (signedIn) site.remember(arrival, signedIn.person.id)
    } catch (error) {
      return send(failed(parts, error, arrival, null))
    }
    const chosen = signedIn?.person.language ?? 'auto'
    return chosen === 'auto' ? answer() : inLanguage(chosen, answer)
  }

  app.register((scope, _options, done) => {
    scope.decorateRequest('pageOf', null)
    scope.setErrorHandler((error, request, reply) => {
      const arrival = site.arrive(request, reply)
      return inLanguage(languageOf(request, site.placeOf(request)), () =>
        sendPlain(failed(parts, error, arrival, null), arrival),
      )
    })
    // Before the body is read.
    scope.addHook('onRequest', (request, reply, next) => {
      inLanguage(languageOf(request, site.placeOf(request)), () => {
        const wrong = wrongArrival(request, site.placeOf(request))
        if (wrong) sendPlain(wrong, site.arrive(request, reply))
        else next()
      })
    })
    for (const row of rows)
      scope.route({
        method: row[0],
        url: row[1] === '/' ? consolePath : consolePath + row[1],
        config: { rawBody: true, anyType: true, admission: 'turn', ...(row[4] && { streamed: true, file: row[4] }) },
        ...(row[4] && { bodyLimit: row[4].most + OTHER_BYTES }),
        handler: (request, reply) =>
          inLanguage(languageOf(request, site.placeOf(request)), () => serve(request, reply, row)),
      })

    const unknown = (request: FastifyRequest, reply: FastifyReply) => {
      const arrival = site.arrive(request, reply)
      const path = arrival.here.split('?', 1)[0] ?? ''
      if (request.method === 'GET' && request.url.startsWith(`${consolePath}/`) && path === '/')
        return sendPlain({ kind: 'redirect', to: '/' }, arrival)
      const methods = methodsOf(rows, path)
      if (methods.length === 0) return sendPlain(say.notFound(), arrival)
      reply.header('allow', methods.join(', '))
      return sendPlain(say.wrongMethod(), arrival)
    }
    const hasHome = (method: string) => rows.some(row => row[0] === method && row[1] === '/')
    for (const url of [consolePath, `${consolePath}/*`])
      scope.route({
        method: METHODS.filter(method => url !== consolePath || !hasHome(method)),
        url,
        config: { rawBody: true, anyType: true, hidden: true, admission: 'plain' },
        // Before the body, which no page reads.
        onRequest: async (request, reply) =>
          inLanguage(languageOf(request, site.placeOf(request)), () => unknown(request, reply)),
        handler: unknown,
      })
    done()
  })

  // Outside the scope: assets are the same for all.
  app.get(`${consolePath}/assets/:name`, { config: { admission: 'page' } }, (request, reply) =>
    parts.reads.page(networkOf(request.ip), () => {
      const asset = site.assets.byName.get(paramsOf(request).name ?? '')
      if (!asset) return sendPlain(say.notFound(), site.arrive(request, reply))
      return sendStatic(request, reply, asset, ASSET)
    }),
  )

  return { path: site.path, endStreams: () => stopping.abort() }
}

/** Who shares the turns of the database: of someone who is signed in the service of the page, else the person; else the network. */
const readerOf = ([, , who]: PageRow, { params, signedIn, network }: Visit): Reader => {
  if (!signedIn) return { owner: network, person: null }
  const person = signedIn.person.id
  return { owner: (who.kind === 'permission' && readId(params.service)) || person, person }
}

/** Exports of one person that are sent at the same time. */
const MOST_EXPORTS = 2
/** How long a further one waits before its page says that it waits, and how often it looks meanwhile. */
const EXPORT_WAIT_MS = 2_000
const EXPORT_LOOK_MS = 100
/** Many that wait are not refused all at the same moment. */
const EXPORT_APART_MS = 100

function createExports() {
  const running = new Map<string, number>()
  let waiting = 0
  return {
    /**
     * False: the person has as many already, and none ends soon. A place is free again when the response is over, complete or not. The
     * short wait is often enough, and keeps a loop of refused requests from using up the time of others.
     */
    async begin(person: string, { raw }: FastifyReply, signal: AbortSignal): Promise<boolean> {
      const countOf = () => running.get(person) ?? 0
      const until = performance.now() + EXPORT_WAIT_MS + EXPORT_APART_MS * waiting++
      while (countOf() >= MOST_EXPORTS && performance.now() < until && !signal.aborted)
        await pause(EXPORT_LOOK_MS, signal)
      waiting--
      // Aborted: its response is over already.
      if (countOf() >= MOST_EXPORTS || signal.aborted) return false
      running.set(person, countOf() + 1)
      raw.once('close', () => {
        const left = (running.get(person) ?? 1) - 1
        if (left === 0) running.delete(person)
        else running.set(person, left)
      })
      return true
    },
  }
}

/** The visit with what is known of the person and of the service. */
const withPerson = (visit: Visit, on: OnService | null) =>
  ({
    ...visit,
    ...(visit.signedIn && { actor: actorOf(visit.signedIn, on?.service.id ?? null) }),
    ...on,
  }) as ServiceVisit

/** The page for an error. Errors that nobody expects are logged; what they say is not shown. */
function failed(
  { db, readiness }: Pick<Parts, 'db' | 'readiness'>,
  error: unknown,
  { request, reply, here }: Arrival,
  on: OnService | null,
): DirectAnswer {
  const refusal = error instanceof Refusal ? error : refusalFrom(error)
  if (!refusal) {
    request.log.error({ request: request.id, error: faultOf(error), route: request.routeOptions.url }, 'request failed')
    const isKept = request.method === 'POST' && !request.routeOptions.config.file
    const hasDatabase = db.isAnswering() && readiness.missing() !== DATABASE_MISSING
    return say.broken(request.id, here, isKept ? formOf(request) : null, hasDatabase)
  }
  noteRefusal(reply, refusal)
  reply.headers(refusal.headers)
  const [status] = answerOf(refusal.kind)
  return status === 404 ? say.notFound(on?.service) : say.refused(status, refusal.messages, on?.service ?? null)
}

/** Aborts when the browser has disconnected before the answer was complete. */
function gone({ raw }: FastifyRequest, reply: FastifyReply) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort()
  })
  if (raw.socket.destroyed) abort()
  return { signal: controller.signal, abort }
}

/** Also when the stop has begun already. The signal outlives the answer, so that the listener must not. */
function endWith(stopping: AbortSignal, abort: () => void, { raw }: FastifyReply) {
  if (stopping.aborted) return abort()
  stopping.addEventListener('abort', abort, { once: true })
  raw.once('close', () => stopping.removeEventListener('abort', abort))
}

/** Which methods a path has. */
const methodsOf = (rows: readonly PageRow[], path: string): string[] => [
  ...new Set(
    rows
      .filter(([, pattern]) => new RegExp(`^${pattern.replace(/:[A-Za-z_]+/g, '[^/]+')}$`).test(path))
      .flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  ),
]
