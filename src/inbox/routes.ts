// The inbox for callers' own tests: what their key would have sent.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { channelNames } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import { floorOf, type Id, readId } from '../core/id.ts'
import { readTime } from '../core/read-time.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import type { Files } from '../files/place.ts'
import { sendJson } from '../http/large.ts'
import { refuse as refuseAtEdge } from '../http/refusals.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import type { Authenticate } from '../keys/authenticate.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import type { ContentApp } from '../notifications/content.ts'
import { awaitCaptured } from './await.ts'
import { presentCaptured, presentWhole } from './present.ts'
import { digestsOf, getCaptured, type ReadApp, scopeOfKey } from './read.ts'
import { refuse } from './refusals.ts'
import { emptyInbox, removeCaptured } from './remove.ts'
import * as shape from './schemas.ts'
import { withSource } from './source.ts'
import type { Filter } from './sql.ts'
import type { InboxWaits } from './waits.ts'

type App = ContentApp & {
  db: Database
  clock: Clock
  seal: Seal
  files: Pick<Files, 'store' | 'reading'>
  reads: Reads
  inboxWaits: InboxWaits
  authenticate: Authenticate
}

export function inboxRoutes(parts: App) {
  const appOf = () => ({ ...parts, sql: parts.db.sql })

  const list: Route = {
    summary: 'Read what would have been sent, or wait for the next message',
    tag: 'Inbox',
    example: shape.examples.list,
    query: shape.inboxQuery,
    reply: shape.inboxReply,
    admission: 'own',
    async handler(request, reply) {
      const caller = callerOf(request)
      const query = readQuery(queryOf(request))
      const filter = await filterOf(appOf(), caller.service.id, query)
      const options = { size: Number(query.limit ?? shape.DEFAULT_LIMIT), waitSeconds: Number(query.wait ?? 0) }
      const page = await awaitCaptured(appOf(), caller, filter, options, {
        signal: whileConnected(reply),
        // The key may have been revoked meanwhile.
        stillMay: async () => parts.authenticate(request.headers, () => request.ip),
      })
      request.waitedMs = page.waitedMs
      const messages = page.messages.map(message => JSON.stringify(presentCaptured(message)))
      return sendJson(reply, `{"messages":[${messages.join(',')}],"has_more":${page.hasMore}}`)
    },
  }

  const get: Route = {
    summary: 'Get one message with its headers and source',
    tag: 'Inbox',
    example: shape.examples.get,
    ids: { message_id: 'id' },
    reply: shape.wholeReply,
    admission: 'own',
    async handler(request, reply) {
      const { service } = callerOf(request)
      const id = idParam(request, 'message_id')
      const get = () => {
        // A caller that has disconnected while waiting is not served.
        if (request.raw.socket.destroyed) throw refuseAtEdge.unreadable()
        return getCaptured(appOf(), scopeIn(request), id, service)
      }
      const reader = { owner: service.id, person: null }
      const read = await parts.reads.run(service.id, true, () => withSource(appOf(), reader, id, get))
      const { message, source } = await read()
      return sendJson(reply, JSON.stringify(presentWhole(message, source)))
    },
  }

  const empty: Route = {
    summary: 'Delete all messages of the inbox, or those to one recipient',
    tag: 'Inbox',
    example: shape.examples.empty,
    query: shape.emptyQuery,
    reply: shape.emptiedReply,
    async handler(request) {
      const { service, key } = callerOf(request)
      const filter = await filterOf(appOf(), service.id, readEmpty(queryOf(request)))
      const { deleted, hasMore } = await emptyInbox(appOf(), actorOf(key), scopeIn(request), filter)
      return { deleted, has_more: hasMore }
    },
  }

  const remove: Route = {
    summary: 'Delete one message of the inbox',
    tag: 'Inbox',
    example: shape.examples.remove,
    ids: { message_id: 'id' },
    reply: shape.removedReply,
    async handler(request) {
      const id = idParam(request, 'message_id')
      await removeCaptured(appOf(), actorOf(callerOf(request).key), scopeIn(request), id)
      return { result: 'success' }
    },
  }

  return { list, get, empty, remove }
}

const scopeIn = (request: FastifyRequest) => {
  const { service, key } = callerOf(request)
  return scopeOfKey(service.id, key.key_type)
}

/** A signal that aborts when the caller disconnects. */
function whileConnected(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

const readShape = reader<shape.InboxQuery>(shape.inboxQuery)
const readEmpty = reader<shape.EmptyQuery>(shape.emptyQuery)

function readQuery(given: Record<string, unknown>): shape.InboxQuery {
  // In their place: a copy would change the order of names that look like integers.
  if (given.limit !== undefined) given.limit = whole(given.limit, 1, shape.MOST_MESSAGES, refuse.badLimit)
  if (given.wait !== undefined) given.wait = whole(given.wait, 0, shape.LONGEST_WAIT, refuse.badWait)
  return readShape(given)
}

function whole(given: unknown, least: number, most: number, refusal: (value: string) => Error): number {
  const text = String(given)
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most)) throw refusal(text.slice(0, 100))
  return number
}

async function filterOf(
  app: Pick<ReadApp, 'seal' | 'services'>,
  service: Id,
  { to, type, after, before }: Pick<shape.InboxQuery, 'to' | 'type' | 'after' | 'before'>,
): Promise<Filter> {
  const digests = to === undefined ? null : await digestsOf(app, service, to)
  if (to !== undefined && digests === null) throw refuse.badRecipient()
  return {
    channels: type ? [type] : channelNames,
    digests,
    after: boundOf('after', after),
    before: boundOf('before', before),
  }
}

function boundOf(name: string, given: string | undefined): Id | null {
  if (given === undefined) return null
  const id = readId(given)
  if (id) return id
  const micros = readTime(given)
  if (micros === null) throw refuse.badBound(name, given.slice(0, 100))
  return floorOf(micros)
}
