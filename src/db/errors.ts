// Whether a failed statement was refused because of its values, or could not be answered at all.
import pg from 'pg'
import { hasNoPartition } from './partitions.ts'

/**
 * SQLSTATE classes that speak of the values given: cardinality, data exception, integrity constraint, check option, program limit.
 * The same statement with the same values fails again. Everything else is an outage or a fault of ours and may pass: connection
 * lost (08), resources (53), operator intervention (57), deadlock (40), a schema that is being changed (42); and so may a day that has
 * no partition yet.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const IN_THE_DATA = /^(?:21|22|23|44|54)/

export const isDataError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && IN_THE_DATA.test(error.code ?? '') && !hasNoPartition(error)
