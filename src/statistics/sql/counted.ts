// Counts messages by the hour in which they were accepted, in the statements that change their status. Only inserts, so that no
// statement waits for another; maintenance adds them up (fold.ts).
//
// A message without a template is one of the version before, which may run beside this one: it was not counted when it was accepted,
// and is not counted later.
import { type Part, part } from '../../db/connect.ts'
import { LAST_CLASS, NOT_DELIVERED, RATIO, SHORTEST_SECONDS } from '../took.ts'

/** The milliseconds in an id: its first 12 digits. Everything else is computed from them, because reading them is what costs. */
const millis = part`('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint`
const hour = part`(millis / 3600000)::integer`

/** A created message that is sent at a given time is counted as scheduled. */
const counting = (status: Part): Part =>
  part`case when ${status} = 'created' and scheduled_for is not null then 'scheduled' else ${status} end`

/** The class of the time from when it was accepted, or was to be sent, until it was delivered: `classOf` in took.ts. */
const seconds = part`date_part('epoch', completed_at - greatest(to_timestamp(millis / 1000.0), scheduled_for))`
const took = part`greatest(0, least(${LAST_CLASS}::integer,
      1 + floor(ln(greatest(${seconds}, 0.001) / ${SHORTEST_SECONDS}::float8) / ln(${RATIO}::float8))))::smallint`
const none = part`${NOT_DELIVERED}::smallint`

/** A CTE `hourly` that counts new messages: rows with id, service_id, key_type, channel, template_id, scheduled_for, status. */
export const countedNew = (rows: Part): Part => part`hourly as (
    insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
    select service_id, ${hour}, channel, key_type, template_id, ${counting(part`status`)}, ${none}, count(*)
    from (
      select service_id, ${millis} as millis, channel, key_type, template_id, scheduled_for, status
      from ${rows}
      where template_id is not null
    ) new
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
      from (
        select service_id, ${millis} as millis, channel, key_type, template_id, scheduled_for, completed_at, was, status
        from ${rows}
        where template_id is not null
          and was <> status
        offset 0 -- not merged into the outer query, which would read the digits several times
      ) changed
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
 * CTEs `wrong_hours` and `wrong_templates`: by how much the counts of a UTC day are too low, compared with the messages themselves:
 * rows of states with id, service_id, key_type, channel, template_id, scheduled_for, completed_at, status. A change of status and
 * its count are one commit, so there is a difference only when something else than Herald, or the version before, changed a message.
 * `is_stored`: the service has messages of that day.
 */
export const compared = (rows: Part, day: number): Part => part`stated as materialized (
    select service_id, ${hour} as hour, channel, key_type, template_id, ${counting(part`status`)} as status,
           case when status = 'delivered' then ${took} else ${none} end as took, count(*) as messages
    from (
      select service_id, ${millis} as millis, channel, key_type, template_id, scheduled_for, completed_at, status
      from ${rows}
      where template_id is not null
      offset 0
    ) messages
    group by 1, 2, 3, 4, 5, 6, 7
  ),
  changes as materialized (
    select service_id, hour, channel, key_type, template_id, status, took, messages
    from hourly_changes
    where hour between ${day}::integer * 24 and ${day}::integer * 24 + 23
  ),
  wrong_hours as materialized (
    select service_id, hour, channel, key_type, status, took, sum(messages)::integer as messages,
           service_id in (select service_id from stated) as is_stored
    from (
      select service_id, hour, channel, key_type, status, took, messages from stated
      union all
      select service_id, hour, channel, key_type, status, took, -messages from changes
      union all
      select service_id, hour, channel, key_type, status, took, -messages
      from hourly_counts
      where hour between ${day}::integer * 24 and ${day}::integer * 24 + 23
    ) both_ways
    group by service_id, hour, channel, key_type, status, took
    having sum(messages) <> 0
  ),
  wrong_templates as materialized (
    select service_id, template_id, key_type, status, sum(messages)::integer as messages,
           service_id in (select service_id from stated) as is_stored
    from (
      select service_id, template_id, key_type, status, messages from stated
      union all
      select service_id, template_id, key_type, status, -messages from changes
      union all
      select service_id, template_id, key_type, status, -messages from template_counts where day = ${day}
    ) both_ways
    group by service_id, template_id, key_type, status
    having sum(messages) <> 0
  )`

/**
 * CTEs `right_hours` and `right_templates` that add what `compared` has found. Where no message is stored, they are gone and the counts
 * stay. Adding keeps what is counted at the same moment.
 */
export const corrected = (day: number): Part => part`right_hours as (
    insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages)
    select service_id, hour, channel, key_type, status, took, messages
    from wrong_hours
    where is_stored
    order by service_id, hour, channel, key_type, status, took
    on conflict (service_id, hour, channel, key_type, status, took)
    do update set messages = hourly_counts.messages + excluded.messages
    returning 1
  ),
  right_templates as (
    insert into template_counts (service_id, day, template_id, key_type, status, messages)
    select service_id, ${day}, template_id, key_type, status, messages
    from wrong_templates
    where is_stored
    order by service_id, template_id, key_type, status
    on conflict (service_id, day, template_id, key_type, status)
    do update set messages = template_counts.messages + excluded.messages
    returning 1
  )`
