-- Made by npm run generate from the migrations; do not edit.

create table audit (
  id bigint not null,
  at timestamp with time zone not null default now(),
  service_id uuid,
  key_id uuid,
  action text not null,
  subject_id uuid not null,
  detail jsonb,
  actor_kind text,
  actor_id uuid,
  actor_name text,
  constraint audit_pkey PRIMARY KEY (id),
  constraint audit_actor CHECK (
CASE actor_kind
    WHEN 'key'::text THEN ((actor_id IS NOT NULL) AND (NOT (key_id IS DISTINCT FROM actor_id)) AND (actor_name IS NULL))
    WHEN 'person'::text THEN ((actor_id IS NOT NULL) AND (key_id IS NULL) AND (actor_name IS NULL))
    WHEN 'operator'::text THEN ((actor_id IS NULL) AND (key_id IS NULL) AND (actor_name IS NOT NULL))
    ELSE ((actor_kind IS NULL) AND (actor_id IS NULL) AND (actor_name IS NULL))
END)
);

create table chunks (
  id uuid not null,
  job_id uuid not null,
  sealed bytea not null,
  constraint chunks_pkey PRIMARY KEY (id),
  constraint chunks_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id)
);

create table event_clock (
  one boolean not null default true,
  shift bigint not null,
  timeline bigint,
  constraint event_clock_pkey PRIMARY KEY (one),
  constraint event_clock_one_check CHECK (one)
);

create table events (
  id uuid not null,
  stamp bigint not null,
  seq bigint not null default nextval('events_seq'::regclass),
  service_id uuid not null,
  key_type text not null,
  channel text,
  type text not null,
  at timestamp with time zone not null default clock_timestamp(),
  subjects uuid[] not null,
  size integer not null default cardinality(subjects),
  cause text not null,
  provider text,
  response text,
  detail text,
  uncertain boolean not null default false,
  took integer[],
  delays real[],
  times timestamp with time zone[],
  sealed bytea,
  constraint events_pkey PRIMARY KEY (id),
  constraint events_subjects_check CHECK (((cardinality(subjects) >= 1) AND (cardinality(subjects) <= 65536)))
) partition by RANGE (id);

create table file_pieces (
  content uuid not null,
  n smallint not null,
  sealed bytea not null,
  constraint file_pieces_pkey PRIMARY KEY (content, n)
);

create table files (
  id uuid not null,
  notification_id uuid not null,
  service_id uuid not null,
  "position" smallint not null,
  method text not null,
  verdict text not null,
  media_type text not null,
  bytes integer not null,
  sealed_name bytea not null,
  content uuid not null,
  pieces smallint not null,
  content_key bytea not null,
  scan_key bytea,
  token_digest bytea,
  emptied boolean not null default false,
  look_at timestamp with time zone default now(),
  constraint files_token_digest_key UNIQUE (token_digest),
  constraint files_pkey PRIMARY KEY (id),
  constraint files_method_check CHECK ((method = ANY (ARRAY['attach'::text, 'link'::text]))),
  constraint files_verdict_check CHECK ((verdict = ANY (ARRAY['pending'::text, 'clean'::text, 'virus'::text])))
);

create table folders (
  id uuid not null,
  service_id uuid not null,
  name text not null,
  created_at timestamp with time zone not null default now(),
  parent_id uuid,
  constraint folders_id_service_id_key UNIQUE (id, service_id),
  constraint folders_pkey PRIMARY KEY (id),
  constraint folders_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES folders(id),
  constraint folders_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id)
);

create table handovers (
  provider text not null,
  ref text not null,
  id uuid not null,
  at timestamp with time zone not null default now(),
  constraint handovers_pkey PRIMARY KEY (provider, ref)
);

create table hourly_changes (
  service_id uuid not null,
  hour integer not null,
  channel text not null,
  key_type text not null,
  template_id uuid not null,
  status text not null,
  took smallint not null,
  messages integer not null,
  key_id uuid,
  parts integer not null default 0,
  parted integer not null default 0
);

