// Links that prove a reply-to address: the address, the mail and the count of tries are one statement.
import type { Actor } from '../../audit/actor.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { mailsQueued, type QueuedMail } from '../../mails/sql.ts'
import { type NewOrigin, type ReplyToLink, replyToAsked, replyToAskedAgain } from '../../services/sql/origins.ts'
import { type Tried, triesCounted } from './tries.ts'

type Asked = { over: { since_ms: number } | null; isAsked: boolean }

const NOT_OVER = part`not exists (select from over)`

async function asking(sql: Sql, tried: Tried, asked: Part, mails: readonly QueuedMail[]): Promise<Asked> {
  const [row] = await sql<{ since_ms: number | null; asked: boolean }>`
    with ${triesCounted(tried)},
    ${asked},
    ${mailsQueued(mails, part`exists (select from asked)`)}
    select (select since_ms from over) as since_ms, exists (select from asked) as asked`
  return { over: row?.since_ms == null ? null : { since_ms: row.since_ms }, isAsked: row?.asked ?? false }
}

export const ask = (
  sql: Sql,
  tried: Tried,
  origin: Omit<NewOrigin, 'is_default'>,
  link: ReplyToLink,
  mails: readonly QueuedMail[],
  actor: Actor,
) => asking(sql, tried, replyToAsked(origin, link, NOT_OVER, actor), mails)

/** The link of the mail before is worth nothing then. */
export const askAgain = (
  sql: Sql,
  tried: Tried,
  service: Id,
  id: Id,
  link: ReplyToLink,
  mails: readonly QueuedMail[],
) => asking(sql, tried, replyToAskedAgain(service, id, link, NOT_OVER), mails)
