// Folders as a tree: pure rules.
import type { Id } from '../core/id.ts'
import { refuse } from './refusals.ts'
import type { ListedFolder } from './sql/folders.ts'

/** How many folders may be inside each other. */
export const DEEPEST = 5
/** Of one service. */
export const MOST_FOLDERS = 1_000

/** A folder with its place in the tree. */
export type PlacedFolder = ListedFolder & {
  /** Names from the top, with its own. */
  path: readonly string[]
  /** Ids from the top, with its own. */
  ids: readonly Id[]
  /** Templates in it and in the folders inside it. */
  all_templates: number
  /** Folders inside it, each with those inside. */
  inside: readonly PlacedFolder[]
}

const byName = new Intl.Collator('en', { numeric: true })

/** The tree: folders of the top, by name. */
export function treeOf(folders: readonly ListedFolder[]): PlacedFolder[] {
  const byParent = new Map<Id | null, ListedFolder[]>()
  for (const folder of folders) byParent.set(folder.parent_id, [...(byParent.get(folder.parent_id) ?? []), folder])
  const grow = (parent: Id | null, path: readonly string[], ids: readonly Id[]): PlacedFolder[] =>
    (byParent.get(parent) ?? [])
      .toSorted((a, b) => byName.compare(a.name, b.name))
      .map(folder => {
        const at = { path: [...path, folder.name], ids: [...ids, folder.id] }
        const inside = grow(folder.id, at.path, at.ids)
        const all_templates = inside.reduce((sum, one) => sum + one.all_templates, folder.templates)
        return { ...folder, ...at, inside, all_templates }
      })
  return grow(null, [], [])
}

/** Parents before what is inside them. */
export const flat = (tree: readonly PlacedFolder[]): PlacedFolder[] =>
  tree.flatMap(folder => [folder, ...flat(folder.inside)])

export const pathText = ({ path }: Pick<PlacedFolder, 'path'>) => path.join(' / ')

export const depthOf = ({ path }: PlacedFolder) => path.length

/** How many levels it and the folders inside it need. */
export const heightOf = (folder: PlacedFolder): number => 1 + Math.max(0, ...folder.inside.map(heightOf))

/** Checks all folders of a service that come in one file: the same rules as for those that are added one by one. */
export function checkFolders(folders: readonly { id: Id; name: string; parent_id?: Id | null | undefined }[]): void {
  if (folders.length > MOST_FOLDERS) throw refuse.tooManyFolders(MOST_FOLDERS)
  const parents = new Map(folders.map(({ id, parent_id }) => [id, parent_id ?? null]))
  const names = new Set<string>()
  for (const { name, parent_id = null } of folders) {
    const place = JSON.stringify([parent_id, name])
    if (names.has(place)) throw refuse.folderTaken(name)
    names.add(place)
    // Folders that are inside each other in a circle are too deep as well.
    let depth = 1
    for (let above = parent_id; above !== null; above = parents.get(above) ?? null) {
      if (!parents.has(above)) throw refuse.unknownFolder(above)
      if (++depth > DEEPEST) throw refuse.folderTooDeep(DEEPEST)
    }
  }
}
