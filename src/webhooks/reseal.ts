// After a change of the sealing secret, the next start seals all endpoints with the new one, as it does with keys.
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { resealWebhook, webhooksSealedBefore } from './sql/manage.ts'

export async function resealWebhooks(app: { sql: Sql; seal: Seal }): Promise<void> {
  for (const { id, sealed } of await webhooksSealedBefore(app.sql, app.seal.id))
    await resealWebhook(app.sql, id, sealed, app.seal.seal(app.seal.open(sealed)))
}
