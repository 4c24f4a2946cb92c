// Adds the pages of the table of contents to a server. Only this folder knows Fastify: it finds out who asks and whether they may,
// reads forms, and sends answers.
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { may as mayDo, type Permission } from '../../audit/actor.ts'
import type { Role } from '../../audit/role.ts'
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { answerOf, noteRefusal, refusalFrom } from '../../http/errors.ts'
import type { Parts } from '../../parts.ts'
import { actorOf, type SignedIn } from '../../people/person.ts'
import { isFresh, readSession } from '../../people/session.ts'
import { formTokenOf, isFormToken, isToken, newToken } from '../../people/token.ts'
import { managersOf, type ShownService, shownService } from '../../services/sql.ts'
import { faultOf } from '../../telemetry/fault.ts'
import { type Asset, readAssets } from '../assets.ts'
import { FORM_TOKEN } from '../components/form.tsx'
import * as say from '../errors.tsx'
import { createFormats } from '../formats.ts'
import type { Frame } from '../layout.tsx'
import type { Answer, Handler, ServiceVisit, SignedInVisit, Visit } from '../page.ts'
import { pages } from '../routes.ts'
import type { PageRow, Who } from '../who.ts'
import { sendAnswer } from './answers.ts'
import { cookieOf, type Names, namesOf, writeBrowser } from './cookies.ts'
import { deviceOf, formOf, isForm, isFromUs, isScripted, networkOf, queryOf } from './forms.ts'
import { createPlaces, type Place } from './place.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The service of a page, for the request log. */
    pageOf: Id | null
  }
}

export type Console = {
  /** Where it begins, as the browser sees it. */
  path: string
  /** Ends event streams and downloads, so that a stop need not wait for them. */
  endStreams(): void
}

