// The work of the lane `webhooks`: a turn posts what comes next for one endpoint, and is recorded by one statement.
import { type Clock, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Entry, Handled, Work } from '../engine/work.ts'
import { MAIL_LANE } from '../mails/mail.ts'
import { retriesOf } from '../notifications/deliver.ts'
import { createBusy } from '../runtime/busy.ts'
import type { Recall } from '../runtime/recall.ts'
import type { Services } from '../services/load.ts'
import { isActive } from '../services/service.ts'
import { crashPoint } from '../telemetry/crash.ts'
import type { Tracer } from '../telemetry/trace.ts'
import { createAttemptLog } from './attempts-log.ts'
import { type EventToSend, requestFor } from './body.ts'
import { mailsAbout } from './disable.ts'
import { createLoad, type Page, type TurnItem } from './load.ts'
import type { WebhookMeter } from './measure.ts'
import type { Posted, Poster } from './post.ts'
import { RETRIES, type RetrySchedule, retryDelay } from './schedule.ts'
import {
  type Aside,
  disabling,
  nothingElse,
  type Retried,
  recordTurns,
  type TurnEntry,
  type TurnRecord,
} from './sql/deliver.ts'
import { createTurn, type Turn } from './turn.ts'
import type { Reason, Webhook } from './webhook.ts'

export type DeliverApp = {
  sql: Sql
  seal: Seal
  clock: Clock
  ids: { next(): Id }
  owner: Id
  services: Services
  poster: Poster
  webhookMeter: WebhookMeter
  random(): number
  wake(lane: string): void
  /** Endpoints of these services may have something to send, now or after some seconds. */
  lookForWebhooks(services: readonly Id[], afterSeconds?: number): void
  trace: Tracer | null
}

type Result = TurnRecord & { disabled: { service: Id; reason: Reason; host: string } | null }

/** Requests begin for this long; in flight they may take 10 s more. With replays and retries to do, the log has only part of it. */
const TURN_MS = 5_000
const LOG_MS = 3_000
/** Requests at the same time: of one endpoint, of all endpoints of a service, in this process, and of one endpoint while the CPU is busy. */
const WINDOW = { endpoint: 16, service: 64, process: 512, busy: 4 }
/** Events read for a turn. */
const READ = { first: 200, least: 50, one: 1_000, batches: 20, withRecipient: 400 }
const MOST_WAITING = 1_000
const INACTIVE_SECONDS = 600
/** The statement that records a retry runs a moment later than its delay was chosen. */
const RETRY_SLACK = 0.02

export function deliverWebhooks(app: DeliverApp, schedule: RetrySchedule = RETRIES): Work<TurnItem, Result> {
  /** How many events an endpoint took in its last turn. */
  const lastSent = new Map<Id, number>()
  const turnsOf = new Map<Id, number>()
  let turns = 0
  const isBusy = createBusy()

  const load = createLoad(app, ({ id, batch, with_recipient, format }) => {
    const most = batch > 1 ? batch * READ.batches : READ.one
    const expected = Math.max(READ.least, 2 * (lastSent.get(id) ?? READ.first / 2))
    const limit = with_recipient || format === 'callback' ? READ.withRecipient : most
    return Math.min(most, limit, expected)
  })

  const windowOf = (service: Id) => () => {
    const share = Math.min(WINDOW.process / turns, WINDOW.service / (turnsOf.get(service) ?? 1))
    return Math.max(1, Math.min(isBusy() ? WINDOW.busy : WINDOW.endpoint, Math.floor(share)))
  }

  function count(service: Id, by: 1 | -1) {
    turns += by
    const left = (turnsOf.get(service) ?? 0) + by
    if (left === 0) turnsOf.delete(service)
    else turnsOf.set(service, left)
  }

  return {
    load,
    async handle(item, _ticket, recall) {
      const { webhook } = item
      if (!isActive(await app.services.get(webhook.service_id)))
        return { kind: 'again', result: null, delaySeconds: INACTIVE_SECONDS }
      count(webhook.service_id, 1)
      try {
        const done = await takeTurn(app, schedule, item, windowOf(webhook.service_id), recall)
        if (lastSent.size > 10_000) lastSent.clear()
        lastSent.set(webhook.id, done.sent)
        return done.handled
      } finally {
        count(webhook.service_id, -1)
      }
    },
    // The endpoint is idle until it is looked at again.
    setAside: ({ webhook }) => ({ ...unchanged(webhook), disabled: null }),
    traceOf: () => null, // a turn is about many messages
  }
}

