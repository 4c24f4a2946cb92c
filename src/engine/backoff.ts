// Retry delay: exponential backoff with full jitter, at least one second, capped (contract 6.5).

/** `random` is in [0, 1). A longer delay that the provider asked for wins, up to an hour. */
export function delaySeconds(attempt: number, capSeconds: number, random: number, requestedSeconds = 0): number {
  const ceiling = Math.min(capSeconds, 2 ** Math.min(attempt, 20))
  const jittered = Math.max(1, ceiling * random)
  return Math.max(jittered, Math.min(requestedSeconds, 3600))
}
