// Finds a template by what an operator types: its id or the beginning of it.
import { type Id, readId } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { idStart } from '../services/find.ts'
import { templatesBetween } from '../templates/sql.ts'
import { UsageError } from './command.ts'

/** By its id or the beginning of it. `owner` is null if there is no such template. */
export async function templateStarting(
  sql: Sql,
  name: string,
  text: string,
): Promise<{ template: Id; owner: Id | null }> {
  const start = idStart(text.trim())
  if (start === null)
    throw new UsageError(`${name} takes the id of a template or its first characters (at least 8), not "${text}".`)
  const bound = (fill: string) => readId(start.padEnd(32, fill)) as Id
  const found = await templatesBetween(sql, bound('0'), bound('f'))
  if (found.length > 1) throw new UsageError(`Several ids begin with ${text}: ${found.map(({ id }) => id).join(', ')}.`)
  const [template] = found
  return { template: template?.id ?? bound('0'), owner: template?.service_id ?? null }
}
