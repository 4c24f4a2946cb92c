-- Contract 22.17 and 22.18: a service may have a home country of its own, and a text sender has one spelling.

-- Null: the installation's. Its numbers are not international, and numbers without a country code are read in it.
alter table services add column home_country text check (home_country ~ '^[A-Z]{2}$');

-- Until now a number of the North American plan was kept as it was typed when it came without signs: 6135550199 and
-- +16135550199 were two senders.
update senders
set sender = '+1' || right(sender, 10)
where sender ~ '^1?[2-9][0-9]{2}[2-9][0-9]{6}$';

-- Of several that are now the same, the default stays, else the oldest. The others are kept for the messages that name them.
with ranked as (
  select id, row_number() over (partition by service_id, lower(sender) order by is_default desc, created_at, id) as rank
  from senders
  where not archived
)
update senders
set archived = true, is_default = false
from ranked
where senders.id = ranked.id
  and ranked.rank > 1;
