// What the queue needs to know about this program: all lanes, the lanes that stop while sending is held, and how a copy of the
// database is recognised.
import { SPREAD_LANE } from './bulk/job.ts'
import { MAIL_LANE } from './mails/mail.ts'
import { MESSAGE_LANES, SCAN_LANE } from './notifications/lane.ts'
import { RECEIPT_LANE } from './receipts/sql.ts'
import { WEBHOOK_LANE } from './webhooks/lane.ts'

/** Lanes of messages and jobs: a release keeps back what the original of a copy may have sent. */
export const RELEASED_LANES: readonly string[] = [...MESSAGE_LANES, SCAN_LANE, SPREAD_LANE]

/** Lanes that stop while sending is held. A release keeps nothing of the others back: what they do twice does no harm. */
export const HELD_LANES: readonly string[] = [...RELEASED_LANES, MAIL_LANE, WEBHOOK_LANE]

/** A ticket of these lanes is named by the row it is for, and is not merged with others. */
export const LANES_APART: readonly string[] = [WEBHOOK_LANE]

export const LANES: readonly string[] = [...HELD_LANES, 'simulation', RECEIPT_LANE]

/**
 * The object ids of these tables are new in a copy. If this list changes or one of the tables is recreated, sending is held
 * everywhere.
 */
export const IDENTITY_TABLES: readonly string[] = ['sending', 'migrations', 'notifications']
