-- stepwise, so that invitations are not locked while they are checked. An invitation lost its inviter when that person was removed
-- altogether, and then counted as one of the operator at the machine, who invites nobody. It ends with its inviter instead.

-- second step: the new constraint takes the place of the old one in the same statement. A version that removes a person needs neither.
alter table invitations
  drop constraint if exists invitations_invited_by_fkey,
  add constraint invitations_invited_by_fkey foreign key (invited_by) references people (id) on delete cascade not valid
-- next
alter table invitations validate constraint invitations_invited_by_fkey
-- next
-- Versions before 0.3 ended no invitation by someone who can no longer invite, to someone who was removed since they were invited, or
-- to an archived service. They must not work again later.
delete from invitations i
where not exists (select
                  from people p
                  where p.id = i.invited_by
                    and (p.is_operator
                         or exists (select
                                    from users u
                                    where u.person_id = p.id and u.service_id = i.service_id and u.role = 'manager')))
   or exists (select from services s where s.id = i.service_id and s.state = 'archived')
   or exists (select
              from people p
              join audit a on a.at > i.expires_at - interval '7 days'
              where lower(p.email_address) = lower(i.email_address)
                and ((a.action = 'member removed' and a.service_id = i.service_id and a.detail ->> 'person' = p.id::text)
                     or (a.action = 'operator removed' and i.service_id is null and a.subject_id = p.id)))
