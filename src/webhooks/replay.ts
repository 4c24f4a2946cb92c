import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import type { EventType, Position } from '../events/event.ts'
import { notifyOfEvents } from '../events/sql.ts'
import { comparePositions, positionAt } from '../feed/read.ts'
import { findEvent } from './read.ts'
import { refuse } from './refusals.ts'
import { momentFrom } from './rules.ts'
import { lockWebhook, type Owner } from './sql/manage.ts'
import { addReplay, addSingle, retryFailed, tryNow, waitingFor } from './sql/replay.ts'
import { readWebhook, typesOf, type Webhook } from './webhook.ts'

export type ReplayInput = { from?: string; to?: string; types?: readonly EventType[]; event?: string; failed?: boolean }

/** What is sent again: a period, one event, or the events that were refused. `events`: how many; null: not counted. */
export type Replay = {
  from: Timestamp | null
  to: Timestamp | null
  types: readonly EventType[] | null
  events: number | null
}

type App = { db: Database; clock: Clock; ids: { next(): Id }; seal: Seal }

const MOST_REPLAYS = 10
/** As many as delivery sets aside. */
const MOST_SINGLE = 1_000

export async function replay(app: App, actor: Actor, owner: Owner, id: Id, input: ReplayInput): Promise<Replay> {
  requirePermission(actor, 'manage-webhooks', owner.service_id)
  const work = workOf(app, actor, input)
  const done = await app.db.transaction(async sql => {
    const row = await lockWebhook(sql, owner, id)
    if (!row) throw refuse.notFound()
    const done = await work(sql, readWebhook(app.seal, row))
    await tryNow(sql, id)
    return done
  })
  await notifyOfEvents(app.db.sql, owner.service_id)
  return done
}

type Work = (sql: Sql, webhook: Webhook) => Promise<Replay>

function workOf(app: App, actor: Actor, { from, to, types, event, failed }: ReplayInput): Work {
  const isPeriod = [from, to, types].some(given => given !== undefined)
  if ([isPeriod, event !== undefined, failed !== undefined].filter(Boolean).length !== 1) throw refuse.oneReplay()
  if (failed === false) throw refuse.failedIsTrue()
  if (failed) return (sql, webhook) => allFailed(sql, actor, webhook)
  if (event !== undefined) return (sql, webhook) => oneEvent(sql, actor, webhook, event)
  if (from === undefined) throw refuse.oneReplay()
  const now = app.clock.micros()
  const period = { from: momentFrom('from', from, now), to: to === undefined ? now : momentFrom('to', to, now) }
  if (period.to <= period.from) throw refuse.emptyPeriod()
  return (sql, webhook) => aPeriod(app, sql, actor, webhook, period, types ?? null)
}

/** No transaction that logs events takes longer. Ids of events contain when their transaction began. */
const SLACK_MICROS = 120_000_000
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id

async function aPeriod(
  app: App,
  sql: Sql,
  actor: Actor,
  webhook: Webhook,
  { from, to }: { from: number; to: number },
  types: readonly EventType[] | null,
): Promise<Replay> {
  const strange = webhook.types && types?.find(type => !webhook.types?.includes(type))
  if (strange) throw refuse.typeNotReceived(strange)
  if ((await waitingFor(sql, webhook.id)).replays >= MOST_REPLAYS) throw refuse.tooManyReplays(MOST_REPLAYS)
  const position = await positionAt(sql, webhook, from)
  const end = endBefore(await positionAt(sql, webhook, to))
  // What is after the position of the endpoint is sent anyway.
  const last = comparePositions(end, webhook.position) < 0 ? end : webhook.position
  const again = types ?? webhook.types
  const detail = { from: fromMicros(from), to: fromMicros(to) }
  await addReplay(
    sql,
    webhook.id,
    {
      id: app.ids.next(),
      types: again,
      first: floorOf(Math.max(0, from - SLACK_MICROS)),
      last: LAST_ID,
      position,
      end: last,
    },
    actor,
    detail,
  )
  return { ...detail, types: again, events: null }
}

/** The last place before a position. */
const endBefore = ({ stamp, seq, n }: Position): Position =>
  n >= 0 ? { stamp, seq, n } : { stamp, seq: String(BigInt(seq) - 1n), n: 0 }

async function oneEvent(sql: Sql, actor: Actor, webhook: Webhook, text: string): Promise<Replay> {
  const event = readId(text)
  const found = event && (await findEvent(sql, webhook, event))
  if (!found) throw refuse.eventNotFound()
  const { stamp, seq, type } = found.group
  if (!typesOf(webhook.format).includes(type)) throw refuse.eventNotCarried(type)
  if ((await waitingFor(sql, webhook.id)).events >= MOST_SINGLE) throw refuse.tooManyWaiting(MOST_SINGLE)
  await addSingle(sql, webhook.id, { event, stamp, seq, subject: found.subject }, actor)
  return { from: null, to: null, types: null, events: 1 }
}

async function allFailed(sql: Sql, actor: Actor, webhook: Webhook): Promise<Replay> {
  const { events } = await waitingFor(sql, webhook.id)
  return {
    from: null,
    to: null,
    types: null,
    events: await retryFailed(sql, webhook.id, Math.max(0, MOST_SINGLE - events), actor),
  }
}
