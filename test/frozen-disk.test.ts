// The disk of the embedded database hangs, on a real file system that is frozen: what only reads goes on, sends fail in time, and are
// stored once when they are repeated. Needs root and a loop device.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { createClient } from './support/processes.ts'
import { type Program, programs } from './support/program.ts'

vi.setConfig({ testTimeout: 300_000 })

const { start, sample } = programs()
const SOON = { timeout: 120_000, interval: 200 }
/** If this process is killed, the file system is thawed nevertheless: processes that use it could not be ended. */
const THAWED_AFTER_SECONDS = 200

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' }).trim()

function frozenPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'herald-disk-'))
  const [image, place] = [join(folder, 'image'), join(folder, 'place')]
  let device = ''
  try {
    mkdirSync(place)
    run('truncate', '-s', '1G', image)
    run('mkfs.ext4', '-q', '-F', image)
    device = run('losetup', '-f', '--show', image)
    run('mount', device, place)
    for (const one of [folder, place]) chmodSync(one, 0o711)
  } catch {
    if (device) run('losetup', '-d', device)
    rmSync(folder, { recursive: true, force: true })
    return null
  }
  let rescue: ChildProcess | null = null
  return {
    data: join(place, 'data'),
    freeze() {
      rescue = spawn('sh', ['-c', `sleep ${THAWED_AFTER_SECONDS}; fsfreeze -u ${place}`], {
        ...{ detached: true, stdio: 'ignore' },
      })
      run('fsfreeze', '-f', place)
    },
    thaw() {
      run('fsfreeze', '-u', place)
      if (rescue?.pid) process.kill(-rescue.pid)
    },
    remove() {
      run('umount', place)
      run('losetup', '-d', device)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const disk = frozenPlace()
if (!disk) console.warn('SKIPPED: no loop device or no right to mount it, so a frozen disk is not tested')
let program: Program | null = null
afterAll(async () => {
  await program?.end('SIGTERM')
  disk?.remove()
})

test.skipIf(!disk)(
  'a frozen disk: sends fail in time, reads go on, and what was repeated is stored once when it is thawed',
  async () => {
    if (!disk) return
    const running = await start({ HERALD_DATA: disk.data })
    program = running
    const { address } = running
    const { keys, templates } = await sample({ HERALD_DATA: disk.data }, running)
    const client = createClient(8)
    const statusOf = async (path: string) => (await fetch(address + path)).status
    const send = (reference: string) =>
      client(address, 'POST', '/v2/notifications/email', {
        key: keys.test,
        headers: { 'idempotency-key': reference },
        body: {
          ...{ template_id: templates.email.id, email_address: 'ada@example.org', reference },
          personalisation: { name: 'Ada' },
        },
      })
    expect((await send(randomUUID())).status).toBe(201)

    const references = Array.from({ length: 5 }, () => randomUUID())
    disk.freeze()
    try {
      const began = performance.now()
      const answers = await Promise.all(references.map(send))
      expect(answers.map(({ status }) => status)).toEqual(references.map(() => 500))
      expect(performance.now() - began).toBeLessThan(20_000)
      expect(await statusOf('/health/live')).toBe(200)
      expect((await client(address, 'GET', '/v2/templates', { key: keys.test })).status).toBe(200)
    } finally {
      disk.thaw()
    }
    for (const reference of references) {
      await vi.waitFor(async () => expect((await send(reference)).status).toBe(201), SOON)
      const { body } = await client(address, 'GET', `/v2/notifications?reference=${reference}`, { key: keys.test })
      expect(body.notifications).toHaveLength(1)
    }
  },
)
