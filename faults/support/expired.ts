// Rows whose time is over, of every kind that a maintenance task ends or purges, made by the database itself.

export type Kind = {
  name: string
  task: string
  /** Adds `count` rows; the services and their partitions are there. */
  fill(count: number): string
  /** How many are left, as `left`. */
  left: string
}

/** Keeps messages for less long than the other one does. */
export const BRIEF = '11111111-1111-4111-8111-111111111111'
const LONG = '22222222-2222-4222-8222-222222222222'

export const SERVICES = `
  insert into services (id, name, mailbox, email_retention_days, sms_retention_days)
  values ('${BRIEF}', 'Brief', 'brief', 1, 1), ('${LONG}', 'Long', 'long', 30, 30)
  on conflict do nothing`

/** How many days ago messages were made that are past their retention, and such that are only overdue. */
export const DAYS_AGO = { purged: 10, overdue: 5 }

/** An id of ours that was made so many days ago, within a day. */
const idOf = (days: number, n = 'n') =>
  `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ${days * 86_400_000} + ${n} % 1000000), 12, '0') || '7' || substr(md5(${n}::text), 1, 3) || '8' || substr(md5(${n}::text), 4, 15))::uuid`
const series = (count: number) => `from generate_series(1, ${count}) n`

const messages = (days: number, count: number, status: string) => `
  insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane,
                             is_international, sealed)
  select ${idOf(days)}, '${BRIEF}', 'normal', 'email', false, '${BRIEF}', 1, 'email-medium', false, decode(repeat('ab', 100), 'hex')
  ${series(count)};
  insert into states (id, service_id, key_type, channel, in_job, status, sent_at, completed_at)
  select ${idOf(days)}, '${BRIEF}', 'normal', 'email', false, '${status}', now() - interval '4 days',
         case when '${status}' = 'delivered' then now() end
  ${series(count)}`

export const KINDS: readonly Kind[] = [
  {
    name: 'idempotency keys',
    task: 'purge-replays',
    fill: count => `
      insert into replays (service_id, key_digest, request_digest, status, answer, created_at)
      select '${BRIEF}', decode(md5(n::text), 'hex'), '\\x00', 201, decode(repeat('ab', 100), 'hex'),
             now() - interval '25 hours' - n * interval '1 millisecond'
      ${series(count)}`,
    left: `select count(*)::integer as left from replays where service_id = '${BRIEF}'`,
  },
  {
    name: 'receipts',
    task: 'purge-receipts',
    fill: count => `
      insert into receipts (id, provider, event_id, ref, result, received_at)
      select ${idOf(9)}, 'expired', n::text, n::text, 'delivered', now() - interval '9 days' + n * interval '1 millisecond'
      ${series(count)}`,
    left: `select count(*)::integer as left from receipts where provider = 'expired'`,
  },
  {
    name: 'references of providers',
    task: 'purge-receipts',
    fill: count => `
      insert into handovers (provider, ref, id, at)
      select 'expired', n::text, ${idOf(9)}, now() - interval '9 days' + n * interval '1 millisecond'
      ${series(count)}`,
    left: `select count(*)::integer as left from handovers where provider = 'expired'`,
  },
  {
    name: 'messages',
    task: 'purge-messages',
    fill: count => messages(DAYS_AGO.purged, count, 'delivered'),
    left: `select count(*)::integer as left from states where service_id = '${BRIEF}' and status = 'delivered'`,
  },
  {
    name: 'messages without an answer',
    task: 'end-overdue-messages',
    fill: count => messages(DAYS_AGO.overdue, count, 'sending'),
    left: `select count(*)::integer as left from states where service_id = '${BRIEF}' and status = 'sending'`,
  },
  {
    name: 'captured messages',
    task: 'purge-inbox',
    fill: count => `
      insert into inbox (id, channel, sealed)
      select ${idOf(9)}, 'email', decode(repeat('ab', 100), 'hex')
      ${series(count)}`,
    left: 'select count(*)::integer as left from inbox',
  },
  {
    name: 'rows of bulk jobs',
    task: 'purge-bulk-rows',
    fill: count => `
      insert into jobs (id, service_id, key_type, name, channel, template_id, template_version, notification_count, counted,
                        day, lane, status, chunks_left)
      select ${idOf(12)}, '${BRIEF}', 'normal', 'Expired', 'email', '${BRIEF}', 1, 1, 0, current_date, 'email-medium',
             'error', 1
      from generate_series(1, ${Math.ceil(count / 1000)}) n
      on conflict do nothing;
      insert into chunks (id, job_id, sealed)
      select ${idOf(12)}, ${idOf(12, '(1 + n / 1000)')}, decode(repeat('ab', 100), 'hex')
      from generate_series(0, ${count - 1}) n`,
    left: `select count(*)::integer as left from chunks c join jobs j on j.id = c.job_id where j.service_id = '${BRIEF}'`,
  },
  {
    name: 'tickets kept back',
    task: 'purge-kept-tickets',
    fill: count => `
      insert into tickets (id, lane, service_id, subjects, due_at)
      select ${idOf(9)}, 'kept-email-low', '${BRIEF}', array[${idOf(9)}], now() - interval '5 days' + n * interval '1 millisecond'
      ${series(count)}`,
    left: `select count(*)::integer as left from tickets where service_id = '${BRIEF}'`,
  },
  {
    name: 'files',
    task: 'purge-expired-files',
    fill: count => `
      insert into files (id, notification_id, service_id, position, method, verdict, media_type, bytes, sealed_name, content,
                         pieces, content_key, look_at)
      select ${idOf(9)}, ${idOf(9)}, '${BRIEF}', 0, 'link', 'clean', 'text/plain', 1, '\\x00', ${idOf(9)}, 1, '\\x00', null
      ${series(count)};
      insert into file_pieces (content, n, sealed)
      select ${idOf(9)}, 0, decode(repeat('ab', 100), 'hex')
      ${series(count)}`,
    left: `select count(*)::integer as left from files where service_id = '${BRIEF}'`,
  },
]