/** `rows`: the table of contents; tests add rows of their own. */
export function addConsole(app: FastifyInstance, parts: Parts, rows: readonly PageRow[] = pages): Console {
  const { consolePath } = parts.config
  const places = createPlaces(parts.config)
  const assets = readAssets()
  const url = (path: string) => (path === '/' ? places.path : places.path + path)
  const known = new Set(rows.map(([method, path]) => `${method} ${path}`))
  const stopping = new AbortController()
  const version = versionOf()

  /** What is known of every request before its page is. */
  function arrive(request: FastifyRequest, reply: FastifyReply): Arrival {
    const place = places.of(request)
    const names = namesOf(place.kind !== 'loopback')
    const given = cookieOf(request, names.browser)
    const browser = isToken(given) ? given : newToken()
    if (browser !== given) writeBrowser(reply, names, browser)
    const token = cookieOf(request, names.session)
    const path = request.url.slice(consolePath.length) || '/'
    return { request, reply, place, names, browser, token, here: path.startsWith('/') ? path : `/${path}` }
  }

  function frameOf({ place, browser, token }: Arrival, signedIn: SignedIn | null, on: OnService | null): Frame {
    return {
      context: {
        url,
        sprite: url(assets.sprite),
        formToken: formTokenOf(signedIn && token ? token : browser),
        formats: createFormats(signedIn?.person.time_zone ?? null, parts.clock.now),
        baseUrl: parts.config.baseUrl ?? place.origin,
      },
      assets,
      version,
      docs: `${parts.config.baseUrl ?? (parts.config.consolePort === null ? '' : `http://${parts.config.host}:${parts.config.port}`)}/docs`,
      has: (method, path) => known.has(`${method} ${path}`),
      person: signedIn?.person ?? null,
      services: signedIn?.memberships.map(one => ({ id: one.service_id, name: one.service_name })) ?? [],
      service: on && { id: on.service.id, name: on.service.name, mode: on.service.mode, may: on.may },
    }
  }

  const send = (
    answer: Answer,
    arrival: Arrival,
    signedIn: SignedIn | null,
    on: OnService | null,
    signal: AbortSignal,
  ) => sendAnswer(answer, { ...arrival, frame: frameOf(arrival, signedIn, on), signal })

  /** A page for somebody who is not known, such as an error before the page is. */
  const sendPlain = (answer: Answer, arrival: Arrival) => send(answer, arrival, null, null, stopping.signal)

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    [, , who, handler]: PageRow,
  ): Promise<FastifyReply> {
    const arrival = arrive(request, reply)
    const signal = AbortSignal.any([gone(request, reply), stopping.signal])
    const signedIn = await readSession(parts, arrival.token)
    const turn = (work: () => Promise<Answer>, owner: string) =>
      parts.reads.run(owner as Id, false, async () => {
        signal.throwIfAborted()
        return work()
      })
    const visit = visitOf(arrival, signedIn, signal)
    let on: OnService | null = null
    const answer = async (): Promise<Answer> => {
      const refusal = await mayEnter()
      if (refusal) return refusal
      const given = { ...visit, ...(signedIn && { actor: actorOf(signedIn, on?.service.id ?? null) }), ...on }
      return (handler as Handler<Visit>)(given as ServiceVisit & SignedInVisit)
    }
    async function mayEnter(): Promise<Answer | null> {
      const isPost = request.method === 'POST'
      if (who.kind !== 'anyone') {
        if (!signedIn) return isPost ? say.signInToSend(visit.form, arrival.here) : toSignIn(arrival)
        if (who.kind === 'operator' && !signedIn.person.is_operator) return say.operatorsOnly()
      }
      if (who.kind === 'permission' && signedIn) {
        on = await serviceOf(signedIn, visit.params.service)
        if (!on) return say.notFound()
        request.pageOf = on.service.id
        if (!on.may(who.permission)) {
          const managers = on.role ? await managersOf(parts.db.sql, on.service.id) : []
          return say.notPermitted(who.permission, on.service, on.role, managers)
        }
      }
      if (isPost && !hasToken(visit.form, arrival, signedIn)) return say.oldForm(visit.form, arrival.here)
      if (who.kind !== 'anyone' && who.isFresh && signedIn && !isFresh(parts, signedIn.session))
        return isPost
          ? say.confirmToSend(visit.form, arrival.here)
          : { kind: 'redirect', to: `/sign-in/confirm?return=${encodeURIComponent(arrival.here)}` }
      return null
    }
    try {
      const owner = serviceInPath(who, visit.params) ?? signedIn?.person.id ?? visit.network
      return send(await turn(answer, owner), arrival, signedIn, on, signal)
    } catch (error) {
      return send(failed(error, request, reply, arrival, on), arrival, signedIn, on, signal)
    }
  }

  function visitOf(arrival: Arrival, signedIn: SignedIn | null, signal: AbortSignal): Visit {
    const { request, place, browser, token, here } = arrival
    const { context } = frameOf(arrival, signedIn, null)
    return {
      parts,
      params: paramsOf(request),
      query: queryOf(request),
      form: formOf(request),
      url,
      origin: place.origin,
      here,
      formToken: context.formToken,
      formats: context.formats,
      signedIn,
      sessionToken: token,
      browser,
      network: networkOf(request),
      device: deviceOf(request),
      signal,
    }
  }

  /** Null: there is none, or the person does not belong to it. */
  async function serviceOf(signedIn: SignedIn, text: string | undefined): Promise<OnService | null> {
    const id = readId(text)
    const role = signedIn.memberships.find(one => one.service_id === id)?.role ?? null
    if (!id || (!role && !signedIn.person.is_operator)) return null
    const service = await shownService(parts.db.sql, id)
    const actor = actorOf(signedIn, id)
    return service && { service, role, may: permission => mayDo(actor, permission, id) }
  }

  function failed(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    { here }: { here: string },
    on: OnService | null,
  ) {
    const refusal = error instanceof Refusal ? error : refusalFrom(error)
    if (!refusal) {
      request.log.error({ error: faultOf(error), route: request.routeOptions.url }, 'request failed')
      return say.broken(request.id, here)
    }
    noteRefusal(reply, refusal)
    reply.headers(refusal.headers)
    const [status] = answerOf(refusal.kind)
    return status === 404 ? say.notFound(on?.service) : say.refused(status, refusal.messages, on?.service ?? null)
  }

  app.register((scope, _options, done) => {
    scope.decorateRequest('pageOf', null)
    scope.setErrorHandler((error, request, reply) => {
      const arrival = arrive(request, reply)
      return sendPlain(failed(error, request, reply, { here: '/' }, null), arrival)
    })
    // Before the body is read.
    scope.addHook('onRequest', (request, reply, done) => {
      const place = places.of(request)
      const wrong = wrongArrival(request, place)
      if (wrong) sendPlain(wrong, arrive(request, reply))
      else done()
    })
    for (const row of rows) {
      const [method, path] = row
      scope.route({
        method,
        url: path === '/' ? consolePath : consolePath + path,
        config: { rawBody: true, anyType: true },
        handler: (request, reply) => serve(request, reply, row),
      })
    }
    const unknown = (request: FastifyRequest, reply: FastifyReply) => {
      const path = request.url.slice(consolePath.length).split('?', 1)[0] ?? ''
      if (path === '/' && request.method === 'GET')
        return sendPlain({ kind: 'redirect', to: '/' }, arrive(request, reply))
      const methods = methodsOf(rows, path)
      if (methods.length === 0) return sendPlain(say.notFound(), arrive(request, reply))
      reply.header('allow', methods.join(', '))
      return sendPlain(say.wrongMethod(), arrive(request, reply))
    }
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
    for (const place of [consolePath, `${consolePath}/*`])
      scope.route({
        method: place === consolePath ? others.filter(method => !known.has(`${method} /`)) : [...others],
        url: place,
        config: { rawBody: true, anyType: true, hidden: true },
        // Before the body, which nobody wants.
        onRequest: async (request, reply) => unknown(request, reply),
        handler: unknown,
      })
    done()
  })
  // Outside the scope: assets are the same for all.
  app.get(`${consolePath}/assets/:name`, (request, reply) => {
    const asset = assets.byName.get(paramsOf(request).name ?? '')
    if (!asset) return sendPlain(say.notFound(), arrive(request, reply))
    return sendAsset(request, reply, asset)
  })

  return { path: places.path, endStreams: () => stopping.abort() }
}

