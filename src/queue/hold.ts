// A database that is held sends nothing. A restored copy starts so, because what its original has sent since the backup cannot
// be known; an operator releases it with a cut-off. Tickets that a release does not let go are kept back, in lanes nobody takes
// from, until they are chosen or their messages end.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Database, part, type Sql } from '../db/connect.ts'
import type { Step } from '../runtime/steps.ts'
import type { Taker } from './port.ts'

export const HOLD_CHANNEL = 'herald_sending'

/** Everything that sends or leads to it; receipts and simulated messages go on. */
export const HELD_LANES = [
  'email-high',
  'email-medium',
  'email-low',
  'sms-high',
  'sms-medium',
  'sms-low',
  'scan',
  'spread',
] as const
const KEPT = 'kept-'
export const KEPT_LANES = HELD_LANES.map(lane => KEPT + lane)
/** Tickets of messages; those of bulk jobs are purged with their rows. */
export const KEPT_MESSAGE_LANES = KEPT_LANES.filter(lane => lane !== `${KEPT}spread`)
const isHeldLane = (lane: string) => (HELD_LANES as readonly string[]).includes(lane)

export type Holding = { held_since: Timestamp; reason: 'restored' | 'asked' }

// Numbers that a copy by dump and restore, or by a template, gets anew; a fail-over, an upgrade in place and a moved folder keep
// them, and must not stop anything. A migration that makes one of these tables anew must empty `sending`.
const DATABASE = part`concat_ws('/', (select oid from pg_database where datname = current_database()),
  'sending'::regclass::oid, 'migrations'::regclass::oid, 'notifications'::regclass::oid)`

/** On every start: a database that is not the one it was is a restored copy. */
export async function recogniseCopy(sql: Sql): Promise<void> {
  await sql`
    insert into sending (one, database)
    values (true, ${DATABASE})
    on conflict (one) do update
    set database = excluded.database,
        instance = gen_random_uuid(),
        held_since = coalesce(sending.held_since, clock_timestamp()),
        reason = coalesce(sending.reason, 'restored')
    where sending.database <> excluded.database`
}

/** The id of this installation. Null: it has never been started. */
export async function instanceOf(sql: Sql): Promise<Id | null> {
  const [found] = await sql<{ instance: Id }>`select instance from sending`
  return found?.instance ?? null
}

export async function holdingOf(sql: Sql): Promise<Holding | null> {
  const [found] = await sql<Holding>`select held_since, reason from sending where held_since is not null`
  return found ?? null
}

export const holdSending = (sql: Sql, reason: Holding['reason']) => sql`
  with held as (
    insert into sending (one, database, held_since, reason)
    values (true, ${DATABASE}, clock_timestamp(), ${reason})
    on conflict (one) do update
    set held_since = coalesce(sending.held_since, excluded.held_since),
        reason = coalesce(sending.reason, excluded.reason)
    returning one
  )
  select pg_notify(${HOLD_CHANNEL}, '') from held`

export type Released = { released: number; kept: number }

/**
 * Lets go what was due since the cut-off and has never been tried, and keeps back the rest. All in one transaction: a process
 * that hears of it finds the tickets in their places. With a million waiting it takes longer than a request may.
 */
export const releaseSince = (db: Pick<Database, 'transaction'>, cutOff: Timestamp): Promise<Released> =>
  db.transaction(async sql => {
    await sql`
      update tickets
      set lane = ${KEPT} || lane
      where lane = any (${HELD_LANES}::text[])
        and (due_at < ${cutOff}::timestamptz
          or attempts > 0
          or takes > 0
          or exists (select from states s where s.id = any (subjects) and (s.attempts > 0 or s.uncertain)))`
    return goOn(sql)
  })

/** Lets go everything, also what had been kept back. */
export const releaseAll = (db: Pick<Database, 'transaction'>): Promise<Released> =>
  db.transaction(async sql => {
    await sql`
      update tickets
      set lane = substr(lane, ${KEPT.length + 1}::integer)
      where lane = any (${KEPT_LANES}::text[])`
    return goOn(sql)
  })

