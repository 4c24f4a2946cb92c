-- stepwise, because the indexes of a table in use are built without a lock. The inbox belongs to services: a row names its service and
-- the type of its key, and its content is rendered from the message when it is viewed. Only mails of Herald itself, which have no
-- message, are still stored sealed. Rows of earlier versions have no service and are for operators. Messages of test keys have rows
-- now, too; the newest ones of each service get theirs here.
alter table inbox
  alter column sealed drop not null,
  add column if not exists service_id uuid,
  add column if not exists key_type text,
  add column if not exists recipient_digest bytea,
  add column if not exists seen_at timestamptz
-- next
drop index concurrently if exists inbox_of_service
-- next
create index concurrently inbox_of_service on inbox (service_id, key_type, channel, id)
-- next
drop index concurrently if exists inbox_by_recipient
-- next
create index concurrently inbox_by_recipient on inbox (recipient_digest, key_type, id) where recipient_digest is not null
-- next
insert into inbox (id, channel, service_id, key_type, recipient_digest)
select n.id, n.channel, n.service_id, n.key_type, n.recipient_digest
from services v
cross join unnest(array['email', 'sms']) as c (channel)
cross join unnest(array[false, true]) as j (in_job)
cross join unnest(array['delivered', 'temporary-failure', 'permanent-failure']) as t (status)
cross join lateral (
  select s.id
  from states s
  where s.service_id = v.id
    and s.key_type = 'test'
    and s.channel = c.channel
    and s.in_job = j.in_job
    and s.status = t.status
  order by s.id desc nulls last
  limit 200
) w
cross join lateral (select * from notifications where id = w.id limit 1) n
on conflict do nothing
