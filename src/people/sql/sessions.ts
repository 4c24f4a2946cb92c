import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { membershipsOf } from '../../services/sql.ts'
import type { Membership, Person, Session, SignedIn, SignInMethod } from '../person.ts'

const sessionColumns = part`s.id, s.method, s.device, s.created_at, s.signed_in_at, s.last_seen_at`

/** Until when a session must have begun and been used, to be valid. */
export type Validity = { now: Timestamp; idleSince: Timestamp; begunSince: Timestamp; unseenSince: Timestamp }

const valid = ({ idleSince, begunSince }: Validity): Part => part`
  s.last_seen_at > ${idleSince}::timestamptz and s.created_at > ${begunSince}::timestamptz`

/** A session is made and recorded. The one that the browser had before ends. */
export const addSession = (
  sql: Sql,
  session: Session & { person_id: Id; token_digest: Buffer },
  before: Buffer | null,
  actor: Actor,
) => sql`
  with made as (
    insert into sessions (id, person_id, token_digest, method, device, created_at, signed_in_at, last_seen_at)
    values (${session.id}, ${session.person_id}, ${session.token_digest}, ${session.method}, ${session.device},
            ${session.created_at}, ${session.signed_in_at}, ${session.last_seen_at})
    returning id, person_id
  ),
  replaced as (
    delete from sessions
    where token_digest = ${before}::bytea
  ),
  seen as (
    update people
    set last_seen_at = ${session.last_seen_at}
    where id = ${session.person_id}
  ),
  ${recorded('signed in', actor, part`(select null::uuid as service_id, person_id as id from made)`, {
    method: session.method,
    session: session.id,
  })}
  select id from made`

/** Of sessions `s` and people `p`. */
const signedInColumns = part`
  ${sessionColumns}, p.id as person, p.email_address, p.name, p.is_operator, p.time_zone, p.theme, p.language, p.shortcuts,
  ${membershipsOf(part`p.id`)} as memberships`

type Found = Session & {
  person: Id
  email_address: string
  name: string
  is_operator: boolean
  time_zone: string | null
  theme: Person['theme']
  language: Person['language']
  shortcuts: boolean
  memberships: Membership[]
}

/** One statement: it also notes when the session and the person were seen, at most once a minute. */
export async function readSession(sql: Sql, digest: Buffer, at: Validity): Promise<SignedIn | null> {
  const [found] = await sql<Found>`
    with valid as (
      select ${sessionColumns}, s.person_id
      from sessions s
      where s.token_digest = ${digest}
        and ${valid(at)}
    ),
    session_seen as (
      update sessions s
      set last_seen_at = ${at.now}
      from valid v
      where s.id = v.id
        and v.last_seen_at < ${at.unseenSince}
    ),
    person_seen as (
      update people p
      set last_seen_at = ${at.now}
      from valid v
      where p.id = v.person_id
        and v.last_seen_at < ${at.unseenSince}
    )
    select ${signedInColumns}
    from valid s
    join people p on p.id = s.person_id`
  return found ? signedInFrom(found) : null
}

/** By its id, which a new token does not change. It does not note that the session was seen. */
export async function readSessionById(sql: Sql, id: Id, at: Validity): Promise<SignedIn | null> {
  const [found] = await sql<Found>`
    select ${signedInColumns}
    from sessions s
    join people p on p.id = s.person_id
    where s.id = ${id}
      and ${valid(at)}`
  return found ? signedInFrom(found) : null
}

function signedInFrom(found: Found): SignedIn {
  const { person, email_address, name, is_operator, time_zone, theme, language, shortcuts, memberships, ...session } =
    found
  return {
    person: { id: person, email_address, name, is_operator, time_zone, theme, language, shortcuts },
    session,
    memberships,
  }
}

/** Newest first. */
export const listSessions = (sql: Sql, person: Id, at: Validity) => sql<Session>`
  select ${sessionColumns}
  from sessions s
  where s.person_id = ${person}
    and ${valid(at)}
  order by s.last_seen_at desc, s.id desc`

/** Of this person only. */
export const endSession = (sql: Sql, person: Id, id: Id, action: 'signed out' | 'session ended', actor: Actor) => sql`
  with ended as (
    delete from sessions
    where id = ${id}
      and person_id = ${person}
    returning id, null::uuid as service_id
  ),
  ${recorded(action, actor, part`ended`)}
  select id from ended`

export const endOtherSessions = (sql: Sql, person: Id, except: Id | null, actor: Actor) => sql`
  with ended as (
    delete from sessions
    where person_id = ${person}
      and id is distinct from ${except}::uuid
    returning id, null::uuid as service_id
  ),
  ${recorded('session ended', actor, part`ended`)}
  select id from ended`

/** A new token for the same session: what knew the old one is signed out. */
export const renewSession = (
  sql: Sql,
  session: { id: Id; person_id: Id; method: SignInMethod; token_digest: Buffer; now: Timestamp },
  actor: Actor,
) => sql`
  with renewed as (
    update sessions
    set token_digest = ${session.token_digest},
        method = ${session.method},
        signed_in_at = ${session.now},
        last_seen_at = ${session.now}
    where id = ${session.id}
      and person_id = ${session.person_id}
    returning person_id as id, null::uuid as service_id
  ),
  ${recorded('signed in', actor, part`renewed`, { method: session.method, session: session.id, again: true })}
  select id from renewed`
