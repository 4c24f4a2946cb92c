import type { Clock } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { address, type Links } from '../http/links.ts'
import { queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { presentRequest } from './present.ts'
import { listRequests } from './read.ts'
import type { StatusClass } from './request.ts'
import * as shape from './schemas.ts'

const PAGE = 100

export function requestRoutes(app: { db: Pick<Database, 'sql'>; clock: Clock; links: Links }) {
  const getRequests: Route = {
    summary: 'List the requests of the last 24 hours, newest first',
    tag: 'Request log',
    example: shape.example,
    query: shape.requestsQuery,
    reply: shape.requestsReply,
    async handler(request) {
      const { status, key_id, older_than } = readQuery(queryOf(request))
      const filter = { status: status ? CLASS[status] : null, key: readId(key_id) }
      const page = { olderThan: readId(older_than), most: PAGE }
      const { requests, next } = await listRequests(app, callerOf(request).service.id, filter, page)
      const link = (olderThan: string | undefined) =>
        app.links.base(request) +
        address('/herald/v1/requests', [
          ['status', status],
          ['key_id', key_id],
          ['older_than', olderThan],
        ])
      return {
        requests: requests.map(presentRequest),
        links: { current: link(older_than), next: next && link(next) },
      }
    },
  }
  return { getRequests }
}

const CLASS: Readonly<Record<(typeof shape.STATUS_WORDS)[number], StatusClass>> = { '2xx': 200, '4xx': 400, '5xx': 500 }
const readQuery = reader<{ status?: keyof typeof CLASS; key_id?: string; older_than?: string }>(shape.requestsQuery)
