// Folders are data of the service: the interface lets templates name them but has no endpoint for them (contract 13.5).
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { nameFrom } from '../services/checks.ts'
import { narrowed } from '../services/find.ts'
import { refuse } from '../services/refusals.ts'
import { addFolder as add, type Folder, type ListedFolder, listFolders, removeFolder } from './sql/folders.ts'

type App = { db: { sql: Sql } }

export async function addFolder(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  service: Id,
  text: string,
): Promise<Folder> {
  requirePermission(actor, 'manage-service', service)
  const name = nameFrom(text, 'name of the folder')
  const added = await add(app.db.sql, { id: app.ids.next(), service_id: service, name })
  if (!added) throw refuse.folderTaken(name)
  return added
}

/** `text`: id or name. A folder with templates is removed only with `moveOut`, which moves them out first. */
export async function dropFolder(
  app: App,
  actor: Actor,
  service: Id,
  text: string,
  options: { moveOut: boolean },
): Promise<ListedFolder> {
  requirePermission(actor, 'manage-service', service)
  const all = await listFolders(app.db.sql, service)
  const [folder, another] = narrowed(all, text, folder => folder.name === text)
  if (another) throw refuse.severalEntries(text)
  if (!folder) throw refuse.unknownFolder(text)
  if ((await removeFolder(app.db.sql, service, folder.id, options)).length === 0)
    throw refuse.folderNotEmpty(folder.name)
  return folder
}
