-- What providers took and what they told later, and the inbox of the provider that sends nothing.

-- Which message a provider means when it speaks of its own reference. Only for providers that report.
create table handovers (
  provider text not null,
  ref text not null,
  id uuid not null,
  at timestamptz not null default now(),
  primary key (provider, ref)
);
create index handovers_by_age on handovers (at);

-- Receipts are stored first and applied later; the same piece of news is stored once.
create table receipts (
  id uuid primary key,
  provider text not null,
  event_id text not null,
  ref text not null,
  at timestamptz,
  result text not null,
  detail text,
  response text,
  received_at timestamptz not null default now(),
  unique (provider, event_id)
);
create index receipts_by_age on receipts (received_at);
-- Older news of the same message counts first, also when it had to wait until the message was known.
create index receipts_of_message on receipts (provider, ref);

-- What would have been sent, where no provider is configured: sealed like the message itself.
create table inbox (
  id uuid primary key,
  channel text not null,
  sealed bytea not null
);

-- The moment an id of ours was made.
create function uuid_time(id uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x' || lpad(replace(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)
$$;
