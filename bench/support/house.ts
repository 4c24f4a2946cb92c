// The service as a user runs it: built, in a process of its own, on the embedded PostgreSQL with its durable defaults. Limits are
// raised by the settings of the service that calls; nothing is switched off.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config.ts'
import type { Id } from '../../src/core/id.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { create as createKey } from '../../src/keys/create.ts'
import { openStore } from '../../src/main.ts'
import type { Store } from '../../src/parts.ts'
import { change } from '../../src/services/change.ts'
import { create as createService } from '../../src/services/create.ts'
import { addOrigin } from '../../src/services/origins.ts'
import { create as createTemplate } from '../../src/templates/create.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CATEGORY = '207b293c-2ae5-48e8-836d-fcabd60b2153'
const UNLIMITED = 2_000_000_000

export type House = {
  store: Store
  /** The socket's folder and the process id of the database server. */
  database: { host: string; user: string; database: string; pid: number }
  service: Id
  key: string
  templates: { email: Id; sms: Id }
  start(options?: { nodeOptions?: string[]; env?: Record<string, string> }): Promise<Running>
  stop(): Promise<void>
}

export type Running = { address: string; pid: number; stop(): Promise<void> }

/** A database with one busy service in it; the program itself is started by `start`. */
export async function createHouse(): Promise<House> {
  const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'inherit' })
  if (built.status !== 0) console.error('the build complained; going on with what it made')
  const data = mkdtempSync(join(tmpdir(), 'herald-bench-'))
  chmodSync(data, 0o711) // the server runs as nobody when we are root
  const database = await startEmbedded(join(data, 'postgres'))
  const store = await openStore(readConfig({ HERALD_DATA: data }))
  const caller = await makeCaller(store)
  return {
    store,
    database,
    ...caller,
    start: ({ nodeOptions = [], env = {} } = {}) => startProgram(data, nodeOptions, env),
    async stop() {
      await store.stop()
      await database.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

async function makeCaller(store: Store) {
  const app = { ...store, sql: store.db.sql }
  const { id } = await createService(store, { name: 'Bench', mode: 'live' })
  const service = await change(store, id, {
    name: 'Bench',
    email_daily_limit: UNLIMITED,
    sms_daily_limit: UNLIMITED,
    rate_limit: UNLIMITED,
  })
  await addOrigin(store, 'sender', id, { value: '+16135550100', makeDefault: true })
  const { key } = await createKey(store, service, { name: 'bench', key_type: 'normal', manage_templates: false })
  const template = async (type: 'email' | 'sms', content: string) => {
    const shape = { name: 'Bench', template_type: type, subject: 'Your appointment on ((date))', content }
    const made = await createTemplate(
      app,
      { service, createdBy: 'bench' },
      { ...shape, template_category_id: CATEGORY },
    )
    return made.id
  }
  return { service: id, key, templates: { email: await template('email', EMAIL), sms: await template('sms', SMS) } }
}

async function startProgram(data: string, nodeOptions: string[], env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [...nodeOptions, 'bin/herald.js', 'start', '--only', 'http', '--json'], {
    cwd: ROOT,
    // The log goes nowhere, but it is written: a user has it too.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH ?? '', HERALD_DATA: data, HERALD_PORT: '0', ...env },
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    address: await addressOf(child),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

export function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`Herald ended with ${code} while starting`)))
    if (!child.stdout) return reject(new Error('no output to read the address from'))
    createInterface(child.stdout).on('line', line => {
      const address = /"address":\s*"([^"]+)"/.exec(line)?.[1]
      if (address) resolve(address)
    })
  })
}

const EMAIL = `# Your appointment

Hello ((name)),

Your appointment is confirmed for **((date))**. Please arrive ten minutes early.

- an identity card or a passport that is still valid
- the letter we sent you, or its reference number: ((reference))

If you cannot come, please [change your appointment](https://appointments.example.com/change/((reference))).`

const SMS = 'Hello ((name)), your appointment is confirmed for ((date)). Reference: ((reference)).'
