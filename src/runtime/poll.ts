// Polling with backoff until a deadline, for example after a lost connection.
import { within } from './within.ts'

const SHORTEST_MS = 20
const LONGEST_MS = 250

/**
 * Runs `check` until it returns true, with growing pauses; a failure counts as false. `until` is by performance.now(); a call that is
 * still running then is not waited for.
 */
export async function pollUntil(until: number, check: () => Promise<boolean>): Promise<boolean> {
  for (let pause = SHORTEST_MS; ; pause = Math.min(pause * 2, LONGEST_MS)) {
    const left = until - performance.now()
    if (left <= 0) return false
    if (await within(left, check(), 'not so in time').catch(() => false)) return true
    await new Promise(resume => setTimeout(resume, Math.min(pause, Math.max(0, until - performance.now()))))
  }
}
