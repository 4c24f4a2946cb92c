// Reads the tables of the reference implementation. They are named with their schema: some have the names of ours, and these
// statements run on a connection to the other database. Rows are read as JSON: a column that an older version does not have is
// undefined. Passwords of people, and tokens that are not taken over, are left out in the statement.
import type { Row, Sql } from '../db/connect.ts'

/** By table. Tables that an older version does not have are empty. */
export type FamilyRows = Record<(typeof TABLES)[number], readonly Row[]>

const TABLES = [
  'services',
  'users',
  'user_to_service',
  'permissions',
  'service_permissions',
  'service_email_reply_to',
  'service_sms_senders',
  'service_safelist',
  'service_whitelist',
  'service_data_retention',
  'service_callback_api',
  'service_inbound_api',
  'service_email_branding',
  'files',
  'api_keys',
  'template_categories',
  'template_folder',
  'template_folder_map',
  'templates',
  'templates_history',
] as const

const READ: Readonly<Record<(typeof TABLES)[number], (sql: Sql) => Promise<{ row: Row }[]>>> = {
  services: sql => sql`select to_jsonb(t) as row from public.services t order by t.created_at, t.id`,
  users: sql => sql`select to_jsonb(t) - '_password' as row from public.users t`,
  user_to_service: sql => sql`select to_jsonb(t) as row from public.user_to_service t`,
  permissions: sql => sql`select to_jsonb(t) as row from public.permissions t`,
  service_permissions: sql => sql`select to_jsonb(t) as row from public.service_permissions t`,
  service_email_reply_to: sql =>
    sql`select to_jsonb(t) as row from public.service_email_reply_to t order by t.created_at, t.id`,
  service_sms_senders: sql =>
    sql`select to_jsonb(t) as row from public.service_sms_senders t order by t.created_at, t.id`,
  service_safelist: sql => sql`select to_jsonb(t) as row from public.service_safelist t order by t.created_at, t.id`,
  service_whitelist: sql => sql`select to_jsonb(t) as row from public.service_whitelist t order by t.created_at, t.id`,
  service_data_retention: sql => sql`select to_jsonb(t) as row from public.service_data_retention t`,
  service_callback_api: sql =>
    sql`select to_jsonb(t) as row from public.service_callback_api t order by t.created_at, t.id`,
  service_inbound_api: sql => sql`select to_jsonb(t) - 'bearer_token' as row from public.service_inbound_api t`,
  service_email_branding: sql => sql`select to_jsonb(t) as row from public.service_email_branding t`,
  files: sql => sql`select to_jsonb(t) as row from public.files t`,
  api_keys: sql => sql`select to_jsonb(t) as row from public.api_keys t order by t.created_at, t.id`,
  template_categories: sql => sql`select to_jsonb(t) as row from public.template_categories t order by t.name_en`,
  template_folder: sql => sql`select to_jsonb(t) as row from public.template_folder t order by t.id`,
  template_folder_map: sql => sql`select to_jsonb(t) as row from public.template_folder_map t`,
  templates: sql => sql`select to_jsonb(t) as row from public.templates t order by t.created_at, t.id`,
  templates_history: sql => sql`select to_jsonb(t) as row from public.templates_history t order by t.id, t.version`,
}

export async function familyRows(sql: Sql): Promise<FamilyRows> {
  const found = await sql<{ name: string }>`
    select table_name as name
    from information_schema.tables
    where table_schema = 'public' and table_name = any (${[...TABLES]})`
  const there = new Set(found.map(({ name }) => name))
  const rows: Partial<FamilyRows> = {}
  for (const table of TABLES) rows[table] = there.has(table) ? (await READ[table](sql)).map(({ row }) => row) : []
  return rows as FamilyRows
}
