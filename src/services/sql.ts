import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Service } from './service.ts'

export type ReplyTo = { id: Id; email_address: string; is_default: boolean }
export type Sender = { id: Id; sender: string; is_default: boolean }

/** A service with all that the accept path asks of it. */
export type LoadedService = Service & {
  reply_tos: readonly ReplyTo[]
  senders: readonly Sender[]
  /** Addresses and numbers of team members and of the safelist, as they were written. */
  friends: readonly string[]
}

export async function load(sql: Sql, id: Id): Promise<LoadedService | null> {
  const [service] = await sql<LoadedService>`
    select id, name, state, mode, may_send_email, may_send_sms, may_send_international, may_send_files, sms_prefix, mailbox,
           email_daily_limit, sms_daily_limit, rate_limit, email_retention_days, sms_retention_days,
           coalesce((select json_agg(json_build_object('id', id, 'email_address', email_address, 'is_default', is_default)
                                     order by created_at, id)
                     from reply_tos where service_id = services.id and not archived), '[]') as reply_tos,
           coalesce((select json_agg(json_build_object('id', id, 'sender', sender, 'is_default', is_default)
                                     order by created_at, id)
                     from senders where service_id = services.id and not archived), '[]') as senders,
           array(select email_address from users where service_id = services.id
                 union all
                 select phone_number from users where service_id = services.id and phone_number is not null
                 union all
                 select recipient from safelist where service_id = services.id) as friends
    from services
    where id = ${id}`
  return service ?? null
}
