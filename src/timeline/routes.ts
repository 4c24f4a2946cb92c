import type { Clock } from '../core/clock.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { idParam, type Route } from '../http/route.ts'
import { callerOf } from '../keys/hook.ts'
import { presentTimeline } from './present.ts'
import { timeline } from './read.ts'
import * as shape from './schemas.ts'

export function timelineRoutes(app: { db: Pick<Database, 'sql'>; clock: Clock; seal: Seal }) {
  const getTimeline: Route = {
    summary: 'Get everything that happened to a message',
    tag: 'Messages',
    example: shape.example,
    ids: { notification_id: 'notification_id' },
    reply: shape.timelineReply,
    async handler(request) {
      const { service } = callerOf(request)
      return presentTimeline(await timeline({ ...app, sql: app.db.sql }, service, idParam(request, 'notification_id')))
    },
  }
  return { getTimeline }
}