const unchanged = ({ position, failures, failing_since }: Webhook): TurnRecord => ({
  position,
  failures,
  failingSince: failing_since === null ? null : Date.parse(zulu(failing_since)),
  hasSucceeded: false,
  reason: null,
  ...{ attempts: [], aside: [], retried: [], ended: [], replays: [] },
})

async function takeTurn(
  app: DeliverApp,
  schedule: RetrySchedule,
  item: TurnItem,
  window: () => number,
  recall: Recall,
): Promise<{ handled: Handled<Result>; sent: number }> {
  const { webhook, log, retries, replay } = item
  const attempts = createAttemptLog(app)
  const since = performance.now()
  const hasOthers = replay !== null || retries.some(retry => retry.loaded)

  const post = async (events: readonly EventToSend[]) => {
    const at = app.clock.now()
    const spans = events.map(({ id, type, subject }) =>
      app.trace?.about(subject, 'webhook', {
        ...{ 'herald.id': subject, 'herald.webhook_id': webhook.id, 'herald.event_id': id, 'herald.event': type },
      }),
    )
    const posted = await app.poster.post(webhook.id, requestFor(webhook, events, at))
    for (const span of spans) span?.end({ 'http.response.status_code': posted.status }, failureOf(posted))
    crashPoint('after-webhook-post', () => events.map(event => event.subject))
    if (posted.kind !== 'interrupted') attempts.add(events, posted, at)
    app.webhookMeter.posted(posted, events.length)
    return posted
  }
  const isStopping = () => app.poster.isStopping() || recall.isRecalled()
  const common = { window, post, isStopping }
  const waiting = new Set(retries.map(({ subject }) => subject))

  const ofLog = { ...common, batch: webhook.batch, isFailing: webhook.failures > 0 }
  const turn = createTurn({ ...ofLog, until: since + (hasOthers ? LOG_MS : TURN_MS) })
  await turn.send(log.events, waiting)
  turn.extend(since + TURN_MS)
  if (replay) await turn.send(replay.page.events, waiting)
  turn.conclude(!log.hasMore && !replay?.page.hasMore)

  const again = createTurn({ ...common, batch: 1, isFailing: true, isRetry: true, until: since + TURN_MS })
  if (turn.halted() === null) await again.send(retries.flatMap(({ loaded }) => loaded ?? []))

  const now = app.clock.now()
  const retried = retriedIn(app, schedule, again, retries, now)
  const set = createAsides(app, schedule, turn, retries, retried.delays)
  const logEnd = endOf(turn, log, webhook.position, set)
  const replayEnd = replay && endOf(turn, replay.page, positionOf(replay.stored), set)
  const health = healthOf(app, schedule, webhook, [turn, again], set, now)
  const record: TurnRecord = {
    ...{ position: logEnd.position, failures: health.failures, failingSince: health.failingSince },
    ...{ hasSucceeded: turn.sent() + again.sent() > 0, reason: health.reason },
    ...{ attempts: attempts.rows(), aside: set.rows(), retried: retried.rows, ended: retried.ended },
    replays:
      replay && replayEnd
        ? [{ id: replay.stored.id, ...replayEnd, isDone: replayEnd.isWhole && !replay.page.hasMore }]
        : [],
  }
  const sent = turn.sent() + again.sent()
  if (health.reason !== null) {
    const { host } = new URL(webhook.url)
    const disabled = { service: webhook.service_id, reason: health.reason, host }
    return { handled: { kind: 'done', result: { ...record, disabled } }, sent }
  }
  const result = { ...record, disabled: null }
  if (health.delaySeconds !== null)
    return { handled: { kind: 'again', result, delaySeconds: health.delaySeconds }, sent }
  const hasMore =
    log.hasMore || !logEnd.isWhole || record.replays.some(({ isDone }) => !isDone) || replay !== null || retried.hasMore
  return { handled: hasMore ? { kind: 'again', result, delaySeconds: 0 } : { kind: 'done', result }, sent }
}

