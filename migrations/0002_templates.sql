-- Templates are heads that change; versions never do, so messages and jobs can name one for ever.

create table template_categories (
  id uuid primary key,
  position integer not null unique,
  name text not null,
  lane text not null check (lane in ('high', 'medium', 'low')),
  hidden boolean not null default false
);

insert into template_categories (id, position, name, lane)
values
  ('207b293c-2ae5-48e8-836d-fcabd60b2153', 1, 'General communication', 'low'),
  ('977e2a00-f957-4ff0-92f2-ca3286b24786', 2, 'Confirmation', 'high'),
  ('e81678c0-4897-4111-b9d0-172f6b595f89', 3, 'Decision', 'low'),
  ('e0b8fbe5-f435-4977-8fc8-03f13d9296a5', 4, 'Request', 'medium'),
  ('b6c42a7e-2a26-4a07-802b-123a5c3198a9', 5, 'Authentication', 'high'),
  ('55eb1137-6dc6-4094-9031-f61124a279dc', 6, 'Status update', 'medium'),
  ('7c16aa95-e2e1-4497-81d6-04c656520fe4', 7, 'Test', 'low'),
  ('1d8ce435-a7e5-431b-aaa2-a418bc4d14f9', 8, 'Alert', 'medium'),
  ('edb966f3-4a4c-47a4-96ab-05ff259b919c', 9, 'Reminder', 'medium');

create table templates (
  id uuid primary key,
  service_id uuid not null references services (id),
  type text not null check (type in ('email', 'sms')),
  version integer not null,
  folder_id uuid,
  archived boolean not null default false,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz,
  foreign key (folder_id, service_id) references folders (id, service_id)
);
create index templates_of_service on templates (service_id) where not archived;

create table template_versions (
  template_id uuid not null references templates (id),
  version integer not null check (version > 0),
  name text not null,
  content text not null,
  subject text,
  category_id uuid not null references template_categories (id),
  created_by text not null,
  made_at timestamptz not null,
  primary key (template_id, version)
);

create trigger tell_change after insert or update or delete on templates for each row execute function tell_change();
