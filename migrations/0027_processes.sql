-- The processes that run, for the system page and doctor: each writes its row every five seconds and deletes it when it stops. Tests of
-- a provider wait here for a process with an engine, for half a minute; recipient and answer are sealed, and go within the hour.
-- Unlogged: the rows are worth nothing after a crash or a failover, and running processes write them again within five seconds. A
-- commit that writes nothing else does not wait for a synchronous standby, so the page shows what runs also while a standby is missing.
create unlogged table processes (
  id uuid primary key,
  name text not null,
  version text not null,
  runs text[] not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  leads_since timestamptz,
  in_flight jsonb not null,
  providers jsonb not null
);
create index processes_by_seen_at on processes (seen_at);

create unlogged table provider_tests (
  id uuid primary key,
  channel text not null,
  provider text not null,
  recipient bytea,
  asked_at timestamptz not null default clock_timestamp(),
  taken_by text,
  answer bytea
);
create index provider_tests_by_asked_at on provider_tests (asked_at);
