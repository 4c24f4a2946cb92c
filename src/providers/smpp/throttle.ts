// Backoff after ESME_RTHROTTLED or ESME_RMSGQFUL: while it lasts, messages are deferred at once instead of being sent.
import type { Outcome } from '../port.ts'
import { isThrottle, nameOf } from './statuses.ts'

const SHORTEST_MS = 1_000
const LONGEST_MS = 30_000

export function createThrottle() {
  let until = 0
  let pauseMs = 0
  const remainingMs = () => Math.max(0, until - performance.now())
  const remainingSeconds = () => Math.ceil(remainingMs() / 1000)
  return {
    remainingMs,
    remainingSeconds,
    onThrottled() {
      // The whole window may be rejected at the same moment: that counts once.
      if (remainingMs() > 0) return
      pauseMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, pauseMs * 2))
      until = performance.now() + pauseMs
    },
    onAccepted() {
      if (remainingMs() === 0) pauseMs = 0
    },
    /** The outcome of a rejected part; if the SMSC throttles, with the time to wait. */
    outcomeOf(outcome: Exclude<Outcome, { kind: 'accepted' }>, status: number): Outcome {
      if (outcome.kind === 'rejected' || !isThrottle(status)) return outcome
      return { ...outcome, detail: nameOf(status), retryAfterSeconds: Math.max(1, remainingSeconds()) }
    },
  }
}