create table hourly_counts (
  service_id uuid not null,
  hour integer not null,
  channel text not null,
  key_type text not null,
  status text not null,
  took smallint not null,
  messages integer not null,
  parts integer not null default 0,
  parted integer not null default 0,
  constraint hourly_counts_pkey PRIMARY KEY (service_id, hour, channel, key_type, status, took)
);

create table identities (
  issuer text not null,
  subject text not null,
  person_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint identities_pkey PRIMARY KEY (issuer, subject),
  constraint identities_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table inbox (
  id uuid not null,
  channel text not null,
  sealed bytea,
  service_id uuid,
  key_type text,
  recipient_digest bytea,
  seen_at timestamp with time zone,
  constraint inbox_pkey PRIMARY KEY (id)
);

create table installation (
  one boolean not null default true,
  id uuid not null,
  sealed bytea not null,
  file_store text,
  constraint installation_pkey PRIMARY KEY (one),
  constraint installation_one_check CHECK (one)
);

create table invitations (
  id uuid not null,
  service_id uuid,
  email_address text not null,
  role text,
  token_digest bytea not null,
  invited_by uuid,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitations_token_digest_key UNIQUE (token_digest),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES people(id) ON DELETE CASCADE,
  constraint invitations_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'author'::text, 'sender'::text, 'developer'::text, 'manager'::text])))
);

create table job_counts (
  job_id uuid not null,
  status text not null,
  messages integer not null,
  constraint job_counts_pkey PRIMARY KEY (job_id, status)
);

create table jobs (
  id uuid not null,
  service_id uuid not null,
  key_id uuid,
  key_name text,
  key_type text not null,
  name text not null,
  channel text not null,
  template_id uuid not null,
  template_version integer not null,
  sender_id uuid,
  notification_count integer not null,
  counted integer not null,
  day date not null,
  lane text not null,
  status text not null,
  chunks_left integer not null,
  scheduled_for timestamp with time zone,
  processing_started timestamp with time zone,
  processing_finished timestamp with time zone,
  updated_at timestamp with time zone,
  rows_from uuid,
  columns text[],
  again_of uuid,
  repeated bytea,
  constraint jobs_pkey PRIMARY KEY (id),
  constraint jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in progress'::text, 'finished'::text, 'cancelled'::text, 'sending limits exceeded'::text, 'error'::text])))
);

create table key_counts (
  service_id uuid not null,
  day integer not null,
  key_id uuid not null,
  key_type text not null,
  status text not null,
  messages integer not null,
  parts integer not null,
  parted integer not null,
  constraint key_counts_pkey PRIMARY KEY (service_id, day, key_id, key_type, status)
);

create table keys (
  id uuid not null,
  service_id uuid not null,
  name text not null,
  key_type text not null,
  manage_templates boolean not null default false,
  secret_digest bytea not null,
  secret_sealed bytea not null,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  manage_webhooks boolean not null default false,
  constraint keys_secret_digest_key UNIQUE (secret_digest),
  constraint keys_pkey PRIMARY KEY (id),
  constraint keys_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint keys_key_type_check CHECK ((key_type = ANY (ARRAY['normal'::text, 'team'::text, 'test'::text])))
);

create table live_requests (
  id uuid not null,
  service_id uuid not null,
  purpose text not null,
  email_a_day integer,
  sms_a_day integer,
  asked_by uuid,
  asked_at timestamp with time zone not null default now(),
  decision text,
  reason text,
  decided_by uuid,
  decided_at timestamp with time zone,
  constraint live_requests_pkey PRIMARY KEY (id),
  constraint live_requests_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint live_requests_check CHECK (((decision IS NULL) = (decided_at IS NULL))),
  constraint live_requests_decision_check CHECK ((decision = ANY (ARRAY['granted'::text, 'declined'::text])))
);

create table mails (
  id uuid not null,
  sealed bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint mails_pkey PRIMARY KEY (id)
);

create table migrations (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
);

