// What was sent to an endpoint, and what waits because it was refused.
import type { Clock } from '../core/clock.ts'
import { type Id, isTimed, microsOf } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { findEvent } from './read.ts'
import { refuse } from './refusals.ts'
import { isAttemptOf, listAttempts, type StoredAttempt } from './sql/attempts.ts'
import { findWebhook, type Owner } from './sql/manage.ts'
import { type SetAside, setAside } from './sql/replay.ts'

type App = { db: { sql: Sql }; clock: Clock }

export type Page = { olderThan: Id | null; most: number }

/** Attempts are kept this long. */
export const KEPT_DAYS = 7

/** Newest first. `isFailed`: only attempts without a success. */
export async function attempts(
  app: App,
  owner: Owner,
  id: Id,
  { olderThan, most, isFailed }: Page & { isFailed: boolean },
): Promise<StoredAttempt[]> {
  const { sql } = app.db
  if (!(await findWebhook(sql, owner, id))) throw refuse.notFound()
  if (olderThan && !(await isAttemptOf(sql, id, olderThan))) {
    // A purged attempt is not found, like one that never existed; but its id tells when it was made.
    if (isTimed(olderThan) && microsOf(olderThan) < app.clock.micros() - KEPT_DAYS * DAY_MICROS) return []
    throw refuse.notFound()
  }
  return listAttempts(sql, id, { olderThan, isFailed, most })
}
const DAY_MICROS = 86_400_000_000

/** Events that the endpoint refused while it took others, newest first: they wait for a retry, or were given up. */
export async function refused(app: App, owner: Owner, id: Id, { olderThan, most }: Page): Promise<SetAside[]> {
  const { sql } = app.db
  const webhook = await findWebhook(sql, owner, id)
  if (!webhook) throw refuse.notFound()
  // The event of the page before may have been sent meanwhile.
  if (olderThan && !(await findEvent(sql, webhook, olderThan))) throw refuse.notFound()
  return setAside(sql, id, olderThan, most)
}
