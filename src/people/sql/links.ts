import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { belongsSomewhere } from '../../services/sql.ts'
import type { Person } from '../person.ts'
import { personColumns } from './people.ts'
import { type Tried, triesCounted } from './tries.ts'

export type NewLink = {
  id: Id
  token_digest: Buffer
  browser_digest: Buffer | null
  return_to: string | null
  expires_at: Timestamp
}

/**
 * Counts the try; makes the link and queues its mail if there were not too many and the address is that of somebody who may sign in.
 * It writes and commits in every case, so the time it takes does not tell which.
 */
export async function askForLink(
  sql: Sql,
  tried: Tried,
  person: Id | null,
  link: NewLink,
  mails: readonly QueuedMail[],
): Promise<{ over: { since_ms: number } | null; made: boolean }> {
  const [row] = await sql<{ since_ms: number | null; made: boolean }>`
    with ${triesCounted(tried)},
    made as (
      insert into sign_in_links (id, person_id, token_digest, browser_digest, return_to, expires_at)
      select ${link.id}::uuid, p.id, ${link.token_digest}::bytea, ${link.browser_digest}::bytea, ${link.return_to}::text,
             ${link.expires_at}::timestamptz
      from people p
      where p.id = ${person}::uuid
        and not exists (select from over)
      returning id
    ),
    ${mailsQueued(mails, part`exists (select from made)`)}
    select (select since_ms from over) as since_ms, exists (select from made) as made`
  return { over: row?.since_ms == null ? null : { since_ms: row.since_ms }, made: row?.made ?? false }
}

/** Who may sign in with this address: an operator, or a member of a service that is not archived. */
export async function mayAsk(sql: Sql, address: string): Promise<Person | null> {
  const [found] = await sql<Person>`
    select ${personColumns}
    from people p
    where lower(p.email_address) = lower(${address})
      and (p.is_operator or ${belongsSomewhere(part`p.id`)})`
  return found ?? null
}

/** A link that is shown to the operator at the machine. */
export const addLink = (sql: Sql, person: Id, link: NewLink, actor: Actor) => sql`
  with made as (
    insert into sign_in_links (id, person_id, token_digest, browser_digest, return_to, expires_at)
    values (${link.id}, ${person}, ${link.token_digest}, ${link.browser_digest}, ${link.return_to}, ${link.expires_at})
    returning person_id as id, null::uuid as service_id
  ),
  ${recorded('sign-in link made', actor, part`made`)}
  select id from made`

export type FoundLink = Person & {
  browser_digest: Buffer | null
  return_to: string | null
  is_over: boolean
  is_used: boolean
}

/** Changes nothing: programs that look at links in mails must not spend them. */
export async function findLink(sql: Sql, digest: Buffer, now: Timestamp): Promise<FoundLink | null> {
  const [found] = await sql<FoundLink>`
    select ${personColumns}, l.browser_digest, l.return_to, l.expires_at <= ${now}::timestamptz as is_over,
           l.used_at is not null as is_used
    from sign_in_links l
    join people p on p.id = l.person_id
    where l.token_digest = ${digest}`
  return found ?? null
}

/** Of two at the same moment one gets it: the other waits for its row and finds it used. */
export async function spendLink(
  sql: Sql,
  digest: Buffer,
  browser: Buffer,
  now: Timestamp,
): Promise<(Person & { return_to: string | null }) | null> {
  const [spent] = await sql<Person & { return_to: string | null }>`
    with spent as (
      update sign_in_links
      set used_at = ${now}
      where token_digest = ${digest}
        and used_at is null
        and expires_at > ${now}::timestamptz
        and (browser_digest is null or browser_digest = ${browser})
      returning person_id, return_to
    )
    select ${personColumns}, spent.return_to
    from spent
    join people p on p.id = spent.person_id`
  return spent ?? null
}
