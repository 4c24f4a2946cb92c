// Hears what other processes changed. While the connection is down caches cannot be trusted to be fresh, so `onDown` and `onUp`
// tell whoever keeps one. A heartbeat finds a line that died without a word.
import { createReconnecting } from '../runtime/reconnecting.ts'
import type { Database } from './connect.ts'

export type Listener = { on(channel: string, hear: (payload: string) => void): Promise<void>; stop(): Promise<void> }

const TIMING = { deadlineMs: 4_000, heartbeatMs: 2_000, retryMs: 500 }

/** Rejects when the first connection cannot be made. */
export async function createListener(
  db: Pick<Database, 'client'>,
  told: { onDown(): void; onUp(): void },
): Promise<Listener> {
  const ears = new Map<string, (payload: string) => void>()
  const line = createReconnecting(
    {
      make() {
        const client = db.client()
        client.on('notification', ({ channel, payload }) => ears.get(channel)?.(payload ?? ''))
        return client
      },
      async prepare(client) {
        for (const channel of ears.keys()) await client.query(`listen "${channel}"`)
      },
      heartbeat: client => client.query('select 1'),
      ...told,
    },
    TIMING,
  )
  try {
    await line.first
  } catch (error) {
    await line.stop()
    throw error
  }
  return {
    async on(channel, hear) {
      ears.set(channel, hear)
      await line.current()?.query(`listen "${channel}"`)
    },
    stop: line.stop,
  }
}
