// What the queue is told about the house: all lanes, those that stop while sending is held, and how a copy of the database is
// recognised.
import { SPREAD_LANE } from './bulk/job.ts'
import { MESSAGE_LANES, SCAN_LANE } from './notifications/lane.ts'
import { RECEIPT_LANE } from './receipts/sql.ts'

/** Everything that sends or leads to it; receipts and simulated messages go on. */
export const HELD_LANES: readonly string[] = [...MESSAGE_LANES, SCAN_LANE, SPREAD_LANE]

export const LANES: readonly string[] = [...HELD_LANES, 'simulation', RECEIPT_LANE]

/** Their object ids are new in a copy. Changing this list, or making one of the tables anew, holds sending everywhere. */
export const IDENTITY_TABLES: readonly string[] = ['sending', 'migrations', 'notifications']
