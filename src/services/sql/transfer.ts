// A service and its lists as rows of an export, and from there into another database. Digests of links to confirm an address are left
// out: such a link leads to the console of the cell that sent it.
import type { Id } from '../../core/id.ts'
import { part, type Row, type Sql } from '../../db/connect.ts'

const serviceColumns = part`id, name, state, mode, may_send_email, may_send_sms, may_send_international, may_send_files,
  sms_prefix, mailbox, email_daily_limit, sms_daily_limit, rate_limit, email_retention_days, sms_retention_days, home_country,
  suspended_reason, created_at, updated_at`
const userColumns = part`id, name, email_address, phone_number, role, created_at`
const replyToColumns = part`id, email_address, is_default, archived, created_at, verified_at`
const senderColumns = part`id, sender, is_default, archived, created_at`
const safelistColumns = part`id, recipient, created_at`

export type ServiceRows = {
  service: { id: Id; name: string; state: string } & Row
  /** `person_id`: of this database; another one knows the person by the e-mail address. */
  users: readonly ({ email_address: string; person_id?: Id | null } & Row)[]
  reply_tos: readonly Row[]
  senders: readonly Row[]
  safelist: readonly Row[]
}

export async function exportService(sql: Sql, service: Id): Promise<ServiceRows | null> {
  const [rows] = await sql<ServiceRows>`
    select row_to_json(s) as service,
           coalesce((select json_agg(u order by u.created_at, u.id)
                     from (select ${userColumns}, person_id from users where service_id = ${service}) u), '[]') as users,
           coalesce((select json_agg(r order by r.created_at, r.id)
                     from (select ${replyToColumns} from reply_tos where service_id = ${service}) r), '[]') as reply_tos,
           coalesce((select json_agg(f order by f.created_at, f.id)
                     from (select ${senderColumns} from senders where service_id = ${service}) f), '[]') as senders,
           coalesce((select json_agg(l order by l.created_at, l.id)
                     from (select ${safelistColumns} from safelist where service_id = ${service}) l), '[]') as safelist
    from (select ${serviceColumns} from services where id = ${service}) s`
  return rows ?? null
}

/** Null: there is a service with this id. Else the ids that people have here, by their address in small letters. */
export async function importService(sql: Sql, rows: ServiceRows): Promise<Map<string, Id> | null> {
  const [added] = await sql`
    insert into services (${serviceColumns})
    select ${serviceColumns}
    from json_populate_record(null::services, ${JSON.stringify(rows.service)}::json)
    on conflict (id) do nothing
    returning id`
  return added ? importLists(sql, rows.service.id, rows) : null
}

/** Rows that the service does not have yet. The result is the same as of `importService`, for the people of these rows. */
export async function importLists(sql: Sql, id: Id, rows: Omit<ServiceRows, 'service'>): Promise<Map<string, Id>> {
  // A trigger finds the person by the e-mail address, or adds one.
  const users = await sql<{ email_address: string; person_id: Id }>`
    insert into users (service_id, ${userColumns})
    select ${id}, ${userColumns}
    from json_populate_recordset(null::users, ${JSON.stringify(rows.users)}::json)
    returning email_address, person_id`
  await sql`
    insert into reply_tos (service_id, ${replyToColumns})
    select ${id}, ${replyToColumns}
    from json_populate_recordset(null::reply_tos, ${JSON.stringify(rows.reply_tos)}::json)`
  await sql`
    insert into senders (service_id, ${senderColumns})
    select ${id}, ${senderColumns}
    from json_populate_recordset(null::senders, ${JSON.stringify(rows.senders)}::json)`
  await sql`
    insert into safelist (service_id, ${safelistColumns})
    select ${id}, ${safelistColumns}
    from json_populate_recordset(null::safelist, ${JSON.stringify(rows.safelist)}::json)`
  return new Map(users.map(user => [user.email_address.toLowerCase(), user.person_id]))
}