create table notifications (
  id uuid not null,
  service_id uuid not null,
  key_id uuid,
  key_type text not null,
  channel text not null,
  in_job boolean not null,
  job_id uuid,
  job_row integer,
  template_id uuid not null,
  template_version integer not null,
  lane text not null,
  reference text,
  sender_id uuid,
  scheduled_for timestamp with time zone,
  is_international boolean not null,
  sealed bytea not null,
  recipient_digest bytea,
  constraint notifications_pkey PRIMARY KEY (id)
) partition by RANGE (id);

create table passkeys (
  id uuid not null,
  person_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null default 0,
  transports text[] not null default '{}'::text[],
  name text not null,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table people (
  id uuid not null,
  email_address text not null,
  name text not null,
  is_operator boolean not null default false,
  time_zone text,
  theme text not null default 'auto'::text,
  shortcuts boolean not null default true,
  created_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone,
  language text not null default 'auto'::text,
  constraint people_pkey PRIMARY KEY (id),
  constraint people_language_check CHECK ((language = ANY (ARRAY['auto'::text, 'en'::text, 'fr'::text]))),
  constraint people_theme_check CHECK ((theme = ANY (ARRAY['auto'::text, 'light'::text, 'dark'::text])))
);

create unlogged table processes (
  id uuid not null,
  name text not null,
  version text not null,
  runs text[] not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  leads_since timestamp with time zone,
  in_flight jsonb not null,
  providers jsonb not null,
  constraint processes_pkey PRIMARY KEY (id)
);

create unlogged table provider_tests (
  id uuid not null,
  channel text not null,
  provider text not null,
  recipient bytea,
  asked_at timestamp with time zone not null default clock_timestamp(),
  taken_by text,
  answer bytea,
  constraint provider_tests_pkey PRIMARY KEY (id)
);

create table rate_hits (
  service_id uuid not null,
  key_type text not null,
  at timestamp with time zone not null,
  requests integer not null,
  constraint rate_hits_pkey PRIMARY KEY (service_id, key_type, at)
);

create table rates (
  service_id uuid not null,
  key_type text not null,
  in_window integer not null,
  constraint rates_pkey PRIMARY KEY (service_id, key_type)
);

create table receipts (
  id uuid not null,
  provider text not null,
  event_id text not null,
  ref text not null,
  at timestamp with time zone,
  result text not null,
  detail text,
  response text,
  received_at timestamp with time zone not null default now(),
  diagnosis bytea,
  constraint receipts_provider_event_id_key UNIQUE (provider, event_id),
  constraint receipts_pkey PRIMARY KEY (id)
);

create table replays (
  service_id uuid not null,
  key_digest bytea not null,
  request_digest bytea not null,
  status integer not null,
  answer bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint replays_pkey PRIMARY KEY (service_id, key_digest)
);

create table reply_tos (
  id uuid not null,
  service_id uuid not null,
  email_address text not null,
  is_default boolean not null default false,
  archived boolean not null default false,
  created_at timestamp with time zone not null default now(),
  verified_at timestamp with time zone default now(),
  link_digest bytea,
  link_expires_at timestamp with time zone,
  constraint reply_tos_pkey PRIMARY KEY (id),
  constraint reply_tos_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id)
);

create table requests (
  id uuid not null,
  service_id uuid not null,
  key_id uuid,
  method text,
  path text,
  status smallint not null,
  error text,
  reason text,
  took_ms integer not null default 0,
  unlisted integer,
  constraint requests_pkey PRIMARY KEY (id),
  constraint requests_check CHECK (((unlisted IS NULL) = (path IS NOT NULL)))
);

create table safelist (
  id uuid not null,
  service_id uuid not null,
  recipient text not null,
  created_at timestamp with time zone not null default now(),
  constraint safelist_service_id_recipient_key UNIQUE (service_id, recipient),
  constraint safelist_pkey PRIMARY KEY (id),
  constraint safelist_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id)
);

