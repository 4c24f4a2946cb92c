// Whether a statement failed because of its data, or because of an outage.
import pg from 'pg'
import { hasNoPartition } from './partitions.ts'

/**
 * SQLSTATE classes of errors in the data: cardinality, data exception, integrity constraint, check option, program limit. The same
 * statement with the same values fails again. All other errors are temporary or bugs: connection lost (08), resources (53), operator
 * intervention (57), deadlock (40), a schema that is being changed (42). A missing partition is temporary, too.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const IN_THE_DATA = /^(?:21|22|23|44|54)/

export const isDataError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && IN_THE_DATA.test(error.code ?? '') && !hasNoPartition(error)
