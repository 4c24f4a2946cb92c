-- Messages of one recipient can be found again: recipient_digest is written at acceptance from now on. Only the index of the whole
-- table is created here, which reads no rows. New partitions get theirs when they are made; maintenance builds those of the
-- partitions that exist, without a lock.
create index if not exists notifications_by_recipient on only notifications (recipient_digest, id nulls first)
  where recipient_digest is not null;