/** For the trace: the class of an error; null: the endpoint has taken the events. */
const failureOf = ({ kind, status }: Posted): string | null =>
  status === null ? kind : status >= 200 && status <= 299 ? null : String(status)

const positionOf = ({ stamp, seq, n }: { stamp: string; seq: string; n: number }) => ({ stamp, seq, n })

type Asides = {
  /** Sets an event aside; false: too many wait already. */
  add(event: EventToSend): boolean
  rows(): Aside[]
  isFull(): boolean
}

/** Events that were refused, and later ones of the same messages. */
function createAsides(
  app: Pick<DeliverApp, 'random'>,
  schedule: RetrySchedule,
  turn: Turn,
  retries: TurnItem['retries'],
  /** When earlier events of the same messages are due. */
  waiting: ReadonlyMap<Id, number>,
): Asides {
  const delays = new Map(waiting)
  const rows = new Map<Id, Aside>()
  let isFull = false
  return {
    add(event) {
      if (rows.has(event.id)) return true
      if (rows.size + retries.length >= MOST_WAITING) {
        isFull = true
        return false
      }
      const { id, subject, position } = event
      const isRefused = turn.verdictOf(id) === 'refused'
      const delaySeconds = delays.get(subject) ?? retryDelay(schedule, { failures: 1, failingMs: 0 }, app.random()) ?? 0
      delays.set(subject, delaySeconds)
      const { stamp, seq } = position
      const failures = isRefused ? 1 : 0
      rows.set(id, { event: id, stamp, seq, subject, failures, status: turn.statusOf(id), delaySeconds })
      return true
    },
    rows: () => [...rows.values()],
    isFull: () => isFull,
  }
}

/** The position up to which everything was sent or set aside. */
function endOf(turn: Turn, page: Page, from: TurnRecord['position'], set: Asides) {
  let position = from
  let sent = 0
  for (const event of page.events) {
    const verdict = turn.verdictOf(event.id)
    if (verdict === 'open' || (verdict !== 'sent' && !set.add(event))) return { position, sent, isWhole: false }
    if (verdict === 'sent') sent++
    position = event.position
  }
  return { position: page.position, sent, isWhole: true }
}

/** What became of single events that were due. */
function retriedIn(
  app: Pick<DeliverApp, 'random'>,
  schedule: RetrySchedule,
  again: Turn,
  retries: TurnItem['retries'],
  now: number,
) {
  const rows: Retried[] = []
  const ended: Id[] = []
  const delays = new Map<Id, number>()
  let hasMore = false
  for (const { event, subject, failures, since, due_in, isTaken, loaded } of retries) {
    const behind = delays.get(subject)
    if (!isTaken) {
      // An event is not due before the first one of its message: the endpoint would get a turn without work.
      if (behind !== undefined && due_in < behind) rows.push({ event, failures, status: null, delaySeconds: behind })
      else if (behind === undefined && due_in > 0) delays.set(subject, due_in)
      continue
    }
    if (!loaded || again.verdictOf(event) === 'sent') ended.push(event)
    else if (behind !== undefined) rows.push({ event, failures, status: null, delaySeconds: behind })
    else if (again.hasFailed(event)) {
      const failingMs = now - Date.parse(zulu(since))
      const delaySeconds = retryDelay(schedule, { failures: failures + 1, failingMs }, app.random())
      delays.set(subject, delaySeconds ?? 0)
      rows.push({ event, failures: failures + 1, status: again.statusOf(event), delaySeconds })
    } else hasMore = true
  }
  return { rows, ended, delays, hasMore }
}