create table seal_checks (
  secret_id bytea not null,
  sealed bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint seal_checks_pkey PRIMARY KEY (secret_id)
);

create table senders (
  id uuid not null,
  service_id uuid not null,
  sender text not null,
  is_default boolean not null default false,
  archived boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint senders_pkey PRIMARY KEY (id),
  constraint senders_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id)
);

create table sending (
  one boolean not null default true,
  database text not null,
  held_since timestamp with time zone,
  reason text,
  instance uuid not null default gen_random_uuid(),
  constraint sending_pkey PRIMARY KEY (one),
  constraint sending_check CHECK (((held_since IS NULL) = (reason IS NULL))),
  constraint sending_one_check CHECK (one),
  constraint sending_reason_check CHECK ((reason = ANY (ARRAY['restored'::text, 'asked'::text])))
);

create table services (
  id uuid not null,
  name text not null,
  state text not null default 'active'::text,
  mode text not null default 'trial'::text,
  may_send_email boolean not null default true,
  may_send_sms boolean not null default true,
  may_send_international boolean not null default true,
  may_send_files boolean not null default true,
  sms_prefix boolean not null default true,
  mailbox text not null,
  email_daily_limit integer,
  sms_daily_limit integer,
  rate_limit integer,
  email_retention_days integer not null default 7,
  sms_retention_days integer not null default 7,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone,
  home_country text,
  suspended_reason text,
  constraint services_pkey PRIMARY KEY (id),
  constraint services_email_daily_limit_check CHECK ((email_daily_limit >= 0)),
  constraint services_email_retention_days_check CHECK (((email_retention_days >= 1) AND (email_retention_days <= 365))),
  constraint services_home_country_check CHECK ((home_country ~ '^[A-Z]{2}$'::text)),
  constraint services_mode_check CHECK ((mode = ANY (ARRAY['trial'::text, 'live'::text]))),
  constraint services_rate_limit_check CHECK ((rate_limit >= 0)),
  constraint services_sms_daily_limit_check CHECK ((sms_daily_limit >= 0)),
  constraint services_sms_retention_days_check CHECK (((sms_retention_days >= 1) AND (sms_retention_days <= 365))),
  constraint services_state_check CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'archived'::text])))
);

create table sessions (
  id uuid not null,
  person_id uuid not null,
  token_digest bytea not null,
  method text not null,
  device text not null,
  created_at timestamp with time zone not null default now(),
  signed_in_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone not null default now(),
  constraint sessions_token_digest_key UNIQUE (token_digest),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['link'::text, 'passkey'::text, 'single-sign-on'::text])))
);

create table sheet_chunks (
  sheet_id uuid not null,
  part text not null,
  "position" integer not null,
  lines integer[],
  sealed bytea not null,
  constraint sheet_chunks_pkey PRIMARY KEY (sheet_id, part, "position"),
  constraint sheet_chunks_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES sheets(id) ON DELETE CASCADE,
  constraint sheet_chunks_part_check CHECK ((part = ANY (ARRAY['piece'::text, 'rows'::text])))
);

create table sheets (
  id uuid not null,
  service_id uuid not null,
  person_id uuid not null,
  template_id uuid not null,
  state text not null,
  origin text not null,
  name bytea not null,
  head bytea,
  bytes integer not null default 0,
  format text,
  encoding text,
  delimiter text,
  problem jsonb,
  row_count integer not null default 0,
  blank_rows integer not null default 0,
  match jsonb,
  left_out integer[] not null default '{}'::integer[],
  job_id uuid,
  leased_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint sheets_pkey PRIMARY KEY (id),
  constraint sheets_origin_check CHECK ((origin = ANY (ARRAY['file'::text, 'pasted'::text]))),
  constraint sheets_state_check CHECK ((state = ANY (ARRAY['receiving'::text, 'received'::text, 'reading'::text, 'ready'::text, 'unreadable'::text, 'sent'::text])))
);

