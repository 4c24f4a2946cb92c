// An online base backup of the embedded database (PostgreSQL manual, "Making a Base Backup Using the Low Level API"): a copy of its
// files with checksums, and the WAL segments that make the copy consistent.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { codeOf } from './embedded-lock.ts'

/** `bytes` of about `total` are done. */
export type OnBytes = (bytes: number, total: number) => void

/** `backup.json`, written last: a folder without it is not a complete backup. */
export type Manifest = {
  kind: 'herald-backup'
  version: 1
  /** Start and end, by the clock of the database. Everything committed before `begun` is in the backup. */
  begun: string
  done: string
  postgres: string
  folders: string[]
  files: Record<string, { bytes: number; sha256: string }>
}

const MANIFEST = 'backup.json'
const DATA = 'data'
/** Of a folder that is not a backup: it is being written, being removed, or one of both was interrupted. */
export const UNFINISHED = '.unfinished'

/** Folders whose content the server recreates (pg_basebackup excludes the same). They are kept empty. */
const EMPTIED = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]
/** In small and capital letters, which some file systems do not distinguish. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|backup_manifest|.*\.signal)$|(^|\/)(pgsql_tmp|pg_internal\.init|t\d+_\d+)/iu
/** Written by the backup itself. */
const LABEL = 'backup_label'
/** Of a segment of the WAL. */
const SEGMENT = /^[0-9A-F]{24}$/
/** Links to other places. A database that has some is not copied. */
const TABLESPACES = 'pg_tblspc'
/** Copied last, so that it is never older than the files it refers to. */
const LAST = path.join('global', 'pg_control')

