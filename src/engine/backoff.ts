// When to try again: exponential with full jitter, from one second, capped (contract 6.5).

/** `random` in [0, 1). The provider's own wish counts when it asks for more. */
export function delaySeconds(attempt: number, capSeconds: number, random: number, wishSeconds = 0): number {
  const ceiling = Math.min(capSeconds, 2 ** Math.min(attempt, 20))
  const jittered = Math.max(1, ceiling * random)
  return Math.max(jittered, Math.min(wishSeconds, 3600))
}
