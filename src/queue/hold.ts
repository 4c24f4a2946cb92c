// While sending is held, no tickets are taken from the lanes that send, and what is loaded goes back (onHeld). A restored copy of a
// database starts held, because it cannot know what the original has sent since the backup. An operator ends the hold
// (queue/release.ts).
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Part, part, type Sql } from '../db/connect.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import type { Taker } from './port.ts'

export const HOLD_CHANNEL = 'herald_sending'

export type Holding = { held_since: Timestamp; reason: 'restored' | 'asked' }

// A copy made by dump and restore or from a template has new object ids. A failover, an upgrade in place and a moved folder keep
// them, and must not hold sending.
const identityBy = (tables: readonly string[]): Part => part`concat_ws('/',
  (select oid from pg_database where datname = current_database()),
  (select string_agg(name::regclass::oid::text, '/' order by ord)
   from unnest(${tables}::text[]) with ordinality as t (name, ord)))`

/** The identity of no database. */
const DECLARED = 'a copy'

/** Runs at every start: holds sending when the database is a restored copy. True: it is one, and was not recognised before. */
export async function recogniseCopy(sql: Sql, tables: readonly string[]): Promise<boolean> {
  const [row] = await sql<{ copied: boolean }>`
    insert into sending (one, database)
    values (true, ${identityBy(tables)})
    on conflict (one) do update
    set database = excluded.database,
        instance = gen_random_uuid(),
        held_since = coalesce(sending.held_since, clock_timestamp()),
        reason = coalesce(sending.reason, 'restored')
    where sending.database <> excluded.database
    -- Zero for a new row: the first start.
    returning xmax <> 0 as copied`
  return row?.copied ?? false
}

/** The tables were copied into another server, which takes the place of this one: the next start finds no copy. */
export const keepIdentity = (sql: Sql, tables: readonly string[]) => sql`
  update sending
  set database = ${identityBy(tables)}`

/** The id of this installation; null before its first start. */
export async function instanceOf(sql: Sql): Promise<Id | null> {
  const [found] = await sql<{ instance: Id }>`select instance from sending`
  return found?.instance ?? null
}

export async function holdingOf(sql: Sql): Promise<Holding | null> {
  const [found] = await sql<Holding>`select held_since, reason from sending where held_since is not null`
  return found ?? null
}

/** A copy that the operator declares is recognised by the next start, whatever its object ids are. */
export const holdSending = (sql: Sql, reason: Holding['reason'], tables: readonly string[]) => sql`
  with held as (
    insert into sending (one, database, held_since, reason)
    values (true, ${identityBy(tables)}, clock_timestamp(), ${reason})
    on conflict (one) do update
    set held_since = coalesce(sending.held_since, excluded.held_since),
        reason = coalesce(sending.reason, excluded.reason),
        database = case excluded.reason when 'restored' then ${DECLARED} else sending.database end
    returning one
  )
  select pg_notify(${HOLD_CHANNEL}, '') from held`

export type Hold = {
  isHeld(): boolean
  /** True for a lane from which nothing may be taken now, and to which nothing may be dispatched directly. */
  isShut(lane: string): boolean
  look(): Promise<void>
  /** Called when a hold begins. */
  onHeld(began: () => void): void
  stop(): void
}

/** With the time of its statement, a lost NOTIFY delays a hold by less than a second. */
const EVERY_MS = 500

/** Reads the state before the first ticket is taken. Changes arrive by NOTIFY; polling finds those whose NOTIFY was lost. */
export async function watchHold(sql: Sql, lanes: readonly string[], onFault: (error: unknown) => void): Promise<Hold> {
  let held = false
  const listeners: (() => void)[] = []
  let begun = 0
  let applied = 0
  const look = async () => {
    const mine = ++begun
    const isHolding = (await holdingOf(sql)) !== null
    // The answer to an older look may come later.
    if (mine < applied) return
    applied = mine
    const wasHeld = held
    held = isHolding
    if (held && !wasHeld) for (const began of listeners) began()
  }
  await look()
  const looks = startPeriodic(look, EVERY_MS, onFault)
  // A look in progress is not waited for: the database may hang.
  return {
    isHeld: () => held,
    isShut: lane => held && lanes.includes(lane),
    look,
    onHeld: began => void listeners.push(began),
    stop: () => void looks.stop(),
  }
}

/** A taker that finds no tickets in held lanes. */
export const heldBy = (hold: Pick<Hold, 'isShut'>, taker: Taker): Taker => ({
  ...taker,
  take: async (lane, ...rest) => (hold.isShut(lane) ? [] : taker.take(lane, ...rest)),
  nextDue: lanes => taker.nextDue(lanes.filter(lane => !hold.isShut(lane))),
})
