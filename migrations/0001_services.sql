-- Tenants, the people and addresses around them, and the keys they call with.

create table services (
  id uuid primary key,
  name text not null,
  state text not null default 'active' check (state in ('active', 'suspended', 'archived')),
  mode text not null default 'trial' check (mode in ('trial', 'live')),
  may_send_email boolean not null default true,
  may_send_sms boolean not null default true,
  may_send_international boolean not null default true,
  may_send_files boolean not null default true,
  sms_prefix boolean not null default true,
  mailbox text not null,
  email_daily_limit integer check (email_daily_limit >= 0),
  sms_daily_limit integer check (sms_daily_limit >= 0),
  rate_limit integer check (rate_limit >= 0),
  email_retention_days integer not null default 7 check (email_retention_days between 1 and 365),
  sms_retention_days integer not null default 7 check (sms_retention_days between 1 and 365),
  created_at timestamptz not null default now(),
  updated_at timestamptz
);

create table users (
  id uuid primary key,
  service_id uuid not null references services (id),
  name text not null,
  email_address text not null,
  phone_number text,
  created_at timestamptz not null default now(),
  unique (service_id, email_address)
);

create table reply_tos (
  id uuid primary key,
  service_id uuid not null references services (id),
  email_address text not null,
  is_default boolean not null default false,
  archived boolean not null default false,
  created_at timestamptz not null default now()
);
create index reply_tos_of_service on reply_tos (service_id);
create unique index one_default_reply_to on reply_tos (service_id) where is_default and not archived;

create table senders (
  id uuid primary key,
  service_id uuid not null references services (id),
  sender text not null,
  is_default boolean not null default false,
  archived boolean not null default false,
  created_at timestamptz not null default now()
);
create index senders_of_service on senders (service_id);
create unique index one_default_sender on senders (service_id) where is_default and not archived;

create table safelist (
  id uuid primary key,
  service_id uuid not null references services (id),
  recipient text not null,
  created_at timestamptz not null default now(),
  unique (service_id, recipient)
);

create table folders (
  id uuid primary key,
  service_id uuid not null references services (id),
  name text not null,
  created_at timestamptz not null default now(),
  unique (id, service_id)
);
create index folders_of_service on folders (service_id);

-- The secret is shown once. Its digest finds the key, its sealed form checks signed tokens; neither can be read without
-- the sealing secret, which is not in this database.
create table keys (
  id uuid primary key,
  service_id uuid not null references services (id),
  name text not null,
  key_type text not null check (key_type in ('normal', 'team', 'test')),
  manage_templates boolean not null default false,
  secret_digest bytea not null unique,
  secret_sealed bytea not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index keys_of_service on keys (service_id);

-- A sealed word of ours: a start with the wrong secret must fail at once, not when the first message is opened.
create table seal_checks (
  secret_id bytea primary key,
  sealed bytea not null,
  created_at timestamptz not null default now()
);

-- Every process keeps what it read of a service for a few seconds. Whatever changes here, by whatever hand, is told to
-- all of them in the moment of the commit, with the id of the service whose copies are stale.
create function tell_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'services' then
    perform pg_notify('herald_changes', coalesce(new.id, old.id)::text);
  else
    perform pg_notify('herald_changes', coalesce(new.service_id, old.service_id)::text);
  end if;
  return null;
end
$$;

create trigger tell_change after insert or update or delete on services for each row execute function tell_change();
create trigger tell_change after insert or update or delete on users for each row execute function tell_change();
create trigger tell_change after insert or update or delete on reply_tos for each row execute function tell_change();
create trigger tell_change after insert or update or delete on senders for each row execute function tell_change();
create trigger tell_change after insert or update or delete on safelist for each row execute function tell_change();
create trigger tell_change after insert or update or delete on folders for each row execute function tell_change();
-- Not for last_used_at, which changes all day.
create trigger tell_change after insert or delete or update of name, key_type, manage_templates, expires_at, revoked_at on keys
  for each row execute function tell_change();
