import type { Actor } from '../../audit/actor.ts'
import type { Role } from '../../audit/role.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { managesPeople } from '../../services/sql.ts'
import { type Tried, triesCounted } from './tries.ts'

export type Invitation = {
  id: Id
  /** Null: an operator of the installation is invited. */
  service_id: Id | null
  email_address: string
  role: Role | null
  invited_by: Id
  created_at: Timestamp
  expires_at: Timestamp
}

const columns = part`id, service_id, email_address, role, invited_by, created_at, expires_at`

/** A condition: this person can invite to this service; to the installation if it is null. */
const canInvite = (person: Part, service: Part): Part => part`
  exists (select
          from people p
          where p.id = ${person}
            and (p.is_operator or ${managesPeople(part`p.id`, service)}))`

/** A condition on invitations `i`: the inviter can still invite. */
const isBacked = canInvite(part`i.invited_by`, part`i.service_id`)

/** A condition on invitations `i`: they can still be accepted. */
const isOpen = (now: Timestamp): Part => part`
  i.expires_at > ${now}::timestamptz and ${isBacked}`

/** Who is invited, by the id of the invitation. */
export async function invitedNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<Pick<Invitation, 'id' | 'email_address'>>`
    select id, email_address from invitations where id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, email_address }) => [id, email_address]))
}

export type NewInvitation = Omit<Invitation, 'created_at'> & { token_digest: Buffer }

/**
 * Invites, or invites again: the link of the mail before is worth nothing then. `made` null and not `over`: the inviter can no longer
 * invite. The caller locks service and inviter, so that this right cannot be taken away at the same moment.
 */
export async function invite(
  sql: Sql,
  tried: Tried,
  invitation: NewInvitation,
  mails: readonly QueuedMail[],
  actor: Actor,
): Promise<{ over: { since_ms: number } | null; made: Invitation | null }> {
  const { id, service_id, email_address, role, token_digest, invited_by, expires_at } = invitation
  const [row] = await sql<Invitation & { since_ms: number | null; is_made: boolean }>`
    with ${triesCounted(tried)},
    made as (
      insert into invitations (id, service_id, email_address, role, token_digest, invited_by, expires_at)
      select ${id}::uuid, ${service_id}::uuid, ${email_address}::text, ${role}::text, ${token_digest}::bytea, ${invited_by}::uuid,
             ${expires_at}::timestamptz
      where not exists (select from over)
        and ${canInvite(part`${invited_by}::uuid`, part`${service_id}::uuid`)}
      on conflict (service_id, lower(email_address)) do update
      set role = excluded.role,
          token_digest = excluded.token_digest,
          invited_by = excluded.invited_by,
          expires_at = excluded.expires_at
      returning ${columns}
    ),
    ${mailsQueued(mails, part`exists (select from made)`)},
    ${recorded('person invited', actor, part`made`, { role })}
    select (select since_ms from over) as since_ms, made.id is not null as is_made, made.*
    from (select) as one
    left join made on true`
  if (!row) return { over: null, made: null }
  const { since_ms, is_made, ...made } = row
  return { over: since_ms === null ? null : { since_ms }, made: is_made ? made : null }
}

/** Those that can still be accepted, newest first. */
export const list = (sql: Sql, service: Id | null, now: Timestamp) => sql<Invitation>`
  select ${columns}
  from invitations i
  where service_id is not distinct from ${service}::uuid
    and ${isOpen(now)}
  order by created_at desc, id desc`

export async function find(sql: Sql, service: Id | null, id: Id): Promise<Invitation | null> {
  const [found] = await sql<Invitation>`
    select ${columns}
    from invitations
    where id = ${id}
      and service_id is not distinct from ${service}::uuid`
  return found ?? null
}

export async function findByToken(sql: Sql, digest: Buffer, now: Timestamp): Promise<Invitation | null> {
  const [found] = await sql<Invitation>`
    select ${columns}
    from invitations i
    where token_digest = ${digest}
      and ${isOpen(now)}`
  return found ?? null
}

/** A condition: someone with this address can still accept an invitation. */
export const isInvited = (address: Part, now: Timestamp): Part => part`
  exists (select from invitations i where lower(i.email_address) = lower(${address}) and ${isOpen(now)})`

export async function isExpected(sql: Sql, address: string, now: Timestamp): Promise<boolean> {
  const [row] = await sql<{ is: boolean }>`select ${isInvited(part`${address}`, now)} as is`
  return row?.is ?? false
}

/** Of two at the same moment one gets it. */
export async function take(sql: Sql, digest: Buffer, now: Timestamp): Promise<Invitation | null> {
  const [taken] = await sql<Invitation>`
    delete from invitations i
    where token_digest = ${digest}
      and ${isOpen(now)}
    returning ${columns}`
  return taken ?? null
}

const endWhere = (sql: Sql, condition: Part, because: 'inviter' | 'member' | 'person' | 'service', actor: Actor) => sql`
  with gone as (
    delete from invitations i
    where ${condition}
    returning id, service_id
  ),
  ${recorded('invitation withdrawn', actor, part`gone`, { because })}
  select id from gone`

/** Ends invitations by a person who can no longer invite to their service, or to the installation. */
export const endUnbacked = (sql: Sql, inviter: Id, actor: Actor) =>
  endWhere(sql, part`i.invited_by = ${inviter} and not ${isBacked}`, 'inviter', actor)

/** Ends the invitation of someone who has left this service, or is no longer an operator (null). */
export const endInvitationTo = (sql: Sql, service: Id | null, address: string, actor: Actor) =>
  endWhere(
    sql,
    part`i.service_id is not distinct from ${service}::uuid and lower(i.email_address) = lower(${address})`,
    'member',
    actor,
  )

/** Ends all invitations by and to a person who is removed altogether. */
export const endInvitationsOf = (sql: Sql, person: { id: Id; email_address: string }, actor: Actor) =>
  endWhere(
    sql,
    part`i.invited_by = ${person.id} or lower(i.email_address) = lower(${person.email_address})`,
    'person',
    actor,
  )

/** Ends all invitations to a service that is archived. */
export const endInvitationsInto = (sql: Sql, service: Id, actor: Actor) =>
  endWhere(sql, part`i.service_id = ${service}`, 'service', actor)

export async function withdraw(sql: Sql, service: Id | null, id: Id, actor: Actor): Promise<Invitation | null> {
  const [gone] = await sql<Invitation>`
    with gone as (
      delete from invitations
      where id = ${id}
        and service_id is not distinct from ${service}::uuid
      returning ${columns}
    ),
    ${recorded('invitation withdrawn', actor, part`gone`)}
    select ${columns} from gone`
  return gone ?? null
}
