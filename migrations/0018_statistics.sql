-- stepwise, because requests lock these tables in an order of their own. How many messages have which status, by hour and by template.

-- What the counts need to know about a message. `template_id` is null in messages of the versions before, which are not counted.
alter table states add column if not exists template_id uuid, add column if not exists scheduled_for timestamptz
-- next
-- `hour`: when the messages were accepted, in hours since 1970. `status`: also `scheduled`, for created messages that are sent at a
-- given time. `took`: of delivered messages, the class of the time to delivery (src/statistics/took.ts); -1: of all others.
create table if not exists hourly_counts (
  service_id uuid not null,
  hour integer not null,
  channel text not null,
  key_type text not null,
  status text not null,
  took smallint not null,
  messages integer not null,
  primary key (service_id, hour, channel, key_type, status, took)
) with (fillfactor = 80)
-- next
-- `day`: the UTC day on which the messages were accepted, in days since 1970.
create table if not exists template_counts (
  service_id uuid not null,
  day integer not null,
  template_id uuid not null,
  key_type text not null,
  status text not null,
  messages integer not null,
  primary key (service_id, day, template_id, key_type, status)
) with (fillfactor = 80)
-- next
-- Changes that are not added to the counts yet. Only inserts: two statements never wait for each other. The number now is the sum of
-- the counts and the changes.
create table if not exists hourly_changes (
  service_id uuid not null,
  hour integer not null,
  channel text not null,
  key_type text not null,
  template_id uuid not null,
  status text not null,
  took smallint not null,
  messages integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)
