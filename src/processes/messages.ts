// What the supervisor and its processes tell each other. Other messages on the same channel are ignored.
import type { HealthState } from '../telemetry/health.ts'
import type { MetricValues } from '../telemetry/metrics.ts'

/** What a process runs: number `at` of `of`, from 1. */
export type Slot = {
  at: number
  of: number
  /** The first `engines` of them send. */
  engines: number
  only: 'http' | 'engine' | null
  /** It replaces one that has ended: nobody waits for the sentences of a failure. */
  isAgain: boolean
}

/** Where a process listens. */
export type Place = { address: string; port: number; console: string | null; consolePort: number }

export type FromProcess =
  | { herald: 'started'; place: Place }
  /** Why it ends: sentences for the operator. */
  | { herald: 'failed'; sentences: readonly string[] }
  /** What /health/ready of this process answers, twice a second. */
  | { herald: 'health'; state: HealthState }
  | { herald: 'ask for metrics'; ask: number }
  | { herald: 'collected'; ask: number; values: MetricValues }

export type FromSupervisor =
  | { herald: 'stop' }
  /** `ofDatabase`: with the figures that every process would read from the database alike. */
  | { herald: 'collect'; ask: number; ofDatabase: boolean }
  | { herald: 'metrics'; ask: number; text: string }

export const isOurs = (message: unknown): message is { herald: string } =>
  typeof message === 'object' && message !== null && 'herald' in message
