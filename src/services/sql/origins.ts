// Reply-to addresses and text senders have the same structure: values of a service, one of them the default.
import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'

export type OriginKind = 'reply-to' | 'sender'
export type Origin = {
  id: Id
  service_id: Id
  value: string
  is_default: boolean
  created_at: Timestamp
  /** Null: a reply-to address that nobody has proved yet. Messages cannot use it. */
  verified_at: Timestamp | null
}

const origins = {
  'reply-to': { table: part`reply_tos`, value: part`email_address`, verified: part`verified_at` },
  sender: { table: part`senders`, value: part`sender`, verified: part`created_at` },
} satisfies Record<OriginKind, object>

const DONE = {
  'reply-to': { added: 'reply-to added', chosen: 'default reply-to chosen', removed: 'reply-to removed' },
  sender: { added: 'sender added', chosen: 'default sender chosen', removed: 'sender removed' },
} as const

export const listOrigins = (sql: Sql, kind: OriginKind, service: Id) => sql<Origin>`
  select id, service_id, ${origins[kind].value} as value, is_default, created_at, ${origins[kind].verified} as verified_at
  from ${origins[kind].table}
  where service_id = ${service}
    and not archived
  order by created_at, id`

/** Values by id, also of those that are archived. */
export async function originNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; value: string }>`
    select id, email_address as value from reply_tos where id = any (${bare(ids)}::uuid[])
    union all
    select id, sender from senders where id = any (${bare(ids)}::uuid[])`
  return new Map(rows.map(({ id, value }) => [id, value]))
}

export type NewOrigin = Pick<Origin, 'id' | 'service_id' | 'value' | 'is_default'>

/** One that can be used at once. */
export const addOrigin = (sql: Sql, kind: OriginKind, origin: NewOrigin, actor: Actor) => sql`
  with added as (
    insert into ${origins[kind].table} (id, service_id, ${origins[kind].value}, is_default)
    values (${origin.id}, ${origin.service_id}, ${origin.value}, ${origin.is_default})
    returning id, service_id
  ),
  ${recorded(DONE[kind].added, actor, part`added`, { default: origin.is_default })}
  select id from added`

export const clearDefault = (sql: Sql, kind: OriginKind, service: Id) => sql`
  update ${origins[kind].table}
  set is_default = false
  where service_id = ${service}
    and is_default`

export const makeDefault = (sql: Sql, kind: OriginKind, service: Id, id: Id, actor: Actor) => sql`
  with chosen as (
    update ${origins[kind].table}
    set is_default = true
    where id = ${id}
      and service_id = ${service}
      and not archived
    returning id, service_id
  ),
  ${recorded(DONE[kind].chosen, actor, part`chosen`)}
  select id from chosen`

/** Sent messages refer to it, so it is hidden instead of deleted. */
export const archiveOrigin = (sql: Sql, kind: OriginKind, service: Id, id: Id, actor: Actor) => sql`
  with removed as (
    update ${origins[kind].table}
    set archived = true
    where id = ${id}
      and service_id = ${service}
      and not archived
    returning id, service_id
  ),
  ${recorded(DONE[kind].removed, actor, part`removed`)}
  select id from removed`

// ——— reply-to addresses that are proved by a link ———

export type ReplyToLink = { digest: Buffer; expires_at: Timestamp }

/** CTEs that add a reply-to address that cannot be used yet, `asked` (id, service_id), and record it. */
export const replyToAsked = (
  origin: Omit<NewOrigin, 'is_default'>,
  link: ReplyToLink,
  condition: Part,
  actor: Actor,
): Part => part`
  asked as (
    insert into reply_tos (id, service_id, email_address, verified_at, link_digest, link_expires_at)
    select ${origin.id}::uuid, ${origin.service_id}::uuid, ${origin.value}::text, null, ${link.digest}::bytea,
           ${link.expires_at}::timestamptz
    where ${condition}
    returning id, service_id
  ),
  ${recorded('reply-to added', actor, part`asked`)}`

/** A CTE, `asked`, that replaces the link of an address that nobody has proved yet. */
export const replyToAskedAgain = (service: Id, id: Id, link: ReplyToLink, condition: Part): Part => part`
  asked as (
    update reply_tos
    set link_digest = ${link.digest},
        link_expires_at = ${link.expires_at}
    where id = ${id}
      and service_id = ${service}
      and not archived
      and verified_at is null
      and ${condition}
    returning id, service_id
  )`

export type AskedReplyTo = { id: Id; service_id: Id; email_address: string; service_name: string }

/** Of a link that still works. */
export async function askedReplyTo(sql: Sql, digest: Buffer, now: Timestamp): Promise<AskedReplyTo | null> {
  const [found] = await sql<AskedReplyTo>`
    select r.id, r.service_id, r.email_address, s.name as service_name
    from reply_tos r
    join services s on s.id = r.service_id
    where r.link_digest = ${digest}
      and r.link_expires_at > ${now}::timestamptz
      and r.verified_at is null
      and not r.archived
      and s.state <> 'archived'`
  return found ?? null
}

/** It becomes the default where there is none. Of two at the same moment one does it. */
export async function verifyReplyTo(sql: Sql, asked: AskedReplyTo, now: Timestamp, actor: Actor): Promise<boolean> {
  const done = await sql`
    with verified as (
      update reply_tos r
      set verified_at = ${now}::timestamptz,
          link_digest = null,
          link_expires_at = null,
          is_default = not exists (select from reply_tos o where o.service_id = r.service_id and o.is_default and not o.archived)
      where r.id = ${asked.id}
        and r.verified_at is null
        and not r.archived
      returning r.id, r.service_id
    ),
    ${recorded('reply-to verified', actor, part`verified`)}
    select id from verified`
  return done.length > 0
}
