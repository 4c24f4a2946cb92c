// What all requests of one console share: where it is, its assets, and how a request becomes a visit.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../../address.ts'
import type { Id } from '../../core/id.ts'
import { networkOf } from '../../core/network.ts'
import type { Parts } from '../../parts.ts'
import { knownBrowserToken, knownIn } from '../../people/known-browser.ts'
import type { SignedIn } from '../../people/person.ts'
import { formTokenOf, isToken, newToken } from '../../people/token.ts'
import { createDelay } from '../../runtime/delay.ts'
import { heraldVersion } from '../../version.ts'
import { createFormats } from '../formats.ts'
import type { Frame } from '../layout.tsx'
import type { Visit } from '../page.ts'
import type { PageRow } from '../who.ts'
import { language } from '../words/index.ts'
import { type Assets, readAssets } from './assets.ts'
import { cookieOf, type Names, namesOf, writeBrowser, writeKnown } from './cookies.ts'
import type { OnService } from './enter.ts'
import { deviceOf, formOf, paramsOf, queryOf } from './forms.ts'
import { createPlaces, type Place } from './place.ts'

/** What is known of every request before its page is. */
export type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  place: Place
  names: Names
  browser: string
  /** Of the session's cookie, valid or not. */
  token: string | null
  /** Of the cookie of a browser in which somebody has signed in, valid or not. */
  known: string | null
  /** Path and query without the console's path. */
  here: string
}

export type Site = {
  /** Where the console begins, as the browser sees it. */
  path: string
  assets: Assets
  placeOf(request: FastifyRequest): Place
  arrive(request: FastifyRequest, reply: FastifyReply): Arrival
  /** Gives a browser in which somebody is signed in its cookie, unless it has it. */
  remember(arrival: Arrival, person: Id): void
  frameOf(arrival: Arrival, signedIn: SignedIn | null, on: OnService | null): Frame
  visitOf(arrival: Arrival, signedIn: SignedIn | null, signal: AbortSignal): Visit
}

const SLOW_MS = 1_000

export function createSite(parts: Parts, rows: readonly PageRow[]): Site {
  const { config, clock } = parts
  const places = createPlaces(config)
  const assets = readAssets()
  const url = (path: string) => (path === '/' ? places.path : places.path + path)
  const known = new Set(rows.map(([method, path]) => `${method} ${path}`))
  const version = heraldVersion()
  const slowDown = createDelay(SLOW_MS)
  const docs = `${config.baseUrl ?? (config.consolePort === null ? '' : addressOf(config))}/docs`

  function contextOf({ place, browser, token }: Arrival, signedIn: SignedIn | null): Frame['context'] {
    return {
      url,
      sprite: url(assets.sprite),
      formToken: formTokenOf(signedIn && token ? token : browser),
      browserFormToken: formTokenOf(browser),
      formats: createFormats(signedIn?.person.time_zone ?? null, clock.now, language()),
      baseUrl: config.baseUrl ?? place.origin,
    }
  }

  return {
    path: places.path,
    assets,
    placeOf: places.of,
    arrive(request, reply) {
      const place = places.of(request)
      const names = namesOf(place.kind !== 'loopback')
      const given = cookieOf(request, names.browser)
      const browser = isToken(given) ? given : newToken()
      if (browser !== given) writeBrowser(reply, names, browser)
      const rest = request.url.slice(config.consolePath.length)
      const here = rest.startsWith('/') ? rest : `/${rest}`
      const [token, known] = [cookieOf(request, names.session), cookieOf(request, names.known)]
      return { request, reply, place, names, browser, token, known, here }
    },
    remember({ reply, names, browser, known }, person) {
      if (knownIn(parts, browser, known) !== person) writeKnown(reply, names, knownBrowserToken(parts, browser, person))
    },
    frameOf: (arrival, signedIn, on) => ({
      context: contextOf(arrival, signedIn),
      here: arrival.here,
      assets,
      version,
      docs,
      has: (method, path) => known.has(`${method} ${path}`),
      person: signedIn?.person ?? null,
      services: signedIn?.memberships.map(one => ({ id: one.service_id, name: one.service_name })) ?? [],
      service: on && {
        id: on.service.id,
        name: on.service.name,
        mode: on.service.mode,
        isSuspended: on.service.state === 'suspended',
        suspendedReason: on.service.suspended_reason,
        may: on.may,
      },
      isHeld: parts.hold.isHeld(),
    }),
    visitOf(arrival, signedIn, signal) {
      const { request, place, browser, token, known, here } = arrival
      const { formToken, formats } = contextOf(arrival, signedIn)
      return {
        parts,
        params: paramsOf(request),
        query: queryOf(request),
        form: formOf(request),
        url,
        origin: place.origin,
        here,
        formToken,
        formats,
        signedIn,
        sessionToken: token,
        browser,
        network: networkOf(request.ip),
        knownAs: signedIn?.person.id ?? knownIn(parts, browser, known),
        slowDown,
        device: deviceOf(request),
        signal,
      }
    },
  }
}
