-- Messages and their states, the queue that serves them, and the limits they count against.

-- What was accepted, and never changes. The id is the clock: it orders the pages and names the day's partition.
-- Recipient and values are sealed; the digest finds the messages of one recipient without opening any.
create table notifications (
  id uuid primary key,
  service_id uuid not null,
  key_id uuid,
  key_type text not null check (key_type in ('normal', 'team', 'test')),
  channel text not null check (channel in ('email', 'sms')),
  in_job boolean not null,
  job_id uuid,
  job_row integer,
  template_id uuid not null,
  template_version integer not null,
  lane text not null,
  reference text,
  sender_id uuid,
  scheduled_for timestamptz,
  is_international boolean not null,
  sealed bytea not null,
  recipient_digest bytea not null
) partition by range (id);
-- Nulls first, though there are none: an order that the primary key does not have. A planner who believes that nearly all rows
-- are asked for would otherwise walk down the primary key, and read a week when there is nothing to be found.
create index notifications_listed on notifications (service_id, key_type, channel, in_job, id nulls first);
-- By the digest: a reference of 1,000 characters can be too long for an index.
create index notifications_by_reference on notifications (service_id, key_type, md5(reference), id nulls first)
  where reference is not null;

-- What changes. A narrow row of its own: a move rewrites this instead of the message (measured: docs/decisions.md).
create table states (
  id uuid primary key,
  service_id uuid not null,
  key_type text not null,
  channel text not null,
  in_job boolean not null,
  job_id uuid,
  status text not null check (status in ('created', 'sending', 'sent', 'pending', 'delivered', 'permanent-failure',
    'temporary-failure', 'technical-failure', 'pending-virus-check', 'virus-scan-failed', 'cancelled')),
  sent_at timestamptz,
  completed_at timestamptz,
  provider text,
  provider_response text,
  failure_detail text,
  -- Provider's time of the receipt that counts now: receipts are applied by it, not by arrival.
  receipt_at timestamptz,
  -- How often a hand-over was begun, and whether one of them may have succeeded without our knowing.
  attempts integer not null default 0,
  uncertain boolean not null default false,
  -- The status before this one: whoever moves a message learns from it what the job's counters lose.
  was text,
  -- Every status so far, in order: what happened to a message can be read from its row.
  moves text[] not null default '{created}',
  check ((completed_at is not null) = (status in ('sent', 'delivered', 'permanent-failure', 'temporary-failure',
    'technical-failure', 'virus-scan-failed', 'cancelled')))
) partition by range (id);
create index states_listed on states (service_id, key_type, channel, in_job, status, id nulls first);

-- "These subjects are due in this lane": up to 500 messages of one service, accepted together. Deleted when settled.
-- A scheduled message has a ticket of its own, with its own id, so that cancelling is taking that ticket away.
-- attempts: hand-overs that were answered with "not now". takes: leases since the last answer; a ticket that ends the process
-- each time it is taken is known by them.
create table tickets (
  id uuid primary key,
  lane text not null,
  service_id uuid not null,
  subjects uuid[] not null check (cardinality(subjects) between 1 and 500),
  due_at timestamptz not null,
  attempts integer not null default 0,
  takes integer not null default 0,
  owner uuid,
  leased_until timestamptz
) with (fillfactor = 70);
create index tickets_next on tickets (lane, due_at) where owner is null;
create index tickets_by_service on tickets (lane, service_id, due_at) where owner is null;
create index tickets_leased on tickets (leased_until) where owner is not null;

-- Daily allowance, by the UTC day on which messages are due. granted: how many of the last request were allowed.
create table usage (
  service_id uuid not null,
  channel text not null,
  day date not null,
  used integer not null,
  granted integer not null,
  most integer not null,
  primary key (service_id, channel, day)
) with (fillfactor = 50);

-- Requests of the last 60 seconds: a running sum, and the hits that will leave it one by one.
create table rates (
  service_id uuid not null,
  key_type text not null,
  in_window integer not null,
  primary key (service_id, key_type)
) with (fillfactor = 50);
create table rate_hits (
  service_id uuid not null,
  key_type text not null,
  at timestamptz not null,
  requests integer not null,
  primary key (service_id, key_type, at)
);

-- Counts requests of one moment and says how many of them are within the limit. Exact across processes, because the row in
-- rates is locked while it is decided; cheap, because a hit is written once and leaves once.
create function count_requests(of_service uuid, of_type text, asked integer, most integer)
returns table (passed integer, remaining integer, free_in double precision) language plpgsql as $$
declare
  counted integer;
  gone integer;
  moment timestamptz;
begin
  select in_window into counted from rates where service_id = of_service and key_type = of_type for update;
  if not found then
    insert into rates (service_id, key_type, in_window) values (of_service, of_type, 0) on conflict do nothing;
    select in_window into counted from rates where service_id = of_service and key_type = of_type for update;
  end if;
  moment := clock_timestamp();
  with expired as (
    delete from rate_hits
    where service_id = of_service and key_type = of_type and at <= moment - interval '60 seconds'
    returning requests
  )
  select coalesce(sum(requests), 0) into gone from expired;
  counted := counted - gone;
  passed := greatest(0, least(asked, most - counted));
  remaining := greatest(0, most - counted - asked);
  insert into rate_hits (service_id, key_type, at, requests) values (of_service, of_type, moment, asked)
  on conflict (service_id, key_type, at) do update set requests = rate_hits.requests + excluded.requests;
  update rates set in_window = counted + asked where service_id = of_service and key_type = of_type;
  if passed < asked then
    -- The next request passes when all but (most - 1) of the newest have left the window.
    select extract(epoch from at + interval '60 seconds' - moment) into free_in
    from (select at, sum(requests) over (order by at desc) as newer
          from rate_hits where service_id = of_service and key_type = of_type) hits
    where newer >= greatest(most, 1)
    order by at desc limit 1;
    free_in := coalesce(free_in, 60);
  else
    free_in := 60;
  end if;
  return next;
end
$$;

-- The first answer to an Idempotency-Key, sealed: the same request again gets it again, and sends nothing.
create table replays (
  service_id uuid not null,
  key_digest bytea not null,
  request_digest bytea not null,
  status integer not null,
  answer bytea not null,
  created_at timestamptz not null default now(),
  primary key (service_id, key_digest)
);
create index replays_by_age on replays (created_at);
