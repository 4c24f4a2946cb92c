// Health on a port of its own, answered by a thread of its own (worker.ts). The event loop of a busy process accepts one connection per
// turn, so that a probe on the public port waits behind callers: after a failover a load balancer would take out processes that work.
import { createThread } from '../runtime/worker-thread.ts'

/** What /health/ready answers. */
export type HealthState = { status: number; body: object }

/** To the thread. */
export type HealthUpdate = { status: number; text: string }
/** From the thread, once. */
export type HealthReply = { port: number } | { failed: string; code: string | null }

export type HealthListener = {
  port: number
  /** Tells the thread now what has changed. */
  tell(): void
  stop(): Promise<void>
}

/** Without an update for a while the thread answers 503 (worker.ts). */
export const TELL_EVERY_MS = 500

const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

/** Rejects when the port cannot be used. A thread that is lost later is replaced. */
export async function startHealth(
  { host, port }: { host: string; port: number },
  state: () => HealthState,
  onLost: (why: string) => void,
): Promise<HealthListener> {
  let settle: (reply: HealthReply) => void = () => {}
  const first = new Promise<HealthReply>(resolve => {
    settle = resolve
  })
  let hasStarted = false
  let isStopped = false
  const thread = createThread<HealthUpdate, HealthReply>({
    beside: import.meta.url,
    limits: LIMITS,
    workerData: { host, port },
    onReply(reply) {
      settle(reply)
      if ('failed' in reply && hasStarted) thread.kill() // the next update starts another
    },
    onLost(why) {
      settle({ failed: `the thread ${why}`, code: null })
      if (hasStarted && !isStopped) onLost(why)
    },
  })
  const tell = () => {
    if (isStopped) return
    const { status, body } = state()
    thread.post({ status, text: JSON.stringify(body) })
  }
  tell()
  const reply = await first
  if ('failed' in reply) {
    isStopped = true
    await thread.stop()
    throw Object.assign(new Error(`HERALD_HEALTH_PORT: ${reply.failed}`), reply.code !== null && { code: reply.code })
  }
  hasStarted = true
  const timer = setInterval(tell, TELL_EVERY_MS).unref()
  return {
    port: reply.port,
    tell,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await thread.stop()
    },
  }
}
