// Every process writes every five seconds what it runs and how its providers are. A heartbeat that fails changes nothing: the next
// one comes, and the page says that the process was not seen.
import type { Clock } from '../core/clock.ts'
import type { Sql } from '../db/connect.ts'
import type { ProviderHealth } from '../providers/failover.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { within } from '../runtime/within.ts'
import type { ProviderReport, RunningProcess } from './process.ts'
import { beat, remove } from './sql/processes.ts'

/** What a process with an engine says about it. */
export type EngineState = {
  lanes(): readonly { name: string; load(): { inFlight: number } }[]
  leadsMs(): number | null
  /** By channel. */
  groups: Readonly<Record<string, { health(): readonly ProviderHealth[] }>>
}

export type Heartbeat = {
  /** Writes the row now, on another connection if one is given; not after a stop. */
  beat(sql?: Sql): Promise<void>
  stop(): Promise<void>
}

const EVERY_MS = 5_000
/** A stop does not wait longer for a database that hangs. */
const REMOVE_MS = 1_000

/** `engine` is asked at every heartbeat: null as long as there is none. */
export function startHeartbeat(
  app: { sql: Sql; clock: Pick<Clock, 'now'>; onFault(error: unknown): void },
  about: Pick<RunningProcess, 'id' | 'name' | 'version' | 'runs'>,
  engine: () => EngineState | null,
): Heartbeat {
  const startedAt = performance.now()
  const writing = new Set<Promise<void>>()
  let isStopping = false

  async function write(sql: Sql) {
    const state = engine()
    const leadsMs = state?.leadsMs() ?? null
    await beat(sql, {
      ...about,
      up_seconds: (performance.now() - startedAt) / 1000,
      leads_seconds: leadsMs === null ? null : leadsMs / 1000,
      in_flight: state ? inFlightOf(state) : {},
      providers: state ? reportsOf(state, app.clock.now()) : [],
    })
  }

  async function now(sql = app.sql) {
    if (isStopping) return
    const one = write(sql).finally(() => writing.delete(one))
    writing.add(one)
    await one
  }

  // The first one at once, then every five seconds.
  const beats = startPeriodic(
    () => now(),
    runs => (runs === 0 ? 0 : EVERY_MS),
    app.onFault,
  )
  return {
    beat: now,
    async stop() {
      isStopping = true
      // After the heartbeats in progress, which would write the row again.
      const written = Promise.allSettled([beats.stop(), ...writing])
      const removed = written.then(() => remove(app.sql, about.id))
      await within(REMOVE_MS, removed, 'the row of this process was not deleted in time').catch(app.onFault)
    },
  }
}

const inFlightOf = ({ lanes }: EngineState): Record<string, number> =>
  Object.fromEntries(
    lanes().flatMap(lane => {
      const { inFlight } = lane.load()
      return inFlight > 0 ? [[lane.name, inFlight] as const] : []
    }),
  )

function reportsOf({ groups }: EngineState, now: number): ProviderReport[] {
  const ago = (ms: number) => new Date(now - ms).toISOString()
  return Object.entries(groups).flatMap(([channel, group]) =>
    group.health().map(({ name, state, openMs, acceptedLastMinute, lastError }) => ({
      name,
      channel,
      state,
      since: openMs === null ? null : ago(openMs),
      accepted_last_minute: acceptedLastMinute,
      last_error: lastError && errorOf(lastError, ago),
    })),
  )
}

const errorOf = ({ agoMs, ...error }: NonNullable<ProviderHealth['lastError']>, ago: (ms: number) => string) => ({
  ...error,
  at: ago(agoMs),
})
