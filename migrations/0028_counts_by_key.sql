-- stepwise, because requests lock these tables in an order of their own. Counts by API key, and parts of text messages for what they cost.

-- `key_id` is null in messages that people have sent, and in those of the versions before. `parts`: of a text message that was handed over
-- to a provider, as it was charged.
alter table states add column if not exists key_id uuid, add column if not exists parts smallint
-- next
-- `parts`: the sum for messages that have them. `parted`: how many messages that are.
alter table hourly_changes add column if not exists key_id uuid, add column if not exists parts integer not null default 0,
  add column if not exists parted integer not null default 0
-- next
alter table hourly_counts add column if not exists parts integer not null default 0,
  add column if not exists parted integer not null default 0
-- next
alter table template_counts add column if not exists parts integer not null default 0,
  add column if not exists parted integer not null default 0
-- next
-- Messages without a key are not in it: they are what the counts of all messages have more. `day` as in template_counts.
create table if not exists key_counts (
  service_id uuid not null,
  day integer not null,
  key_id uuid not null,
  key_type text not null,
  status text not null,
  messages integer not null,
  parts integer not null,
  parted integer not null,
  primary key (service_id, day, key_id, key_type, status)
) with (fillfactor = 80)
