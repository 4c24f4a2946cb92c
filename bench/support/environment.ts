// The service as a user runs it: built, in a process of its own, on the embedded PostgreSQL with its durable defaults. Limits are
// raised by the settings of the service that calls; nothing is switched off.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config/index.ts'
import type { Id } from '../../src/core/id.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { create as createKey } from '../../src/keys/create.ts'
import type { Store } from '../../src/parts.ts'
import { change } from '../../src/services/change.ts'
import { create as createService } from '../../src/services/create.ts'
import { addOrigin } from '../../src/services/origins.ts'
import { openStore } from '../../src/store.ts'
import { create as createTemplate } from '../../src/templates/create.ts'
import { endWithUs } from './child.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Template categories: ordinary messages use the low lane, one-time codes the high one. */
const CATEGORY = {
  general: '207b293c-2ae5-48e8-836d-fcabd60b2153',
  authentication: 'b6c42a7e-2a26-4a07-802b-123a5c3198a9',
}
const UNLIMITED = 2_000_000_000

/** A service that calls, with its key and templates. */
export type Caller = { service: Id; key: string; templates: { email: Id; sms: Id; code: Id } }

export type Environment = Caller & {
  store: Store
  /** The socket folder and the process id of the database server. */
  database: { host: string; user: string; database: string; pid: number }
  /** Another service. */
  addCaller(name: string): Promise<Caller>
  start(options?: StartOptions): Promise<Running>
  /**
   * Runs a checkpoint, as the database does every few minutes, so that a round does not pay for the one before. It also leaves
   * WAL segments to recycle, as in any database that has run for a while (creating a new one takes 10 ms).
   */
  settle(): Promise<void>
  stop(): Promise<void>
}

/** Without `mail` nothing is delivered: the process has no engine. */
export type StartOptions = {
  only?: 'http' | 'engine'
  /** Port of the mail server. */
  mail?: number
  /** Folder for a CPU profile. */
  profile?: string | undefined
  env?: Record<string, string>
  /** A command that runs the program, like `ip netns exec NAME`. */
  through?: readonly string[]
}

/** Either settings of the embedded PostgreSQL, or a server of the bench, which is not stopped with the environment. */
export type Given = { settings?: Record<string, string>; server?: Environment['database'] }

export type Loop = { p99: number; max: number }
export type Running = {
  address: string
  pid: number
  /** Event-loop delays in milliseconds since the last call; the first call only starts the measurement. */
  loop(): Promise<Loop>
  stop(): Promise<void>
}

/** A database with one busy service in it; `start` starts the program itself. */
export async function createEnvironment({ settings = {}, server }: Given = {}): Promise<Environment> {
  build()
  const data = mkdtempSync(join(tmpdir(), 'herald-bench-'))
  chmodSync(data, 0o711) // the server runs as nobody when we are root
  const embedded = server ? null : await startEmbedded(join(data, 'postgres'), { settings })
  const database = server ?? (embedded as NonNullable<typeof embedded>)
  const env = { HERALD_DATA: data, ...(server && { DATABASE_URL: urlOf(server) }) }
  const store = await openStore(readConfig(env), { make: true })
  const caller = await makeCaller(store, 'Bench')
  const programs: Running[] = []
  let stopped: Promise<void> | undefined
  // Once: Ctrl-C also makes the bench fail, which stops it too.
  const stop = () => (stopped ??= stopAll())
  const stopAll = async () => {
    await Promise.all(programs.map(program => program.stop()))
    await store.stop()
    await embedded?.stop()
    rmSync(data, { recursive: true, force: true })
  }
  // Ctrl-C: the database is a process of its own and would keep running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(130)))
  return {
    store,
    database,
    ...caller,
    addCaller: name => makeCaller(store, name),
    async start(options) {
      const program = await startProgram(env, options)
      programs.push(program)
      return program
    },
    settle: () => store.db.script('checkpoint'),
    stop,
  }
}

const urlOf = ({ host, user, database }: Environment['database']) =>
  `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}`

