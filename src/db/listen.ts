// Hears what other processes changed. While the line is down nothing can be trusted to be fresh, so whoever listens is told.
import type pg from 'pg'
import type { Database } from './connect.ts'

export type Listener = { on(channel: string, hear: (payload: string) => void): Promise<void>; stop(): Promise<void> }

export async function createListener(
  db: Pick<Database, 'client'>,
  { onDown, onUp }: { onDown(): void; onUp(): void },
): Promise<Listener> {
  const ears = new Map<string, (payload: string) => void>()
  let client: pg.Client | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function open() {
    const next = db.client()
    next.on('error', () => lost(next))
    next.on('end', () => lost(next))
    next.on('notification', message => ears.get(message.channel)?.(message.payload ?? ''))
    await next.connect()
    for (const channel of ears.keys()) await next.query(`listen "${channel}"`)
    client = next
    onUp()
  }

  function lost(which: pg.Client) {
    if (which !== client || stopped) return
    client = undefined
    onDown()
    again()
  }

  function again() {
    timer = setTimeout(() => void open().catch(again), 500)
    timer.unref()
  }

  await open()
  return {
    async on(channel, hear) {
      ears.set(channel, hear)
      await client?.query(`listen "${channel}"`)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await client?.end()
    },
  }
}
