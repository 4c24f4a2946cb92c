// How old the newest backup of the embedded database is. A file beside the data says it: it is not in a backup, so a restored copy
// begins without one, and a database that is not migrated yet can be backed up, too.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import type { Timestamp } from '../core/clock.ts'
import { codeOf } from './embedded-lock.ts'
import { choosePlace } from './embedded-place.ts'

export type LastBackup = { folder: string; begun: Timestamp; bytes: number }
/** `last` is null if there is none; then `seconds` is the age of the database. */
export type BackupAge = { last: LastBackup | null; seconds: number }

/** An older backup is a problem: the daily one has failed twice. */
export const MOST_BACKUP_SECONDS = 2 * 86_400

const NAME = 'last-backup.json'

/** Readable by others, in a folder that only the owner of the database and root can enter: root may back up for the service. */
export function noteBackup(place: string, last: LastBackup): void {
  const draft = path.join(place, `${NAME}.${randomBytes(6).toString('hex')}`)
  fs.writeFileSync(draft, `${JSON.stringify(last)}\n`, { flag: 'wx' })
  fs.chmodSync(draft, 0o644)
  fs.renameSync(draft, path.join(place, NAME))
}

/** `now`: milliseconds since 1970. Null: the database is external, and its backups are not ours. */
export async function backupAgeOf(
  { databaseUrl, dataFolder }: { databaseUrl: string | null; dataFolder: string },
  now: number,
): Promise<BackupAge | null> {
  return databaseUrl
    ? null
    : backupAge(
        choosePlace(path.join(dataFolder, 'postgres'), () => {}),
        now,
      )
}

async function backupAge(place: string, now: number): Promise<BackupAge> {
  const last = await readLast(place)
  const since = last
    ? Date.parse(`${last.begun.slice(0, 10)}T${last.begun.slice(11, 19)}Z`)
    : (await fs.promises.stat(path.join(place, 'data', 'PG_VERSION'))).mtimeMs // written by initdb or a restore, and never again
  return { last, seconds: Math.max(0, (now - since) / 1000) }
}

async function readLast(place: string): Promise<LastBackup | null> {
  try {
    return JSON.parse(await fs.promises.readFile(path.join(place, NAME), 'utf8')) as LastBackup
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
