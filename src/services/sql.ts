import type { Actor } from '../audit/actor.ts'
import { MAY, ROLES, type Role } from '../audit/role.ts'
import { recorded } from '../audit/sql.ts'
import type { Channel } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { bare, type Part, part, type Sql } from '../db/connect.ts'
import type { Service } from './service.ts'

export type ReplyTo = { id: Id; email_address: string; is_default: boolean }
export type Sender = { id: Id; sender: string; is_default: boolean }

/** A service with everything that accepting needs. */
export type LoadedService = Service & {
  /** The service's own, or the installation's. */
  home_country: string
  /** The installation's sender, for a service that has none. */
  default_sender: string | null
  reply_tos: readonly ReplyTo[]
  senders: readonly Sender[]
  /** Addresses and numbers of team members and of the safelist, as written. */
  allowed_recipients: readonly string[]
}

export type StoredService = Omit<LoadedService, 'home_country' | 'default_sender'> & Pick<Service, 'home_country'>

export async function load(sql: Sql, id: Id): Promise<StoredService | null> {
  const [service] = await sql<StoredService>`
    select id, name, state, mode, may_send_email, may_send_sms, may_send_international, may_send_files, sms_prefix, mailbox,
           email_daily_limit, sms_daily_limit, rate_limit, email_retention_days, sms_retention_days, home_country,
           coalesce((select json_agg(json_build_object('id', id, 'email_address', email_address, 'is_default', is_default)
                                     order by created_at, id)
                     from reply_tos
                     where service_id = services.id and not archived and verified_at is not null), '[]') as reply_tos,
           coalesce((select json_agg(json_build_object('id', id, 'sender', sender, 'is_default', is_default)
                                     order by created_at, id)
                     from senders where service_id = services.id and not archived), '[]') as senders,
           array(select email_address from users where service_id = services.id
                 union all
                 select phone_number from users where service_id = services.id and phone_number is not null
                 union all
                 select recipient from safelist where service_id = services.id) as allowed_recipients
    from services
    where id = ${id}`
  return service ?? null
}

// ——— administration ———

/** A service as operators see it. */
export type ShownService = Service & {
  /** Why it is suspended; null: it is not, or nobody said why. */
  suspended_reason: string | null
  created_at: Timestamp
  updated_at: Timestamp | null
}

const shown = part`
  id, name, state, mode, may_send_email, may_send_sms, may_send_international, may_send_files, sms_prefix, mailbox,
  email_daily_limit, sms_daily_limit, rate_limit, email_retention_days, sms_retention_days, home_country,
  suspended_reason, created_at, updated_at`

export async function isEmpty(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ empty: boolean }>`select not exists (select from services) as empty`
  return row?.empty ?? true
}

/** Until the end of the transaction no other process can create the first service of this database. */
export const holdFirst = (sql: Sql) => sql`select pg_advisory_xact_lock(60110002)`

/** Null when a service that is not archived has this name. */
export async function add(
  sql: Sql,
  service: Pick<Service, 'id' | 'name' | 'mode' | 'mailbox'>,
  actor: Actor,
): Promise<ShownService | null> {
  const [added] = await sql<ShownService>`
    with added as (
      insert into services (id, name, mode, mailbox)
      select ${service.id}::uuid, ${service.name}::text, ${service.mode}::text, ${service.mailbox}::text
      where not exists (select from services where name = ${service.name} and state <> 'archived')
      returning ${shown}
    ),
    ${recorded('service created', actor, part`(select id, id as service_id from added)`, { mode: service.mode })}
    select ${shown} from added`
  return added ?? null
}

export async function shownService(sql: Sql, id: Id): Promise<ShownService | null> {
  const [service] = await sql<ShownService>`
    select ${shown}
    from services
    where id = ${id}`
  return service ?? null
}

export const list = (sql: Sql) => sql<ShownService>`
  select ${shown}
  from services
  order by created_at, id`

