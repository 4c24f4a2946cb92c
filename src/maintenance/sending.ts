// An operator holds all sending and releases it, in the console or at the machine, recorded in the same transaction.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { wasTried } from '../notifications/sql/record.ts'
import { type Holding, holdSending, instanceOf } from '../queue/hold.ts'
import { type Released, releaseAll, releaseSince } from '../queue/release.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'>; ids: { next(): Id } }

/** `tables`: by which a copy of the database is recognised. */
export async function hold(
  app: App,
  actor: Actor,
  tables: readonly string[],
  reason: Holding['reason'] = 'asked',
): Promise<void> {
  requirePermission(actor, 'manage-installation', null)
  await app.db.transaction(async sql => {
    await holdSending(sql, reason, tables)
    const detail = reason === 'restored' ? { reason } : {}
    await record(sql, 'sending held', actor, null, (await instanceOf(sql)) ?? app.ids.next(), detail)
  })
}

/** `lanes`: those that were held. `cutOff` null: everything, also what was kept back; else what was due since then and never tried. */
export async function release(
  app: App,
  actor: Actor,
  lanes: readonly string[],
  cutOff: Timestamp | null = null,
): Promise<Released> {
  requirePermission(actor, 'manage-installation', null)
  return app.db.transaction(async sql => {
    const db: Pick<Database, 'transaction'> = { transaction: work => work(sql) }
    const released = cutOff === null ? await releaseAll(db, lanes) : await releaseSince(db, lanes, cutOff, wasTried)
    await record(sql, 'sending released', actor, null, (await instanceOf(sql)) ?? app.ids.next(), released)
    return released
  })
}
