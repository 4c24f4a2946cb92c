// Endpoints as rows of an export. Their positions stay behind: they are places in the log of one database.
import type { Id } from '../../core/id.ts'
import { part, type Row, type Sql } from '../../db/connect.ts'
import type { Position } from '../../events/event.ts'
import type { KeyType } from '../../keys/key.ts'

const columns = part`id, key_type, format, types, with_recipient, batch, state, reason, created_at, updated_at`

export type WebhookRow = Row & { key_type: KeyType }

export const exportWebhooks = (sql: Sql, service: Id) => sql<WebhookRow & { sealed: Buffer }>`
  select ${columns}, sealed
  from webhooks
  where service_id = ${service}
  order by id`

/** `sealed` is text in the form of bytea. The endpoint is sent what is logged after `position`. */
export const importWebhook = (sql: Sql, service: Id, webhook: WebhookRow, position: Position) => sql`
  insert into webhooks (service_id, ${columns}, sealed, stamp, seq, n)
  select ${service}, ${columns}, sealed, ${position.stamp}::bigint, ${position.seq}::bigint, ${position.n}
  from json_populate_record(null::webhooks, ${JSON.stringify(webhook)}::json)`
