-- Recipient files that people upload in the console: kept for seven days at most, until they are sent or removed.
create table sheets (
  id uuid primary key,
  service_id uuid not null,
  person_id uuid not null,
  template_id uuid not null,
  state text not null
    check (state in ('receiving', 'received', 'reading', 'ready', 'unreadable', 'sent')),
  origin text not null
    check (origin in ('file', 'pasted')),
  -- Sealed: the name of the file; then the header and the names of the sheets, as JSON.
  name bytea not null,
  head bytea,
  bytes integer not null default 0,
  format text,
  encoding text,
  delimiter text,
  -- Why it cannot be read.
  problem jsonb,
  row_count integer not null default 0,
  blank_rows integer not null default 0,
  -- What the columns are used for, when a person has changed it.
  match jsonb,
  -- Lines of rows that are not sent, because they have problems.
  left_out integer[] not null default '{}',
  job_id uuid,
  leased_at timestamptz,
  created_at timestamptz not null default now()
);
create index sheets_of_person on sheets (service_id, person_id, id);
create index sheets_by_age on sheets (created_at);

-- The uploaded bytes until they are read (piece), then the rows (rows). Both sealed.
create table sheet_chunks (
  sheet_id uuid not null references sheets (id) on delete cascade,
  part text not null
    check (part in ('piece', 'rows')),
  -- Of the piece; or of the first row, from 0.
  position integer not null,
  -- The number of each row in the file.
  lines integer[],
  sealed bytea not null,
  primary key (sheet_id, part, position)
);
alter table sheet_chunks alter column sealed set storage external;