/** Once for a whole run: child processes find this in their environment variables. */
export function build(): void {
  if (process.env.HERALD_BENCH_BUILT) return
  const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'inherit' })
  if (built.status !== 0) throw new Error('the program cannot be built')
  process.env.HERALD_BENCH_BUILT = 'yes'
}

export const OPERATOR = { kind: 'operator', name: 'bench' } as const

async function makeCaller(store: Store, name: string): Promise<Caller> {
  const { id } = await createService(store, OPERATOR, { name, mode: 'live' })
  const service = await change(store, OPERATOR, id, {
    name,
    email_daily_limit: UNLIMITED,
    sms_daily_limit: UNLIMITED,
    rate_limit: UNLIMITED,
  })
  await addOrigin(store, OPERATOR, 'sender', id, { value: '+16135550100', makeDefault: true })
  const { key } = await createKey(store, OPERATOR, service, {
    name: 'bench',
    key_type: 'normal',
    manage_templates: false,
  })
  const template = async (type: 'email' | 'sms', content: string, category: keyof typeof CATEGORY = 'general') => {
    const shape = { name: 'Bench', template_type: type, subject: 'Your appointment on ((date))', content }
    const given = { ...shape, template_category_id: CATEGORY[category] }
    return (await createTemplate(store, OPERATOR, service, given)).id
  }
  const templates = {
    email: await template('email', EMAIL),
    sms: await template('sms', SMS),
    code: await template('email', CODE, 'authentication'),
  }
  return { service: id, key, templates }
}

// Preloaded into the service's process: answers with the event-loop delays since the last call.
const WATCH = `
import { isMainThread } from 'node:worker_threads'
import { monitorEventLoopDelay } from 'node:perf_hooks'
if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  process.on('message', () => {
    delay.enable()
    process.send({ p99: Math.max(0, delay.percentile(99) / 1e6 - 5), max: Math.max(0, delay.max / 1e6 - 5) })
    delay.reset()
  })
  process.channel.unref()
}`

async function startProgram(
  base: Record<string, string>,
  { only, mail, profile, env, through = [] }: StartOptions = {},
): Promise<Running> {
  const half = only ?? (mail ? undefined : 'http')
  const [command = process.execPath, ...before] = [...through, process.execPath]
  const child = spawn(
    command,
    [
      ...before,
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []),
      ...['--import', `data:text/javascript,${encodeURIComponent(WATCH)}`],
      ...['bin/herald.js', 'start', '--json', ...(half ? ['--only', half] : [])],
    ],
    {
      cwd: ROOT,
      // The log is written, as in production, but discarded.
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      env: {
        PATH: process.env.PATH ?? '',
        ...base,
        HERALD_PORT: '0',
        HERALD_PROCESSES: '1',
        HERALD_CAPTURE: '1',
        ...(mail && { HERALD_SMTP_URL: `smtp://127.0.0.1:${mail}` }),
        ...env,
      },
    },
  )
  endWithUs(child)
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    address: await addressOf(child),
    pid: child.pid ?? 0,
    loop: () =>
      new Promise(resolve => {
        child.once('message', result => resolve(result as Loop))
        child.send('loop')
      }),
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** Empty for an engine process, which has no address. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`Herald ended with ${code} while starting`)))
    if (!child.stdout) return reject(new Error('no output to read the address from'))
    createInterface(child.stdout).on('line', line => {
      const found = /"address":\s*(?:"([^"]+)"|null)/.exec(line)
      if (found) resolve(found[1] ?? '')
    })
  })
}

export const EMAIL = `# Your appointment

Hello ((name)),

Your appointment is confirmed for **((date))**. Please arrive ten minutes early.

- an identity card or a passport that is still valid
- the letter we sent you, or its reference number: ((reference))

If you cannot come, please [change your appointment](https://appointments.example.com/change/((reference))).`

const SMS = 'Hello ((name)), your appointment is confirmed for ((date)). Reference: ((reference)).'

const CODE = 'Your code is **((reference))**. It is valid for ten minutes.'
