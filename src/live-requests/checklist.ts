// What a service should have before it sends to anyone.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { MAY } from '../audit/role.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { list as listKeys } from '../keys/sql.ts'
import { listOrigins } from '../services/sql/origins.ts'
import { listUsers } from '../services/sql.ts'
import { newestTemplate } from '../templates/names.ts'

/** `needed`: without it nothing can be sent, so a request is refused. The operator sees what else is missing. */
export type ChecklistItem = {
  key: 'template' | 'sender' | 'reply-to' | 'team'
  isDone: boolean
  needed: boolean
}

export async function checklistOf(
  app: { db: { sql: Sql }; clock: { now(): number } },
  actor: Actor,
  service: Id,
): Promise<ChecklistItem[]> {
  requirePermission(actor, 'see-service', service)
  const { sql } = app.db
  const [template, keys, users, replyTos] = await Promise.all([
    newestTemplate(sql, actor, service),
    listKeys(sql, service),
    listUsers(sql, service),
    listOrigins(sql, 'reply-to', service),
  ])
  const now = app.clock.now()
  const works = (end: string | null) => end === null || Date.parse(end) > now
  const hasKey = keys.some(
    ({ key_type, revoked_at, expires_at }) => key_type === 'normal' && revoked_at === null && works(expires_at),
  )
  const hasSender = users.some(({ role }) => MAY[role].includes('send-messages'))
  return [
    { key: 'template', isDone: template !== null, needed: true },
    { key: 'sender', isDone: hasKey || hasSender, needed: true },
    { key: 'reply-to', isDone: replyTos.some(one => one.verified_at !== null), needed: false },
    { key: 'team', isDone: users.length >= 2, needed: false },
  ]
}

export const isReady = (items: readonly ChecklistItem[]): boolean => items.every(item => item.isDone || !item.needed)
