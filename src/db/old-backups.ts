// Removes old backups of one database, and nothing else.
import * as fs from 'node:fs'
import path from 'node:path'
import { readManifest, UNFINISHED } from './backup.ts'

/**
 * Keeps the newest `keep` backups in the parent folder of `folder`, itself included, and returns the others, which it has removed.
 * Only complete backups of the same database count: folders of anything else, and of another installation, stay.
 */
export async function removeOldBackups(folder: string, keep: number): Promise<string[]> {
  const parent = path.dirname(folder)
  const own = identityOf(folder)
  const backups = fs
    .readdirSync(parent, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.endsWith(UNFINISHED))
    .map(entry => path.join(parent, entry.name))
    .filter(other => own !== null && identityOf(other) === own)
    .map(other => ({ other, begun: readManifest(other).begun }))
    .toSorted((one, another) => (one.begun < another.begun ? 1 : -1))
    .map(({ other }) => other)
  const old = backups.slice(keep).filter(other => other !== folder)
  for (const other of old) {
    // Half of a backup must not look like one, also if this is interrupted.
    const gone = `${other}${UNFINISHED}`
    fs.renameSync(other, gone)
    await fs.promises.rm(gone, { recursive: true })
  }
  return old
}

/** The identifier that initdb gives a cluster, the first eight bytes of its control file. Null: not a backup. */
function identityOf(folder: string): string | null {
  try {
    readManifest(folder)
    const control = fs.openSync(
      path.join(folder, 'data', 'global', 'pg_control'),
      fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW,
    )
    try {
      const identifier = Buffer.alloc(8)
      return fs.readSync(control, identifier) === 8 ? identifier.toString('hex') : null
    } finally {
      fs.closeSync(control)
    }
  } catch {
    return null // another folder, or one that we may not read
  }
}
