import { listOrigins, type Origin } from '../../services/sql/origins.ts'
import type { ServiceVisit } from '../page.ts'

export async function originsOf({ parts, service }: ServiceVisit): Promise<{ replyTos: Origin[]; senders: Origin[] }> {
  const [replyTos, senders] = await Promise.all([
    listOrigins(parts.db.sql, 'reply-to', service.id),
    listOrigins(parts.db.sql, 'sender', service.id),
  ])
  return { replyTos, senders }
}
