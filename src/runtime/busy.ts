// Whether this process uses most of a CPU core. The delay of the event loop would not show it: on a crowded machine the loop is late
// although other processes use the core.

const SAMPLE_MS = 100
const BUSY = 0.75

export function createBusy(): () => boolean {
  let usage = process.cpuUsage()
  let sampledAt = performance.now()
  let isBusy = false
  return () => {
    const now = performance.now()
    if (now - sampledAt < SAMPLE_MS) return isBusy
    const { user, system } = process.cpuUsage(usage)
    isBusy = (user + system) / 1000 / (now - sampledAt) > BUSY
    usage = process.cpuUsage()
    sampledAt = now
    return isBusy
  }
}
