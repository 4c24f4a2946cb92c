// A backup that someone has made by hand: restoring it reads and writes nothing outside of its folders.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import { unpack, verify } from '../src/db/backup.ts'

const CONTENT = 'the content of a file'
const sum = { bytes: CONTENT.length, sha256: createHash('sha256').update(CONTENT).digest('hex') }
let home: string
let backup: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'herald-hostile-backup-'))
  backup = join(home, 'backup')
  mkdirSync(join(backup, 'data', 'base'), { recursive: true })
  for (const file of ['data/good', 'outside', '../outside']) writeFileSync(join(backup, file), CONTENT)
})
afterEach(() => rmSync(home, { recursive: true }))

const write = (manifest: object) => writeFileSync(join(backup, 'backup.json'), JSON.stringify(manifest))
const manifest = (files: readonly string[], folders: readonly string[] = ['data', 'data/base']) => ({
  ...{ kind: 'herald-backup', version: 1, begun: '2026-01-01', done: '2026-01-01', postgres: '18.0', folders },
  files: Object.fromEntries(files.map(name => [name, sum])),
})
/** As herald restore does it. */
async function restored() {
  const read = await verify(backup, () => {})
  await unpack(backup, read, join(home, 'new', 'data'), undefined, () => {})
}

test('one as herald backup writes it is restored', async () => {
  mkdirSync(join(home, 'new'))
  write(manifest(['data/good']))
  await restored()
  expect(readdirSync(join(home, 'new', 'data')).sort()).toEqual(['base', 'good'])
})

const OUTSIDE = [
  'data/../../outside',
  '../outside',
  'outside',
  'data/../outside',
  'data/./good',
  'data//good',
  'database',
  '/etc/hostname',
  'data/a\0b',
  '',
]

test('a name outside of the folder is refused before anything is read or written', async () => {
  mkdirSync(join(home, 'new'))
  for (const name of OUTSIDE)
    for (const hostile of [manifest(['data/good', name]), manifest(['data/good'], ['data', name])]) {
      write(hostile)
      await expect(restored(), name).rejects.toThrow('which is not in its folder "data"')
      expect(readdirSync(join(home, 'new')), name).toEqual([])
    }
  expect(readdirSync(home).sort()).toEqual(['backup', 'new', 'outside'])
})

const LEFT_OUT = [
  'data/tablespace_map',
  'data/recovery.signal',
  'data/standby.signal',
  'data/STANDBY.SIGNAL',
  'data/postmaster.pid',
  'data/backup_label.old',
  'data/pg_tblspc/16384/PG_18_202506291',
  'data/pg_wal/00000002.history',
  'data/pg_wal/archive_status/000000010000000000000001.ready',
  'data/pg_replslot/a/state',
  'data/base/5/t3_16384',
]

test('a name that a backup leaves out is refused, because PostgreSQL may act on it outside of the folder', async () => {
  mkdirSync(join(home, 'new'))
  for (const name of LEFT_OUT)
    for (const hostile of [manifest(['data/good', name]), manifest(['data/good'], ['data', name])]) {
      write(hostile)
      await expect(restored(), name).rejects.toThrow(`names "${name}", which a backup leaves out.`)
      expect(readdirSync(join(home, 'new')), name).toEqual([])
    }
})

test('the names of a backup are not refused', async () => {
  mkdirSync(join(home, 'new'))
  const files = ['PG_VERSION', 'backup_label', 'postgresql.auto.conf', 'base/5/16384_vm', 'global/pg_control']
  const names = [...files, 'pg_wal/000000010000000A000000FF'].map(name => `data/${name}`)
  const folders = ['', '/base', '/base/5', '/global', '/pg_wal', '/pg_replslot', '/pg_tblspc'].map(
    name => `data${name}`,
  )
  for (const name of folders) mkdirSync(join(backup, name), { recursive: true })
  for (const name of names) writeFileSync(join(backup, name), CONTENT)
  write(manifest(names, folders))
  await restored()
  expect(readdirSync(join(home, 'new', 'data'), { recursive: true })).toHaveLength(names.length + folders.length - 1)
})

test('links, folders that are links, and pipes are refused', async () => {
  mkdirSync(join(home, 'new'))
  symlinkSync(join(home, 'outside'), join(backup, 'data', 'link'))
  symlinkSync(home, join(backup, 'data', 'elsewhere'))
  execFileSync('mkfifo', [join(backup, 'data', 'pipe')])
  for (const name of ['data/link', 'data/elsewhere/outside', 'data/pipe', 'data/base']) {
    write(manifest([name]))
    await expect(restored()).rejects.toThrow('is not a file in its folder')
  }
  // A file that was replaced after it was checked.
  const read = manifest(['data/link']) as Awaited<ReturnType<typeof verify>>
  await expect(unpack(backup, read, join(home, 'new', 'data'), undefined, () => {})).rejects.toThrow('is not a file')
  expect(existsSync(join(home, 'new', 'data', 'link'))).toBe(false)
})

test('a list of another shape is no backup', async () => {
  for (const hostile of [
    { ...manifest([]), folders: 'data' },
    { ...manifest([]), folders: [1] },
    { ...manifest([]), files: { 'data/good': null } },
    { ...manifest([]), files: { 'data/good': { bytes: -1, sha256: '' } } },
    { ...manifest([]), postgres: null },
    [],
  ]) {
    write(hostile)
    await expect(verify(backup, () => {})).rejects.toThrow('is not a backup made by herald backup')
  }
})

test('herald restore says so in one sentence', async () => {
  write(manifest(['data/../../outside']))
  const config = readConfig({ HERALD_DATA: join(home, 'here'), HERALD_SECRET: 'a'.repeat(40) })
  let err = ''
  const add = (text: string) => {
    err += text
  }
  expect(await run(['restore', backup], { out: () => {}, err: add }, () => config)).toBe(1)
  expect(err).toContain('names "data/../../outside", which is not in its folder "data".')
})
