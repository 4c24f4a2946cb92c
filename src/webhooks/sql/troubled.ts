import type { Timestamp } from '../../core/clock.ts'
import type { Sql } from '../../db/connect.ts'
import type { Webhook } from '../webhook.ts'

export type Troubled = Pick<Webhook, 'id' | 'service_id' | 'state' | 'reason'> & { failing_since: Timestamp | null }

/** Endpoints that Herald has disabled, and active ones that have failed since this time. `total`: how many there are in all. */
export const troubled = (sql: Sql, since: Timestamp, most: number) => sql<Troubled & { total: number }>`
  select id, service_id, state, reason, failing_since, count(*) over ()::integer as total
  from webhooks
  where state = 'disabled'
     or (state = 'active' and failing_since < ${since}::timestamptz)
  order by failing_since, id
  limit ${most}`
