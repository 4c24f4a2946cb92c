import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { changeWebhook, lockWebhook, type Owner } from './sql/manage.ts'
import { OVERLAP_HOURS, readWebhook, rotated, sealTarget } from './webhook.ts'

/** Requests are signed with the new secret and, until the overlap ends, with the previous one too. The secret is shown once. */
export async function rotateSecret(
  app: { db: Database; clock: Clock; seal: Seal },
  actor: Actor,
  owner: Owner,
  id: Id,
  overlapHours: number = OVERLAP_HOURS.usual,
  /** When it was changed last, as a form has seen it: a form that is sent twice replaces the secret once. */
  seen?: Timestamp | null,
): Promise<{ secret: string; previousUntil: Timestamp }> {
  requirePermission(actor, 'manage-webhooks', owner.service_id)
  if (!(overlapHours >= 0 && overlapHours <= OVERLAP_HOURS.most)) throw refuse.overlapRange(OVERLAP_HOURS.most)
  const now = app.clock.now()
  const secret = await app.db.transaction(async sql => {
    const row = await lockWebhook(sql, owner, id)
    if (!row) throw refuse.notFound()
    const before = readWebhook(app.seal, row)
    if (before.format === 'callback') throw refuse.noSecret()
    if (seen !== undefined && seen !== before.updated_at) throw refuse.changedMeanwhile()
    const secrets = rotated(before, now, overlapHours)
    const wanted = { ...before, sealed: sealTarget(app.seal, { ...before, secrets }), position: null, anew: false }
    const detail = { overlap_hours: overlapHours }
    await changeWebhook(sql, id, wanted, actor, { action: 'webhook secret rotated', detail })
    return secrets[0]?.secret ?? ''
  })
  return { secret, previousUntil: fromMicros((now + overlapHours * 3_600_000) * 1000) }
}
