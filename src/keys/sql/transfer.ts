// Keys as rows of an export. Digests and sealed secrets depend on the sealing secret of a database, so the caller opens and seals.
import type { Id } from '../../core/id.ts'
import { part, type Row, type Sql } from '../../db/connect.ts'

const columns = part`id, name, key_type, manage_templates, manage_webhooks, created_by, created_at, expires_at, revoked_at,
  last_used_at`

/** Also those that are revoked, so that their callers go on to get the same answer. */
export const exportKeys = (sql: Sql, service: Id) => sql<Row & { secret_sealed: Buffer }>`
  select ${columns}, secret_sealed
  from keys
  where service_id = ${service}
  order by created_at, id`

/** For a key that was imported without its secret. A column that the trigger watches is set, so that every process drops the key from its cache. */
export const setSecret = (
  sql: Sql,
  service: Id,
  key: Id,
  { digest, sealed }: { digest: Buffer; sealed: Buffer },
) => sql`
  update keys
  set secret_digest = ${digest}, secret_sealed = ${sealed}, name = name
  where id = ${key} and service_id = ${service}`

export const setRevoked = (sql: Sql, service: Id, key: Id, at: string) => sql`
  update keys
  set revoked_at = ${at}
  where id = ${key} and service_id = ${service} and revoked_at is null`

/** `secret_digest` and `secret_sealed` are text in the form of bytea. */
export const importKeys = (sql: Sql, service: Id, keys: readonly Row[]) => sql`
  insert into keys (service_id, ${columns}, secret_digest, secret_sealed)
  select ${service}, ${columns}, secret_digest, secret_sealed
  from json_populate_recordset(null::keys, ${JSON.stringify(keys)}::json)`
