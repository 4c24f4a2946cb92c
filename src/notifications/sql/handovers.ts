// What providers call messages. A receipt names its message so.
import type { Timestamp } from '../../core/clock.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'

/** A CTE: stores the references of `rows` (provider, ref, id). A message that was handed over twice keeps its first. */
export const handedOver = (rows: Part): Part => part`handed as (
    insert into handovers (provider, ref, id)
    ${rows}
    on conflict do nothing
  )`

/** The id of the message that the provider calls so; null where there is none. */
export const messageOfRef = (provider: Part, ref: Part): Part =>
  part`(select h.id from handovers h where h.provider = ${provider} and h.ref = ${ref})`

/** References are needed for as long as receipts may come. */
export const purgeHandovers = (sql: Sql, hours: number, after: Timestamp | null, most: number) =>
  purgeAged(sql, HANDOVERS, part`clock_timestamp() - make_interval(hours => ${hours})`, after, most)

const HANDOVERS = {
  table: part`handovers`,
  time: part`at`,
  key: part`provider, ref`,
  match: part`t.provider = old.provider and t.ref = old.ref`,
}
