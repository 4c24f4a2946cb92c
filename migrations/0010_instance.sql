-- An id for this installation, so that doctor can tell it from another Herald on the same port. A restored copy gets a new one
-- (recogniseCopy).
alter table sending add column instance uuid not null default gen_random_uuid();
