// How much of its daily limits a service has used.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Channel, channelNames } from '../channels/plain.ts'
import type { Sql } from '../db/connect.ts'
import { dailyLimit, type Service } from '../services/service.ts'
import { dayOf } from './daily.ts'
import { usedOf } from './sql/usage.ts'

export type UsedToday = { channel: Channel; used: number; limit: number }

/** Of the UTC day. Rows of jobs count when their job is accepted, and a scheduled message on the day it is due. */
export function usedToday(
  app: { sql: Sql; clock: { now(): number } },
  actor: Actor,
  service: Service,
): Promise<UsedToday[]> {
  requirePermission(actor, 'see-service', service.id)
  const day = dayOf(app.clock.now())
  return Promise.all(
    channelNames.map(async channel => ({
      channel,
      used: await usedOf(app.sql, { service_id: service.id, channel, day }),
      limit: dailyLimit(service, channel),
    })),
  )
}
