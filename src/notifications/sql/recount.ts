// The counts, compared with the messages.
import { floorOf } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { compared, corrected } from '../../statistics/sql/counted.ts'

const DAY_MICROS = 86_400_000_000

const messagesOf = (day: number) => part`(
      select id, service_id, key_type, channel, key_id, template_id, scheduled_for, completed_at, status, parts
      from states
      where id >= ${floorOf(day * DAY_MICROS)}
        and id < ${floorOf((day + 1) * DAY_MICROS)}
    ) messages`

/** Counts of a UTC day that differ from the messages, and by how much they are too low. */
export const miscounted = (sql: Sql, day: number) => sql<{ counts: string; of: object; messages: number }>`
  with ${compared(messagesOf(day), day)}
  select 'hourly_counts' as counts, to_json(w) as of, messages from wrong_hours w
  union all
  select 'template_counts', to_json(w), messages from wrong_templates w
  union all
  select 'key_counts', to_json(w), messages from wrong_keys w`

/** Corrects the counts of a UTC day; returns how many were wrong. One statement, hence one snapshot: what changes meanwhile is kept. */
export async function recountDay(sql: Sql, day: number): Promise<number> {
  const [row] = await sql<{ corrected: number }>`
    with ${compared(messagesOf(day), day)},
    ${corrected(day)}
    select ((select count(*) from right_hours) + (select count(*) from right_templates)
            + (select count(*) from right_keys))::integer as corrected`
  return row?.corrected ?? 0
}
