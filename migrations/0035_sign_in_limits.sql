-- stepwise, because it creates an index. The limits at sign-in only delay and merge mails to one address, and passkey challenges are
-- tokens that leave a row only when they were used.

-- Links whose mail is merged with others: when that mail is sent. All rows of one person with the same time share its link, each for
-- the browser that asked.
alter table sign_in_links add column if not exists mail_at timestamptz
-- next
drop index concurrently if exists sign_in_links_merged
-- next
create index concurrently sign_in_links_merged on sign_in_links (person_id, mail_at) where mail_at is not null
-- next
-- Passkey challenges that were answered, until they would have expired: none is answered twice.
create table if not exists spent_challenges (
  id uuid primary key,
  expires_at timestamptz not null
)
-- next
create index if not exists spent_challenges_by_age on spent_challenges (expires_at)
