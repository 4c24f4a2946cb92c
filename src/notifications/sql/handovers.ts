// What providers call messages. A receipt names its message so.
import type { Timestamp } from '../../core/clock.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import type { Step } from '../../runtime/steps.ts'

/** A CTE: stores the references of `rows` (provider, ref, id). A message that was handed over twice keeps its first. */
export const handedOver = (rows: Part): Part => part`handed as (
    insert into handovers (provider, ref, id)
    ${rows}
    on conflict do nothing
  )`

/** The id of the message that the provider calls so; null where there is none. */
export const messageOfRef = (provider: Part, ref: Part): Part =>
  part`(select h.id from handovers h where h.provider = ${provider} and h.ref = ${ref})`

/** References of providers, which are needed for as long as receipts may come. */
export async function purgeHandovers(
  sql: Sql,
  hours: number,
  after: Timestamp | null,
  most: number,
): Promise<Step<Timestamp>> {
  const [step] = await sql<Step<Timestamp>>`
    with old as materialized (
      select provider, ref, at
      from handovers
      where at >= coalesce(${after}::timestamptz, '-infinity')
        and at < clock_timestamp() - make_interval(hours => ${hours})
      order by at
      limit ${most}
    ),
    gone as (
      delete from handovers h
      using old
      where h.provider = old.provider
        and h.ref = old.ref
    )
    select count(*)::integer as found, max(at) as last
    from old`
  return step ?? { found: 0, last: null }
}
