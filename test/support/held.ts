// How long the event loop of this process is held by a piece of work, in CPU time.
import { existsSync, readFileSync } from 'node:fs'

/** The first run compiles code and fills caches: the best of so many runs counts. */
const RUNS = 3

/** Milliseconds this thread has run. A busy machine makes it wait, which is not what is measured here. */
function ranMs(): number {
  const schedule = '/proc/thread-self/schedstat'
  return existsSync(schedule) ? Number(readFileSync(schedule, 'utf8').split(' ', 1)[0]) / 1e6 : performance.now()
}

/** The longest time the loop was held while `work` ran: the least of several runs. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const found: number[] = []
  for (let run = 0; run < RUNS; run++) {
    let [last, longest] = [ranMs(), 0]
    const tick = setInterval(() => {
      const now = ranMs()
      longest = Math.max(longest, now - last)
      last = now
    }, 1)
    await work()
    await new Promise(resume => setTimeout(resume, 20))
    clearInterval(tick)
    found.push(longest)
  }
  console.log(`longest holds in ms: ${found.map(ms => ms.toFixed(1)).join(' ')}`)
  return Math.min(...found)
}
