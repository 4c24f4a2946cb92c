// Leader election: one process at a time runs maintenance. The lock belongs to the session of a dedicated connection.
//
// Fencing: a leader trusts its lock for `leaseMs` after it sent the last heartbeat that was answered, by the monotonic timer. The
// server ends a session that sends nothing for `sessionMs`, which is longer, so it releases the lock only after the old leader has
// stopped leading. If the server sees the connection end before the leader does, two leaders are avoided because the next one
// waits `leaseMs` after it got the lock. In total another process leads at most 9 s after the last heartbeat.
import type { Database, DedicatedClient } from '../db/connect.ts'
import { refuseStandby } from '../db/primary.ts'
import { createReconnecting, type Timing } from '../runtime/reconnecting.ts'

export const LOCK = 6011_0003

export type LeaderTiming = Timing & { leaseMs: number; sessionMs: number }
const TIMING: LeaderTiming = { leaseMs: 3_000, sessionMs: 4_000, deadlineMs: 2_000, heartbeatMs: 1_000, retryMs: 500 }

export type Leader = {
  isLeader(): boolean
  /** Milliseconds since this process began to lead; null: it does not lead. */
  leadsMs(): number | null
  stop(): Promise<void>
}

export function createLeader(db: Pick<Database, 'client'>, timing = TIMING): Leader {
  const { leaseMs, sessionMs } = timing
  let leadsFrom = Number.POSITIVE_INFINITY
  let trustedUntil = 0

  async function heartbeat(client: DedicatedClient) {
    const sentAt = performance.now()
    // A standby has locks of its own: they exclude nobody on the primary.
    await refuseStandby(client)
    if (leadsFrom === Number.POSITIVE_INFINITY) {
      const { rows } = await client.query('select pg_try_advisory_lock($1) as won', [LOCK])
      if (rows[0]?.won === true) leadsFrom = performance.now() + leaseMs
    }
    trustedUntil = sentAt + leaseMs
  }

  const connection = createReconnecting(
    {
      make: db.client,
      async prepare(client) {
        leadsFrom = Number.POSITIVE_INFINITY
        await client.query(`select set_config('idle_session_timeout', $1, false)`, [String(sessionMs)])
        await heartbeat(client)
      },
      heartbeat,
      onDown() {
        leadsFrom = Number.POSITIVE_INFINITY
      },
    },
    timing,
  )
  const isLeader = () => performance.now() >= leadsFrom && performance.now() < trustedUntil
  return {
    isLeader,
    leadsMs: () => (isLeader() ? performance.now() - leadsFrom : null),
    stop: connection.stop,
  }
}
