// Messages that were not sent to anyone, as the inbox shows them: captured ones and those of test keys.
import type { Id } from '../../core/id.ts'
import { bare, type Part, part, type Sql } from '../../db/connect.ts'
import type { KeyType } from '../../keys/key.ts'
import type { StoredContent } from '../content.ts'
import { highest, lowest } from './bounds.ts'

/** Rows for the inbox: id, channel, service_id, key_type, recipient_digest of those of these ids that are messages, of keys of this type if it is given. */
export const rowsForInbox = (ids: readonly Id[], keyType: KeyType | null): Part => part`
  select n.id, n.channel, n.service_id, n.key_type, n.recipient_digest
  from notifications n
  where n.id = any (${bare(ids)}::uuid[])
    and n.id between ${lowest(ids)} and ${highest(ids)}
    and (${keyType}::text is null or n.key_type = ${keyType})`

/** What the content of these messages is made of. */
export const capturedContents = (sql: Sql, ids: readonly Id[]) => sql<StoredContent & { key_type: KeyType }>`
  select n.id, n.channel, n.sealed, n.service_id, n.template_id, n.template_version, n.sender_id, n.key_type
  from notifications n
  where n.id = any (${bare(ids)}::uuid[])
    and n.id between ${lowest(ids)} and ${highest(ids)}`
