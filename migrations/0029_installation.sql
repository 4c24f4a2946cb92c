-- One row that every machine of an installation checks at its start, because machines that differ lose messages. `sealed` is the id,
-- sealed by the secret. `file_store` is where the contents of files are: null until a process has written there that the store belongs
-- to this installation, and in a restored copy, whose store may be a new one.
create table installation (
  one boolean primary key default true check (one),
  id uuid not null,
  sealed bytea not null,
  file_store text
);
