import type { Actor } from '../../audit/actor.ts'
import { recorded } from '../../audit/sql.ts'
import type { Channel } from '../../channels/plain.ts'
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'
import { handedOver } from '../../notifications/sql/handovers.ts'

/** Processes with an engine listen here. */
export const TESTS_CHANNEL = 'herald_provider_tests'

type Asked = { id: Id; channel: Channel; provider: string; recipient: Buffer }

/** Returns no row when there were `most` tests in the last minute. The audit log gets no recipient. */
export const ask = (sql: Sql, { id, channel, provider, recipient }: Asked, most: number, actor: Actor) => sql`
  with asked as (
    insert into provider_tests (id, channel, provider, recipient)
    select ${id}, ${channel}, ${provider}, ${recipient}
    where (select count(*)
           from (select
                 from provider_tests
                 where asked_at > clock_timestamp() - interval '1 minute'
                 limit ${most}) recent) < ${most}
    returning id, null::uuid as service_id
  ),
  ${recorded('provider tested', actor, part`asked`, { provider, channel })}
  select pg_notify(${TESTS_CHANNEL}, '')
  from asked`

/** Takes the oldest test for one of these providers (`channel name`) and deletes its recipient: a test is sent at most once. */
export async function take(
  sql: Sql,
  { process, providers, withinSeconds }: { process: string; providers: readonly string[]; withinSeconds: number },
): Promise<Asked | null> {
  const [taken] = await sql<Asked>`
    with next as (
      select id, recipient
      from provider_tests
      where taken_by is null
        and asked_at > clock_timestamp() - make_interval(secs => ${withinSeconds})
        and channel || ' ' || provider = any (${providers}::text[])
      order by asked_at
      limit 1
      for update skip locked
    )
    update provider_tests t
    set taken_by = ${process},
        recipient = null
    from next
    where t.id = next.id
    returning t.id, t.channel, t.provider, next.recipient`
  return taken ?? null
}

/** `ref`: the reference of a provider that reports; a receipt for the test is then recognised, and changes nothing. */
export const answer = (sql: Sql, id: Id, sealed: Buffer, ref: string | null) => sql`
  with answered as (
    update provider_tests
    set answer = ${sealed}
    where id = ${id}
    returning id, provider
  ),
  ${handedOver(part`select provider, ${ref}::text, id from answered where ${ref}::text is not null`)}
  select`

export type StoredTest = {
  channel: Channel
  provider: string
  taken_by: string | null
  answer: Buffer | null
  asked_seconds: number
}

export async function find(sql: Sql, id: Id): Promise<StoredTest | null> {
  const [found] = await sql<StoredTest>`
    select channel, provider, taken_by, answer,
           extract(epoch from clock_timestamp() - asked_at)::float8 as asked_seconds
    from provider_tests
    where id = ${id}`
  return found ?? null
}

const TESTS = {
  table: part`provider_tests`,
  time: part`asked_at`,
  key: part`id`,
  match: part`t.id = old.id`,
}

export const purgeProviderTests = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, TESTS, part`clock_timestamp() - interval '1 hour'`, after, most)
