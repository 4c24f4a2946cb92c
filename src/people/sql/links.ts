import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { belongsSomewhere } from '../../services/sql.ts'
import type { Person } from '../person.ts'
import { isInvited } from './invitations.ts'
import { personColumns } from './people.ts'

export type NewLink = {
  id: Id
  token_digest: Buffer
  browser_digest: Buffer | null
  return_to: string | null
  expires_at: Timestamp
}

/**
 * Adds a link and queues its mail, if there is such a person and they still have this address: after a change of the address none is
 * added, and before it those that are added are removed. `mailAt`: when the mail that answers several requests is sent; null:
 * immediately. `mails` is empty for requests that another one's mail answers.
 */
export async function addMailedLink(
  sql: Sql,
  person: Pick<Person, 'id' | 'email_address'> | null,
  link: NewLink & { mail_at: Timestamp | null },
  mails: readonly QueuedMail[],
  delaySeconds: number,
): Promise<{ isAdded: boolean }> {
  const added = await sql`
    with added as (
      insert into sign_in_links (id, person_id, token_digest, browser_digest, return_to, expires_at, mail_at)
      select ${link.id}::uuid, p.id, ${link.token_digest}::bytea, ${link.browser_digest}::bytea, ${link.return_to}::text,
             ${link.expires_at}::timestamptz, ${link.mail_at}::timestamptz
      from people p
      where p.id = ${person?.id ?? null}::uuid
        and p.email_address = ${person?.email_address ?? null}::text
      for share of p
      returning id
    ),
    ${mailsQueued(mails, part`exists (select from added)`, delaySeconds)}
    select id from added`
  return { isAdded: added.length > 0 }
}

/**
 * Who can sign in with this address: an operator, a member of a service that is not archived, or someone known who is invited and
 * must sign in to accept.
 */
export async function mayAsk(sql: Sql, address: string, now: Timestamp): Promise<Person | null> {
  const [found] = await sql<Person>`
    select ${personColumns}
    from people p
    where lower(p.email_address) = lower(${address})
      and (p.is_operator or ${belongsSomewhere(part`p.id`)} or ${isInvited(part`p.email_address`, now)})`
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

/** Rows `a` of requests that the mail of link `l` answers and that came from this browser. A printed link works in any browser. */
const askedHere = (browser: Buffer): Part => part`
  (a.id = l.id or (a.person_id = l.person_id and a.mail_at = l.mail_at))
  and (a.browser_digest is null or a.browser_digest = ${browser})`

export type FoundLink = Person & {
  return_to: string | null
  is_over: boolean
  is_used: boolean
  /** Whether it was asked for in this browser. */
  is_here: boolean
}

/** Changes nothing: programs that look at links in mails must not spend them. */
export async function findLink(sql: Sql, digest: Buffer, browser: Buffer, now: Timestamp): Promise<FoundLink | null> {
  const [found] = await sql<FoundLink>`
    select ${personColumns}, here.return_to, l.expires_at <= ${now}::timestamptz as is_over, l.used_at is not null as is_used,
           here.id is not null as is_here
    from sign_in_links l
    join people p on p.id = l.person_id
    left join lateral (
      select a.id, a.return_to
      from sign_in_links a
      where ${askedHere(browser)}
      order by a.id desc
      limit 1
    ) here on true
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
      update sign_in_links l
      set used_at = ${now}
      where l.token_digest = ${digest}
        and l.used_at is null
        and l.expires_at > ${now}::timestamptz
        and exists (select from sign_in_links a where ${askedHere(browser)})
      returning l.id, l.person_id, l.mail_at
    )
    select ${personColumns}, here.return_to
    from spent l
    join people p on p.id = l.person_id
    cross join lateral (
      select a.return_to
      from sign_in_links a
      where ${askedHere(browser)}
      order by a.id desc
      limit 1
    ) here`
  return spent ?? null
}

/** All links of a person, used or not. */
export const removeLinks = (sql: Sql, person: Id) => sql`
  delete from sign_in_links
  where person_id = ${person}`
