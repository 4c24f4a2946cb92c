// herald backup and herald restore on the embedded database, as an operator uses them: while the service runs, and on another
// machine.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { eventsOf, send, statusOf } from './support/over-http.ts'
import { programs } from './support/program.ts'

const { newData, herald, start, sample: sampleOn } = programs()

/** What takes long says how far it is. */
const onlyProgress = expect.stringMatching(/^(?:(?:Opening|Waiting|Copying|Checking|Restoring)\b.*\n)*$/)

test('a backup of a running service is restored elsewhere, opens, and sends nothing until it is released', async () => {
  const [data, elsewhere] = [newData(), newData()]
  const folder = join(dirname(data), 'backup')
  const service = await start({ HERALD_DATA: data })
  const { keys, templates } = await sampleOn({ HERALD_DATA: data })
  const sample = { key: keys.live, template: templates.email.id }
  const before: string[] = []
  for (let n = 0; n < 20; n++) before.push(await send(service.address, sample))

  let isDone = false
  const load = (async () => {
    while (!isDone) await send(service.address, sample)
  })()
  const made = await herald(['backup', folder], { HERALD_DATA: data })
  isDone = true
  await load
  expect(made).toMatchObject({ code: 0, err: onlyProgress })
  expect(made.out).toMatch(/The backup is in .*\nNot included; back up separately:\n- the sealing secret, .*secret:/)
  expect(statSync(folder).mode & 0o077).toBe(0)
  const secret = readFileSync(join(data, 'secret'), 'utf8').trim()
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
  const hasSecret = texts.filter(name => statSync(name).isFile() && readFileSync(name).includes(secret))
  expect(hasSecret).toEqual([])
  expect((await herald(['backup', folder], { HERALD_DATA: data })).err).toMatch(/is there already.*does not exist\.\n$/)
  // A reader goes on with the original after the backup: it is ahead of the copy.
  for (let n = 0; n < 20; n++) await send(service.address, sample)
  await expect.poll(() => statusOf(service.address, sample, before[19] ?? ''), { timeout: 60_000 }).toBe('delivered')
  const lost = (await eventsOf(service.address, sample)).next
  await service.end('SIGTERM')

  const over = await herald(['restore', folder], { HERALD_DATA: data })
  expect(over).toMatchObject({ code: 1, err: expect.stringMatching(/There is a database in .* already.*HERALD_DATA/) })
  const blind = await herald(['restore', folder], { HERALD_DATA: elsewhere })
  expect(blind).toMatchObject({ code: 1, err: expect.stringMatching(/The sealing secret is missing.*try again/) })
  mkdirSync(elsewhere, { mode: 0o711 })
  cpSync(join(data, 'secret'), join(elsewhere, 'secret'))
  const restored = await herald(['restore', folder], { HERALD_DATA: elsewhere })
  expect(restored).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^.*Restored to .*\nSending is held/s),
    err: onlyProgress,
  })

  const copy = await start({ HERALD_DATA: elsewhere })
  expect(copy.out()).toMatch(/Nothing is sent: this database is held/)
  for (const id of before) expect(await statusOf(copy.address, sample, id)).toMatch(/^(created|sending|delivered)$/)
  const waiting = await send(copy.address, sample)
  expect(await herald(['doctor'], { HERALD_DATA: elsewhere })).toMatchObject({
    code: 1,
    out: expect.stringMatching(/PROBLEM +Sending: held.*\n +-> .*herald release/),
  })
  expect(await statusOf(copy.address, sample, waiting)).toBe('created')
  expect((await herald(['release', '--all'], { HERALD_DATA: elsewhere })).code).toBe(0)
  await expect.poll(() => statusOf(copy.address, sample, waiting), { timeout: 60_000 }).toBe('delivered')
  await expect
    .poll(async () => (await eventsOf(copy.address, sample, lost)).ids, { timeout: 10_000 })
    .toContain(waiting)
  await copy.end('SIGTERM')
}, 300_000)

