// Herald as supervised processes: killed, frozen, asked to stop, and restarted at once. Every exit is recorded with its cause,
// because an exit without a cause is a violation.
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/port.ts'
import { endsWithUs } from './children.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Env = Record<string, string>
export type Death = { app: string; code: number | null; signal: string | null; injected: boolean }

/** `inside`: the beginning of a command line that runs a program on this machine. */
export type Machine = { name: string; host: string; inside: readonly string[] }

export type App = {
  name: string
  address: string
  /** Whether it answers HTTP requests; an engine process does not. */
  answers: boolean
  pid(): number
  isUp(): boolean
  /** Resolves when it listens (or runs, for an engine) the next time. */
  up(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** SIGTERM; resolves with the seconds it took. */
  term(): Promise<number>
  /** Starts it after `term`, or for the first time. */
  start(): Promise<void>
  /** Settings for the next start; `once`: only for that one. */
  set(env: Env, once?: 'once'): void
  /** From now on an exit by SIGKILL is expected (a crash point is set), or any exit (the database is down). */
  expect(what: 'nothing' | 'kill' | 'any'): void
  end(): Promise<void>
  log(): string
  /** Resident megabytes and open handles of the process; null where the system does not report them. */
  size(): { megabytes: number; handles: number } | null
}

/** Several times what a start takes on a busy machine. A process that never gets up must not hold up the run. */
const START_MS = 120_000

export async function createApp(
  name: string,
  options: { folder: string; env: Env; only?: 'http' | 'engine'; deaths: Death[]; machine?: Machine },
): Promise<App> {
  const port = await freePort()
  const { host, inside } = options.machine ?? { host: '127.0.0.1', inside: [] }
  const address = `http://${host}:${port}`
  const logFile = join(options.folder, `${name}.log`)
  const log = createWriteStream(logFile, { flags: 'a' })
  let extra: Env = {}
  let next: Env = {}
  let child: ChildProcess | null = null
  let gone: Promise<void> = Promise.resolve()
  let ready: Promise<void> = Promise.resolve()
  let up = false
  let wanted = false
  let injected = false
  let expected: 'nothing' | 'kill' | 'any' = 'nothing'

  function launch() {
    const only = options.only ? ['--only', options.only] : []
    const [program, ...words] = [...inside, process.execPath, 'bin/herald.js', 'start', '--json', ...only] as [string]
    const place = { HERALD_HOST: host, HERALD_PORT: String(port), HERALD_PROCESSES: '1' }
    const started = endsWithUs(
      spawn(program, words, {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH ?? '', ...place, ...options.env, ...extra, ...next },
      }),
    )
    next = {}
    injected = false
    child = started
    started.stderr?.on('data', text => log.write(text))
    let isReady = () => {}
    ready = new Promise(resolve => {
      isReady = resolve
    })
    if (started.stdout)
      createInterface(started.stdout).on('line', line => {
        log.write(`${line}\n`)
        if (!line.includes('"address"')) return
        up = true
        isReady()
      })
    gone = new Promise(resolve =>
      started.once('exit', (code, signal) => {
        up = false
        const isExpected = expected === 'any' || (expected === 'kill' && signal === 'SIGKILL')
        if (!(code === 0 && !wanted)) options.deaths.push({ app: name, code, signal, injected: injected || isExpected })
        resolve()
        if (wanted) void restart()
      }),
    )
  }

  async function restart() {
    if (!injected) await sleep(200) // it could not start, or a crash point ended it: no tight restart loop
    if (wanted) launch()
  }

  async function whenUp() {
    const late = sleep(START_MS, null, { ref: false })
    for (const until = performance.now() + START_MS; !up; ) {
      await Promise.race([ready, gone, late])
      if (!up && performance.now() > until)
        throw new Error(`${name} is not up after ${START_MS / 1000} s: ${readFileSync(logFile, 'utf8').slice(-500)}`)
      if (!up) await sleep(50)
    }
  }

  return {
    name,
    address,
    answers: options.only !== 'engine',
    pid: () => child?.pid ?? 0,
    isUp: () => up,
    up: whenUp,
    async kill() {
      injected = true
      const dying = gone
      child?.kill('SIGKILL')
      await dying
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async term() {
      wanted = false
      up = false // the load balancer stops using it first
      const since = performance.now()
      child?.kill('SIGTERM')
      await gone
      return (performance.now() - since) / 1000
    },
    async start() {
      wanted = true
      launch()
      await whenUp()
    },
    set(env, once) {
      if (once) next = env
      else extra = env
    },
    expect(what) {
      expected = what
    },
    async end() {
      wanted = false
      injected = true
      child?.kill('SIGCONT')
      child?.kill('SIGKILL')
      await gone
      log.end()
    },
    log: () => readFileSync(logFile, 'utf8'),
    size: () => sizeOf(child?.pid ?? 0),
  }
}

function sizeOf(pid: number): { megabytes: number; handles: number } | null {
  try {
    const kilobytes = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return { megabytes: Number(kilobytes) / 1024, handles: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return null // not Linux, or the process has just ended
  }
}

/** Starts Herald once, to see whether it starts at all: the exit code and the output; null when it runs (it is then ended). */
export async function tryStart(env: Env): Promise<{ code: number | null; words: string }> {
  const child = endsWithUs(
    spawn(process.execPath, ['bin/herald.js', 'start', '--json'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HERALD_PORT: '0', HERALD_PROCESSES: '1', ...env },
    }),
  )
  let words = ''
  const gone = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  const runs = new Promise<null>(resolve => {
    const hear = (text: Buffer) => {
      words += text
      if (words.includes('"address"')) resolve(null)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
  })
  const code = await Promise.race([gone, runs])
  child.kill('SIGKILL')
  await gone
  return { code, words }
}
