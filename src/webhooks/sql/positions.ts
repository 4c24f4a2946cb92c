import type { Sql } from '../../db/connect.ts'

/** The highest stamp that an endpoint or a replay has a position at. Those of single events are below that of their endpoint. */
export async function highestStamp(sql: Sql): Promise<string> {
  const [row] = await sql<{ stamp: string }>`
    select greatest((select max(stamp) from webhooks), (select max(greatest(stamp, end_stamp)) from webhook_replays), 0)::text as stamp`
  return row?.stamp ?? '0'
}
