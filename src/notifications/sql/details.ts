// What an event says about its message.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { bare, type Sql } from '../../db/connect.ts'
import { highest, lowest } from './bounds.ts'

export type MessageDetails = {
  id: Id
  reference: string | null
  template_id: Id
  template_version: number
  job_id: Id | null
  /** Recipient and values; null unless asked for. */
  sealed: Buffer | null
  /** Null unless asked for. */
  sent_at: Timestamp | null
  completed_at: Timestamp | null
}

/** Of messages that exist. */
export const details = (sql: Sql, ids: readonly Id[]) => sql<Pick<MessageDetails, (typeof BASIC)[number]>>`
  select id, reference, template_id, template_version, job_id
  from notifications
  where id = any (${bare(ids)}::uuid[])
    and id between ${lowest(ids)} and ${highest(ids)}`

const BASIC = ['id', 'reference', 'template_id', 'template_version', 'job_id'] as const

/** With the recipient and the times of the message. */
export const wholeDetails = (sql: Sql, ids: readonly Id[]) => sql<MessageDetails>`
  select n.id, n.reference, n.template_id, n.template_version, n.job_id, n.sealed, s.sent_at, s.completed_at
  from notifications n
  cross join lateral (select sent_at, completed_at from states where id = n.id limit 1) s
  where n.id = any (${bare(ids)}::uuid[])
    and n.id between ${lowest(ids)} and ${highest(ids)}`
