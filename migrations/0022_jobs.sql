-- stepwise, because requests write this table while it is changed. What a job is shown with, and how those of its messages that
-- failed for a time are sent again.
-- rows_from: no message of the job has a lower id; null in jobs of the versions before. columns: headers of the file that the template
-- uses, in order. again_of: the job whose failed rows this one repeats. repeated: the rows that were sent again, a bit each.
alter table jobs add column if not exists rows_from uuid, add column if not exists columns text[],
  add column if not exists again_of uuid, add column if not exists repeated bytea
-- next
drop index concurrently if exists jobs_again
-- next
create index concurrently jobs_again on jobs (again_of) where again_of is not null
