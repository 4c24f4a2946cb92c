// Whether the event loop has hardly a moment to itself, looked at a few times a second.
import { performance } from 'node:perf_hooks'

const EVERY_MS = 100
const BUSY = 0.9

export function createBusy(): () => boolean {
  let before = performance.eventLoopUtilization()
  let lookedAt = performance.now()
  let busy = false
  return () => {
    const now = performance.now()
    if (now - lookedAt < EVERY_MS) return busy
    lookedAt = now
    const here = performance.eventLoopUtilization()
    busy = performance.eventLoopUtilization(here, before).utilization > BUSY
    before = here
    return busy
  }
}
