// What the queue needs to know about this program: all lanes, the lanes that stop while sending is held, and how a copy of the
// database is recognised.
import { SPREAD_LANE } from './bulk/job.ts'
import { MESSAGE_LANES, SCAN_LANE } from './notifications/lane.ts'
import { RECEIPT_LANE } from './receipts/sql.ts'

/** Lanes that send or lead to a send; receipts and simulated messages are not stopped. */
export const HELD_LANES: readonly string[] = [...MESSAGE_LANES, SCAN_LANE, SPREAD_LANE]

export const LANES: readonly string[] = [...HELD_LANES, 'simulation', RECEIPT_LANE]

/**
 * The object ids of these tables are new in a copy. If this list changes or one of the tables is recreated, sending is held
 * everywhere.
 */
export const IDENTITY_TABLES: readonly string[] = ['sending', 'migrations', 'notifications']
