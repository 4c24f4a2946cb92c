// Counts messages by the hour in which they were accepted, in the statements that change their status. Only inserts, so that no
// statement waits for another; maintenance adds them up (fold.ts).
//
// A message without a template is one of the version before, which may run beside this one: it was not counted when it was accepted,
// and is not counted later.
import { type Part, part } from '../../db/connect.ts'
import { LAST_CLASS, NOT_DELIVERED, RATIO, SHORTEST_SECONDS } from '../took.ts'

/** The hour in an id: its milliseconds are the first 12 digits. */
const hour = part`((('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint) / 3600000)::integer`

/** A created message that is sent at a given time is counted as scheduled. */
const counting = (status: Part): Part =>
  part`case when ${status} = 'created' and scheduled_for is not null then 'scheduled' else ${status} end`

/** The class of the time from when it was accepted, or was to be sent, until it was delivered: `classOf` in took.ts. */
const seconds = part`extract(epoch from completed_at - greatest(uuid_time(id), scheduled_for))::float8`
const took = part`(case when ${seconds} >= ${SHORTEST_SECONDS}::float8
    then least(${LAST_CLASS}::integer, 1 + floor(ln(${seconds} / ${SHORTEST_SECONDS}::float8) / ln(${RATIO}::float8)))
    else 0 end)::smallint`
const none = part`${NOT_DELIVERED}::smallint`

/** A CTE `hourly` that counts new messages: rows with id, service_id, key_type, channel, template_id, scheduled_for, status. */
export const countedNew = (rows: Part): Part => part`hourly as (
    insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
    select service_id, ${hour}, channel, key_type, template_id, ${counting(part`status`)}, ${none}, count(*)
    from ${rows}
    where template_id is not null
    group by 1, 2, 3, 4, 5, 6
  )`

/**
 * A CTE `hourly` that counts one less for the status a message had (`was`) and one more for the status it has: rows as above, with
 * was and completed_at. A message that leaves `delivered` keeps its completed_at, hence its class.
 */
export const counted = (rows: Part): Part => part`hourly as (
    insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
    select service_id, hour, channel, key_type, template_id, e.status, e.took, sum(e.messages)
    from (
      select service_id, ${hour} as hour, channel, key_type, template_id, ${counting(part`was`)} as was,
             ${counting(part`status`)} as status, case when 'delivered' in (was, status) then ${took} else ${none} end as took,
             count(*) as messages
      from ${rows}
      where template_id is not null
        and was <> status
      group by 1, 2, 3, 4, 5, 6, 7, 8
    ) alike
    cross join lateral (
      values (was, case when was = 'delivered' then took else ${none} end, -messages),
             (status, case when status = 'delivered' then took else ${none} end, messages)
    ) as e (status, took, messages)
    group by 1, 2, 3, 4, 5, 6, 7
    having sum(e.messages) <> 0
  )`

/**
 * Selects by how much the counts of these hours are too low, compared with the messages themselves: rows of states with id,
 * service_id, key_type, channel, template_id, scheduled_for, completed_at, status. A change of status and its count are one commit,
 * so there is a difference only when something else than Herald, or the version before, changed a message. `is_stored`: the service
 * has messages of that hour.
 */
export const differences = (rows: Part, firstHour: number, lastHour: number): Part => part`
    select service_id, hour, channel, key_type, template_id, status, took, sum(messages)::integer as messages,
           bool_or(bool_or(is_stored)) over (partition by service_id, hour) as is_stored
    from (
      select service_id, ${hour} as hour, channel, key_type, template_id, ${counting(part`status`)} as status,
             case when status = 'delivered' then ${took} else ${none} end as took, count(*) as messages, true as is_stored
      from ${rows}
      where template_id is not null
      group by 1, 2, 3, 4, 5, 6, 7
      union all
      select service_id, hour, channel, key_type, template_id, status, took, -messages, false
      from hourly_counts
      where hour between ${firstHour} and ${lastHour}
      union all
      select service_id, hour, channel, key_type, template_id, status, took, -messages, false
      from hourly_changes
      where hour between ${firstHour} and ${lastHour}
    ) both_ways
    group by service_id, hour, channel, key_type, template_id, status, took`

/**
 * A CTE `corrected` that counts what `differences` selects. Where no message is stored, they are gone and the counts stay.
 */
export const corrected = (found: Part): Part => part`corrected as (
    insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
    select service_id, hour, channel, key_type, template_id, status, took, messages
    from (${found}) found
    where messages <> 0
      and is_stored
    returning 1
  )`
