import type { Id } from '../../core/id.ts'
import { part, type Row, type Sql } from '../../db/connect.ts'

const columns = part`id, purpose, email_a_day, sms_a_day, asked_by, asked_at, decision, reason, decided_by, decided_at`

export type RequestRow = Row & { asked_by: Id | null; decided_by: Id | null }

export const exportRequests = (sql: Sql, service: Id) => sql<RequestRow>`
  select ${columns}
  from live_requests
  where service_id = ${service}
  order by asked_at, id`

export const importRequests = (sql: Sql, service: Id, requests: readonly RequestRow[]) => sql`
  insert into live_requests (service_id, ${columns})
  select ${service}, ${columns}
  from json_populate_recordset(null::live_requests, ${JSON.stringify(requests)}::json)`
