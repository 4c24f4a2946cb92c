// Metrics of webhooks. Endpoints are counted, never named.
import { Counter, Histogram } from 'prom-client'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Log } from '../telemetry/log.ts'
import { createReading, type Metrics } from '../telemetry/metrics.ts'
import type { Posted } from './post.ts'
import { figures } from './sql/watch.ts'
import type { Reason } from './webhook.ts'

export type WebhookMeter = {
  posted(posted: Posted, events: number): void
  disabled(about: { webhook: Id; service: Id; reason: Reason }): void
}

const OUTCOMES = ['success', 'refused', 'unanswered', 'unreachable'] as const
type Outcome = (typeof OUTCOMES)[number]
const REASONS: readonly Reason[] = ['failing', 'gone']

export function createWebhookMeter({ registry }: Pick<Metrics, 'registry'>, log: Pick<Log, 'warn'>): WebhookMeter {
  const registers = [registry]
  const posts = new Counter({
    name: 'herald_webhook_posts_total',
    help: 'Requests to webhook endpoints, by outcome: success (2xx), refused (any other answer), unanswered, unreachable.',
    labelNames: ['outcome'],
    registers,
  })
  const events = new Counter({
    name: 'herald_webhook_events_total',
    help: 'Events that webhook endpoints accepted.',
    registers,
  })
  const disabled = new Counter({
    name: 'herald_webhooks_disabled_total',
    help: 'Webhook endpoints disabled by Herald: failing for 72 hours, or gone (410).',
    labelNames: ['reason'],
    registers,
  })
  const seconds = new Histogram({
    name: 'herald_webhook_post_seconds',
    help: 'Time of a request to a webhook endpoint, to the end of its answer.',
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  for (const outcome of OUTCOMES) posts.inc({ outcome }, 0)
  for (const reason of REASONS) disabled.inc({ reason }, 0)
  return {
    posted(posted, count) {
      if (posted.kind === 'interrupted') return
      const outcome = outcomeOf(posted)
      posts.inc({ outcome })
      seconds.observe(posted.tookMs / 1000)
      if (outcome === 'success') events.inc(count)
    },
    disabled(about) {
      disabled.inc({ reason: about.reason })
      log.warn(about, 'a webhook is disabled')
    },
  }
}

function outcomeOf({ kind, status }: Posted): Outcome {
  if (kind !== 'answered') return kind === 'unreachable' ? 'unreachable' : 'unanswered'
  return status !== null && status >= 200 && status <= 299 ? 'success' : 'refused'
}

const STATES = ['active', 'paused', 'disabled'] as const

/** Gauges that are read from the database when they are scraped. */
export function measureWebhooks(metrics: Pick<Metrics, 'gauges'>, sql: Sql): void {
  const read = createReading(() => figures(sql))
  metrics.gauges(
    'herald_webhooks',
    'Webhook endpoints, by state.',
    ['state'],
    async () => {
      const now = await read()
      return now ? STATES.map(state => [{ state }, now[state]] as const) : []
    },
    'database',
  )
  metrics.gauges(
    'herald_webhooks_failing',
    'Active webhook endpoints whose last requests failed.',
    [],
    async () => {
      const now = await read()
      return now ? [[{}, now.failing]] : []
    },
    'database',
  )
  metrics.gauges(
    'herald_webhook_behind_seconds',
    'Age of the oldest event that an active webhook endpoint has not been sent.',
    [],
    async () => {
      const now = await read()
      return now ? [[{}, now.behind_seconds]] : []
    },
    'database',
  )
}