async function goOn(sql: Sql): Promise<Released> {
  await sql`update sending set held_since = null, reason = null`
  const [counted] = await sql<Released>`
    select coalesce(sum(cardinality(subjects)) filter (where lane = any (${HELD_LANES}::text[])), 0)::integer as released,
           coalesce(sum(cardinality(subjects)) filter (where lane = any (${KEPT_LANES}::text[])), 0)::integer as kept
    from tickets`
  await sql`select pg_notify(${HOLD_CHANNEL}, '')`
  return counted ?? { released: 0, kept: 0 }
}

/**
 * Lets go chosen ones of those kept back. A ticket that somebody may have tried before goes on as tried once, so that its
 * messages are marked uncertain before they are sent.
 */
export async function releaseChosen(sql: Sql, ids: readonly Id[]): Promise<Id[]> {
  const rows = await sql<{ subjects: Id[] }>`
    with taken as (
      delete from tickets
      where lane = any (${KEPT_LANES}::text[])
        and subjects && ${ids}::uuid[]
      returning id, lane, service_id, subjects, due_at, attempts, takes
    ),
    split as (
      select taken.*,
             array(select one from unnest(subjects) as one where one = any (${ids}::uuid[])) as chosen,
             array(select one from unnest(subjects) as one where one <> all (${ids}::uuid[])) as rest
      from taken
    ),
    stays as (
      insert into tickets (id, lane, service_id, subjects, due_at, attempts, takes)
      select gen_random_uuid(), lane, service_id, rest, due_at, attempts, takes
      from split
      where cardinality(rest) > 0
    )
    insert into tickets (id, lane, service_id, subjects, due_at, attempts, takes)
    select case when cardinality(rest) = 0 then id else gen_random_uuid() end, substr(lane, ${KEPT.length + 1}::integer),
           service_id, chosen, least(due_at, clock_timestamp()), attempts, least(takes, 1)
    from split
    returning subjects`
  return rows.flatMap(row => row.subjects)
}

export type KeptTicket = {
  lane: string
  service_id: Id
  subjects: Id[]
  due_at: Timestamp
  attempts: number
  takes: number
}

export const keptTickets = (sql: Sql, most: number) => sql<KeptTicket>`
  select substr(lane, ${KEPT.length + 1}::integer) as lane, service_id, subjects, due_at, attempts, takes
  from tickets
  where lane = any (${KEPT_LANES}::text[])
  order by due_at
  limit ${most}`

export async function purgeKept(
  sql: Sql,
  lane: string,
  after: Timestamp | null,
  most: number,
): Promise<Step<Timestamp>> {
  const [step] = await sql<Step<Timestamp>>`
    with old as materialized (
      select id, due_at
      from tickets
      where lane = ${lane}
        and owner is null
        and due_at >= coalesce(${after}::timestamptz, '-infinity')
        and due_at < clock_timestamp() - interval '80 hours'
      order by due_at
      limit ${most}
    ),
    gone as (
      delete from tickets t
      using old
      where t.id = old.id
        and t.lane = ${lane}
    )
    select count(*)::integer as found, max(due_at) as last
    from old`
  return step ?? { found: 0, last: null }
}

export type Hold = { isHeld(): boolean; look(): Promise<void>; stop(): void }

const EVERY_MS = 5_000

/** What is true is known before the first ticket is taken; a change is heard by NOTIFY, and looked for in case it was not. */
export async function watchHold(sql: Sql, onFault: (error: unknown) => void): Promise<Hold> {
  let held = false
  const look = async () => {
    held = (await holdingOf(sql)) !== null
  }
  await look()
  const timer = setInterval(() => void look().catch(onFault), EVERY_MS)
  timer.unref()
  return { isHeld: () => held, look, stop: () => clearInterval(timer) }
}

/** Finds nothing to do in the lanes that send while the hold lasts. */
export const heldBy = (hold: Pick<Hold, 'isHeld'>, taker: Taker): Taker => ({
  ...taker,
  take: async (lane, most, which, held) => (isShut(hold, lane) ? [] : taker.take(lane, most, which, held)),
  nextDue: lanes => taker.nextDue(lanes.filter(lane => !isShut(hold, lane))),
})

/** Nothing is taken from this lane, and nothing accepted for it is handed over at once. */
export const isShut = (hold: Pick<Hold, 'isHeld'>, lane: string) => hold.isHeld() && isHeldLane(lane)
