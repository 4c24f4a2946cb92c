// Messages of test keys, as the inbox shows them.

import { type Channel, channelNames } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import type { Sql } from '../../db/connect.ts'
import { serviceIds } from '../../services/sql.ts'

/** A message of a test key. */
export type TestMessage = {
  id: Id
  channel: Channel
  sealed: Buffer
  service_id: Id
  template_id: Id
  template_version: number
  sender_id: Id | null
}

/** Final statuses of a simulated message. One that is not due yet or was cancelled would not have been sent. */
const SIMULATED = ['delivered', 'temporary-failure', 'permanent-failure'] as const

/**
 * The newest messages of test keys, of all services. Each combination of equal columns is one walk down the index
 * `states_listed`, so the page costs the same however many other messages there are (test/explain.test.ts).
 */
export const pageOfTestMessages = (sql: Sql, olderThan: Id | null, size: number) => sql<TestMessage>`
  with page as materialized (
    select w.id
    from ${serviceIds} v
    -- Most services have no test message. A lateral subquery with a limit is one index probe each and cannot become a join.
    cross join lateral (select from states s where s.service_id = v.id and s.key_type = 'test' limit 1) one
    cross join unnest(${channelNames}::text[]) as c (channel)
    cross join unnest(array[false, true]) as j (in_job)
    cross join unnest(${SIMULATED}::text[]) as t (status)
    cross join lateral (
      select s.id
      from states s
      where s.service_id = v.id
        and s.key_type = 'test'
        and s.channel = c.channel
        and s.in_job = j.in_job
        and s.status = t.status
        and s.id < coalesce(${olderThan}, 'ffffffff-ffff-ffff-ffff-ffffffffffff')::uuid
      order by s.id desc nulls last
      limit ${size}
    ) w
    order by w.id desc
    limit ${size}
  )
  select n.id, n.channel, n.sealed, n.service_id, n.template_id, n.template_version, n.sender_id
  from page
  cross join lateral (select * from notifications where id = page.id limit 1) n
  order by page.id desc`

export async function findTestMessage(sql: Sql, id: Id): Promise<TestMessage | null> {
  const [found] = await sql<TestMessage>`
    select n.id, n.channel, n.sealed, n.service_id, n.template_id, n.template_version, n.sender_id
    from notifications n
    join states s on s.id = n.id
    where n.id = ${id}
      and s.id = ${id}
      and n.key_type = 'test'
      and s.status = any (${SIMULATED}::text[])`
  return found ?? null
}
