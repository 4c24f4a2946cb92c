import type { FastifyReply } from 'fastify'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/connect.ts'
import type { EventType } from '../events/event.ts'
import { sendJson } from '../http/large.ts'
import { queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import type { Authenticate } from '../keys/authenticate.ts'
import { callerOf } from '../keys/hook.ts'
import type { Reads } from '../limits/reads.ts'
import { writeCursor } from './cursor.ts'
import { type FollowQuery, follow } from './follow.ts'
import { presentEvent } from './present.ts'
import { refuse } from './refusals.ts'
import * as shape from './schemas.ts'
import type { Waits } from './waits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Time that the request waited because the caller asked for it. */
    waitedMs: number
  }
}

type App = { db: Database; clock: Clock; reads: Reads; waits: Waits; authenticate: Authenticate }

export function feedRoutes(app: App) {
  const { clock, reads, waits } = app

  const listEvents: Route = {
    summary: 'Follow what happens to messages and jobs, in order and without gaps',
    tag: 'Events',
    example: shape.examples.listEvents,
    query: shape.eventsQuery,
    reply: shape.eventsReply,
    admission: 'own',
    async handler(request, reply) {
      const query = readQuery(queryOf(request, ['types']))
      const page = await follow({ sql: app.db.sql, clock, reads, waits }, callerOf(request), query, {
        signal: whileConnected(reply),
        // The key may have been revoked meanwhile.
        stillMay: async () => app.authenticate(request.headers, () => request.ip),
      })
      request.waitedMs = page.waitedMs
      const events = page.events.map(event => JSON.stringify(presentEvent(event)))
      return sendJson(
        reply,
        `{"events":[${events.join(',')}],"next":"${writeCursor(page.position)}","has_more":${page.hasMore}}`,
      )
    },
  }

  return { listEvents }
}

/** A signal that aborts when the caller disconnects. */
function whileConnected(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

const readShape = reader<shape.EventsQuery>(shape.eventsQuery)

function readQuery(given: Record<string, unknown>): FollowQuery {
  const types = (given.types as string[] | undefined)?.flatMap(list => list.split(',')).filter(type => type !== '')
  // In their place: a copy would change the order of names that look like integers.
  if (given.types !== undefined) given.types = types
  if (given.limit !== undefined) given.limit = whole(given.limit, 1, shape.MOST_EVENTS, refuse.badLimit)
  if (given.wait !== undefined) given.wait = whole(given.wait, 0, shape.LONGEST_WAIT, refuse.badWait)
  const { after, limit, wait } = readShape(given)
  return {
    after,
    types: types && types.length > 0 ? (types as EventType[]) : null,
    limit: Number(limit ?? shape.DEFAULT_LIMIT),
    waitSeconds: Number(wait ?? 0),
  }
}

function whole(given: unknown, least: number, most: number, refusal: (value: string) => Error): number {
  const text = String(given)
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most)) throw refusal(text.slice(0, 100))
  return number
}
