// Who is affected when the placeholders of a template change. A message keeps the version that it was accepted with, scheduled ones
// too, and so does a job: only later requests use the new version.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { list as listKeys } from '../keys/sql.ts'
import { openPersonal } from '../notifications/notification.ts'
import { keysThatUsed } from '../notifications/sql/template-use.ts'
import { keyed, missing } from '../rendering/placeholders.ts'
import { type ScheduledJob, scheduledWith } from './sql/read.ts'

export const DAYS = 7
/** The most messages that are read: some 30 ms. */
const MOST = 20_000

export type KeyUser = {
  id: Id
  name: string
  key_type: KeyType
  /** In the last days, as far as they were read. */
  messages: number
  last_at: Timestamp
  /** Its last message came from a file or a list of rows. */
  in_job: boolean
  /** Names of the values of its last message. */
  sends: string[]
  /** Added placeholders that its last message had no value for. */
  lacks: string[]
}

export type TemplateUse = {
  keys: KeyUser[]
  jobs: ScheduledJob[]
  /** False: the template was sent so often that not all messages of these days were read. */
  isComplete: boolean
}

export async function templateUse(
  app: { db: { sql: Sql }; clock: Clock; seal: Seal },
  actor: Actor,
  service: Id,
  template: { id: Id },
  added: readonly string[],
): Promise<TemplateUse> {
  requirePermission(actor, 'manage-templates', service)
  const { sql } = app.db
  const since = floorOf(app.clock.micros() - DAYS * 86_400_000_000)
  const [{ uses, isComplete }, keys, jobs] = await Promise.all([
    keysThatUsed(sql, { service, template: template.id, since }, MOST),
    listKeys(sql, service),
    scheduledWith(sql, service, template.id, since),
  ])
  const now = fromMicros(app.clock.micros())
  return {
    keys: uses.flatMap(use => {
      const key = keys.find(one => one.id === use.key_id)
      if (!key || key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) return []
      const { values } = openPersonal(app.seal, use.sealed)
      return {
        id: key.id,
        name: key.name,
        key_type: key.key_type,
        messages: use.messages,
        last_at: fromMicros(microsOf(use.last_id)),
        in_job: use.in_job,
        sends: Object.keys(values),
        lacks: missing(added, keyed(values)),
      }
    }),
    jobs,
    isComplete,
  }
}
