// The built program as a process of its own, as an operator runs it. It ends only what it started.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'
import { processStartOf } from '../../src/db/embedded-lock.ts'
import { secretIn } from '../../src/db/seal.ts'
import { databaseUrl, onServer } from './database.ts'

export type Env = Record<string, string>
export type Sample = {
  service: { id: string }
  keys: { test: string; team: string; live: string }
  templates: { email: { id: string }; sms: { id: string } }
  curl: string
}
export type Said = { code: number | null; out: string; err: string }
export type Program = {
  pid: number
  address: string
  out(): string
  err(): string
  /** Waits until the text appears on one of its streams. */
  hasSaid(text: string): Promise<void>
  /** Sends the signal and waits for the exit. */
  end(signal: NodeJS.Signals): Promise<Said & { seconds: number }>
}

/** Call once in a test file: it builds the program and ends with the file everything that was started in it. */
export function programs() {
  const children: ChildProcess[] = []
  const folders: string[] = []
  const databases: string[] = []
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'pipe' })

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    for (const folder of folders) {
      const pid = postgresOf(join(folder, 'data'))
      if (pid && isAlive(pid)) process.kill(pid, 'SIGQUIT')
      while (pid && isAlive(pid)) await new Promise(resume => setTimeout(resume, 20))
      rmSync(folder, { recursive: true, force: true })
    }
    for (const name of databases) await onServer(inject('server'), `drop database if exists ${name} with (force)`)
  })

  /** A data folder that does not exist yet. */
  function newData(): string {
    const folder = mkdtempSync(join(tmpdir(), 'herald-journey-'))
    chmodSync(folder, 0o711) // PostgreSQL runs as nobody when we are root
    folders.push(folder)
    return join(folder, 'data')
  }

  /** An empty database on the server of the tests, with its secret: faster than an embedded one where that is not the subject. */
  async function newDatabase(): Promise<{ HERALD_DATA: string; DATABASE_URL: string; name: string }> {
    const name = `t_${randomUUID().replaceAll('-', '')}`
    await onServer(inject('server'), `create database ${name} template ${inject('template')}`)
    databases.push(name)
    const data = newData()
    secretIn(data) // commands create none
    return { HERALD_DATA: data, DATABASE_URL: databaseUrl(inject('server'), name), name }
  }

  function launch(argv: readonly string[], env: Env) {
    const { PATH = '', HOME = '', TMPDIR } = process.env
    const { name: _, ...settings } = env
    const child = spawn(process.execPath, ['bin/herald.js', ...argv], {
      // One process, whatever the machine: several are the subject of test/processes.test.ts.
      env: {
        ...{ PATH, HOME, ...(TMPDIR && { TMPDIR }) },
        ...{ HERALD_PORT: '0', HERALD_LOG_LEVEL: 'warn', HERALD_PROCESSES: '1', ...settings },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group of its own, so that a test can press Ctrl-C in it
    })
    children.push(child)
    const [out, err] = [textOf(child.stdout), textOf(child.stderr)]
    const closed = new Promise<Said>(resolve =>
      child.once('close', code => resolve({ code, out: out.text(), err: err.text() })),
    )
    return { child, out, err, closed }
  }

  /** Runs one command to its end. */
  const herald = (argv: readonly string[], env: Env): Promise<Said> => launch(argv, env).closed

  /** Runs one command, and returns as soon as its process exists. */
  function command(argv: readonly string[], env: Env): { closed: Promise<Said>; kill(): Promise<Said> } {
    const { child, closed } = launch(argv, env)
    const kill = () => {
      child.kill('SIGKILL')
      return closed
    }
    return { closed, kill }
  }

  /** A sample service with all its keys; the curl line is for the program, if one is given. */
  async function sample(env: Env, program?: { address: string }): Promise<Sample> {
    const port: Env = program ? { HERALD_PORT: new URL(program.address).port } : {}
    const { code, out, err } = await herald(['sample', '--show-keys', '--json'], { ...env, ...port })
    if (code !== 0) throw new Error(`there is no sample: ${err}`)
    return JSON.parse(out)
  }

  /** Runs `herald start` until it listens. */
  async function start(env: Env, ...argv: string[]): Promise<Program> {
    const program = begin(env, ...argv)
    const address = await Promise.race([
      program.listening,
      program.closed.then(said => Promise.reject(new Error(`it ended with ${said.code}: ${said.err}`))),
    ])
    return { ...program, address }
  }

  /** Runs `herald start` and returns as soon as the process exists. */
  function begin(env: Env, ...argv: string[]) {
    const { child, out, err, closed } = launch(['start', ...argv], env)
    const pid = child.pid ?? 0
    return {
      pid,
      closed,
      listening: out.match(/Herald listens on (\S+) /),
      out: out.text,
      err: err.text,
      hasSaid: async (text: string) => {
        await Promise.race([out.match(literal(text)), err.match(literal(text))])
      },
      async end(signal: NodeJS.Signals) {
        const since = performance.now()
        process.kill(signal === 'SIGINT' ? -pid : pid, signal) // Ctrl-C reaches the whole process group
        const said = await closed
        return { ...said, seconds: (performance.now() - since) / 1000 }
      },
    }
  }

  return { newData, newDatabase, herald, command, start, begin, sample }
}

function textOf(stream: NodeJS.ReadableStream) {
  let text = ''
  const waiting = new Set<() => void>()
  stream.on('data', chunk => {
    text += String(chunk)
    for (const look of waiting) look()
  })
  return {
    text: () => text,
    /** The first group of the pattern, as soon as it matches. */
    match: (pattern: RegExp) =>
      new Promise<string>(resolve => {
        const look = () => {
          const found = pattern.exec(text)
          if (found) resolve(found[1] ?? found[0])
        }
        waiting.add(look)
        look()
      }),
  }
}

const literal = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))

/** The process id in PostgreSQL's data folder; undefined after an orderly stop. */
export function postgresOf(data: string): number | undefined {
  const file = join(data, 'postgres', 'data', 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

/** The folder of its socket, as the host of a connection. */
export const socketOf = (data: string): string =>
  readFileSync(join(data, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[4] ?? ''

/** Neither dead nor a zombie. */
export const isAlive = (pid: number): boolean => processStartOf(pid) !== undefined

export function hasCurl(): boolean {
  try {
    return execFileSync('curl', ['--version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false // not installed
  }
}

/** util-linux's `script`, which gives a program a terminal. */
export const hasScript: boolean = (() => {
  try {
    return execFileSync('script', ['--version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false // not installed
  }
})()
