// The answers to idempotency keys are kept for a day.
import type { Timestamp } from '../core/clock.ts'
import type { Sql } from '../db/connect.ts'
import { inSteps } from '../runtime/steps.ts'
import { purge } from './sql.ts'

export const purgeReplays = (sql: Sql) => inSteps<Timestamp>((after, most) => purge(sql, after, most))
