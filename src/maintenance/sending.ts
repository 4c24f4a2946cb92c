// An operator holds all sending and releases it, recorded in the same transaction. herald hold and herald release do the same at the
// machine.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { holdSending, instanceOf } from '../queue/hold.ts'
import { type Released, releaseAll } from '../queue/release.ts'

type App = { db: Pick<Database, 'sql' | 'transaction'>; ids: { next(): Id } }

/** `tables`: by which a copy of the database is recognised. */
export async function hold(app: App, actor: Actor, tables: readonly string[]): Promise<void> {
  requirePermission(actor, 'manage-installation', null)
  await app.db.transaction(async sql => {
    await holdSending(sql, 'asked', tables)
    await record(sql, 'sending held', actor, null, (await instanceOf(sql)) ?? app.ids.next(), {})
  })
}

/** Everything, also what was kept back. `lanes`: those that were held. */
export async function release(app: App, actor: Actor, lanes: readonly string[]): Promise<Released> {
  requirePermission(actor, 'manage-installation', null)
  return app.db.transaction(async sql => {
    const released = await releaseAll({ transaction: work => work(sql) }, lanes)
    await record(sql, 'sending released', actor, null, (await instanceOf(sql)) ?? app.ids.next(), released)
    return released
  })
}
