// Reads that prove that what they have read is replicated. A read does not wait for a synchronous standby, so it may see a commit
// that the standby does not have: its wait was ended by an administrator or by a restart of the server. If the primary is then lost,
// so is the row. A message in the WAL makes the statement of the read a commit that waits for the standby, and what was committed
// before is before it in the WAL.
// https://www.postgresql.org/docs/current/functions-admin.html#PG-LOGICAL-EMIT-MESSAGE
import { type Part, part } from './connect.ts'

/** Makes the statement a commit. An expression of type pg_lsn; it takes effect once for each row it is evaluated for. */
export const commitRecord: Part = part`pg_logical_emit_message(true, 'herald', '')`

/** Whether commits wait for a standby. Without one, a row that can be read is as durable as it will ever be. */
export const isSynchronous: Part = part`current_setting('synchronous_standby_names') <> ''`

/** Whether a commit of this session returns only when it is on the disk of a standby. */
export const commitsWait: Part = part`(${isSynchronous} and current_setting('synchronous_commit') in ('on', 'remote_apply'))`
