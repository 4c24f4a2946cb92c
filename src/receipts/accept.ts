// A provider's word: stored first, applied later.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import type { Outlet } from '../notifications/accept.ts'
import type { Receipt } from '../providers/port.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { accept as store } from './sql.ts'

const NOBODY = '00000000-0000-0000-0000-000000000000' as Id
const MOST = 500

export async function accept(
  app: { sql: Sql; ids: { next(): Id }; outlet: Outlet },
  provider: string,
  receipts: readonly Receipt[],
): Promise<void> {
  for (let at = 0; at < receipts.length; at += MOST) {
    const group = receipts.slice(at, at + MOST).map(receipt => ({ ...receipt, id: app.ids.next(), provider }))
    const birth = app.outlet.birth(['receipt'])
    const fresh = (await store(app.sql, group, birth)).map(row => row.id)
    crashPoint('after-receipt-stored', () => fresh)
    const [first] = fresh
    const ticket = { lane: 'receipt', service_id: NOBODY, subjects: fresh, attempts: 0, takes: birth ? 1 : 0 }
    if (first) app.outlet.hand([{ ...ticket, id: first }], birth)
  }
}
