-- stepwise, because requests lock these tables in an order of their own. How many messages of each hour have which status.

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
  template_id uuid not null,
  status text not null,
  took smallint not null,
  messages integer not null,
  primary key (service_id, hour, channel, key_type, template_id, status, took)
) with (fillfactor = 80)
-- next
-- Changes that are not added to hourly_counts yet. Only inserts: two statements never wait for each other. The number now is the
-- sum of both tables.
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
