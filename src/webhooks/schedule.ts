// When an endpoint, or a single event that it refused, is tried again: 5 s, 30 s, 2 min, 10 min, 1 h, 2 h, 4 h, 8 h, 12 h, 12 h …
// until 72 hours have passed since the first failure.

export type RetrySchedule = { delays: readonly number[]; giveUpSeconds: number }

const MINUTE = 60
const HOUR = 60 * MINUTE

export const RETRIES: RetrySchedule = {
  delays: [5, 30, 2 * MINUTE, 10 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR],
  giveUpSeconds: 72 * HOUR,
}

/** Of each delay, this part is random, so that endpoints that failed together are not retried together. */
const JITTER = 0.2
/** An endpoint that asks for more time gets it, up to this. */
const MOST_REQUESTED = HOUR

/**
 * The delay after the n-th failure (from 1), or null when the time is over. The last retry is at the end of the time. `random` is in
 * [0, 1).
 */
export function retryDelay(
  { delays, giveUpSeconds }: RetrySchedule,
  { failures, failingMs, requestedSeconds = 0 }: { failures: number; failingMs: number; requestedSeconds?: number },
  random: number,
): number | null {
  const left = giveUpSeconds - failingMs / 1000
  if (left <= 0) return null
  const usual = delays[Math.min(failures, delays.length) - 1] ?? 0
  const jittered = usual * (1 - JITTER / 2 + JITTER * random)
  return Math.min(Math.max(jittered, Math.min(requestedSeconds, MOST_REQUESTED)), left)
}
