// A running process as it describes itself, and what several of them say together.
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { BreakerState } from '../runtime/circuit-breaker.ts'

/** Of one process. Never an address, a text or a secret of a provider. */
export type ProviderReport = {
  name: string
  channel: string
  state: BreakerState
  /** When the circuit breaker opened; null: it is closed. */
  since: string | null
  accepted_last_minute: number
  /** `reason`: why it cannot be reached; older versions write none. */
  last_error: { class: string; reason?: string; at: string } | null
}

export type RunningProcess = {
  id: Id
  /** HERALD_PROCESS_NAME, by default the name of the machine, and the process id. */
  name: string
  version: string
  runs: ('http' | 'engine')[]
  started_at: Timestamp
  seen_at: Timestamp
  /** Since the last heartbeat, by the clock of the database. */
  seen_seconds: number
  leads_since: Timestamp | null
  /** By lane; a lane without work is left out. */
  in_flight: Readonly<Record<string, number>>
  providers: readonly ProviderReport[]
}

/** A process that has been silent for longer hangs, has lost the database, or was killed. */
export const LATE_SECONDS = 15

export const isLate = ({ seen_seconds }: Pick<RunningProcess, 'seen_seconds'>): boolean => seen_seconds > LATE_SECONDS

/** Items in flight in a lane, of all processes that are not late. */
export const inFlight = (processes: readonly RunningProcess[], lane: string): number =>
  processes.filter(one => !isLate(one)).reduce((sum, one) => sum + (one.in_flight[lane] ?? 0), 0)

/** A provider in all processes with an engine that are not late. */
export type ProviderView = ProviderReport & {
  /** What each process reports, where their states differ. */
  differing: readonly { process: string; report: ProviderReport }[]
}

const WORST: readonly BreakerState[] = ['open', 'half-open', 'closed']

/** In the order of preference: the worst state, the sum of messages, the newest error. */
export function providerViews(processes: readonly RunningProcess[]): ProviderView[] {
  const reports = new Map<string, { process: string; report: ProviderReport }[]>()
  for (const process of processes.filter(one => !isLate(one)))
    for (const report of process.providers) {
      const key = `${report.channel} ${report.name}`
      reports.set(key, [...(reports.get(key) ?? []), { process: process.name, report }])
    }
  return [...reports.values()].flatMap(all => {
    const worst = all.toSorted((a, b) => WORST.indexOf(a.report.state) - WORST.indexOf(b.report.state))[0]?.report
    if (!worst) return []
    const errors = all.flatMap(({ report }) => report.last_error ?? []).sort((a, b) => b.at.localeCompare(a.at))
    return {
      ...worst,
      accepted_last_minute: all.reduce((sum, { report }) => sum + report.accepted_last_minute, 0),
      last_error: errors[0] ?? null,
      differing: all.some(({ report }) => report.state !== worst.state) ? all : [],
    }
  })
}
