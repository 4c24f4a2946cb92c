// Who handed over messages that did not fail: those of a provider that captures or simulates reached nobody.
import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import type { Status } from '../status.ts'

const ENDED = ['delivered', 'sent'] as const satisfies readonly Status[]

/**
 * The providers of the first and the last message since an id, of each channel and status, alone and in jobs. It costs the same for
 * any number of messages; a provider that was used only in between is not found.
 */
export async function providersSince(
  sql: Sql,
  service: Id,
  keyTypes: readonly KeyType[],
  channels: readonly Channel[],
  since: Id,
): Promise<(string | null)[]> {
  const place = part`
    from states x
    where x.service_id = ${service}
      and x.key_type = k.key_type
      and x.channel = c.channel
      and x.in_job = j.in_job
      and x.status = t.status
      and x.id >= ${since}`
  const rows = await sql<{ provider: string | null }>`
    select distinct s.provider
    from unnest(${keyTypes}::text[]) as k (key_type)
    cross join unnest(${channels}::text[]) as c (channel)
    cross join unnest(array[false, true]) as j (in_job)
    cross join unnest(${ENDED}::text[]) as t (status)
    cross join lateral (
      (select x.provider ${place} order by x.id asc nulls first limit 1)
      union all
      (select x.provider ${place} order by x.id desc nulls last limit 1)
    ) s`
  return rows.map(({ provider }) => provider)
}
