// Changes what columns are used for.
import type { PersonActor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { corrected } from './match.ts'
import { loadReady, read, type SheetApp } from './read.ts'
import type { Sheet, Target } from './sheet.ts'
import { setMatch } from './sql.ts'

/** `columns`: by position from 0; the others stay as they are. Rows that were left out are checked again. */
export async function rematch(
  app: SheetApp,
  actor: PersonActor,
  service: Id,
  id: Id,
  columns: ReadonlyMap<number, Target | null>,
): Promise<Sheet> {
  const { match, template } = await loadReady(app, actor, service, id)
  await setMatch(app.db.sql, id, corrected(match, columns, template))
  return read(app, actor, service, id)
}
