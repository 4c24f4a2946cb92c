// The checks of doctor for the log of events and for those who are sent it.
import { fromMicros, zulu } from '../core/clock.ts'
import { oldestHolder } from '../events/sql/horizon.ts'
import type { Store } from '../parts.ts'
import { namesOf } from '../services/sql.ts'
import { troubled } from '../webhooks/sql/troubled.ts'
import { type Check, duration, ok, problem } from './checks.ts'

/** A statement of Herald takes seconds at most. */
const LONGEST_TRANSACTION_SECONDS = 60

/** Events are read in the order of transactions, so readers wait for the oldest one. Its statement may hold personal data: not shown. */
export async function checkEvents({ db: { sql } }: Store, longest = LONGEST_TRANSACTION_SECONDS): Promise<Check> {
  const name = 'Events'
  const holder = await oldestHolder(sql)
  if (!holder || holder.seconds < longest) return ok(name, 'readers do not wait')
  const who = [
    ...(holder.pid === null ? [] : [`process ${holder.pid}`]),
    holder.application || 'without a name',
    `database ${holder.database}`,
  ]
  return problem(
    name,
    `feed and webhooks wait for a transaction that has run for ${duration(holder.seconds)} (${who.join(', ')})`,
    holder.pid === null
      ? 'Commit it or roll it back (pg_prepared_xacts). Nothing is lost: events follow when it has ended.'
      : `End it, or: select pg_terminate_backend(${holder.pid}). Nothing is lost: events follow when it has ended.`,
  )
}

const FAILING_MICROS = 600_000_000
const MOST = 10

/** Endpoints by id: their addresses may hold secrets. */
export async function checkWebhooks({ db: { sql }, clock }: Store): Promise<Check> {
  const name = 'Webhooks'
  const found = await troubled(sql, fromMicros(clock.micros() - FAILING_MICROS), MOST)
  if (found.length === 0) return ok(name, 'none is disabled, none fails')
  const names = await namesOf(
    sql,
    found.map(one => one.service_id),
  )
  const lines = found.map(({ id, service_id, state, reason, failing_since }) => {
    const since = failing_since && `since ${zulu(failing_since)}`
    const what = state === 'disabled' ? `disabled (${reason ?? 'unknown'})` : 'failing'
    return [id, `of ${names.get(service_id) ?? service_id}:`, what, since].filter(Boolean).join(' ')
  })
  const rest = (found[0]?.total ?? 0) - found.length
  return problem(
    name,
    `${lines.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`,
    'Its attempts say what the endpoint answers: herald webhook attempts ID. When it works again: herald webhook resume ID; nothing is lost. docs/on-call.md: HeraldWebhookDisabled.',
  )
}
