-- stepwise, because requests lock these tables in an order of their own. One log of what happens to messages and jobs, and those
-- who are told about it.

-- Added to the numbers of transactions, so that positions in the log grow also in a restored copy, whose numbers are lower.
create table if not exists event_clock (
  one boolean primary key default true check (one),
  shift bigint not null
)
-- next
insert into event_clock (one, shift) values (true, 0) on conflict do nothing
-- next
create sequence if not exists events_seq
-- next
-- One row for all messages of a service that had the same change in one statement. The last 16 bits of its id are zero; the id of
-- the event of the n-th message, counted from zero, is the id plus n. The id contains the start of the transaction.
-- stamp and seq order the log (src/events/sql.ts).
create table if not exists events (
  id uuid primary key,
  stamp bigint not null,
  seq bigint not null default nextval('events_seq'),
  service_id uuid not null,
  key_type text not null,
  -- Null: an event of a job.
  channel text,
  type text not null,
  at timestamptz not null default clock_timestamp(),
  -- Messages, or one job.
  subjects uuid[] not null check (cardinality(subjects) between 1 and 65536),
  -- How many: readers count events without reading the list.
  size integer not null generated always as (cardinality(subjects)) stored,
  -- What caused it: attempt, receipt, scan, cancel, expiry, crash, job.
  cause text not null,
  provider text,
  response text,
  -- The class of a failure or of a reply that deferred; without personal data.
  detail text,
  uncertain boolean not null default false,
  -- One entry per subject, or null. took: milliseconds of the attempt. delays: seconds until the next attempt. times: the time that the provider gives in a receipt.
  took integer[],
  delays real[],
  times timestamptz[],
  -- The reply or diagnosis in full: it may quote an address.
  sealed bytea
) partition by range (id)
-- next
create index if not exists events_in_order on events (service_id, key_type, stamp, seq)
-- next
-- When the events of a message were logged: the start of each transaction. The ids of the events begin with it.
alter table states add column if not exists logged timestamptz[] not null default '{}'
-- next
-- The smallest id of an event logged by a transaction that started at this time, as floorOf in src/core/id.ts.
create or replace function event_floor(moment timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(ceil((micros % 1000) * 4096 / 1000.0)::integer), 3, '0')
          || '0000000000000000')::uuid
  from (select (extract(epoch from moment) * 1000000)::bigint as micros) clock
$$
-- next
create or replace function event_group(moment timestamptz) returns uuid language sql volatile as $$
  select (left(replace(event_floor(moment)::text, '-', ''), 16) || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid
$$
-- next
-- A position: higher than the number of its own transaction, and not lower than the position of any transaction that has ended
-- (the xmax of a snapshot is one more than the highest number that has ended, which may be lower than our own). It is taken with a
-- snapshot of its own (volatile), after the rows of the statement are locked.
create or replace function event_stamp() returns bigint language plpgsql volatile as $$
begin
  return (
    select shift + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint + 1)
    from event_clock
  );
end
$$
-- next
alter table keys add column if not exists manage_webhooks boolean not null default false
-- next
create or replace trigger tell_change after insert or delete or update of name, key_type, manage_templates, manage_webhooks,
  expires_at, revoked_at on keys for each row execute function tell_change()
-- next
create table if not exists webhooks (
  id uuid primary key,
  service_id uuid not null references services (id),
  key_type text not null check (key_type in ('normal', 'team', 'test')),
  format text not null check (format in ('standard', 'callback')),
  -- Address, secrets and token.
  sealed bytea not null,
  -- Null: every type.
  types text[],
  with_recipient boolean not null default false,
  batch integer not null default 1 check (batch between 1 and 100),
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  -- Everything up to this position was sent or set aside.
  stamp bigint not null,
  seq bigint not null,
  n integer not null,
  -- Its ticket in the queue; null: there was nothing to send when it was last looked at.
  ticket uuid,
  failing_since timestamptz,
  failures integer not null default 0,
  succeeded_at timestamptz
)
-- next
create index if not exists webhooks_of_service on webhooks (service_id, id)
-- next
-- What was posted. Posts of one event each with the same answer share a row: then took has one entry per event.
create table if not exists webhook_attempts (
  id uuid primary key,
  webhook_id uuid not null,
  at timestamptz not null,
  events uuid[] not null,
  -- The highest stamp of these events.
  stamp bigint not null,
  took integer[] not null,
  -- Null: no answer; then error says why.
  status integer,
  error text,
  -- The beginning of the answer, sealed.
  answer bytea
)
-- next
create index if not exists webhook_attempts_by_age on webhook_attempts (at)
-- next
create index if not exists webhook_attempts_of on webhook_attempts (webhook_id, id)
-- next
create index if not exists webhook_attempts_by_stamp on webhook_attempts (webhook_id, stamp)
-- next
-- Single events that an endpoint refuses while it takes others, and later events of the same message. failed: given up.
create table if not exists webhook_retries (
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event uuid not null,
  stamp bigint not null,
  seq bigint not null,
  subject uuid not null,
  state text not null default 'waiting' check (state in ('waiting', 'failed')),
  failures integer not null default 0,
  since timestamptz not null default clock_timestamp(),
  next_at timestamptz not null,
  status integer,
  primary key (webhook_id, event)
)
-- next
create index if not exists webhook_retries_due on webhook_retries (webhook_id, next_at) where state = 'waiting'
-- next
-- A part of the log that is sent again: its own position and its end.
create table if not exists webhook_replays (
  id uuid primary key,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  types text[],
  first uuid not null,
  last uuid not null,
  stamp bigint not null,
  seq bigint not null,
  n integer not null,
  end_stamp bigint not null,
  end_seq bigint not null,
  sent bigint not null default 0,
  created_at timestamptz not null default now()
)
-- next
create index if not exists webhook_replays_of on webhook_replays (webhook_id, id)
-- next
-- Mails of Herald itself, sealed, until they are handed over.
create table if not exists mails (
  id uuid primary key,
  sealed bytea not null,
  created_at timestamptz not null default now()
)
