// Who does the chores: one process at a time, by a lock that goes with its connection.
import type pg from 'pg'
import type { Database } from '../db/connect.ts'

const LOCK = 6011_0003

export type Leader = { isLeader(): boolean; stop(): Promise<void> }

export function createLeader(db: Pick<Database, 'client'>, everySeconds = 5): Leader {
  let client: pg.Client | undefined
  let leads = false
  let stopped = false

  async function stand() {
    if (stopped || leads) return
    const next = client ?? db.client()
    try {
      if (!client) {
        next.on('error', () => resign(next))
        next.on('end', () => resign(next))
        await next.connect()
        client = next
      }
      const { rows } = await next.query('select pg_try_advisory_lock($1) as won', [LOCK])
      leads = rows[0]?.won === true
    } catch {
      resign(next) // the database is away: tried again at the next turn
    }
  }

  function resign(which: pg.Client) {
    if (client && which !== client) return
    client = undefined
    leads = false
  }

  void stand()
  const timer = setInterval(() => void stand(), everySeconds * 1000)
  timer.unref()
  return {
    isLeader: () => leads,
    async stop() {
      stopped = true
      clearInterval(timer)
      await client?.end()
    },
  }
}
