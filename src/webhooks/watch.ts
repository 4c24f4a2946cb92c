// Gives endpoints that are idle a ticket when they have something to send: soon after a hint, and for hints that were lost, after a
// look at all of them every few seconds.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { WEBHOOK_LANE } from './lane.ts'
import { activeServices, giveTickets, giveTicketsToAll } from './sql/watch.ts'

export type WebhookWatch = {
  /** These services may have something to send, now or after some seconds. */
  look(services: readonly Id[], afterSeconds?: number): void
  stop(): Promise<void>
}

type App = {
  sql: Sql
  hints: Pick<EventHints, 'subscribe'>
  wake(lane: string): void
  onFault(error: unknown, sentence: string): void
}

/** Between two looks for hints: what is hinted meanwhile shares the next one. */
const REST_MS = 25
/** Services that had no endpoint are asked about only this often. */
const STRANGERS_MS = 1_000
/** Every look at all endpoints is the n-th of these pauses. */
const ALL_EVERY = 5
/** A look that includes events logged more than a day ago: after a start, and then every hour. */
const WHOLE_EVERY = 3_600
const STEP = 500
/** A look after a longer time is left to the looks at all endpoints. */
const LONGEST_SECONDS = 60

export function startWebhookWatch({ sql, hints, wake, onFault }: App): WebhookWatch {
  /** Services with active endpoints. Most services have none, and their hints cost nothing. */
  let known = new Set<Id>()
  let strangers = new Set<Id>()
  let hinted = new Set<Id>()
  let isAllHinted = false
  let looking: Promise<void> | null = null
  let lookedAt = 0
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  const timers = new Set<NodeJS.Timeout>()
  /** Looks that are planned: by service and quarter of a second, so that many retries of one endpoint share them. */
  const planned = new Set<string>()
  const failed = (error: unknown) => onFault(error, 'endpoints of webhooks could not be looked at')

  function wakeAfter(seconds: readonly number[]) {
    if (seconds.some(wait => wait === 0)) wake(WEBHOOK_LANE)
    const later = seconds.filter(wait => wait > 0)
    if (later.length === 0) return
    after(Math.min(...later), () => wake(WEBHOOK_LANE))
  }

  function after(seconds: number, work: () => void) {
    const timer = setTimeout(
      () => {
        timers.delete(timer)
        work()
      },
      seconds * 1000 + 1,
    )
    timers.add(timer)
  }

  function plan() {
    if (isStopped || timer || looking || hinted.size === 0) return
    timer = setTimeout(
      () => {
        timer = null
        looking = lookAtHinted().finally(() => {
          looking = null
          lookedAt = performance.now()
          plan()
        })
      },
      Math.max(0, lookedAt + REST_MS - performance.now()),
    )
  }

  async function lookAtHinted() {
    const services = [...hinted]
    hinted = new Set()
    try {
      const given = await giveTickets(sql, services)
      wakeAfter(given.map(({ seconds }) => seconds))
    } catch (error) {
      failed(error)
    }
  }

  async function lookAtAll(isWhole: boolean, signal: AbortSignal) {
    known = new Set((await activeServices(sql, null)).map(row => row.service_id))
    for (let after: Id | null = null; !signal.aborted; ) {
      const seen = await giveTicketsToAll(sql, after, STEP, isWhole)
      wakeAfter(seen.flatMap(({ seconds }) => seconds ?? []))
      after = seen.at(-1)?.id ?? null
      if (seen.length < STEP) return
    }
  }

  async function meetStrangers() {
    if (strangers.size === 0) return
    const services = [...strangers]
    strangers = new Set()
    const found = (await activeServices(sql, services)).map(row => row.service_id)
    for (const service of found) known.add(service)
    look(found)
  }

  function look(services: readonly Id[], afterSeconds = 0) {
    if (isStopped || afterSeconds > LONGEST_SECONDS) return
    for (const service of services)
      if (afterSeconds > 0) lookAfter(service, afterSeconds)
      else hinted.add(service)
    plan()
  }

  function lookAfter(service: Id, seconds: number) {
    const name = `${service} ${Math.floor((performance.now() / 1000 + seconds) * 4)}`
    if (planned.has(name)) return
    planned.add(name)
    after(seconds, () => {
      planned.delete(name)
      look([service])
    })
  }

  const unsubscribe = hints.subscribe(services => {
    if (services === null) isAllHinted = true
    else {
      for (const service of services) if (!known.has(service)) strangers.add(service)
      look(services.filter(service => known.has(service)))
    }
  })

  let runs = 0
  const periodic = startPeriodic(
    async signal => {
      const run = runs++
      if (run % ALL_EVERY === 0 || isAllHinted) {
        isAllHinted = false
        await lookAtAll(run % WHOLE_EVERY === 0, signal)
      }
      await meetStrangers()
    },
    run => (run === 0 ? 0 : STRANGERS_MS),
    failed,
  )

  return {
    look,
    async stop() {
      isStopped = true
      unsubscribe()
      if (timer) clearTimeout(timer)
      for (const timer of timers) clearTimeout(timer)
      await Promise.all([periodic.stop(), looking])
    },
  }
}
