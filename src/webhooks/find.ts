// Finds an endpoint by what an operator types: its id or the beginning of it.
import type { Sql } from '../db/connect.ts'
import { idStart } from '../services/find.ts'
import { refuse } from './refusals.ts'
import { type FoundWebhook, webhooksStartingWith } from './sql/manage.ts'

export async function find(app: { db: { sql: Sql } }, text: string): Promise<FoundWebhook> {
  const start = idStart(text.trim())
  const [first, ...others] = start ? await webhooksStartingWith(app.db.sql, start) : []
  if (!first) throw refuse.unknownWebhook(text)
  if (others.length > 0) throw refuse.severalWebhooks(text, [first, ...others].map(({ id }) => id).join(', '))
  return first
}
