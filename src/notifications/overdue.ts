// A chore for what never got an answer (contract 6.3): 72 hours after it was due a message that was not handed over is a
// technical failure, 72 hours after it was handed over one without a final word is a temporary one.
import type { Clock } from '../core/clock.ts'
import { floorOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { giveUp } from './sql.ts'

const PATIENCE_MICROS = 72 * 3_600_000_000

export async function giveUpOverdue(app: { db: Database; clock: Clock }): Promise<number> {
  // Nothing made later can be overdue yet, so the days that are written to now are not looked at.
  return (await giveUp(app.db.sql, floorOf(app.clock.micros() - PATIENCE_MICROS))).length
}
