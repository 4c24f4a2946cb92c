// Messages of a bulk job, as part of the statement that takes their chunk away.

import type { Channel } from '../../channels/plain.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import { created } from './moved.ts'

/** What all messages of a job have in common. */
export type JobColumns = {
  job_id: Id
  service_id: Id
  key_id: Id | null
  key_type: KeyType
  channel: Channel
  template_id: Id
  template_version: number
  sender_id: Id | null
}

/** Stores the rows of a CTE `rows` (id, job_row, reference, lane, is_international, sealed, digest). Without a job there are none. */
export const bulkStored = (job: JobColumns | null): Part => part`stored as (
    insert into notifications (id, service_id, key_id, key_type, channel, in_job, job_id, job_row, template_id, template_version,
                               lane, reference, sender_id, is_international, sealed, recipient_digest)
    select id, ${job?.service_id ?? null}::uuid, ${job?.key_id ?? null}::uuid, ${job?.key_type ?? null}, ${job?.channel ?? null},
           true, ${job?.job_id ?? null}::uuid, job_row, ${job?.template_id ?? null}::uuid, ${job?.template_version ?? null}::integer,
           lane, reference, ${job?.sender_id ?? null}::uuid, is_international, sealed, digest
    from rows
  ),
  ${created(
    part`
    select id, ${job?.service_id ?? null}::uuid as service_id, ${job?.key_type ?? null}::text as key_type,
           ${job?.channel ?? null}::text as channel, ${job?.job_id ?? null}::uuid as job_id,
           ${job?.key_id ?? null}::uuid as key_id, ${job?.template_id ?? null}::uuid as template_id,
           null::timestamptz as scheduled_for, 'created' as status
    from rows`,
    'bulk',
  )}`