/** Names by id. */
export async function namesOf(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`select id, name from services where id = any (${ids})`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Services of this name, and those whose id, written without hyphens, begins with this text. */
export const matching = (sql: Sql, name: string, idStart: string | null) => sql<ShownService>`
  select ${shown}
  from services
  where name = ${name}
     or replace(id::text, '-', '') like ${idStart}::text || '%'
  order by created_at, id
  limit 20`

export type Changes = Partial<Omit<Service, 'id'> & Pick<ShownService, 'suspended_reason'>>

/** Changes the given fields only. Null when the service does not exist. */
export async function change(sql: Sql, id: Id, changes: Changes, actor: Actor): Promise<ShownService | null> {
  const [changed] = await sql<ShownService>`
    with changed as (
      update services
      set (name, state, mode, may_send_email, may_send_sms, may_send_international, may_send_files, sms_prefix, mailbox,
           email_daily_limit, sms_daily_limit, rate_limit, email_retention_days, sms_retention_days, home_country,
           suspended_reason, updated_at)
        = (select n.name, n.state, n.mode, n.may_send_email, n.may_send_sms, n.may_send_international, n.may_send_files,
                  n.sms_prefix, n.mailbox, n.email_daily_limit, n.sms_daily_limit, n.rate_limit, n.email_retention_days,
                  n.sms_retention_days, n.home_country, case when n.state = 'suspended' then n.suspended_reason end, now()
           from jsonb_populate_record(services, ${JSON.stringify(changes)}::jsonb) as n)
      where id = ${id}
      returning ${shown}
    ),
    ${recorded(actionOf(changes), actor, part`(select id, id as service_id from changed)`, changes)}
    select ${shown} from changed`
  return changed ?? null
}

const actionOf = ({ state }: Changes) =>
  state === 'suspended' ? 'service suspended' : state === 'active' ? 'service resumed' : 'service changed'

export async function isNameTaken(sql: Sql, name: string, exceptFor: Id): Promise<boolean> {
  const [row] = await sql<{ taken: boolean }>`
    select exists (select from services where name = ${name} and state <> 'archived' and id <> ${exceptFor}) as taken`
  return row?.taken ?? false
}

/** Null when the service has none of its own, or does not exist. */
export async function homeCountryOf(sql: Sql, id: Id): Promise<string | null> {
  const [row] = await sql<{ home_country: string | null }>`select home_country from services where id = ${id}`
  return row?.home_country ?? null
}

/** Serialises changes of what may exist only once in a service (a default). */
export const hold = (sql: Sql, service: Id) => sql`select id from services where id = ${service} for update`

/**
 * Waits for transactions that hold the service, as they wait for this one; two that call this do not wait for each other. An insert
 * that refers to the service takes the same lock, but later: after locks of other rows, which can be a deadlock.
 */
export const holdTeam = (sql: Sql, service: Id) => sql`select id from services where id = ${service} for key share`

/** The ids of all services, for a statement per service. */
export const serviceIds: Part = part`(select id from services)`

export async function allServices(sql: Sql): Promise<Id[]> {
  const rows = await sql<{ id: Id }>`
    select id
    from services
    order by id`
  return rows.map(row => row.id)
}

/** The longest retention of any service. */
export async function longestRetention(sql: Sql): Promise<number> {
  const [row] = await sql<{ days: number | null }>`
    select max(greatest(email_retention_days, sms_retention_days)) as days from services`
  return row?.days ?? 0
}

/** Services with a shorter retention than the longest one. */
export const retentions = (sql: Sql) => sql<{ service_id: Id; channel: Channel; days: number }>`
  with longest as (select max(greatest(email_retention_days, sms_retention_days)) as days from services)
  select s.id as service_id, c.channel, c.days
  from services s
  cross join lateral (values ('email', s.email_retention_days), ('sms', s.sms_retention_days)) as c (channel, days)
  cross join longest
  where c.days < longest.days`

/** For how many days a service keeps messages of any channel. */
export const keptDays = (sql: Sql) => sql<{ service_id: Id; days: number }>`
  select id as service_id, greatest(email_retention_days, sms_retention_days) as days
  from services
  order by id`

/** The services that a person belongs to, as a JSON list; archived services are left out. */
export const membershipsOf = (person: Part): Part => part`
  (select coalesce(json_agg(json_build_object('service_id', s.id, 'service_name', s.name, 'mode', s.mode, 'role', u.role)
                            order by lower(s.name), s.id), '[]')
   from users u
   join services s on s.id = u.service_id and s.state <> 'archived'
   where u.person_id = ${person})`

/** To how many services that are not archived a person belongs. */
export const servicesOf = (person: Part): Part => part`
  (select count(*)::integer
   from users u
   join services s on s.id = u.service_id and s.state <> 'archived'
   where u.person_id = ${person})`

/** Whether a person belongs to a service that is not archived. */
export const belongsSomewhere = (person: Part): Part => part`
  exists (select
          from users u
          join services s on s.id = u.service_id and s.state <> 'archived'
          where u.person_id = ${person})`

export type TeamMember = {
  id: Id
  service_id: Id
  name: string
  email_address: string
  phone_number: string | null
  role: Role
  person_id: Id
  created_at: Timestamp
}

const memberColumns = part`id, service_id, name, email_address, phone_number, role, person_id, created_at`

/**
 * Null when a team member already has this address, in any case. The person with this address is theirs, and is made if there is none
 * (a trigger does it: the version before adds members too).
 */
export async function addUser(
  sql: Sql,
  user: Omit<TeamMember, 'created_at' | 'person_id'>,
  actor: Actor,
  detail: object = {},
): Promise<TeamMember | null> {
  const [added] = await sql<TeamMember>`
    with added as (
      insert into users (id, service_id, name, email_address, phone_number, role)
      select ${user.id}::uuid, ${user.service_id}::uuid, ${user.name}::text, ${user.email_address}::text,
             ${user.phone_number}::text, ${user.role}::text
      where not exists (select from users
                        where service_id = ${user.service_id} and lower(email_address) = lower(${user.email_address}))
      on conflict do nothing
      returning ${memberColumns}
    ),
    ${recorded('member added', actor, part`added`, { role: user.role, ...detail })}
    select ${memberColumns} from added`
  return added ?? null
}

export const listUsers = (sql: Sql, service: Id) => sql<TeamMember>`
  select ${memberColumns}
  from users
  where service_id = ${service}
  order by created_at, id`

/** Names of members by id. */
export async function memberNames(sql: Sql, ids: readonly Id[]): Promise<Map<Id, string>> {
  const rows = await sql<{ id: Id; name: string }>`select id, name from users where id = any (${bare(ids)}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Whether a person can invite others to a service, by their role in it. */
export const managesPeople = (person: Part, service: Part): Part => part`
  exists (select
          from users u
          where u.person_id = ${person}
            and u.service_id = ${service}
            and u.role = any (${ROLES.filter(role => MAY[role].includes('manage-people'))}::text[]))`

/** Who can change the roles of others. */
export const managersOf = (sql: Sql, service: Id) => sql<{ name: string; email_address: string }>`
  select name, email_address
  from users
  where service_id = ${service}
    and role = 'manager'
  order by lower(name), id
  limit 5`

export async function changeUserRole(sql: Sql, service: Id, id: Id, role: Role, actor: Actor): Promise<boolean> {
  const changed = await sql`
    with changed as (
      update users
      set role = ${role}
      where id = ${id}
        and service_id = ${service}
        and role <> ${role}
      returning id, service_id
    ),
    ${recorded('role changed', actor, part`changed`, { role })}
    select id from changed`
  return changed.length > 0
}

/** CTEs that remove a member, `removed` (id, service_id, person_id), and record it. */
export const userRemoved = (service: Id, user: { id: Id; person_id: Id }, actor: Actor): Part => part`
  removed as (
    delete from users
    where id = ${user.id}
      and service_id = ${service}
    returning id, service_id, person_id
  ),
  ${recorded('member removed', actor, part`removed`, { person: user.person_id })}`

/** Whether a person is a member of a service that is not archived, besides by this row. */
export const belongsBeside = (person: Part, user: Part): Part => part`
  exists (select
          from users u
          join services s on s.id = u.service_id and s.state <> 'archived'
          where u.person_id = ${person}
            and u.id <> ${user})`

/** A person leaves all services. */
export const removeEverywhere = (sql: Sql, person: Id, actor: Actor) => sql`
  with removed as (
    delete from users
    where person_id = ${person}
    returning id, service_id
  ),
  ${recorded('member removed', actor, part`removed`, { person })}
  select id from removed`

/** How many members each of these services has, and how many manage it. */
export const teamSizes = (sql: Sql, services: readonly Id[]) => sql<{ service_id: Id; people: number }>`
  select service_id, count(*)::integer as people
  from users
  where service_id = any (${bare(services)}::uuid[])
  group by service_id`

export { listOrigins, type Origin, type OriginKind } from './sql/origins.ts'

export type SafelistEntry = { id: Id; service_id: Id; recipient: string; created_at: Timestamp }

/** Null when it already exists, in any case. Recipients are personal data: the audit log has their number only. */
export async function addToSafelist(
  sql: Sql,
  entry: Omit<SafelistEntry, 'created_at'>,
  actor: Actor,
): Promise<SafelistEntry | null> {
  const [added] = await sql<SafelistEntry>`
    with added as (
      insert into safelist (id, service_id, recipient)
      select ${entry.id}::uuid, ${entry.service_id}::uuid, ${entry.recipient}::text
      where not exists (select from safelist
                        where service_id = ${entry.service_id} and lower(recipient) = lower(${entry.recipient}))
      on conflict do nothing
      returning id, service_id, recipient, created_at
    ),
    ${recorded('safelist changed', actor, part`(select service_id, service_id as id from added)`, { added: 1, removed: 0 })}
    select id, service_id, recipient, created_at from added`
  return added ?? null
}

export const listSafelist = (sql: Sql, service: Id) => sql<SafelistEntry>`
  select id, service_id, recipient, created_at
  from safelist
  where service_id = ${service}
  order by created_at, id`

export const removeFromSafelist = (sql: Sql, service: Id, id: Id, actor: Actor) => sql`
  with removed as (
    delete from safelist
    where id = ${id}
      and service_id = ${service}
    returning id, service_id
  ),
  ${recorded('safelist changed', actor, part`(select service_id, service_id as id from removed)`, { added: 0, removed: 1 })}
  select id from removed`

/** `added` and `removed` together; the caller holds the service (`hold`). */
export const replaceInSafelist = (
  sql: Sql,
  service: Id,
  added: readonly { id: Id; recipient: string }[],
  removed: readonly Id[],
  actor: Actor,
) => sql`
  with gone as (
    delete from safelist
    where service_id = ${service}
      and id = any (${bare(removed)}::uuid[])
  ),
  made as (
    insert into safelist (id, service_id, recipient)
    select id, ${service}::uuid, recipient
    from unnest(${bare(added.map(one => one.id))}::uuid[], ${added.map(one => one.recipient)}::text[]) as a (id, recipient)
    on conflict do nothing
  ),
  ${recorded('safelist changed', actor, part`(select ${service}::uuid as service_id, ${service}::uuid as id)`, {
    added: added.length,
    removed: removed.length,
  })}
  select 1`
