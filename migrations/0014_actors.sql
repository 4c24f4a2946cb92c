-- stepwise, so that the table is not locked while its rows are checked. Who did it: a key, a person, or the operator at the
-- command line. Rows that exist, and rows that the version before still adds, have none of it: there a key_id means a key, and its
-- absence the operator. They stay as they were written.
alter table audit
  add column if not exists actor_kind text,
  -- Of a key or a person. Names of people are not kept here.
  add column if not exists actor_id uuid,
  -- Of an operator: the system account on the machine where the command ran.
  add column if not exists actor_name text
-- next
do $$
begin
  if not exists (select from pg_constraint where conname = 'audit_actor' and conrelid = 'audit'::regclass) then
    alter table audit add constraint audit_actor check (
      case actor_kind
        when 'key' then actor_id is not null and key_id is not distinct from actor_id and actor_name is null
        when 'person' then actor_id is not null and key_id is null and actor_name is null
        when 'operator' then actor_id is null and key_id is null and actor_name is not null
        else actor_kind is null and actor_id is null and actor_name is null
      end) not valid;
  end if;
end
$$
-- next
alter table audit validate constraint audit_actor