create table sign_in_challenges (
  id uuid not null,
  kind text not null,
  person_id uuid,
  browser_digest bytea not null,
  sealed bytea not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_challenges_pkey PRIMARY KEY (id),
  constraint sign_in_challenges_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  constraint sign_in_challenges_kind_check CHECK ((kind = ANY (ARRAY['passkey-added'::text, 'passkey-used'::text, 'single-sign-on'::text])))
);

create table sign_in_links (
  id uuid not null,
  person_id uuid not null,
  token_digest bytea not null,
  browser_digest bytea,
  return_to text,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  mail_at timestamp with time zone,
  constraint sign_in_links_token_digest_key UNIQUE (token_digest),
  constraint sign_in_links_pkey PRIMARY KEY (id),
  constraint sign_in_links_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table sign_in_tries (
  subject bytea not null,
  tries integer not null,
  since timestamp with time zone not null,
  constraint sign_in_tries_pkey PRIMARY KEY (subject)
);

create table spent_challenges (
  id uuid not null,
  expires_at timestamp with time zone not null,
  constraint spent_challenges_pkey PRIMARY KEY (id)
);

create table states (
  id uuid not null,
  service_id uuid not null,
  key_type text not null,
  channel text not null,
  in_job boolean not null,
  job_id uuid,
  status text not null,
  sent_at timestamp with time zone,
  completed_at timestamp with time zone,
  provider text,
  provider_response text,
  failure_detail text,
  receipt_at timestamp with time zone,
  attempts integer not null default 0,
  uncertain boolean not null default false,
  was text,
  moves text[] not null default '{created}'::text[],
  diagnosis bytea,
  logged timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  template_id uuid,
  scheduled_for timestamp with time zone,
  key_id uuid,
  parts smallint,
  constraint states_pkey PRIMARY KEY (id)
) partition by RANGE (id);

create table template_categories (
  id uuid not null,
  "position" integer not null,
  name text not null,
  lane text not null,
  hidden boolean not null default false,
  constraint template_categories_position_key UNIQUE ("position"),
  constraint template_categories_pkey PRIMARY KEY (id),
  constraint template_categories_lane_check CHECK ((lane = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text])))
);

create table template_counts (
  service_id uuid not null,
  day integer not null,
  template_id uuid not null,
  key_type text not null,
  status text not null,
  messages integer not null,
  parts integer not null default 0,
  parted integer not null default 0,
  constraint template_counts_pkey PRIMARY KEY (service_id, day, template_id, key_type, status)
);

create table template_drafts (
  id uuid not null,
  template_id uuid not null,
  person_id uuid not null,
  sealed bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint template_drafts_pkey PRIMARY KEY (id),
  constraint template_drafts_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table template_samples (
  template_id uuid not null,
  service_id uuid not null,
  sealed bytea not null,
  updated_at timestamp with time zone not null default now(),
  constraint template_samples_pkey PRIMARY KEY (template_id)
);

create table template_versions (
  template_id uuid not null,
  version integer not null,
  name text not null,
  content text not null,
  subject text,
  category_id uuid not null,
  created_by text not null,
  made_at timestamp with time zone not null,
  literal_values boolean not null default false,
  constraint template_versions_pkey PRIMARY KEY (template_id, version),
  constraint template_versions_category_id_fkey FOREIGN KEY (category_id) REFERENCES template_categories(id),
  constraint template_versions_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id),
  constraint template_versions_version_check CHECK ((version > 0))
);

create table templates (
  id uuid not null,
  service_id uuid not null,
  type text not null,
  version integer not null,
  folder_id uuid,
  archived boolean not null default false,
  created_by text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  constraint templates_pkey PRIMARY KEY (id),
  constraint templates_folder_id_service_id_fkey FOREIGN KEY (folder_id, service_id) REFERENCES folders(id, service_id),
  constraint templates_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint templates_type_check CHECK ((type = ANY (ARRAY['email'::text, 'sms'::text])))
);

