-- The request log of a service for its developers, kept for 24 hours: what was called, with which key, and what was answered. A path
-- has ids and no other values; an error is a sentence of ours without values of the caller. A row with `unlisted` stands for that
-- many requests of its class of statuses (200, 400, 500) that were counted and not listed.
create table requests (
  id uuid primary key,
  service_id uuid not null,
  key_id uuid,
  method text,
  path text,
  status smallint not null,
  error text,
  reason text,
  took_ms integer not null default 0,
  unlisted integer,
  check ((unlisted is null) = (path is not null))
);
create index requests_of_service on requests (service_id, id);
create index requests_of_key on requests (service_id, key_id, id);
create index requests_refused on requests (service_id, id) where status >= 400;
