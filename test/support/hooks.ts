// Delivery of webhooks on a database of its own: the real lane and its watch, with a retry schedule that the test chooses.
import type { Id } from '../../src/core/id.ts'
import { createEngine, lane } from '../../src/engine/run.ts'
import type { EventType, Position } from '../../src/events/event.ts'
import { createPostgresTaker } from '../../src/queue/postgres.ts'
import { startPeriodic } from '../../src/runtime/periodic.ts'
import { createAddresses } from '../../src/webhooks/address.ts'
import { type DeliverApp, deliverWebhooks, writeTurns } from '../../src/webhooks/deliver.ts'
import { WEBHOOK_LANE, WEBHOOK_TICKETS } from '../../src/webhooks/lane.ts'
import { createPoster, type PosterOptions } from '../../src/webhooks/post.ts'
import type { RetrySchedule } from '../../src/webhooks/schedule.ts'
import { startWebhookWatch } from '../../src/webhooks/watch.ts'
import { newSecret, type Secret, sealTarget } from '../../src/webhooks/webhook.ts'
import { type World, world } from './world.ts'

export const ALLOWED = {
  HERALD_WEBHOOK_ALLOW: '127.0.0.1',
  HERALD_WEBHOOK_PORTS: '1-65535',
  HERALD_WEBHOOK_SCHEMES: 'http',
}

export const QUICK: RetrySchedule = { delays: [0.05, 0.1, 0.2], giveUpSeconds: 3_600 }

export type Hooks = Awaited<ReturnType<typeof hooks>>

type Shape = {
  url: string
  format?: 'standard' | 'callback'
  types?: EventType[] | null
  batch?: number
  withRecipient?: boolean
  secrets?: Secret[]
  token?: string | null
  failingSince?: string
  failures?: number
}

export async function hooks(given?: World) {
  const place = given ?? (await world(ALLOWED))
  const { parts } = place
  const { sql } = parts.db
  const service = await place.service()

  return {
    ...place,
    sql,
    home: service,
    /** An endpoint of the service, at the end of the log. */
    async endpoint(shape: Shape, of: Id = service.id) {
      const { url, format = 'standard', types = null, batch = 1, withRecipient = false, token = null } = shape
      const { secrets = [{ secret: newSecret(), until: null }], failingSince = null, failures = 0 } = shape
      const id = parts.ids.next()
      await sql`
        insert into webhooks (id, service_id, key_type, format, sealed, types, with_recipient, batch, stamp, seq, n, failing_since,
                              failures)
        values (${id}, ${of}, 'normal', ${format}, ${sealTarget(parts.seal, { url, secrets, token })}, ${types}::text[],
                ${withRecipient}, ${batch}, coalesce((select max(stamp) from events), 0),
                coalesce((select max(seq) from events), 0), 65535, ${failingSince}::timestamptz, ${failures})`
      return { id, secrets, row: () => rowOf(place, id) }
    },
    /** Logs one group: an event of this type for each message. Returns the ids of the events. */
    async log(type: EventType, subjects: readonly Id[], { of = service.id, channel = 'email', announce = true } = {}) {
      const [group] = await sql<{ id: Id }>`
        insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause)
        select event_group(now()), event_stamp(), ${of}::uuid, 'normal', ${type.startsWith('job.') ? null : channel}, ${type},
               ${subjects}::uuid[], 'attempt'
        returning id`
      if (announce) parts.hints.announce([of])
      return subjects.map((_, n) => `${group?.id.slice(0, -4)}${n.toString(16).padStart(4, '0')}` as Id)
    },
    messages: (count: number) => Array.from({ length: count }, () => parts.ids.next()),
  }
}

async function rowOf({ parts }: World, id: Id) {
  const [row] = await parts.db.sql<
    Position & {
      state: string
      reason: string | null
      ticket: Id | null
      failures: number
      failing_since: string | null
      retries: number
      failed: number
      replays: number
    }
  >`
    select stamp::text, seq::text, n, state, reason, ticket, failures, failing_since,
           (select count(*) from webhook_retries r where r.webhook_id = w.id and r.state = 'waiting') as retries,
           (select count(*) from webhook_retries r where r.webhook_id = w.id and r.state = 'failed') as failed,
           (select count(*) from webhook_replays r where r.webhook_id = w.id) as replays
    from webhooks w
    where id = ${id}`
  if (!row) throw new Error('the endpoint does not exist')
  return row
}

export type Sending = { faults: unknown[]; disabled: unknown[]; turns(): number; stop(): Promise<void> }

/** Starts the lane and its watch. Faults are collected. */
export function startSending(
  { parts }: Pick<World, 'parts'>,
  options: { schedule?: RetrySchedule; post?: Partial<PosterOptions> } = {},
): Sending {
  const { sql } = parts.db
  const owner = parts.ids.next()
  const faults: unknown[] = []
  const onFault = (error: unknown) => void faults.push(error)
  const wake = (name: string) => engine.wake(name)
  const disabled: unknown[] = []
  const poster = createPoster({ addresses: createAddresses(parts.config), lastMomentMs: 100, ...options.post })
  const app: DeliverApp = {
    ...parts,
    sql,
    owner,
    poster,
    webhookMeter: { posted: () => {}, disabled: about => void disabled.push(about) },
    random: Math.random,
    trace: null,
    wake,
    lookForWebhooks: (services, afterSeconds) => watch.look(services, afterSeconds),
  }
  const work = deliverWebhooks(app, options.schedule)
  let turns = 0
  const engine = createEngine({
    specs: [
      lane({
        name: WEBHOOK_LANE,
        slots: 256,
        tickets: WEBHOOK_TICKETS,
        work: {
          ...work,
          async handle(...given) {
            turns++
            return work.handle(...given)
          },
        },
        write: writeTurns(app),
      }),
    ],
    taker: createPostgresTaker(sql, owner, 30, [WEBHOOK_LANE]),
    leaseSeconds: 30,
    onFault,
  })
  // The engine looks once a second at what will be due; a test has shorter delays.
  const waking = startPeriodic(async () => wake(WEBHOOK_LANE), 25, onFault)
  const watch = startWebhookWatch({ sql, hints: parts.hints, wake, onFault })
  return {
    faults,
    turns: () => turns,
    disabled,
    async stop() {
      await Promise.all([watch.stop(), waking.stop()])
      poster.stop()
      await engine.stop()
    },
  }
}