create table tickets (
  id uuid not null,
  lane text not null,
  service_id uuid not null,
  subjects uuid[] not null,
  due_at timestamp with time zone not null,
  attempts integer not null default 0,
  takes integer not null default 0,
  owner uuid,
  leased_until timestamp with time zone,
  begun integer not null default 0,
  known integer not null default 0,
  faults integer not null default 0,
  tried_at timestamp with time zone,
  constraint tickets_pkey PRIMARY KEY (id)
);

create table uploads (
  content uuid not null,
  pieces smallint not null,
  begun_at timestamp with time zone not null default now(),
  constraint uploads_pkey PRIMARY KEY (content)
);

create table usage (
  service_id uuid not null,
  channel text not null,
  day date not null,
  used integer not null,
  granted integer not null,
  most integer not null,
  constraint usage_pkey PRIMARY KEY (service_id, channel, day)
);

create table users (
  id uuid not null,
  service_id uuid not null,
  name text not null,
  email_address text not null,
  phone_number text,
  created_at timestamp with time zone not null default now(),
  person_id uuid,
  role text not null default 'viewer'::text,
  constraint users_service_id_email_address_key UNIQUE (service_id, email_address),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id),
  constraint users_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint users_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'author'::text, 'sender'::text, 'developer'::text, 'manager'::text])))
);

create table webhook_attempts (
  id uuid not null,
  webhook_id uuid not null,
  at timestamp with time zone not null,
  events uuid[] not null,
  stamp bigint not null,
  took integer[] not null,
  status integer,
  error text,
  answer bytea,
  constraint webhook_attempts_pkey PRIMARY KEY (id)
);

create table webhook_replays (
  id uuid not null,
  webhook_id uuid not null,
  types text[],
  first uuid not null,
  last uuid not null,
  stamp bigint not null,
  seq bigint not null,
  n integer not null,
  end_stamp bigint not null,
  end_seq bigint not null,
  sent bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint webhook_replays_pkey PRIMARY KEY (id),
  constraint webhook_replays_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

create table webhook_retries (
  webhook_id uuid not null,
  event uuid not null,
  stamp bigint not null,
  seq bigint not null,
  subject uuid not null,
  state text not null default 'waiting'::text,
  failures integer not null default 0,
  since timestamp with time zone not null default clock_timestamp(),
  next_at timestamp with time zone not null,
  status integer,
  constraint webhook_retries_pkey PRIMARY KEY (webhook_id, event),
  constraint webhook_retries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE,
  constraint webhook_retries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'failed'::text])))
);

create table webhooks (
  id uuid not null,
  service_id uuid not null,
  key_type text not null,
  format text not null,
  sealed bytea not null,
  types text[],
  with_recipient boolean not null default false,
  batch integer not null default 1,
  state text not null default 'active'::text,
  reason text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone,
  stamp bigint not null,
  seq bigint not null,
  n integer not null,
  ticket uuid,
  failing_since timestamp with time zone,
  failures integer not null default 0,
  succeeded_at timestamp with time zone,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id),
  constraint webhooks_batch_check CHECK (((batch >= 1) AND (batch <= 100))),
  constraint webhooks_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'callback'::text]))),
  constraint webhooks_key_type_check CHECK ((key_type = ANY (ARRAY['normal'::text, 'team'::text, 'test'::text]))),
  constraint webhooks_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);

CREATE INDEX audit_by_actor ON public.audit USING btree (actor_id, id);

CREATE INDEX audit_by_time ON public.audit USING btree (at);

CREATE INDEX audit_of_service ON public.audit USING btree (service_id, id);

CREATE INDEX audit_of_subject ON public.audit USING btree (subject_id);

CREATE INDEX chunks_of_job ON public.chunks USING btree (job_id);

CREATE INDEX events_in_order ON ONLY public.events USING btree (service_id, key_type, stamp, seq);

CREATE INDEX files_of_message ON public.files USING btree (notification_id);

CREATE INDEX files_to_look_at ON public.files USING btree (look_at) WHERE (look_at IS NOT NULL);

CREATE INDEX folders_of_service ON public.folders USING btree (service_id);

