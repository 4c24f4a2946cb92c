// Endpoints as their owners manage them. Delivery changes position, ticket and failures (sql/deliver.ts).
import type { Actor } from '../../audit/actor.ts'
import { type Action, recorded } from '../../audit/sql.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import type { EventType, Position } from '../../events/event.ts'
import type { KeyType } from '../../keys/key.ts'
import type { Format, State, StoredWebhook } from '../webhook.ts'

/** The columns of a StoredWebhook. */
export const webhookColumns: Part = part`id, service_id, key_type, format, sealed, types, with_recipient, batch, state, reason,
  created_at, updated_at, stamp::text, seq::text, n, ticket, failing_since, failures, succeeded_at`

/** Of one type of key; null: of all, for the operator. */
export type Owner = { service_id: Id; key_type: KeyType | null }

/** Until the end of the transaction nobody else adds an endpoint to the service. */
export const lockWebhooksOf = (sql: Sql, service: Id) => sql`
  select pg_advisory_xact_lock(60110016, hashtext(${service}))`

export async function countWebhooks(sql: Sql, service: Id): Promise<number> {
  const [row] = await sql<{ count: number }>`
    select count(*)::integer as count from webhooks where service_id = ${service}`
  return row?.count ?? 0
}

export type NewWebhook = {
  id: Id
  service_id: Id
  key_type: KeyType
  format: Format
  sealed: Buffer
  types: readonly EventType[] | null
  with_recipient: boolean
  batch: number
  position: Position
}

/** Null: there is one with this id. */
export async function addWebhook(sql: Sql, w: NewWebhook, actor: Actor): Promise<StoredWebhook | null> {
  const detail = { key_type: w.key_type, format: w.format }
  const [created] = await sql<StoredWebhook>`
    with created as (
      insert into webhooks (id, service_id, key_type, format, sealed, types, with_recipient, batch, stamp, seq, n)
      values (${w.id}, ${w.service_id}, ${w.key_type}, ${w.format}, ${w.sealed}, ${w.types}::text[], ${w.with_recipient},
              ${w.batch}, ${w.position.stamp}::bigint, ${w.position.seq}::bigint, ${w.position.n})
      on conflict (id) do nothing
      returning *
    ),
    ${recorded('webhook created', actor, part`created`, detail)}
    select ${webhookColumns} from created`
  return created ?? null
}

export async function findWebhook(sql: Sql, owner: Owner, id: Id): Promise<StoredWebhook | null> {
  const [found] = await sql<StoredWebhook>`
    select ${webhookColumns}
    from webhooks
    where id = ${id}
      and service_id = ${owner.service_id}
      and (${owner.key_type}::text is null or key_type = ${owner.key_type})`
  return found ?? null
}

/** Locks the row until the end of the transaction. */
export async function lockWebhook(sql: Sql, owner: Owner, id: Id): Promise<StoredWebhook | null> {
  const [found] = await sql<StoredWebhook>`
    select ${webhookColumns}
    from webhooks
    where id = ${id}
      and service_id = ${owner.service_id}
      and (${owner.key_type}::text is null or key_type = ${owner.key_type})
    for update`
  return found ?? null
}

/** Oldest first. */
export const listWebhooks = (sql: Sql, owner: Owner) => sql<StoredWebhook>`
  select ${webhookColumns}
  from webhooks
  where service_id = ${owner.service_id}
    and (${owner.key_type}::text is null or key_type = ${owner.key_type})
  order by id`

export type Change = {
  sealed: Buffer
  types: readonly EventType[] | null
  with_recipient: boolean
  batch: number
  state: State
  /** Null: the position stays. */
  position: Position | null
  /** Its failures are forgotten and it is tried at once. */
  anew: boolean
}

/** The caller has locked the row. `done`: what the audit table says. */
export async function changeWebhook(
  sql: Sql,
  id: Id,
  c: Change,
  actor: Actor,
  done: { action: Action; detail: object | null },
): Promise<StoredWebhook> {
  const [changed] = await sql<StoredWebhook>`
    with changed as (
      update webhooks
      set sealed = ${c.sealed},
          types = ${c.types}::text[],
          with_recipient = ${c.with_recipient},
          batch = ${c.batch},
          state = ${c.state},
          updated_at = now(),
          stamp = coalesce(${c.position?.stamp ?? null}::bigint, stamp),
          seq = coalesce(${c.position?.seq ?? null}::bigint, seq),
          n = coalesce(${c.position?.n ?? null}::integer, n),
          reason = case when ${c.anew}::boolean then null else reason end,
          failures = case when ${c.anew}::boolean then 0 else failures end,
          failing_since = case when ${c.anew}::boolean then null else failing_since end,
          ticket = case when ${c.anew}::boolean then null else ticket end
      where id = ${id}
      returning *
    ),
    ${recorded(done.action, actor, part`changed`, done.detail)}
    select ${webhookColumns} from changed`
  return changed as StoredWebhook
}

/** What waits for the endpoint goes with it; its attempts stay until they are purged by age. */
export async function removeWebhook(sql: Sql, owner: Owner, id: Id, actor: Actor): Promise<boolean> {
  const rows = await sql`
    with removed as (
      delete from webhooks
      where id = ${id}
        and service_id = ${owner.service_id}
        and (${owner.key_type}::text is null or key_type = ${owner.key_type})
      returning id, service_id
    ),
    ${recorded('webhook removed', actor, part`removed`)}
    select id from removed`
  return rows.length > 0
}

/** Endpoints that are sealed with an earlier secret. */
export const webhooksSealedBefore = (sql: Sql, current: Buffer, after: Id | null, most: number) => sql<{
  id: Id
  sealed: Buffer
}>`
  select id, sealed
  from webhooks
  where substring(sealed from 1 for 4) <> ${current}
    and (${after}::uuid is null or id > ${after})
  order by id
  limit ${most}`

/** Of at most `most` webhooks: how many there are, and how many none of the known secrets has sealed. */
export const unreadableWebhooks = (sql: Sql, known: Buffer, most: number) => sql<{ rows: number; unreadable: number }>`
  select count(*)::integer as rows,
         (count(*) filter (where substring(sealed from 1 for 4) <> all(${known}::bytea[])))::integer as unreadable
  from (
    select sealed
    from webhooks
    order by id
    limit ${most}
  ) as oldest`

/** Nothing when it was changed meanwhile. */
export const resealWebhook = (sql: Sql, id: Id, before: Buffer, sealed: Buffer) => sql`
  update webhooks
  set sealed = ${sealed}
  where id = ${id}
    and sealed = ${before}`

export type FoundWebhook = { id: Id; service_id: Id }

/** Of any service: those whose id, written without hyphens, begins with `idStart`. */
export const webhooksStartingWith = (sql: Sql, idStart: string) => sql<FoundWebhook>`
  select id, service_id
  from webhooks
  where replace(id::text, '-', '') like ${idStart}::text || '%'
  order by id
  limit 20`
