-- stepwise, because statements that log events read this table. Positions in the log carry the timeline of the database server. When
-- an asynchronous standby takes over, the numbers of lost transactions are used again: events would be logged below cursors that readers
-- already have.

-- The timeline of the server when `shift` was set: each later one adds 2^40 to every position. Null: not known, nothing is added.
alter table event_clock add column if not exists timeline bigint
-- next
-- The timeline of this server, from the name of a WAL file: any role may ask, and a promoted server knows it before it accepts its first
-- write. Null: a standby, or a service that replicates below SQL and has no such files.
create or replace function event_timeline() returns bigint language plpgsql stable as $$
begin
  return ('x' || left(pg_walfile_name('0/1'), 8))::bit(32)::bigint;
exception when others then
  -- Such services differ in the error they raise.
  return null;
end
$$
-- next
update event_clock set timeline = event_timeline() where timeline is null
-- next
-- As in 0015, plus the timeline. A version before this one reads `shift` alone, which is the same until another server takes over.
create or replace function event_stamp() returns bigint language plpgsql volatile as $$
begin
  return (
    select shift + greatest(event_timeline() - timeline, 0) * 1099511627776
           + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint + 1)
    from event_clock
  );
end
$$
