// How many messages were accepted with each template in the last days, and how many of them failed.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { isAccepted } from './accepted.ts'
import { countsOfTemplates } from './sql/read.ts'

const DAYS = 7
const DAY_MS = 86_400_000

/** Today and in the six UTC days before. `failed`: the statuses that are failures. Messages of test keys are not counted. */
export async function sentByTemplate(
  app: { sql: Sql; clock: { now(): number } },
  actor: Actor,
  service: Id,
  templates: readonly Id[],
  failed: readonly string[],
): Promise<Map<Id, { accepted: number; failed: number }>> {
  requirePermission(actor, 'see-service', service)
  const since = Math.floor(app.clock.now() / DAY_MS) - (DAYS - 1)
  const rows = templates.length === 0 ? [] : await countsOfTemplates(app.sql, service, since, templates)
  const counts = new Map<Id, { accepted: number; failed: number }>()
  for (const { template_id, status, messages } of rows) {
    const count = counts.get(template_id) ?? { accepted: 0, failed: 0 }
    counts.set(template_id, {
      accepted: count.accepted + (isAccepted(status) ? messages : 0),
      failed: count.failed + (failed.includes(status) ? messages : 0),
    })
  }
  return counts
}
