// Folders are data of the service: the interface lets templates name them but has no endpoint for them (contract 13.5).
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Database, Sql } from '../db/connect.ts'
import { nameFrom } from '../services/checks.ts'
import { narrowed } from '../services/find.ts'
import { refuse as refuseEntry } from '../services/refusals.ts'
import { DEEPEST, depthOf, flat, heightOf, MOST_FOLDERS, type PlacedFolder, pathText, treeOf } from './folder.ts'
import { refuse } from './refusals.ts'
import {
  addFolder as add,
  type Folder,
  listFolders,
  lockFoldersOf,
  lockFolderWithTemplates,
  moveFolder as move,
  removeFolder as remove,
  renameFolder as rename,
} from './sql/folders.ts'

type App = { db: Database }

/** All folders of a service as a tree. */
export const folderTree = async (sql: Sql, service: Id): Promise<PlacedFolder[]> =>
  treeOf(await listFolders(sql, service))

/** Names are unique inside one folder. `parent` null: at the top. */
export async function addFolder(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  service: Id,
  text: string,
  parent: Id | null = null,
): Promise<Folder> {
  requirePermission(actor, 'manage-templates', service)
  const name = nameFrom(text, 'name of the folder')
  return changing(app, service, async (sql, all) => {
    if (all.length >= MOST_FOLDERS) throw refuse.tooManyFolders(MOST_FOLDERS)
    const around = placeIn(all, parent)
    if (around && depthOf(around) >= DEEPEST) throw refuse.folderTooDeep(DEEPEST)
    requireFreeName(all, parent, name)
    return add(sql, { id: app.ids.next(), service_id: service, parent_id: parent, name }, actor)
  })
}

/** Renames the folder and moves it into another one; what stays as it is is not recorded. */
export async function changeFolder(
  app: App,
  actor: Actor,
  service: Id,
  id: Id,
  wanted: { name?: string; parent?: Id | null },
): Promise<Folder> {
  requirePermission(actor, 'manage-templates', service)
  const newName = wanted.name === undefined ? undefined : nameFrom(wanted.name, 'name of the folder')
  return changing(app, service, async (sql, all) => {
    const folder = all.find(one => one.id === id)
    if (!folder) throw refuse.unknownFolder(id)
    const { name = folder.name, parent = folder.parent_id } = { ...wanted, ...(newName && { name: newName }) }
    const around = placeIn(all, parent)
    if (around?.ids.includes(id)) throw refuse.folderInItself()
    if ((around ? depthOf(around) : 0) + heightOf(folder) > DEEPEST) throw refuse.folderTooDeep(DEEPEST)
    requireFreeName(all, parent, name, id)
    if (parent !== folder.parent_id) await move(sql, folder, parent, actor)
    if (name !== folder.name) await rename(sql, folder, name, actor)
    return { ...folder, name, parent_id: parent }
  })
}

/**
 * A folder with templates or folders in it is removed only with `moveOut`, which moves them to the folder around it first.
 * `text`: id, name or path.
 */
export async function dropFolder(
  app: App,
  actor: Actor,
  service: Id,
  text: string,
  options: { moveOut: boolean },
): Promise<PlacedFolder> {
  requirePermission(actor, 'manage-templates', service)
  return changing(app, service, async (sql, all) => {
    const folder = folderCalled(all, text)
    if (options.moveOut)
      for (const one of folder.inside) requireFreeName(all, folder.parent_id, one.name, one.id, folder.id)
    await lockFolderWithTemplates(sql, service, folder.id)
    if ((await remove(sql, folder, options, actor)).length === 0) throw refuse.folderNotEmpty(folder.name)
    return folder
  })
}

/** By id, name or path ("Permits / Renewals"). */
export function folderCalled(all: readonly PlacedFolder[], text: string): PlacedFolder {
  const exact = all.filter(one => pathText(one) === text)
  const [folder, another] = exact.length > 0 ? exact : narrowed(all, text, one => one.name === text)
  if (another) throw refuseEntry.severalEntries(text)
  if (!folder) throw refuse.unknownFolder(text)
  return folder
}

/** One change of the folders of a service at a time: cycles, depth and names depend on all of them. */
const changing = <T>(app: App, service: Id, work: (sql: Sql, all: PlacedFolder[]) => Promise<T>): Promise<T> =>
  app.db.transaction(async sql => {
    await lockFoldersOf(sql, service)
    return work(sql, flat(await folderTree(sql, service)))
  })

function placeIn(all: readonly PlacedFolder[], parent: Id | null): PlacedFolder | null {
  if (parent === null) return null
  const around = all.find(one => one.id === parent)
  if (!around) throw refuse.unknownFolder(parent)
  return around
}

function requireFreeName(all: readonly PlacedFolder[], parent: Id | null, name: string, ...except: Id[]): void {
  if (all.some(one => one.parent_id === parent && one.name === name && !except.includes(one.id)))
    throw refuse.folderTaken(name)
}
