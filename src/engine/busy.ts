// Whether this process has a core's work to do, looked at a few times a second. The event loop would not tell: on a crowded
// machine it looks full while others have the core.

const EVERY_MS = 100
const BUSY = 0.75

export function createBusy(): () => boolean {
  let before = process.cpuUsage()
  let lookedAt = performance.now()
  let busy = false
  return () => {
    const now = performance.now()
    if (now - lookedAt < EVERY_MS) return busy
    const { user, system } = process.cpuUsage(before)
    busy = (user + system) / 1000 / (now - lookedAt) > BUSY
    before = process.cpuUsage()
    lookedAt = now
    return busy
  }
}
