-- stepwise: files are looked at when a look may find something, no longer all of them each minute; and uploads are written down
-- before they begin, so that those which never became part of a message can be found and removed.

-- When it is next asked whether the message is over; null: the content stays until the file's age ends it, or is gone.
alter table files add column if not exists look_at timestamptz default now();
-- next
update files set look_at = null where emptied;
-- next
drop index concurrently if exists files_to_look_at;
-- next
create index concurrently files_to_look_at on files (look_at) where look_at is not null;
-- next
drop index concurrently if exists files_kept;
-- next
-- Contents on their way into a store outside the database. The commit that accepts the message deletes the row.
create table if not exists uploads (
  content uuid primary key,
  pieces smallint not null,
  begun_at timestamptz not null default now()
);
