// The history of one message, for an operator who has its id.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { history } from './sql/read.ts'
import { describe } from './status.ts'

export async function historyOf({ db, seal }: { db: Pick<Database, 'sql'>; seal: Seal }, id: Id) {
  const found = await history(db.sql, id)
  if (!found) return null
  const { diagnosis, status, channel, failure_detail: detail, ...rest } = found
  return {
    ...{ id, channel, status, description: describe(status, channel, detail), detail },
    /** The reply of the mail server. */
    diagnosis: diagnosis && seal.open('provider reply', diagnosis).toString('utf8'),
    ...rest,
  }
}
