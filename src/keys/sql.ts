import type { Actor, ServiceScope } from '../audit/actor.ts'
import { recorded } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import type { Key, KeyType } from './key.ts'

export type StoredKey = Key & { secret_digest: Buffer; secret_sealed: Buffer }

export async function byDigest(sql: Sql, digests: readonly Buffer[]): Promise<StoredKey | null> {
  const [key] = await sql<StoredKey>`
    select id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, secret_digest, secret_sealed,
           (extract(epoch from least(revoked_at, expires_at)) * 1000)::float8 as ends_at
    from keys
    where secret_digest = any (${digests})`
  return key ?? null
}

/** Keys that are not revoked first, newest first. At most 50: a signed token is checked against each of them. */
export const ofService = (sql: Sql, service: Id) => sql<StoredKey>`
  select id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, secret_digest, secret_sealed,
         (extract(epoch from least(revoked_at, expires_at)) * 1000)::float8 as ends_at
  from keys
  where service_id = ${service}
  order by revoked_at is not null, created_at desc
  limit 50`

export type NewKey = {
  id: Id
  service_id: Id
  name: string
  key_type: KeyType
  manage_templates: boolean
  manage_webhooks: boolean
  secret_digest: Buffer
  secret_sealed: Buffer
  created_by: string
  expires_at: string | null
}

/** No row: there is a key with this id. */
export const add = (sql: Sql, key: NewKey, actor: Actor) => sql`
  with created as (
    insert into keys (id, service_id, name, key_type, manage_templates, manage_webhooks, secret_digest, secret_sealed, created_by,
                      expires_at)
    values (${key.id}, ${key.service_id}, ${key.name}, ${key.key_type}, ${key.manage_templates}, ${key.manage_webhooks},
            ${key.secret_digest}, ${key.secret_sealed}, ${key.created_by}, ${key.expires_at})
    on conflict (id) do nothing
    returning id, service_id
  ),
  ${recorded('key created', actor, part`created`, {
    key_type: key.key_type,
    manage_templates: key.manage_templates,
    manage_webhooks: key.manage_webhooks,
  })}
  select id from created`

export type ListedKey = {
  id: Id
  service_id: Id
  name: string
  key_type: KeyType
  manage_templates: boolean
  manage_webhooks: boolean
  created_by: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
}

export const list = (sql: Sql, service: Id) => sql<ListedKey>`
  select id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, created_at, expires_at, revoked_at,
         last_used_at
  from keys
  where service_id = ${service}
  order by created_at, id`

/** Names by id. */
export async function namesOf(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`select id, name from keys where id = any (${ids})`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

const inScope = (scope: ServiceScope): Part => (scope === 'every-service' ? part`true` : part`service_id = ${scope}`)

/** Keys whose id, written without hyphens, begins with `idStart`. */
export const startingWith = (sql: Sql, scope: ServiceScope, idStart: string) => sql<ListedKey>`
  select id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, created_at, expires_at, revoked_at,
         last_used_at
  from keys
  where replace(id::text, '-', '') like ${idStart}::text || '%'
    and ${inScope(scope)}
  order by created_at, id
  limit 20`

/** Revoking again keeps the time of the first revocation. */
export async function revoke(sql: Sql, scope: ServiceScope, id: Id, actor: Actor): Promise<ListedKey | null> {
  const [key] = await sql<ListedKey>`
    with ended as (
      update keys
      set revoked_at = coalesce(revoked_at, now())
      where id = ${id}
        and ${inScope(scope)}
      returning id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, created_at, expires_at, revoked_at,
                last_used_at
    ),
    ${recorded('key revoked', actor, part`(select id, service_id from ended where revoked_at = now())`)}
    select id, service_id, name, key_type, manage_templates, manage_webhooks, created_by, created_at, expires_at, revoked_at,
           last_used_at
    from ended`
  return key ?? null
}

export const markUsed = (sql: Sql, ids: readonly Id[]) => sql`
  update keys
  set last_used_at = now()
  where id = any (${ids})
    and (last_used_at is null or last_used_at < now() - interval '10 seconds')`

/** Keys that are sealed with an earlier secret or in an earlier format. */
export const keysSealedBefore = (sql: Sql, current: Buffer, after: Id | null, most: number) => sql<{
  id: Id
  sealed: Buffer
}>`
  select id, secret_sealed as sealed
  from keys
  where substring(secret_sealed from 1 for 4) <> ${current}
    and (${after}::uuid is null or id > ${after})
  order by id
  limit ${most}`

/** Of at most `most` keys in use: how many there are, and how many none of the known secrets has sealed. */
export const unreadableKeys = (sql: Sql, known: Buffer, most: number) => sql<{ rows: number; unreadable: number }>`
  select count(*)::integer as rows,
         (count(*) filter (where substring(secret_sealed from 1 for 4) <> all(${known}::bytea[])))::integer as unreadable
  from (
    select secret_sealed
    from keys
    where revoked_at is null
    order by id
    limit ${most}
  ) as oldest`

export const resealKey = (sql: Sql, id: Id, digest: Buffer, sealed: Buffer) => sql`
  update keys
  set secret_digest = ${digest},
      secret_sealed = ${sealed}
  where id = ${id}`