type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  place: Place
  names: Names
  browser: string
  /** Of the session's cookie, valid or not. */
  token: string | null
  here: string
}

type OnService = { service: ShownService; role: Role | null; may(permission: Permission): boolean }

/** What is wrong with a request, whatever its session sends it. */
function wrongArrival(request: FastifyRequest, place: Place): Answer | null {
  if (place.kind === 'needs https') return say.needsHttps()
  if (place.kind === 'needs address') return say.needsAddress()
  if (request.method !== 'POST') return null
  if (!isFromUs(request, place)) return say.foreignForm()
  return isForm(request) ? null : say.refused(415, ['It takes a form as browsers send it, without files.'], null)
}

/** Of the session, or of the browser: a page may be from before somebody signed in. */
const hasToken = (form: URLSearchParams, { token, browser }: Arrival, signedIn: SignedIn | null) => {
  const given = form.get(FORM_TOKEN)
  return isFormToken(browser, given) || (signedIn !== null && token !== null && isFormToken(token, given))
}

/** A script reads the status; a person is led to the page. */
const toSignIn = ({ request, here }: Arrival): Answer =>
  isScripted(request)
    ? { kind: 'json', status: 401, data: { error: 'Your session has ended.' } }
    : { kind: 'redirect', to: here === '/' ? '/sign-in' : `/sign-in?return=${encodeURIComponent(here)}` }

/** Aborts when the browser has disconnected before the answer was complete. */
function gone({ raw }: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  if (raw.socket.destroyed) controller.abort()
  return controller.signal
}

const paramsOf = ({ params }: FastifyRequest) =>
  Object.fromEntries(
    Object.entries(params as Record<string, string>).map(([name, value]) => [
      name,
      value.replaceAll('\u0000', '\ufffd'),
    ]),
  )

const serviceInPath = (who: Who, params: Readonly<Record<string, string>>) =>
  who.kind === 'permission' ? readId(params.service) : null

/** Which methods a path has. */
const methodsOf = (rows: readonly PageRow[], path: string): string[] => [
  ...new Set(
    rows
      .filter(([, pattern]) => new RegExp(`^${pattern.replace(/:[A-Za-z_]+/g, '[^/]+')}$`).test(path || '/'))
      .flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  ),
]

function sendAsset({ headers }: FastifyRequest, reply: FastifyReply, { type, text, zipped }: Asset): FastifyReply {
  const isZipped = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  if (isZipped) reply.header('content-encoding', 'gzip')
  return reply
    .headers({
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
    })
    .type(type)
    .send(isZipped ? zipped : text)
}

function versionOf(): string {
  const about: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  return String((about as { version?: unknown }).version)
}
