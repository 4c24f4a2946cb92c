-- Files of e-mails: what is known of each, and their contents in pieces where PostgreSQL keeps them.

-- One row for each file object of an accepted message. The id is the clock, as everywhere: a link ends seven days after it.
-- Name and content are sealed by a key of the content's own; that key is sealed by the house for what is attached, and by the
-- token of the link for what is linked, so that nobody without the link reads it. Of the token only a digest is here.
create table files (
  id uuid primary key,
  notification_id uuid not null,
  service_id uuid not null,
  position smallint not null,
  method text not null check (method in ('attach', 'link')),
  verdict text not null check (verdict in ('pending', 'clean', 'virus')),
  media_type text not null,
  bytes integer not null,
  sealed_name bytea not null,
  -- Under which id the store has the content, and in how many pieces; two equal files of a message share one.
  content uuid not null,
  pieces smallint not null,
  content_key bytea not null,
  -- The same key sealed by the house, only while a link waits for the scanner.
  scan_key bytea,
  token_digest bytea unique,
  -- The content is no longer in the store.
  emptied boolean not null default false
);
create index files_of_message on files (notification_id);
create index files_kept on files (id) where not emptied;

-- Contents, where no other store is set. Already sealed, so PostgreSQL need not try to compress them.
create table file_pieces (
  content uuid not null,
  n smallint not null,
  sealed bytea not null,
  primary key (content, n)
);
alter table file_pieces alter column sealed set storage external;
