// All people of the installation, for operators.
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Sql } from '../db/connect.ts'
import { countPeople, type ListedPerson, listPeople } from './sql/people.ts'

export type { ListedPerson }

export const MOST_LISTED = 500

export async function peopleOf(
  app: { db: { sql: Sql } },
  actor: Actor,
): Promise<{ list: readonly ListedPerson[]; people: number; operators: number }> {
  requirePermission(actor, 'manage-installation', null)
  const [list, counts] = await Promise.all([listPeople(app.db.sql, MOST_LISTED), countPeople(app.db.sql)])
  return { list, ...counts }
}
