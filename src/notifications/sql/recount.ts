// The hourly counts, compared with the messages.
import { floorOf } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { corrected, differences } from '../../statistics/sql/counted.ts'

const HOUR_MICROS = 3_600_000_000

const messagesOf = (firstHour: number, lastHour: number) => part`(
      select id, service_id, key_type, channel, template_id, scheduled_for, completed_at, status
      from states
      where id >= ${floorOf(firstHour * HOUR_MICROS)}
        and id < ${floorOf((lastHour + 1) * HOUR_MICROS)}
    ) stated`

export type Difference = {
  service_id: string
  hour: number
  channel: string
  key_type: string
  template_id: string
  status: string
  took: number
  messages: number
}

/** By how much the counts of these hours are too low. */
export const miscounted = (sql: Sql, firstHour: number, lastHour: number) =>
  sql<Difference>`
  select service_id, hour, channel, key_type, template_id, status, took, messages
  from (${differences(messagesOf(firstHour, lastHour), firstHour, lastHour)}) found
  where messages <> 0`

/** Corrects the counts of an hour; returns how many were wrong. One statement, hence one snapshot: what changes meanwhile is not lost. */
export async function recountHour(sql: Sql, hour: number): Promise<number> {
  const [row] = await sql<{ corrected: number }>`
    with ${corrected(differences(messagesOf(hour, hour), hour, hour))}
    select count(*)::integer as corrected from corrected`
  return row?.corrected ?? 0
}
