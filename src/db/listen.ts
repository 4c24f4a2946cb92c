// Receives notifications (LISTEN) of changes by other processes. While the connection is down caches may be stale: `onDown` and
// `onUp` are called to clear them. A heartbeat detects a dead connection.
import { createReconnecting } from '../runtime/reconnecting.ts'
import type { Database } from './connect.ts'
import { refuseStandby } from './primary.ts'

export type Listener = {
  on(channel: string, onPayload: (payload: string) => void): Promise<void>
  stop(): Promise<void>
}

const TIMING = { deadlineMs: 4_000, heartbeatMs: 2_000, retryMs: 500 }

/** Rejects when the first connection cannot be made. */
export async function createListener(
  db: Pick<Database, 'client'>,
  events: { onDown(): void; onUp(): void },
): Promise<Listener> {
  const callbacks = new Map<string, (payload: string) => void>()
  const connection = createReconnecting(
    {
      make() {
        const client = db.client()
        client.on('notification', ({ channel, payload }) => callbacks.get(channel)?.(payload ?? ''))
        return client
      },
      async prepare(client) {
        for (const channel of callbacks.keys()) await client.query(`listen "${channel}"`)
      },
      heartbeat: client => refuseStandby(client),
      ...events,
    },
    TIMING,
  )
  try {
    await connection.first
  } catch (error) {
    await connection.stop()
    throw error
  }
  return {
    async on(channel, onPayload) {
      callbacks.set(channel, onPayload)
      await connection.current()?.query(`listen "${channel}"`)
    },
    stop: connection.stop,
  }
}