type Health = { failures: number; failingSince: number | null; reason: Reason | null; delaySeconds: number | null }

/** `delaySeconds`: until an endpoint that fails is tried again. */
function healthOf(
  app: Pick<DeliverApp, 'random'>,
  schedule: RetrySchedule,
  webhook: Webhook,
  turns: readonly Turn[],
  set: Asides,
  now: number,
): Health {
  const before = unchanged(webhook)
  const sent = turns.reduce((sum, turn) => sum + turn.sent(), 0)
  const halts = turns.map(turn => turn.halted())
  const well: Health = { failures: 0, failingSince: null, reason: null, delaySeconds: null }
  if (halts.includes('gone')) return { ...well, failures: before.failures + 1, failingSince: now, reason: 'gone' }
  if (halts.includes('failing') || set.isFull()) {
    const failures = sent > 0 ? 1 : before.failures + 1
    const failingSince = sent > 0 ? now : (before.failingSince ?? now)
    const requestedSeconds = Math.max(...turns.map(turn => turn.requestedSeconds()))
    const failing = { failures, failingMs: now - failingSince, requestedSeconds }
    const delaySeconds = retryDelay(schedule, failing, app.random())
    return { failures, failingSince, reason: delaySeconds === null ? 'failing' : null, delaySeconds }
  }
  if (sent > 0) return well
  // One event alone was refused: whether the endpoint fails is decided by the next one.
  if (set.rows().some(({ failures }) => failures > 0))
    return { ...well, failures: 1, failingSince: before.failingSince ?? now }
  return { ...well, failures: before.failures, failingSince: before.failingSince }
}

/** Records turns. A turn that disables its endpoint has a statement of its own, with the audit entry and the mails. */
export const writeTurns =
  (app: DeliverApp) =>
  async (entries: readonly Entry<Result>[]): Promise<void> => {
    const usual = entries.filter(entry => !entry.result?.disabled)
    if (usual.length > 0) await write(app, usual)
    for (const entry of entries) if (entry.result?.disabled) await writeDisabled(app, entry, entry.result.disabled)
  }

async function write(app: DeliverApp, entries: readonly Entry<Result>[], tail = nothingElse) {
  const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
  const again = entries.flatMap(entry => retriesOf(app, entry))
  const turns = entries.map(({ ticket, result }): TurnEntry => {
    const next = again.find(retry => retry.from === ticket.id)?.ticket ?? null
    return { webhook: ticket.subjects[0] as Id, ticket: ticket.id, takes: ticket.takes, next, record: result }
  })
  crashPoint('before-webhook-record', () => turns.map(({ webhook }) => webhook))
  const recorded = await recordTurns(app.sql, app.owner, turns, settled, again, tail)
  // A commit during the turn gave no ticket to an endpoint that had one.
  const idle = entries.filter(({ settle }) => settle?.length === 0).map(({ ticket }) => ticket.service_id)
  if (idle.length > 0) app.lookForWebhooks([...new Set(idle)])
  for (const { ticket, result } of entries)
    for (const { delaySeconds } of [...(result?.aside ?? []), ...(result?.retried ?? [])])
      if (delaySeconds !== null) app.lookForWebhooks([ticket.service_id], delaySeconds + RETRY_SLACK)
  if (again.some(({ delaySeconds }) => delaySeconds === 0)) app.wake(entries[0]?.ticket.lane ?? '')
  return recorded
}

async function writeDisabled(app: DeliverApp, entry: Entry<Result>, about: NonNullable<Result['disabled']>) {
  const webhook = entry.ticket.subjects[0] as Id
  const mails = await mailsAbout(app, webhook, about)
  const recorded = await write(app, [entry], disabling(about.reason, mails))
  if (!recorded.some(({ is_disabled }) => is_disabled)) return
  app.webhookMeter.disabled({ webhook, service: about.service, reason: about.reason })
  app.wake(MAIL_LANE)
}
