// Changing a service so that its invitations end when it is archived: they must not work again once it is active.
import type { Actor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { change } from '../services/change.ts'
import type { Changes, ShownService } from '../services/sql.ts'
import { endInvitationsInto } from './sql/invitations.ts'

export const changeOrArchive = (
  app: { db: Pick<Database, 'transaction'> },
  actor: Actor,
  id: Id,
  changes: Changes,
): Promise<ShownService> =>
  app.db.transaction(async sql => {
    const changed = await change({ db: { sql } }, actor, id, changes)
    if (changed.state === 'archived') await endInvitationsInto(sql, id, actor)
    return changed
  })
