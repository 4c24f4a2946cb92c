// Receipts, and the references by which they find their messages, are kept for as long as a message can be open.
import type { Timestamp } from '../core/clock.ts'
import type { Sql } from '../db/connect.ts'
import { inSteps } from '../runtime/steps.ts'
import { purge, purgeHandovers } from './sql.ts'

const KEPT_HOURS = 8 * 24

export async function* purgeReceipts(sql: Sql): AsyncGenerator<void, void> {
  yield* inSteps<Timestamp>((after, most) => purge(sql, KEPT_HOURS, after, most))
  yield* inSteps<Timestamp>((after, most) => purgeHandovers(sql, KEPT_HOURS, after, most))
}
