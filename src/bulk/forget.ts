// Rows become messages within seconds. Those of a chunk that never could are tried again and again, but not kept for ever (S-31).
import type { Clock } from '../core/clock.ts'
import { floorOf } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { forgetChunks } from './sql.ts'

const DAY_MICROS = 86_400_000_000
/** Four days until a job is due, and seven more, as long as a message. */
const LONGEST_DAYS = 11

export const forgetRows = ({ db, clock }: { db: Database; clock: Clock }) =>
  forgetChunks(db.sql, floorOf(clock.micros() - LONGEST_DAYS * DAY_MICROS))
