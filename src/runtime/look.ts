// After a lost connection: ask again until there is an answer or the caller's time is over.
import { within } from './within.ts'

const SHORTEST_MS = 20
const LONGEST_MS = 250

/**
 * Runs `look` until it says true, with growing pauses; a failure counts as "not yet". `until` is on the clock of
 * performance.now(), and a look that is still under way then is not waited for.
 */
export async function lookUntil(until: number, look: () => Promise<boolean>): Promise<boolean> {
  for (let pause = SHORTEST_MS; ; pause = Math.min(pause * 2, LONGEST_MS)) {
    const left = until - performance.now()
    if (left <= 0) return false
    if (await within(left, look(), 'not found in time').catch(() => false)) return true
    await new Promise(resume => setTimeout(resume, Math.min(pause, Math.max(0, until - performance.now()))))
  }
}
