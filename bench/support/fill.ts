// Hundreds of thousands of messages, written by SQL exactly as the service writes them: each can be decrypted and shown.
import { createClock } from '../../src/core/clock.ts'
import { bytes } from '../../src/db/connect.ts'
import { type Personal, sealPersonal } from '../../src/notifications/notification.ts'
import { makePartitions } from '../../src/notifications/partitions.ts'
import type { Environment } from './environment.ts'
import { personalisation } from './values.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 50_000
const WRITERS = 2

export type Filling = {
  /** Messages number `from` to `to` (exclusive), in order of creation. */
  from: number
  to: number
  /** The period in days over which they are spread, until a minute ago. */
  days: number
  /**
   * delivered: final; but 300 of them failed, and 300 others have one reference, so that what is rare is equally rare in a small
   * and a large table. created: waiting, each with a ticket of its own. sending: handed to the text provider, which knows number
   * n as ref-n.
   */
  status: 'delivered' | 'created' | 'sending'
  /** The low lane by default. */
  lane?: string
  values?: Record<string, unknown>
  /** Recipients and values, in turn; else all messages have the same. */
  personal?: readonly Personal[]
}

const RARE = 300

export async function fill(
  {
    store,
    service,
    templates,
  }: Pick<Environment, 'store' | 'service'> & { templates: Pick<Environment['templates'], 'email' | 'sms'> },
  { from, to, days, status, lane, values = personalisation(1), personal }: Filling,
): Promise<void> {
  for (let day = Math.ceil(days) + 1; day >= 0; day--)
    await makePartitions(
      store.db,
      createClock(() => Date.now() - day * DAY_MS),
    )
  const channel = status === 'sending' ? 'sms' : 'email'
  const recipient = channel === 'email' ? 'person@example.org' : '+16135551000'
  const sealed = bytes((personal ?? [{ to: recipient, values }]).map(one => sealPersonal(store.seal, one as Personal)))
  const template = templates[channel]
  const clients = Array.from({ length: WRITERS }, () => store.db.client()) // outside the pool: no timeout
  await Promise.all(clients.map(client => client.connect()))
  let next = from
  const write = async (client: (typeof clients)[number]) => {
    for (let at = next; at < to; at = next) {
      next = at + AT_ONCE
      await client.query(INSERT, [
        at,
        Math.min(next, to) - 1,
        service,
        template,
        sealed,
        status,
        days * DAY_MS,
        channel,
        from,
        to - from,
        Math.ceil((to - from) / RARE),
        lane ?? `${channel}-low`,
      ])
    }
  }
  await Promise.all(clients.map(write))
  // Runs the maintenance that the database would start by itself in the next minutes, before anything is measured.
  for (const table of ['notifications', 'states', 'tickets', 'handovers'])
    await clients[0]?.query(`vacuum (analyze) ${table}`)
  await clients[0]?.query('checkpoint')
  await Promise.all(clients.map(client => client.end()))
}

const INSERT = `
  with made as materialized (
    select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id,
           n,
           case when $6 = 'delivered' and n % $11::integer = 0 then 'permanent-failure' else $6 end as status,
           case when n % $11::integer = 1 then 'order-7' else 'order-' || n end as reference
    from (select n, md5($3::uuid::text || n) as hash,
                 (extract(epoch from now()) * 1000 - 60000 - $7::float8 * (1 - (n - $9::float8) / $10::float8))::bigint as ms
          from generate_series($1::integer, $2::integer) n) moments
  ), stored as (
    insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane, reference,
                               is_international, sealed)
    select id, $3, 'normal', $8, false, $4, 1, $12, reference, false, ($5::bytea[])[1 + n % cardinality($5::bytea[])]
    from made
  ), ticketed as (
    insert into tickets (id, lane, service_id, subjects, due_at)
    select id, $12, $3, array[id], now() from made where status = 'created'
  ), handed as (
    insert into handovers (provider, ref, id)
    select 'http', 'ref-' || n, id from made where status = 'sending'
  )
  insert into states (id, service_id, key_type, channel, in_job, status, provider, sent_at, completed_at)
  select id, $3, 'normal', $8, false, status,
         case when status = 'sending' then 'http' end,
         case when status <> 'created' then now() end,
         case when status not in ('created', 'sending') then now() end
  from made`
