// Circuit breaker: opens when something is found down, so that callers do not wait for it, and closes when a probe succeeds. There
// is one probe at a time.
import { type Periodic, startPeriodic } from './periodic.ts'

/** `half-open`: it is open, and a probe is in progress. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export type CircuitBreaker = {
  isOpen(): boolean
  state(): BreakerState
  /** Milliseconds since it opened; null: it is closed. */
  openMs(): number | null
  /** How often it has opened. */
  openings(): number
  /** Opens it, if it is closed. */
  trip(): void
  whenClosed(): Promise<void>
  /** No probe begins after this, and none is in progress when it resolves. An open breaker stays open. */
  stop(): Promise<void>
}

export type BreakerOptions = {
  /** Resolves with true when the service is up. Rejecting means the same as false. */
  probe(): Promise<boolean>
  /** Before each probe; may depend on the number of failed probes. */
  pauseMs: number | ((failed: number) => number)
  onClose?(): void
}

export function createCircuitBreaker({ probe, pauseMs, onClose }: BreakerOptions): CircuitBreaker {
  let isOpen = false
  let isProbing = false
  let openedAt = 0
  let openings = 0
  let isStopped = false
  let probes: Periodic | undefined
  const waiting: (() => void)[] = []

  async function attempt(signal: AbortSignal) {
    isProbing = true
    try {
      const isUp = await probe()
      if (isUp && !signal.aborted) close()
    } finally {
      isProbing = false
    }
  }

  function close() {
    void probes?.stop()
    isOpen = false
    onClose?.()
    for (const resume of waiting.splice(0)) resume()
  }

  return {
    isOpen: () => isOpen,
    state: () => (!isOpen ? 'closed' : isProbing ? 'half-open' : 'open'),
    openMs: () => (isOpen ? performance.now() - openedAt : null),
    openings: () => openings,
    trip() {
      if (isOpen) return
      isOpen = true
      openedAt = performance.now()
      openings++
      if (!isStopped) probes = startPeriodic(attempt, pauseMs, () => {})
    },
    whenClosed: () => (isOpen ? new Promise(resume => waiting.push(resume)) : Promise.resolve()),
    async stop() {
      isStopped = true
      await probes?.stop()
    },
  }
}
