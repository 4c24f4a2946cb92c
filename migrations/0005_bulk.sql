-- Bulk jobs: what was asked for, the rows that wait to become messages, and how far their messages are.

create table jobs (
  id uuid primary key,
  service_id uuid not null,
  key_id uuid,
  key_name text,
  key_type text not null,
  name text not null,
  channel text not null,
  template_id uuid not null,
  template_version integer not null,
  sender_id uuid,
  notification_count integer not null,
  -- How many of them count against the daily allowance.
  counted integer not null,
  day date not null,
  lane text not null,
  status text not null check (status in ('pending', 'in progress', 'finished', 'cancelled', 'sending limits exceeded', 'error')),
  chunks_left integer not null,
  scheduled_for timestamptz,
  processing_started timestamptz,
  processing_finished timestamptz,
  updated_at timestamptz
);
create index jobs_of_service on jobs (service_id, id);

-- Up to 500 rows of a job, sealed, until they have become messages.
create table chunks (
  id uuid primary key,
  job_id uuid not null references jobs (id),
  sealed bytea not null
);
create index chunks_of_job on chunks (job_id);

-- A job's messages by status, kept by every move; they stay when the messages are gone.
create table job_counts (
  job_id uuid not null,
  status text not null,
  messages integer not null,
  primary key (job_id, status)
) with (fillfactor = 50);
