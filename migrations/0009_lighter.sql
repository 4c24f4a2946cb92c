-- What every accepted message pays for: a column that nothing reads, and four statements to count a group of requests.

-- Not written any more; the version before still does, so the column itself goes with a later one.
alter table notifications alter column recipient_digest drop not null;

-- As before, except that expired hits leave, the new one comes and the sum follows in one statement. The lock stays a statement
-- of its own: only what is asked after it sees what whoever held it before has written.
create or replace function count_requests(of_service uuid, of_type text, asked integer, most integer)
returns table (passed integer, remaining integer, free_in double precision) language plpgsql as $$
declare
  moment timestamptz;
  counted integer;
begin
  perform from rates where service_id = of_service and key_type = of_type for update;
  if not found then
    insert into rates (service_id, key_type, in_window) values (of_service, of_type, 0) on conflict do nothing;
    perform from rates where service_id = of_service and key_type = of_type for update;
  end if;
  moment := clock_timestamp();
  with expired as (
    delete from rate_hits
    where service_id = of_service and key_type = of_type and at <= moment - interval '60 seconds'
    returning requests
  ),
  hit as (
    insert into rate_hits (service_id, key_type, at, requests) values (of_service, of_type, moment, asked)
    on conflict (service_id, key_type, at) do update set requests = rate_hits.requests + excluded.requests
  )
  update rates
  set in_window = in_window + asked - (select coalesce(sum(requests), 0) from expired)
  where service_id = of_service and key_type = of_type
  returning in_window into counted;
  passed := greatest(0, least(asked, most - counted + asked));
  remaining := greatest(0, most - counted);
  free_in := 60;
  if passed < asked then
    -- The next request passes when all but (most - 1) of the newest have left the window.
    select extract(epoch from at + interval '60 seconds' - moment) into free_in
    from (select at, sum(requests) over (order by at desc) as newer
          from rate_hits where service_id = of_service and key_type = of_type) hits
    where newer >= greatest(most, 1)
    order by at desc limit 1;
    free_in := coalesce(free_in, 60);
  end if;
  return next;
end
$$;
