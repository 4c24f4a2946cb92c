import { readFileSync } from 'node:fs'

/** The time of the processor that this thread has used, where the system reports it: other work on the machine does not count. */
export function cpuMilliseconds(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
}
