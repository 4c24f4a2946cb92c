// Reads what an endpoint is to be sent next: events after its position, single events that are due again, and the oldest replay.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { type EventPage, eventsById, type LoggedEvent, readEvents } from '../feed/read.ts'
import type { Ticket } from '../queue/port.ts'
import { createTurns } from '../runtime/turns.ts'
import { canBeSent, type EventToSend, needsRecipient, withRecipient } from './body.ts'
import { nextReplays, type StoredReplay, type WaitingRetry, waitingRetries, withTickets } from './sql/deliver.ts'
import { readWebhook, type StoredWebhook, type Webhook } from './webhook.ts'

export type Page = Omit<EventPage, 'events'> & { events: readonly EventToSend[] }

/** `isTaken`: it is due and part of this turn; then `loaded` is null if its event no longer exists. */
export type RetryItem = WaitingRetry & { isTaken: boolean; loaded: EventToSend | null }

/** What a turn works on. */
export type TurnItem = {
  webhook: Webhook
  log: Page
  /** Single events that wait, in the order of the log. */
  retries: readonly RetryItem[]
  replay: { stored: StoredReplay; page: Page } | null
}

type App = { sql: Sql; seal: Seal }

/** Reads at the same time in this process: webhooks must not take the connections of messages. */
const READS = 3
/** An endpoint that fails is sent two requests at most; several events may be of one message. */
const MOST_WHEN_FAILING = 20
/** Due retries of one turn. */
const MOST_RETRIES = 200

/** `mostOf`: how many events an endpoint is likely to take in a turn. */
export function createLoad(app: App, mostOf: (webhook: Webhook) => number) {
  const reads = createTurns({ atOnce: READS, ofOne: READS })

  async function pageOf(webhook: Webhook, read: (most: number) => Promise<EventPage>): Promise<Page> {
    const most = webhook.failures > 0 ? Math.max(MOST_WHEN_FAILING, 2 * webhook.batch) : mostOf(webhook)
    const page = await reads.run(webhook.service_id, () => read(most))
    return { ...page, events: toSend(app.seal, webhook, page.events) }
  }

  async function itemOf(
    webhook: Webhook,
    retries: TurnItem['retries'],
    stored: StoredReplay | undefined,
  ): Promise<TurnItem> {
    const whole = needsRecipient(webhook)
    const { types } = webhook
    const log = await pageOf(webhook, most => readEvents(app.sql, webhook, webhook.position, { types, most, whole }))
    if (!stored) return { webhook, log, retries, replay: null }
    const { stamp, seq, n, first, last, end_stamp, end_seq } = stored
    const page = await pageOf(webhook, most =>
      readEvents(
        app.sql,
        webhook,
        { stamp, seq, n },
        { types: stored.types, most, whole, until: { stamp: end_stamp, seq: end_seq }, range: { first, last } },
      ),
    )
    return { webhook, log, retries, replay: { stored, page } }
  }

  return async (tickets: readonly Ticket[]): Promise<Map<Id, TurnItem>> => {
    const stored = await withTickets(
      app.sql,
      tickets.flatMap(ticket => ticket.subjects),
      tickets.map(ticket => ticket.id),
    )
    const webhooks = stored.map((row: StoredWebhook) => readWebhook(app.seal, row))
    if (webhooks.length === 0) return new Map()
    const ids = webhooks.map(({ id }) => id)
    const [waiting, replays] = await Promise.all([waitingRetries(app.sql, ids), nextReplays(app.sql, ids)])
    const items = await Promise.all(
      webhooks.map(async webhook => {
        const own = waiting.filter(({ webhook_id }) => webhook_id === webhook.id)
        const retries = own.length === 0 ? [] : await retriesOf(app, webhook, own)
        return itemOf(
          webhook,
          retries,
          replays.find(replay => replay.webhook_id === webhook.id),
        )
      }),
    )
    return new Map(items.map(item => [item.webhook.id, item]))
  }
}

const toSend = (seal: Seal, webhook: Webhook, events: readonly LoggedEvent[]): EventToSend[] =>
  events.filter(event => canBeSent(webhook, event)).map(event => withRecipient(seal, event, needsRecipient(webhook)))

/** A retry is sent only after the earlier ones of its message; so the events of a message are due when the first one is. */
async function retriesOf({ sql, seal }: App, webhook: Webhook, waiting: readonly WaitingRetry[]): Promise<RetryItem[]> {
  const first = new Map<Id, WaitingRetry>()
  for (const retry of waiting) if (!first.has(retry.subject)) first.set(retry.subject, retry)
  const taken = new Set(
    waiting
      .filter(({ subject }) => first.get(subject)?.due_in === 0)
      .slice(0, MOST_RETRIES)
      .map(({ event }) => event),
  )
  const found = taken.size === 0 ? [] : await eventsById(sql, [...taken], needsRecipient(webhook))
  const loaded = new Map(toSend(seal, webhook, found).map(event => [event.id, event]))
  return waiting.map(retry => ({ ...retry, isTaken: taken.has(retry.event), loaded: loaded.get(retry.event) ?? null }))
}
