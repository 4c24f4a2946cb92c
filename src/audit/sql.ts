// The audit table: who changed what. A change and its entry are one statement, so neither exists without the other.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import type { Actor } from './actor.ts'

export const ACTIONS = [
  'key created',
  'key revoked',
  'template created',
  'template changed',
  'template moved',
  'template archived',
  'folder created',
  'folder renamed',
  'folder moved',
  'folder removed',
  'service created',
  'service changed',
  'service suspended',
  'service resumed',
  'service exported',
  'service imported',
  'live requested',
  'live granted',
  'live declined',
  'reply-to added',
  'reply-to verified',
  'reply-to removed',
  'default reply-to chosen',
  'sender added',
  'sender removed',
  'default sender chosen',
  'safelist changed',
  'message cancelled',
  'message sent',
  'message sent again',
  'messages exported',
  'job sent',
  'job cancelled',
  'job sent again',
  'captured message deleted',
  'inbox emptied',
  'webhook created',
  'webhook changed',
  'webhook removed',
  'webhook secret rotated',
  'webhook disabled',
  'webhook resumed',
  'webhook replayed',
  // Of the installation.
  'sending held',
  'sending released',
  'provider tested',
  'file store adopted',
  // Of people, for whom there is no service.
  'signed in',
  'signed out',
  'session ended',
  'sign-in link made',
  'passkey added',
  'passkey renamed',
  'passkey removed',
  'account changed',
  'address changed',
  'identity linked',
  'person added',
  'operator added',
  'operator removed',
  'member added',
  'member removed',
  'person invited',
  'invitation withdrawn',
  'person removed',
  'role changed',
] as const
export type Action = (typeof ACTIONS)[number]

/** A step of a statement. `done` names an earlier step whose rows have a service_id and an id. */
export const recorded = (action: Action, actor: Actor, done: Part, detail: object | null = null) => part`
  recorded as (
    insert into audit (service_id, key_id, actor_kind, actor_id, actor_name, action, subject_id, detail)
    select done.service_id, ${actor.kind === 'key' ? actor.id : null}::uuid, ${actor.kind}::text,
           ${actor.kind === 'operator' ? null : actor.id}::uuid, ${actor.kind === 'operator' ? actor.name : null}::text,
           ${action}::text, done.id, ${detail && JSON.stringify(detail)}::jsonb
    from ${done} done)`

/** What was done without a change, such as an export. */
export const record = (sql: Sql, action: Action, actor: Actor, service: Id | null, subject: Id, detail: object) => sql`
  with ${recorded(action, actor, part`(select ${service}::uuid as service_id, ${subject}::uuid as id)`, detail)}
  select 1`

/** What somebody did who has no key, for a statement with the acts of several: a person, or an operator by the system account. */
export type SenderAct = { person_id: Id | null; operator: string | null; action: Action; detail: object | null }

/** A step of a statement for acts of several. `rows` selects service_id, person_id, operator, action, subject_id, detail. */
export const recordedActs = (rows: Part) => part`
  recorded_acts as (
    insert into audit (service_id, actor_kind, actor_id, actor_name, action, subject_id, detail)
    select service_id, case when operator is null then 'person' else 'operator' end, person_id, operator, action, subject_id,
           detail
    from (${rows}) acts)`

export type AuditEntry = {
  id: number
  at: Timestamp
  /** Null: about the installation. */
  service_id: Id | null
  /** The `actor_id` of a key, else null. Still written for the version before, which reads nothing else. */
  key_id: Id | null
  actor_kind: Actor['kind']
  /** Of a key or a person. */
  actor_id: Id | null
  /** Of an operator; null in entries of versions that did not record it. */
  actor_name: string | null
  action: Action
  subject_id: Id
  detail: object | null
}

/** Which entries. Null: all. */
export type Wanted = {
  service: Id | null
  /** A key or a person. */
  actor: Id | null
  actions: readonly Action[] | null
  from: Timestamp | null
  to: Timestamp | null
}

/** Where a page begins: entries older or newer than this one; null: the newest. */
export type From = { before: number } | { after: number } | null

// Ids are given in the order of commits, times in that of begins: nearly the same. Within this distance both are looked at.
const NEAR = 10_000

/**
 * Newest first. A row without an actor was written by a version before 0014_actors.sql: a key_id means a key, and its absence the
 * operator. Times are bounded by ids as well, so that a page of an old month does not read all newer rows.
 */
export async function browse(sql: Sql, wanted: Wanted, from: From, most: number): Promise<AuditEntry[]> {
  const { service, actor, actions, from: since, to: until } = wanted
  const conditions = [
    service && part`and service_id = ${service}`,
    actor && part`and actor_id = ${actor}`,
    actions && part`and action = any (${actions}::text[])`,
    since &&
      part`and at >= ${since}::timestamptz
           and id >= (select a.id from audit a where a.at >= ${since}::timestamptz order by a.at limit 1) - ${NEAR}::bigint`,
    until &&
      part`and at < ${until}::timestamptz
           and id <= (select a.id from audit a where a.at < ${until}::timestamptz order by a.at desc limit 1) + ${NEAR}::bigint`,
    from && 'before' in from && part`and id < ${from.before}::bigint`,
    from && 'after' in from && part`and id > ${from.after}::bigint`,
  ].reduce<Part>((all, one) => (one ? part`${all} ${one}` : all), part``)
  const isBackwards = from !== null && 'after' in from
  const rows = await sql<AuditEntry>`
    select id, at, service_id, key_id, coalesce(actor_kind, case when key_id is null then 'operator' else 'key' end) as actor_kind,
           coalesce(actor_id, key_id) as actor_id, actor_name, action, subject_id, detail
    from audit
    where true ${conditions}
    order by id ${isBackwards ? part`asc` : part`desc`}
    limit ${most}`
  return isBackwards ? rows.reverse() : rows
}

/** The newest, of one service or of all. */
export const entries = (sql: Sql, service: Id | null, most: number) =>
  browse(sql, { service, actor: null, actions: null, from: null, to: null }, null, most)

/** Who did this last to each of these; nobody is left out. */
export const whoDidEach = (sql: Sql, actions: readonly Action[], subjects: readonly Id[]) => sql<
  Pick<AuditEntry, 'actor_kind' | 'actor_id' | 'subject_id'>
>`
  select distinct on (subject_id) subject_id,
         coalesce(actor_kind, case when key_id is null then 'operator' else 'key' end) as actor_kind,
         coalesce(actor_id, key_id) as actor_id
  from audit
  where subject_id = any (${subjects}::uuid[])
    and action = any (${actions})
  order by subject_id, id desc`

/** Who did this last; null: nobody, or a version that did not record it. */
export async function whoDid(
  sql: Sql,
  actions: readonly Action[],
  subject: Id,
): Promise<Pick<AuditEntry, 'actor_kind' | 'actor_id'> | null> {
  const [found] = await sql<Pick<AuditEntry, 'actor_kind' | 'actor_id'>>`
    select coalesce(actor_kind, case when key_id is null then 'operator' else 'key' end) as actor_kind,
           coalesce(actor_id, key_id) as actor_id
    from audit
    where subject_id = ${subject}
      and action = any (${actions})
    order by id desc
    limit 1`
  return found ?? null
}
