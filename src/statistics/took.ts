// Times to delivery are counted in classes. Each is 1.3 times as long as the one before, so the middle of a class is at most 14 %
// away from any time in it.

/** Where class 0 ends. */
export const SHORTEST_SECONDS = 0.1
export const RATIO = 1.3
/** Eight days and more. */
export const LAST_CLASS = 61
/** The class of messages that are not delivered. */
export const NOT_DELIVERED = -1

/** As `tookOf` in sql/counted.ts. */
export const classOf = (seconds: number): number =>
  seconds < SHORTEST_SECONDS
    ? 0
    : Math.min(LAST_CLASS, 1 + Math.floor(Math.log(seconds / SHORTEST_SECONDS) / Math.log(RATIO)))

/** The middle of a class. */
export const secondsOf = (took: number): number =>
  took <= 0 ? SHORTEST_SECONDS / 2 : SHORTEST_SECONDS * RATIO ** (took - 0.5)

/** About how many seconds this share of the messages took at most; null without messages. */
export function percentile(classes: readonly { took: number; messages: number }[], share: number): number | null {
  const sorted = [...classes].filter(one => one.messages > 0).sort((a, b) => a.took - b.took)
  const all = sorted.reduce((sum, one) => sum + one.messages, 0)
  let below = 0
  for (const { took, messages } of sorted) {
    below += messages
    if (below >= share * all) return secondsOf(took)
  }
  return null
}
