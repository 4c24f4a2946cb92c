-- stepwise, because an index of a table in use is built without a lock. Messages of one recipient can be found again, and who
-- cancelled a message: recipient_digest is written at acceptance from now on. Of notifications only the index of the whole table is
-- created here, which reads no rows. New partitions get theirs when they are made; maintenance builds those of the partitions that
-- exist.
create index if not exists notifications_by_recipient on only notifications (recipient_digest, id nulls first)
  where recipient_digest is not null
-- next
drop index concurrently if exists audit_of_subject
-- next
create index concurrently audit_of_subject on audit (subject_id)
