-- stepwise. The first `begun` subjects of a ticket may have been handed over since the results of its last takes were cleared up. It is
-- true while `known` is `takes`: a version that does not know these columns takes a ticket without changing `known`, and then any of the
-- subjects may have been handed over.
alter table tickets add column if not exists begun integer not null default 0, add column if not exists known integer not null default 0;
-- next
-- How often the work failed, apart from `attempts`, which counts deferrals; and when a deferral was first recorded.
alter table tickets add column if not exists faults integer not null default 0, add column if not exists tried_at timestamptz
