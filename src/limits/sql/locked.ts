import type { Id } from '../../core/id.ts'
import { bare, type Sql } from '../../db/connect.ts'

/** Which of these services have a counter of a limit that another session has locked now. It waits for none of them. */
export const lockedServices = (sql: Sql, services: readonly Id[]) => sql<{ service_id: Id }>`
  with free_rates as materialized (
    select service_id, key_type
    from rates
    where service_id = any (${bare(services)}::uuid[])
    for update skip locked
  ),
  free_usage as materialized (
    select service_id, channel, day
    from usage
    where service_id = any (${bare(services)}::uuid[])
      and day >= current_date
    for update skip locked
  )
  select service_id
  from (select service_id, key_type from rates where service_id = any (${bare(services)}::uuid[])
        except
        select service_id, key_type from free_rates) locked_rates
  union
  select service_id
  from (select service_id, channel, day from usage where service_id = any (${bare(services)}::uuid[]) and day >= current_date
        except
        select service_id, channel, day from free_usage) locked_usage`