test('--keep removes older backups of this database and nothing else; metrics and doctor show the age of the newest', async () => {
  const data = newData()
  const parent = join(dirname(data), 'backups')
  const backup = (name: string, ...more: string[]) =>
    herald(['backup', join(parent, name), ...more], { HERALD_DATA: data })
  const service = await start({ HERALD_DATA: data })
  const age = async () =>
    Number(/^herald_backup_age_seconds (\S+)$/m.exec(await (await fetch(`${service.address}/metrics`)).text())?.[1])
  const checked = async () => (await herald(['doctor'], { HERALD_DATA: data })).out
  expect(await age()).toBeGreaterThanOrEqual(0)
  expect(await checked()).toMatch(/^ok +Backup: there is none yet$/m)

  expect(await backup('none', '--keep', '0')).toMatchObject({ code: 2, err: expect.stringContaining('--keep must be') })
  for (const name of ['first', 'second']) expect(await backup(name)).toMatchObject({ code: 0 })
  // What is not a backup of this database: of another one, interrupted, a folder and a file of somebody else.
  cpSync(join(parent, 'first'), join(parent, 'foreign'), { recursive: true })
  const control = join(parent, 'foreign', 'data', 'global', 'pg_control')
  const bytes = readFileSync(control)
  writeFileSync(control, bytes.fill(7, 0, 8))
  for (const name of ['broken.unfinished', 'photos']) mkdirSync(join(parent, name))
  writeFileSync(join(parent, 'note'), '')

  const third = await backup('third', '--keep', '2', '--json')
  expect(JSON.parse(third.out)).toMatchObject({ removed: [join(parent, 'first')] })
  expect(readdirSync(parent).toSorted()).toEqual(['broken.unfinished', 'foreign', 'note', 'photos', 'second', 'third'])
  expect(await checked()).toMatch(/^ok +Backup: the newest is \d+ s old: .*\/third$/m)

  const note = join(data, 'postgres', 'last-backup.json')
  expect(readdirSync(dirname(note)).filter(name => name.startsWith('last-backup'))).toEqual(['last-backup.json'])
  writeFileSync(note, readFileSync(note, 'utf8').replace(/"begun":"\d{4}/, '"begun":"2020'))
  await expect.poll(age, { timeout: 60_000 }).toBeGreaterThan(172_800)
  expect(await checked()).toMatch(
    /^PROBLEM +Backup: the newest is \d+ h old: .*\/third\n +-> Run (npx )?herald backup every day/m,
  )
  await service.end('SIGTERM')
}, 300_000)

test('the first start of a copy archives nothing, whatever its configuration says', async () => {
  const [data, elsewhere] = [newData(), newData()]
  const folder = join(dirname(data), 'backup')
  await (await start({ HERALD_DATA: data })).end('SIGTERM')
  expect((await herald(['backup', folder], { HERALD_DATA: data })).code).toBe(0)
  const archived = join(dirname(data), 'archived')
  mkdirSync(archived)
  chmodSync(archived, 0o777) // PostgreSQL runs as nobody when we are root
  const name = 'data/postgresql.auto.conf'
  const configuration = Buffer.from(`archive_mode = on\narchive_command = 'cp %p ${archived}/%f'\n`)
  writeFileSync(join(folder, name), configuration)
  const manifest = JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8'))
  manifest.files[name] = {
    bytes: configuration.length,
    sha256: createHash('sha256').update(configuration).digest('hex'),
  }
  writeFileSync(join(folder, 'backup.json'), JSON.stringify(manifest))
  mkdirSync(elsewhere, { mode: 0o711 })
  cpSync(join(data, 'secret'), join(elsewhere, 'secret'))
  expect(await herald(['restore', folder], { HERALD_DATA: elsewhere })).toMatchObject({ code: 0 })
  expect(readdirSync(archived)).toEqual([])
  // The configuration itself is restored: it is in force when the copy is used.
  await (await start({ HERALD_DATA: elsewhere })).end('SIGTERM')
  expect(readdirSync(archived)).not.toEqual([])
}, 300_000)

test('a damaged, unfinished or foreign backup is refused, and nothing is left behind', async () => {
  const [data, elsewhere] = [newData(), newData()]
  const folder = join(dirname(data), 'backup')
  expect((await herald(['backup', folder], { HERALD_DATA: data })).err).toMatch(/There is no database in .* yet/)
  await (await start({ HERALD_DATA: data })).end('SIGTERM')
  expect((await herald(['backup', folder], { HERALD_DATA: data })).code).toBe(0)
  mkdirSync(elsewhere, { mode: 0o711 })
  cpSync(join(data, 'secret'), join(elsewhere, 'secret'))
  const restore = () => herald(['restore', folder], { HERALD_DATA: elsewhere })

  const file = join(folder, 'data', 'global', 'pg_control')
  const whole = readFileSync(file)
  const bent = Buffer.from(whole)
  bent.writeUInt8(bent.readUInt8(100) ^ 1, 100)
  writeFileSync(file, bent)
  expect(await restore()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^This backup is damaged: .*pg_control/),
  })
  writeFileSync(file, whole)

  const manifest = join(folder, 'backup.json')
  const words = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, words.replace(/"postgres":"\d+/, '"postgres":"12'))
  expect(await restore()).toMatchObject({ code: 1, err: expect.stringMatching(/made with PostgreSQL 12/) })
  writeFileSync(manifest, '{}')
  expect(await restore()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not a backup made by (?:npx )?herald backup/),
  })
  expect(existsSync(join(elsewhere, 'postgres', 'data'))).toBe(false)
  writeFileSync(manifest, words)

  mkdirSync(`${folder}-2.unfinished`)
  expect((await herald(['backup', `${folder}-2`], { HERALD_DATA: data })).err).toMatch(
    /is left from a backup.*Remove it/,
  )
  mkdirSync(join(elsewhere, 'postgres.restoring'))
  expect((await restore()).err).toMatch(/belongs to a restore that was interrupted.*Remove it/)
  rmdirSync(join(elsewhere, 'postgres.restoring'))

  const external = { HERALD_DATA: elsewhere, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }
  expect((await herald(['backup', folder], external)).err).toMatch(/DATABASE_URL is set.*pg_dump/)
  expect((await herald(['restore', folder], external)).err).toMatch(/DATABASE_URL is set/)

  writeFileSync(join(elsewhere, 'secret'), 'another secret of at least 32 characters\n')
  expect(await restore()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/PROBLEM: .*sealed with another secret/),
  })
}, 300_000)
