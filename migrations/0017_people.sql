-- stepwise, because requests lock these tables in an order of their own. People sign in to the console; team members become people
-- with a role in the service.

-- A person is known by the address. Operators manage the installation.
create table if not exists people (
  id uuid primary key,
  email_address text not null,
  name text not null,
  is_operator boolean not null default false,
  -- What the console shows them in; null: not chosen yet.
  time_zone text,
  theme text not null default 'auto' check (theme in ('auto', 'light', 'dark')),
  -- Whether single letters are shortcuts.
  shortcuts boolean not null default true,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz
)
-- next
create unique index if not exists people_by_address on people (lower(email_address))
-- next
alter table users add column if not exists person_id uuid references people (id)
-- next
alter table users add column if not exists role text not null default 'viewer'
  check (role in ('viewer', 'author', 'sender', 'developer', 'manager'))
-- next
-- The version before adds team members without a person: the row then gets the person with its address, who is made if needed.
create or replace function person_of_user() returns trigger language plpgsql as $$
begin
  if new.person_id is null then
    insert into people (id, email_address, name) values (gen_random_uuid(), new.email_address, new.name)
    on conflict (lower(email_address)) do nothing;
    select id into new.person_id from people where lower(email_address) = lower(new.email_address);
  end if;
  return new;
end
$$
-- next
create or replace trigger person_of_user before insert on users for each row execute function person_of_user()
-- next
insert into people (id, email_address, name)
select distinct on (lower(email_address)) gen_random_uuid(), email_address, name
from users
where person_id is null
order by lower(email_address), created_at, id
on conflict (lower(email_address)) do nothing
-- next
update users u set person_id = p.id from people p where u.person_id is null and lower(p.email_address) = lower(u.email_address)
-- next
drop index concurrently if exists users_of_person
-- next
create index concurrently users_of_person on users (person_id)
-- next
-- The token is in a cookie; here is its digest. `signed_in_at` is the last proof of who it is; sensitive acts want a recent one.
create table if not exists sessions (
  id uuid primary key,
  person_id uuid not null references people (id) on delete cascade,
  token_digest bytea not null unique,
  method text not null check (method in ('link', 'passkey', 'single-sign-on')),
  -- Browser and system in words, such as "Firefox on Linux".
  device text not null,
  created_at timestamptz not null default now(),
  signed_in_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
)
-- next
create index if not exists sessions_of_person on sessions (person_id)
-- next
create index if not exists sessions_by_age on sessions (created_at)
-- next
-- One-time links. `browser_digest` is of the cookie of the browser that asked; null: printed for an operator at the machine.
create table if not exists sign_in_links (
  id uuid primary key,
  person_id uuid not null references people (id) on delete cascade,
  token_digest bytea not null unique,
  browser_digest bytea,
  -- Where it leads after signing in: a path of the console.
  return_to text,
  expires_at timestamptz not null,
  used_at timestamptz
)
-- next
create index if not exists sign_in_links_by_age on sign_in_links (expires_at)
-- next
-- What an answer of a passkey or of a single sign-on provider is checked against. Deleted when it is used.
create table if not exists sign_in_challenges (
  id uuid primary key,
  kind text not null check (kind in ('passkey-added', 'passkey-used', 'single-sign-on')),
  person_id uuid references people (id) on delete cascade,
  browser_digest bytea not null,
  sealed bytea not null,
  expires_at timestamptz not null
)
-- next
create index if not exists sign_in_challenges_by_age on sign_in_challenges (expires_at)
-- next
create table if not exists passkeys (
  id uuid primary key,
  person_id uuid not null references people (id) on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null default 0,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
)
-- next
create index if not exists passkeys_of_person on passkeys (person_id)
-- next
-- Who a person is at a single sign-on provider.
create table if not exists identities (
  issuer text not null,
  subject text not null,
  person_id uuid not null references people (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
)
-- next
create index if not exists identities_of_person on identities (person_id)
-- next
-- `service_id` null: an operator of the installation is invited.
create table if not exists invitations (
  id uuid primary key,
  service_id uuid references services (id),
  email_address text not null,
  role text check (role in ('viewer', 'author', 'sender', 'developer', 'manager')),
  token_digest bytea not null unique,
  invited_by uuid references people (id) on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
)
-- next
create unique index if not exists invitations_of_service on invitations (service_id, lower(email_address)) nulls not distinct
-- next
create index if not exists invitations_by_age on invitations (expires_at)
-- next
-- How often somebody tried to sign in: per address, per network and for the installation, as keyed digests.
create table if not exists sign_in_tries (
  subject bytea primary key,
  tries integer not null,
  since timestamptz not null
)
-- next
create index if not exists sign_in_tries_by_age on sign_in_tries (since)
-- next
-- Values for the preview of a template. They may be personal, so they are sealed.
create table if not exists template_samples (
  template_id uuid primary key,
  service_id uuid not null,
  sealed bytea not null,
  updated_at timestamptz not null default now()
)
-- next
-- What a person is writing, for the frame of the preview: the last ones for each person and template; saving deletes them.
create table if not exists template_drafts (
  id uuid primary key,
  template_id uuid not null,
  person_id uuid not null references people (id) on delete cascade,
  sealed bytea not null,
  created_at timestamptz not null default now()
)
-- next
create index if not exists template_drafts_of on template_drafts (person_id, template_id, id)
-- next
alter table folders add column if not exists parent_id uuid references folders (id)
-- next
-- Entries about the installation, such as a new operator, belong to no service.
alter table audit alter column service_id drop not null
