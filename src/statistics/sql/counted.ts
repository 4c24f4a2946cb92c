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

/**
 * A CTE `hourly` that counts new messages: rows with id, service_id, key_type, channel, key_id, template_id, scheduled_for, status. None
 * of them has parts yet: they are known when a message is handed over.
 */
export const countedNew = (rows: Part): Part => part`hourly as (
    insert into hourly_changes (service_id, hour, channel, key_type, key_id, template_id, status, took, messages)
    select service_id, ${hour}, channel, key_type, key_id, template_id, ${counting(part`status`)}, ${none}, count(*)
    from (
      select service_id, ${millis} as millis, channel, key_type, key_id, template_id, scheduled_for, status
      from ${rows}
      where template_id is not null
    ) new
    group by 1, 2, 3, 4, 5, 6, 7
  )`

/**
 * A CTE `hourly` that counts one less for the status a message had (`was`) and one more for the status it has: rows as above, with
 * was, completed_at and parts. A message that leaves `delivered` keeps its completed_at, hence its class. A message gets its parts when it
 * leaves `created`; or later, when its receipt came before the record of its hand-over: then `gained` is true for it.
 */
export const counted = (rows: Part, gained: Part): Part => part`hourly as (
    insert into hourly_changes (service_id, hour, channel, key_type, key_id, template_id, status, took, messages, parts, parted)
    select service_id, hour, channel, key_type, key_id, template_id, e.status, e.took, sum(e.messages), sum(e.parts), sum(e.parted)
    from (
      select service_id, ${hour} as hour, channel, key_type, key_id, template_id, ${counting(part`was`)} as was,
             ${counting(part`status`)} as status, case when 'delivered' in (was, status) then ${took} else ${none} end as took,
             was in ('created', 'pending-virus-check') or gained as had_none,
             count(*) as messages, coalesce(sum(parts), 0) as parts, count(parts) as parted
      from (
        select service_id, ${millis} as millis, channel, key_type, key_id, template_id, scheduled_for, completed_at, was, status, parts,
               ${gained} as gained
        from ${rows}
        where template_id is not null
          and (was <> status or ${gained})
        offset 0 -- not merged into the outer query, which would read the digits several times
      ) changed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ) alike
    cross join lateral (
      values (was, case when was = 'delivered' then took else ${none} end, -messages,
              case when had_none then 0 else -parts end, case when had_none then 0 else -parted end),
             (status, case when status = 'delivered' then took else ${none} end, messages, parts, parted)
    ) e (status, took, messages, parts, parted)
    group by service_id, hour, channel, key_type, key_id, template_id, e.status, e.took
    having sum(e.messages) <> 0 or sum(e.parts) <> 0 or sum(e.parted) <> 0
  )`

const sums = part`sum(messages)::integer as messages, sum(parts)::integer as parts, sum(parted)::integer as parted`
const less = part`-messages as messages, -parts as parts, -parted as parted`
const isWrong = part`sum(messages) <> 0 or sum(parts) <> 0 or sum(parted) <> 0`

/**
 * CTEs `wrong_hours`, `wrong_templates` and `wrong_keys`: by how much the counts of a UTC day are too low, compared with the messages
 * themselves: rows of states with id, service_id, key_type, channel, key_id, template_id, scheduled_for, completed_at, status, parts. A
 * change of status and its count are one commit, so there is a difference only when something else than Herald, or the version before,
 * changed a message. `is_stored`: the service has messages of that day.
 */
export const compared = (rows: Part, day: number): Part => part`stated as materialized (
    select service_id, ${hour} as hour, channel, key_type, key_id, template_id, ${counting(part`status`)} as status,
           case when status = 'delivered' then ${took} else ${none} end as took, count(*) as messages,
           coalesce(sum(parts), 0) as parts, count(parts) as parted
    from (
      select service_id, ${millis} as millis, channel, key_type, key_id, template_id, scheduled_for, completed_at, status, parts
      from ${rows}
      where template_id is not null
      offset 0
    ) messages
    group by 1, 2, 3, 4, 5, 6, 7, 8
  ),
  changes as materialized (
    select service_id, hour, channel, key_type, key_id, template_id, status, took, messages, parts, parted
    from hourly_changes
    where hour between ${day}::integer * 24 and ${day}::integer * 24 + 23
  ),
  wrong_hours as materialized (
    select service_id, hour, channel, key_type, status, took, ${sums}, service_id in (select service_id from stated) as is_stored
    from (
      select service_id, hour, channel, key_type, status, took, messages, parts, parted from stated
      union all
      select service_id, hour, channel, key_type, status, took, ${less} from changes
      union all
      select service_id, hour, channel, key_type, status, took, ${less}
      from hourly_counts
      where hour between ${day}::integer * 24 and ${day}::integer * 24 + 23
    ) both_ways
    group by service_id, hour, channel, key_type, status, took
    having ${isWrong}
  ),
  wrong_templates as materialized (
    select service_id, template_id, key_type, status, ${sums}, service_id in (select service_id from stated) as is_stored
    from (
      select service_id, template_id, key_type, status, messages, parts, parted from stated
      union all
      select service_id, template_id, key_type, status, ${less} from changes
      union all
      select service_id, template_id, key_type, status, ${less} from template_counts where day = ${day}
    ) both_ways
    group by service_id, template_id, key_type, status
    having ${isWrong}
  ),
  wrong_keys as materialized (
    select service_id, key_id, key_type, status, ${sums}, service_id in (select service_id from stated) as is_stored
    from (
      select service_id, key_id, key_type, status, messages, parts, parted from stated where key_id is not null
      union all
      select service_id, key_id, key_type, status, ${less} from changes where key_id is not null
      union all
      select service_id, key_id, key_type, status, ${less} from key_counts where day = ${day}
    ) both_ways
    group by service_id, key_id, key_type, status
    having ${isWrong}
  )`

/**
 * CTEs `right_hours`, `right_templates` and `right_keys` that add what `compared` has found. Where no message is stored, they are gone and
 * the counts stay. Adding keeps what is counted at the same moment.
 */
export const corrected = (day: number): Part => part`right_hours as (
    insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages, parts, parted)
    select service_id, hour, channel, key_type, status, took, messages, parts, parted
    from wrong_hours
    where is_stored
    order by service_id, hour, channel, key_type, status, took
    on conflict (service_id, hour, channel, key_type, status, took)
    do update set ${added(part`hourly_counts`)}
    returning 1
  ),
  right_templates as (
    insert into template_counts (service_id, day, template_id, key_type, status, messages, parts, parted)
    select service_id, ${day}, template_id, key_type, status, messages, parts, parted
    from wrong_templates
    where is_stored
    order by service_id, template_id, key_type, status
    on conflict (service_id, day, template_id, key_type, status)
    do update set ${added(part`template_counts`)}
    returning 1
  ),
  right_keys as (
    insert into key_counts (service_id, day, key_id, key_type, status, messages, parts, parted)
    select service_id, ${day}, key_id, key_type, status, messages, parts, parted
    from wrong_keys
    where is_stored
    order by service_id, key_id, key_type, status
    on conflict (service_id, day, key_id, key_type, status)
    do update set ${added(part`key_counts`)}
    returning 1
  )`

/** What an insert into a table of counts does to a row that is there. */
export const added = (table: Part): Part => part`messages = ${table}.messages + excluded.messages,
      parts = ${table}.parts + excluded.parts, parted = ${table}.parted + excluded.parted`