CREATE INDEX handovers_by_age ON public.handovers USING btree (at);

CREATE INDEX identities_of_person ON public.identities USING btree (person_id);

CREATE INDEX inbox_by_recipient ON public.inbox USING btree (recipient_digest, key_type, id) WHERE (recipient_digest IS NOT NULL);

CREATE INDEX inbox_of_service ON public.inbox USING btree (service_id, key_type, channel, id);

CREATE INDEX invitations_by_age ON public.invitations USING btree (expires_at);

CREATE INDEX jobs_again ON public.jobs USING btree (again_of) WHERE (again_of IS NOT NULL);

CREATE INDEX jobs_of_service ON public.jobs USING btree (service_id, id);

CREATE INDEX keys_of_service ON public.keys USING btree (service_id);

CREATE INDEX live_requests_of_service ON public.live_requests USING btree (service_id, asked_at);

CREATE INDEX notifications_by_recipient ON ONLY public.notifications USING btree (recipient_digest, id NULLS FIRST) WHERE (recipient_digest IS NOT NULL);

CREATE INDEX notifications_by_reference ON ONLY public.notifications USING btree (service_id, key_type, md5(reference), id NULLS FIRST) WHERE (reference IS NOT NULL);

CREATE INDEX notifications_by_template ON ONLY public.notifications USING btree (template_id, id NULLS FIRST);

CREATE INDEX notifications_listed ON ONLY public.notifications USING btree (service_id, key_type, channel, in_job, id NULLS FIRST);

CREATE INDEX passkeys_of_person ON public.passkeys USING btree (person_id);

CREATE INDEX processes_by_seen_at ON public.processes USING btree (seen_at);

CREATE INDEX provider_tests_by_asked_at ON public.provider_tests USING btree (asked_at);

CREATE INDEX receipts_by_age ON public.receipts USING btree (received_at);

CREATE INDEX receipts_of_message ON public.receipts USING btree (provider, ref);

CREATE INDEX replays_by_age ON public.replays USING btree (created_at);

CREATE INDEX reply_tos_of_service ON public.reply_tos USING btree (service_id);

CREATE INDEX requests_of_key ON public.requests USING btree (service_id, key_id, id);

CREATE INDEX requests_of_service ON public.requests USING btree (service_id, id);

CREATE INDEX requests_refused ON public.requests USING btree (service_id, id) WHERE (status >= 400);

CREATE INDEX senders_of_service ON public.senders USING btree (service_id);

CREATE INDEX sessions_by_age ON public.sessions USING btree (created_at);

CREATE INDEX sessions_of_person ON public.sessions USING btree (person_id);

CREATE INDEX sheets_by_age ON public.sheets USING btree (created_at);

CREATE INDEX sheets_of_person ON public.sheets USING btree (service_id, person_id, id);

CREATE INDEX sign_in_challenges_by_age ON public.sign_in_challenges USING btree (expires_at);

CREATE INDEX sign_in_links_by_age ON public.sign_in_links USING btree (expires_at);

CREATE INDEX sign_in_links_merged ON public.sign_in_links USING btree (person_id, mail_at) WHERE (mail_at IS NOT NULL);

CREATE INDEX sign_in_tries_by_age ON public.sign_in_tries USING btree (since);

CREATE INDEX spent_challenges_by_age ON public.spent_challenges USING btree (expires_at);

CREATE INDEX states_failed ON ONLY public.states USING btree (template_id, status, id NULLS FIRST) WHERE (status = ANY (ARRAY['permanent-failure'::text, 'temporary-failure'::text, 'technical-failure'::text, 'virus-scan-failed'::text]));

CREATE INDEX states_listed ON ONLY public.states USING btree (service_id, key_type, channel, in_job, status, id NULLS FIRST);

CREATE INDEX template_drafts_of ON public.template_drafts USING btree (person_id, template_id, id);

CREATE INDEX templates_of_service ON public.templates USING btree (service_id) WHERE (NOT archived);

