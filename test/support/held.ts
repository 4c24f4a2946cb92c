// How long a piece of work blocks the event loop of this process, in CPU time.
import { cpuMilliseconds } from './cpu.ts'

/** The first run compiles code and fills caches: the best of this many runs counts. */
const RUNS = 3

/** The longest time the event loop was blocked while `work` ran: the minimum of several runs. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const found: number[] = []
  for (let run = 0; run < RUNS; run++) {
    let [last, longest] = [cpuMilliseconds(), 0]
    const tick = setInterval(() => {
      const now = cpuMilliseconds()
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