/** `client` is connected and used for nothing else: the backup ends with its session. `data` is the folder of the running server. */
export async function backUp(client: pg.Client, data: string, folder: string, onBytes: OnBytes): Promise<Manifest> {
  if (fs.existsSync(folder))
    throw new Error(`${folder} is there already, and a backup overwrites nothing. Name a folder that does not exist.`)
  const draft = `${folder}${UNFINISHED}`
  if (fs.existsSync(draft))
    throw new Error(`${draft} is left from a backup that was interrupted, or still runs. Remove it and try again.`)
  refuseTablespaces(data)
  const total = list(data).files.reduce((sum, file) => sum + sizeOf(path.join(data, file)), 0)
  fs.mkdirSync(path.dirname(path.resolve(folder)), { recursive: true })
  refuseSmallDisk(path.dirname(path.resolve(folder)), total)
  fs.mkdirSync(draft, { mode: 0o700 })
  try {
    const manifest = await copyOnline(client, data, draft, counted(total, onBytes))
    write(path.join(draft, MANIFEST), `${JSON.stringify(manifest)}\n`)
    await syncAll(draft)
    fs.renameSync(draft, folder)
    syncFolder(path.dirname(path.resolve(folder)))
    return manifest
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

async function copyOnline(
  client: pg.Client,
  data: string,
  draft: string,
  copied: (bytes: number) => void,
): Promise<Manifest> {
  const one = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
  // A temporary replication slot keeps the WAL segments until they are copied.
  await one("select pg_create_physical_replication_slot('herald_backup_' || pg_backend_pid(), true, true)")
  const began = await one("select clock_timestamp()::text as at, pg_backup_start('herald', true)::text as lsn")
  const kept: Manifest['files'] = {}
  const copy = async (from: string, name: string) => {
    const done = await copyFile(from, path.join(draft, name), copied)
    if (done) kept[name] = done
  }
  // Listed again, because the checkpoint may have taken minutes.
  const { folders, files } = list(data)
  for (const name of folders) fs.mkdirSync(path.join(draft, DATA, name), { recursive: true, mode: 0o700 })
  for (const name of files) await copy(path.join(data, name), path.join(DATA, name))
  const ended = await one('select lsn::text, labelfile from pg_backup_stop(false)')
  write(path.join(draft, DATA, LABEL), ended.labelfile)
  kept[path.join(DATA, LABEL)] = summed(Buffer.from(ended.labelfile))
  // The end of a backup switches to a new WAL segment, so the last one we need is complete.
  const { segments } = await one(
    `select array(select pg_walfile_name($1::pg_lsn + n * size)
                  from (select setting::bigint as size from pg_settings where name = 'wal_segment_size') s
                  cross join lateral generate_series(0, ceil((($2::pg_lsn - 1) - $1::pg_lsn) / size)) as n
                  where pg_walfile_name($1::pg_lsn + n * size) <= pg_walfile_name($2::pg_lsn - 1)) as segments`,
    [began.lsn, ended.lsn],
  )
  for (const segment of segments as string[]) {
    const name = path.join('pg_wal', segment)
    await copy(path.join(data, name), path.join(DATA, name))
    if (!kept[path.join(DATA, name)]) throw new Error(`The database's log ${segment} was gone before it was copied.`)
  }
  const { at, postgres } = await one(
    "select clock_timestamp()::text as at, current_setting('server_version') as postgres",
  )
  return {
    kind: 'herald-backup',
    version: 1,
    begun: began.at,
    done: at,
    postgres,
    folders: folders.map(name => path.join(DATA, name)),
    files: kept,
  }
}

/** Checks the checksum of every file and returns the manifest. */
export async function verify(folder: string, onBytes: OnBytes): Promise<Manifest> {
  const manifest = readManifest(folder)
  const names = Object.keys(manifest.files)
  const total = Object.values(manifest.files).reduce((sum, file) => sum + file.bytes, 0)
  const checked = counted(total, onBytes)
  for (const name of names) {
    const wanted = manifest.files[name]
    const found = await digest(placeOf(folder, name), checked)
    if (!wanted || found?.sha256 !== wanted.sha256)
      throw new Error(
        `This backup is damaged: ${name} is ${found ? 'not what was written' : 'missing'}. Use another one.`,
      )
  }
  return manifest
}

/** Copies a verified backup into a new data folder; files get the given owner. */
export async function unpack(
  folder: string,
  manifest: Manifest,
  data: string,
  owner: { uid: number; gid: number } | undefined,
  onBytes: OnBytes,
): Promise<void> {
  const sizes = Object.values(manifest.files).map(file => file.bytes)
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
  refuseSmallDisk(path.dirname(data), total)
  const copied = counted(total, onBytes)
  for (const name of manifest.folders)
    fs.mkdirSync(path.join(data, path.relative(DATA, name)), { recursive: true, mode: 0o700 })
  for (const name of Object.keys(manifest.files))
    await copyFile(placeOf(folder, name), path.join(data, path.relative(DATA, name)), copied)
  if (owner)
    for (const name of ['', ...fs.readdirSync(data, { recursive: true, encoding: 'utf8' })])
      fs.lchownSync(path.join(data, name), owner.uid, owner.gid)
  await syncAll(data)
}

export function readManifest(folder: string): Manifest {
  let read: unknown = null
  try {
    read = JSON.parse(fs.readFileSync(path.join(folder, MANIFEST), 'utf8'))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR' && !(error instanceof SyntaxError)) throw error
  }
  if (!isManifest(read))
    throw new Error(`${folder} is not a backup made by herald backup: it has no ${MANIFEST} that can be read.`)
  const names = [...read.folders, ...Object.keys(read.files)]
  const refuse = (name: string | undefined, why: string) => {
    if (name === undefined) return
    throw new Error(
      `${folder} is not a backup made by herald backup: its ${MANIFEST} names ${JSON.stringify(name)}, which ${why}.`,
    )
  }
  refuse(
    names.find(name => !isInData(name)),
    `is not in its folder "${DATA}"`,
  )
  refuse(
    names.find(name => !isCopied(path.relative(DATA, name))),
    'a backup leaves out',
  )
  return read
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false
  const { kind, begun, postgres, folders, files } = value as Partial<Manifest>
  return (
    kind === 'herald-backup' &&
    typeof begun === 'string' &&
    typeof postgres === 'string' &&
    Array.isArray(folders) &&
    folders.every(name => typeof name === 'string') &&
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every(
      file => Number.isSafeInteger(file?.bytes) && file.bytes >= 0 && typeof file.sha256 === 'string',
    )
  )
}

/** Whether the name leads to a place below the folder `data`, in the form in which a backup writes it. */
const isInData = (name: string) =>
  (name === DATA || name.startsWith(DATA + path.sep)) && path.normalize(name) === name && !name.includes('\0')

/**
 * Whether a backup can contain this file or folder. Some of the others lead PostgreSQL out of its folder: it makes the links that
 * `tablespace_map` lists, and runs commands of the configuration if there is a `recovery.signal`.
 */
function isCopied(name: string): boolean {
  if (name === LABEL) return true
  if (LEFT_OUT.test(name)) return false
  const [top = '', ...inside] = name.split(path.sep)
  if (inside.length === 0) return true
  if (top === 'pg_wal') return SEGMENT.test(inside.join(path.sep))
  return ![...EMPTIED, TABLESPACES].includes(top.toLowerCase())
}

/** The path of a file in a backup. A link would lead out of it, and reading a device or a pipe may never end. */
function placeOf(folder: string, name: string): string {
  const file = path.join(folder, name)
  const found = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!found) return file // reported as missing
  if (!found.isFile() || fs.realpathSync(file) !== path.join(fs.realpathSync(folder), name))
    throw new Error(`This backup was changed: ${name} is not a file in its folder. Use another one.`)
  return file
}

/** The files to copy, by relative names, the control file last. */
function list(data: string): { folders: string[]; files: string[] } {
  const folders: string[] = ['.']
  const files: string[] = []
  const walk = (folder: string) => {
    for (const entry of fs.readdirSync(path.join(data, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name)
      if (LEFT_OUT.test(name)) continue
      if (entry.isFile()) files.push(name)
      if (!entry.isDirectory()) continue
      folders.push(name)
      if (!EMPTIED.includes(name)) walk(name)
    }
  }
  walk('')
  return { folders, files: [...files.filter(name => name !== LAST), LAST] }
}

function refuseTablespaces(data: string): void {
  if (fs.readdirSync(path.join(data, TABLESPACES)).length > 0)
    throw new Error('This database has tablespaces, which herald backup does not copy. Use pg_basebackup.')
}

const sizeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0

function refuseSmallDisk(folder: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder)
  if (bavail * bsize < bytes)
    throw new Error(
      `There is not enough room in ${folder}: ${inWords(bytes)} are needed, ${inWords(bavail * bsize)} free.`,
    )
}

type Summed = { bytes: number; sha256: string }
const summed = (content: Buffer): Summed => ({
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

const PIECE = 1024 * 1024

/** Null: the file was removed meanwhile, which the WAL contains. */
async function copyFile(from: string, to: string, onBytes: (bytes: number) => void): Promise<Summed | null> {
  const source = await opened(from)
  if (!source) return null
  try {
    fs.mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 })
    const target = await fs.promises.open(to, 'wx', 0o600)
    try {
      return await pass(source, async piece => {
        await target.writeFile(piece)
        onBytes(piece.length)
      })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function digest(file: string, onBytes: (bytes: number) => void): Promise<Summed | null> {
  const source = await opened(file)
  if (!source) return null
  try {
    return await pass(source, async piece => onBytes(piece.length))
  } finally {
    await source.close()
  }
}

async function opened(file: string): Promise<fs.promises.FileHandle | null> {
  try {
    return await fs.promises.open(file, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

async function pass(source: fs.promises.FileHandle, give: (piece: Buffer) => Promise<void>): Promise<Summed> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(PIECE)
  for (let bytes = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, PIECE)
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
    const piece = buffer.subarray(0, bytesRead)
    hash.update(piece)
    await give(piece)
    bytes += bytesRead
  }
}

function write(file: string, text: string): void {
  const handle = fs.openSync(file, 'wx', 0o600)
  fs.writeFileSync(handle, text)
  fs.fsyncSync(handle)
  fs.closeSync(handle)
}

// Sixteen at a time, because a thousand sequential syncs would wait a thousand times for the disk.
async function syncAll(root: string): Promise<void> {
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true })
  const names = entries.map(entry => path.join(entry.parentPath, entry.name))
  const turn = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const handle = await fs.promises.open(name, 'r')
      await handle.sync().finally(() => handle.close())
    }
  }
  await Promise.all(Array.from({ length: 16 }, turn))
  syncFolder(root)
}

function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r')
  fs.fsyncSync(handle)
  fs.closeSync(handle)
}

function counted(total: number, onBytes: OnBytes): (bytes: number) => void {
  let bytes = 0
  return more => {
    bytes += more
    // A running database grows while it is copied.
    onBytes(bytes, Math.max(bytes, total))
  }
}

export const inWords = (bytes: number) =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`