CREATE INDEX tickets_by_service ON public.tickets USING btree (lane, service_id, due_at) WHERE (owner IS NULL);

CREATE INDEX tickets_leased ON public.tickets USING btree (leased_until) WHERE (owner IS NOT NULL);

CREATE INDEX tickets_next ON public.tickets USING btree (lane, due_at) WHERE (owner IS NULL);

CREATE INDEX users_of_person ON public.users USING btree (person_id);

CREATE INDEX webhook_attempts_by_age ON public.webhook_attempts USING btree (at);

CREATE INDEX webhook_attempts_by_stamp ON public.webhook_attempts USING btree (webhook_id, stamp);

CREATE INDEX webhook_attempts_of ON public.webhook_attempts USING btree (webhook_id, id);

CREATE INDEX webhook_replays_of ON public.webhook_replays USING btree (webhook_id, id);

CREATE INDEX webhook_retries_due ON public.webhook_retries USING btree (webhook_id, next_at) WHERE (state = 'waiting'::text);

CREATE INDEX webhooks_of_service ON public.webhooks USING btree (service_id, id);

CREATE UNIQUE INDEX invitations_of_service ON public.invitations USING btree (service_id, lower(email_address)) NULLS NOT DISTINCT;

CREATE UNIQUE INDEX one_default_reply_to ON public.reply_tos USING btree (service_id) WHERE (is_default AND (NOT archived));

CREATE UNIQUE INDEX one_default_sender ON public.senders USING btree (service_id) WHERE (is_default AND (NOT archived));

CREATE UNIQUE INDEX one_open_live_request ON public.live_requests USING btree (service_id) WHERE (decision IS NULL);

CREATE UNIQUE INDEX people_by_address ON public.people USING btree (lower(email_address));

CREATE UNIQUE INDEX reply_tos_by_link ON public.reply_tos USING btree (link_digest) WHERE (link_digest IS NOT NULL);

CREATE OR REPLACE FUNCTION public.count_requests(of_service uuid, of_type text, asked integer, most integer)
 RETURNS TABLE(passed integer, remaining integer, free_in double precision)
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.event_floor(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(ceil((micros % 1000) * 4096 / 1000.0)::integer), 3, '0')
          || '0000000000000000')::uuid
  from (select (extract(epoch from moment) * 1000000)::bigint as micros) clock
$function$;

CREATE OR REPLACE FUNCTION public.event_group(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
AS $function$
  select (left(replace(event_floor(moment)::text, '-', ''), 16) || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid
$function$;

CREATE OR REPLACE FUNCTION public.event_stamp()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select shift + greatest(event_timeline() - timeline, 0) * 1099511627776
           + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint + 1)
    from event_clock
  );
end
$function$;

CREATE OR REPLACE FUNCTION public.event_timeline()
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return ('x' || left(pg_walfile_name('0/1'), 8))::bit(32)::bigint;
exception when others then
  -- Such services differ in the error they raise.
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_audit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of the table audit are added and never changed';
end
$function$;

CREATE OR REPLACE FUNCTION public.person_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.person_id is null then
    insert into people (id, email_address, name) values (gen_random_uuid(), new.email_address, new.name)
    on conflict (lower(email_address)) do nothing;
    select id into new.person_id from people where lower(email_address) = lower(new.email_address);
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_table_name = 'services' then
    perform pg_notify('herald_changes', coalesce(new.id, old.id)::text);
  else
    perform pg_notify('herald_changes', coalesce(new.service_id, old.service_id)::text);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.uuid_time(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select to_timestamp(('x' || lpad(replace(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)
$function$;

CREATE TRIGGER keep_audit BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.folders FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE OF name, key_type, manage_templates, manage_webhooks, expires_at, revoked_at ON public.keys FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.reply_tos FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.safelist FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.senders FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.services FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.templates FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER person_of_user BEFORE INSERT ON public.users FOR EACH ROW EXECUTE FUNCTION person_of_user();

CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON public.users FOR EACH ROW EXECUTE FUNCTION tell_change();
