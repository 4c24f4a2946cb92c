import type { Actor } from '../../audit/actor.ts'
import type { Role } from '../../audit/role.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { type Tried, triesCounted } from './tries.ts'

export type Invitation = {
  id: Id
  /** Null: an operator of the installation is invited. */
  service_id: Id | null
  email_address: string
  role: Role | null
  invited_by: Id | null
  created_at: Timestamp
  expires_at: Timestamp
}

const columns = part`id, service_id, email_address, role, invited_by, created_at, expires_at`

/** Who is invited, by the id of the invitation. */
export async function invitedNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<Pick<Invitation, 'id' | 'email_address'>>`
    select id, email_address from invitations where id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, email_address }) => [id, email_address]))
}

export type NewInvitation = Omit<Invitation, 'created_at'> & { token_digest: Buffer }

/** Invites, or invites again: the link of the mail before is worth nothing then. */
export async function invite(
  sql: Sql,
  tried: Tried,
  invitation: NewInvitation,
  mails: readonly QueuedMail[],
  actor: Actor,
): Promise<{ over: { since_ms: number } | null; made: Invitation | null }> {
  const { id, service_id, email_address, role, token_digest, invited_by, expires_at } = invitation
  const [row] = await sql<Invitation & { since_ms: number | null }>`
    with ${triesCounted(tried)},
    made as (
      insert into invitations (id, service_id, email_address, role, token_digest, invited_by, expires_at)
      select ${id}::uuid, ${service_id}::uuid, ${email_address}::text, ${role}::text, ${token_digest}::bytea, ${invited_by}::uuid,
             ${expires_at}::timestamptz
      where not exists (select from over)
      on conflict (service_id, lower(email_address)) do update
      set role = excluded.role,
          token_digest = excluded.token_digest,
          invited_by = excluded.invited_by,
          expires_at = excluded.expires_at
      returning ${columns}
    ),
    ${mailsQueued(mails, part`exists (select from made)`)},
    ${recorded('person invited', actor, part`made`, { role })}
    select (select since_ms from over) as since_ms, made.*
    from (select) as one
    left join made on true`
  if (!row) return { over: null, made: null }
  const { since_ms, ...made } = row
  return { over: since_ms === null ? null : { since_ms }, made: since_ms === null ? made : null }
}

/** Those that can still be accepted, newest first. */
export const list = (sql: Sql, service: Id | null, now: Timestamp) => sql<Invitation>`
  select ${columns}
  from invitations
  where service_id is not distinct from ${service}::uuid
    and expires_at > ${now}::timestamptz
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
    from invitations
    where token_digest = ${digest}
      and expires_at > ${now}::timestamptz`
  return found ?? null
}

/** Of two at the same moment one gets it. */
export async function take(sql: Sql, digest: Buffer, now: Timestamp): Promise<Invitation | null> {
  const [taken] = await sql<Invitation>`
    delete from invitations
    where token_digest = ${digest}
      and expires_at > ${now}::timestamptz
    returning ${columns}`
  return taken ?? null
}

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
