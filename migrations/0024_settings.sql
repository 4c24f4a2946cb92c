-- Settings in the console: reply-to addresses are proved by a link before they are used, a service asks to go live, and the team is
-- told why it is suspended.
alter table reply_tos
  -- Those that exist, and those that the version before adds, count as verified.
  add column verified_at timestamptz default now(),
  -- Of the link in the last mail to the address.
  add column link_digest bytea,
  add column link_expires_at timestamptz;
create unique index reply_tos_by_link on reply_tos (link_digest) where link_digest is not null;

alter table services add column suspended_reason text;

-- Requests to go live. The row stays after the decision.
create table live_requests (
  id uuid primary key,
  service_id uuid not null references services (id),
  -- What the service sends, and to whom, in the words of its manager.
  purpose text not null,
  email_a_day integer,
  sms_a_day integer,
  -- The person; null: the operator at the command line.
  asked_by uuid,
  asked_at timestamptz not null default now(),
  decision text check (decision in ('granted', 'declined')),
  reason text,
  decided_by uuid,
  decided_at timestamptz,
  check ((decision is null) = (decided_at is null))
);
create unique index one_open_live_request on live_requests (service_id) where decision is null;
create index live_requests_of_service on live_requests (service_id, asked_at);
