// Messages and tickets for tests of the log, without an engine: results, receipts and verdicts are written as an engine does.
import type { Id } from '../../src/core/id.ts'
import type { Sql } from '../../src/db/connect.ts'
import type { EventGroup } from '../../src/events/event.ts'
import { type DeliveryResult, writeResults } from '../../src/notifications/deliver.ts'
import { markUncertain } from '../../src/notifications/sql/record.ts'
import { writeMoves } from '../../src/receipts/apply.ts'
import type { StoredReceipt } from '../../src/receipts/sql.ts'
import type { World } from './world.ts'

export type LoggedGroup = EventGroup & { reply: string | null }

type Making = { service?: Id; status?: string; provider?: string | null; isScheduled?: boolean }

export const NOTHING: DeliveryResult = {
  ...{ status: null, moves: [], provider: 'smtp', ref: null, uncertain: false },
  ...{ response: null, detail: null, reply: null, took: null, parts: null, delay: null },
}
export const DELIVERED: DeliveryResult = { ...NOTHING, status: 'delivered', moves: ['sending', 'delivered'] }

export function logWriter(here: World) {
  const { sql } = here.parts.db
  const next = () => here.parts.ids.next()
  const hints = { announced: [] as Id[], announce: (services: Iterable<Id>) => void hints.announced.push(...services) }

  /** Everything that was logged about a service, in order. */
  async function eventsOf(service: Id): Promise<LoggedGroup[]> {
    const rows = await sql<EventGroup>`
      select id, stamp::text, seq::text, service_id, key_type, channel, type, at, subjects, cause, provider, response, detail,
             uncertain, took, delays, times::text[] as times, sealed
      from events
      where service_id = ${service}
      order by events.stamp, events.seq`
    return rows.map(row => ({
      ...row,
      reply: row.sealed && here.parts.seal.open('provider reply', row.sealed).toString('utf8'),
    }))
  }

  /** Messages as they are stored; scheduled ones have a ticket. */
  async function messages(
    count: number,
    { service = next(), status = 'created', provider = null, isScheduled = false }: Making = {},
  ) {
    const ids = Array.from({ length: count }, next)
    await sql`
      insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane, scheduled_for,
                                 is_international, sealed)
      select id, ${service}::uuid, 'normal', 'email', false, ${service}::uuid, 1, 'email-low',
             case when ${isScheduled}::boolean then now() + interval '1 hour' end, false, ''
      from unnest(${ids}::uuid[]) as m (id)`
    await sql`
      insert into states (id, service_id, key_type, channel, in_job, status, provider, sent_at)
      select id, ${service}::uuid, 'normal', 'email', false, ${status}, ${provider},
             case when ${status} = 'sending' then now() - interval '73 hours' end
      from unnest(${ids}::uuid[]) as m (id)`
    if (isScheduled)
      await sql`
        insert into tickets (id, lane, service_id, subjects, due_at)
        select id, 'email-low', ${service}::uuid, array[id], now() + interval '1 hour' from unnest(${ids}::uuid[]) as m (id)`
    return { service, ids }
  }

  /** A ticket leased to a process of its own. */
  async function lease(subjects: readonly Id[], service: Id, lane = 'email-low') {
    const [id, owner] = [next(), next()]
    await sql`
      insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
      values (${id}, ${lane}, ${service}, ${subjects}::uuid[], now(), 1, ${owner}, now() + interval '1 minute')`
    const ticket = { id, lane, service_id: service, subjects: [...subjects], attempts: 0, takes: 1 }
    return { ticket, app: { ...here.parts, sql: here.parts.db.sql, owner, hints, wake() {}, random: () => 0.5 } }
  }

  /** Marks these messages as a process does that takes them after the one that had them ended. */
  async function crashed(ids: readonly Id[], service: Id) {
    const { ticket, app } = await lease(ids, service)
    return markUncertain(sql, app.owner, [ticket], ids)
  }

  async function results(ids: readonly Id[], service: Id, of: (id: Id, at: number) => DeliveryResult) {
    const { ticket, app } = await lease(ids, service)
    await writeResults(app)(
      ids.map((id, at) => ({ ticket, id, result: of(id, at), settle: at === ids.length - 1 ? [] : null })),
    )
  }

  const receipt = (
    notification: Id,
    result: StoredReceipt['result'],
    ms: number,
    {
      provider = 'ses',
      detail = null,
      diagnosis = null,
    }: { provider?: string; detail?: string | null; diagnosis?: string | null } = {},
  ): StoredReceipt => ({
    ...{
      id: next(),
      asked: notification,
      provider,
      result,
      detail,
      response: null,
      at: ms,
      age_seconds: 0,
      notification,
    },
    diagnosis: diagnosis === null ? null : here.parts.seal.seal('provider reply', diagnosis),
  })

  /** Applies receipts; the first `old` of them are not new. */
  async function receipts(service: Id, all: readonly StoredReceipt[], old = 0, by: Sql = sql) {
    const subjects = all.slice(old).map(({ id }) => id)
    const { ticket, app } = await lease(subjects, service, 'receipt')
    await writeMoves({ ...app, db: { ...here.parts.db, sql: by } })(
      all.slice(old).map((one, n) => ({
        ...{ ticket, id: one.id, settle: n === subjects.length - 1 ? [] : null },
        result: [...all.slice(0, old).filter(({ notification }) => notification === one.notification), one],
      })),
    )
  }

  const statusOf = async (id: Id) =>
    (
      await sql<{ status: string; moves: string[]; logged: string[] }>`
      select status, moves, logged::text[] as logged from states where id = ${id}`
    )[0]

  return { sql, next, hints, eventsOf, messages, lease, crashed, results, receipt, receipts, statusOf }
}
