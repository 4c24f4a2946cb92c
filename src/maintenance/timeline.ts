// After a fail-over the positions of the log begin higher, by the timeline of the new server. What they gained is stored, so that it
// outlives that server.
import type { Database } from '../db/connect.ts'
import { settleTimeline } from '../events/sql/clock.ts'
import type { Steps } from '../runtime/steps.ts'

export async function* keepTimeline({ db }: { db: Pick<Database, 'sql'> }): Steps {
  await settleTimeline(db.sql)
  yield 0
}
