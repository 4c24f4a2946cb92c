import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'
import type { Counter } from '../../limits/sql/usage.ts'
import type { Step } from '../../runtime/steps.ts'

/** How many of the next single messages count for the day. */
export async function countMessages(
  sql: Sql,
  { service_id, channel, day }: Counter,
  keyType: 'normal' | 'team',
  after: Id,
  most: number,
): Promise<Step<Id> & { counted: number }> {
  const [row] = await sql<Step<Id> & { counted: number }>`
    with next as materialized (
      select n.id, n.scheduled_for
      from notifications n
      where n.service_id = ${service_id}
        and n.key_type = ${keyType}
        and n.channel = ${channel}
        and not n.in_job
        and n.id > ${after}
      order by n.id nulls first
      limit ${most}
    )
    select count(*)::integer as found,
           (select id from next order by id desc limit 1) as last,
           count(*) filter (
             where (coalesce(next.scheduled_for, uuid_time(next.id)) at time zone 'UTC')::date = ${day}::date
               and (select s.status from states s where s.id = next.id) <> 'cancelled')::integer as counted
    from next`
  return row ?? { found: 0, last: null, counted: 0 }
}
