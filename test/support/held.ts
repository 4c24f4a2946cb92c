// How long a piece of work blocks the event loop of this process, in CPU time.
import { existsSync, readFileSync } from 'node:fs'

/** The first run compiles code and fills caches: the best of this many runs counts. */
const RUNS = 3

/** CPU milliseconds of this thread. Waiting for a CPU on a busy machine is not counted. */
function ranMs(): number {
  const schedule = '/proc/thread-self/schedstat'
  return existsSync(schedule) ? Number(readFileSync(schedule, 'utf8').split(' ', 1)[0]) / 1e6 : performance.now()
}

/** The longest time the event loop was blocked while `work` ran: the minimum of several runs. */
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
