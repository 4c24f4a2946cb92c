-- stepwise, because requests lock these tables in an order of their own. Settings in the console: reply-to addresses are proved by a
-- link before they are used, a service asks to go live, and the team is told why it is suspended.

-- Those that exist, and those that the version before adds, count as verified. The link is that of the last mail to the address.
alter table reply_tos
  add column if not exists verified_at timestamptz default now(),
  add column if not exists link_digest bytea,
  add column if not exists link_expires_at timestamptz
-- next
drop index concurrently if exists reply_tos_by_link
-- next
create unique index concurrently reply_tos_by_link on reply_tos (link_digest) where link_digest is not null
-- next
alter table services add column if not exists suspended_reason text
-- next
-- Requests to go live. The row stays after the decision. `purpose`: what the service sends, and to whom, in the words of its manager;
-- `asked_by`: the person, null: the operator at the command line.
create table if not exists live_requests (
  id uuid primary key,
  service_id uuid not null references services (id),
  purpose text not null,
  email_a_day integer,
  sms_a_day integer,
  asked_by uuid,
  asked_at timestamptz not null default now(),
  decision text check (decision in ('granted', 'declined')),
  reason text,
  decided_by uuid,
  decided_at timestamptz,
  check ((decision is null) = (decided_at is null))
)
-- next
create unique index if not exists one_open_live_request on live_requests (service_id) where decision is null
-- next
create index if not exists live_requests_of_service on live_requests (service_id, asked_at)
