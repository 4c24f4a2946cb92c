-- The language that the console shows a person; auto: the browser's.
alter table people add column language text not null default 'auto' check (language in ('auto', 'en', 'fr'))
