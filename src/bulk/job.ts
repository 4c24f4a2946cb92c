// A customer's bulk send.

import type { Channel } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { KeyType } from '../keys/key.ts'
import type { Pace } from '../templates/categories.ts'

export const JOB_STATUSES = [
  'pending',
  'in progress',
  'finished',
  'cancelled',
  'sending limits exceeded',
  'error',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

export type Job = {
  id: Id
  service_id: Id
  key_id: Id | null
  key_name: string | null
  key_type: KeyType
  name: string
  channel: Channel
  template_id: Id
  template_version: number
  sender_id: Id | null
  notification_count: number
  status: JobStatus
  scheduled_for: Timestamp | null
  processing_started: Timestamp | null
  processing_finished: Timestamp | null
  updated_at: Timestamp | null
  /** No message of the job has a lower id; null in jobs of earlier versions. */
  rows_from: Id | null
  /** The job whose failed rows this one repeats. */
  again_of: Id | null
}

export const MOST_ROWS = 50_000
export const MOST_COLUMNS = 1_000
export const CHUNK_ROWS = 500
/** Long values make a chunk of fewer rows, because a chunk is sealed at once. */
export const CHUNK_CHARACTERS = 1_000_000
export const LONGEST_REFERENCE = 1_000
const BIG = 200

/**
 * A large job has low priority, so that a one-time code never waits behind a newsletter; a small one never has the lowest
 * (contract 6.6).
 */
export function paceOf(rows: number, template: Pace): Pace {
  if (rows >= BIG) return 'low'
  return template === 'low' ? 'medium' : template
}

/** A row of a stored chunk that is not a message yet. */
export type BulkRow = {
  id: Id
  /** From 1, in the order of the file. */
  row: number
  to: string
  /** Lower-cased address or E.164. */
  key: string
  values: Record<string, unknown>
  reference: string | null
  isSimulated: boolean
  /** Text messages only. Rows stored by earlier versions lack it; the home country was in North America then. */
  isInternational?: boolean | undefined
}

/**
 * Between which ids the messages of a job are. They are made in one go in the order of the file, from the time when the job is due
 * on, 4,096 in a millisecond (worker.ts). Of jobs of earlier versions that time is known roughly.
 */
export function idsOfJob({ id, scheduled_for, rows_from }: Pick<Job, 'id' | 'scheduled_for' | 'rows_from'>) {
  if (rows_from !== null) return { from: rows_from, below: floorOf(microsOf(rows_from) + SPAN_MICROS) }
  const due = scheduled_for === null ? microsOf(id) : Date.parse(scheduled_for) * 1000
  return { from: floorOf(due - ROUGHLY_MICROS), below: floorOf(due + ROUGHLY_MICROS) }
}
const SPAN_MICROS = 20_000
const ROUGHLY_MICROS = 600_000_000

/** Chunks that become messages. */
export const SPREAD_LANE = 'spread'
