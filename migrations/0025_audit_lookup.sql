-- stepwise, because the table may be large: the audit log is read by time and by who did it.
create index concurrently if not exists audit_by_time on audit (at)
-- next
create index concurrently if not exists audit_by_actor on audit (actor_id, id)
