-- stepwise, because an index of a table in use is built without a lock. People look through the messages of a template, and through
-- those of it that failed. Only the indexes of the whole tables are created here, as in 0016_recipients.sql.
create index if not exists notifications_by_template on only notifications (template_id, id nulls first)
-- next
create index if not exists states_failed on only states (template_id, status, id nulls first)
  where status in ('permanent-failure', 'temporary-failure', 'technical-failure', 'virus-scan-failed')
