// Connections that a supervisor gives to a process that dies before it takes them: another process answers, and none stays open.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from './support/port.ts'

vi.setConfig({ testTimeout: 120_000 })

const SOON = { timeout: 60_000, interval: 20 }
const ends: (() => void)[] = []
beforeAll(() => {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'pipe' })
})
afterAll(() => {
  for (const end of ends) end()
})

async function startTwo() {
  // With port 0 a supervisor would listen on another port when all its processes have ended.
  const port = await freePort()
  const child = spawn(process.execPath, ['test/support/supervised.mjs', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ends.push(() => child.kill('SIGKILL'))
  const said = linesOf(child)
  await vi.waitFor(() => expect(said()).toContain('all processes have started'), SOON)
  return { pid: child.pid ?? 0, port, said }
}
type Supervised = Awaited<ReturnType<typeof startTwo>>

function linesOf({ stdout }: ChildProcess) {
  let text = ''
  stdout?.on('data', data => {
    text += String(data)
  })
  return () => text.split('\n')
}

const childrenOf = ({ pid }: Supervised) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const openIn = ({ pid }: Supervised) => readdirSync(`/proc/${pid}/fd`).length

/** One request on a connection of its own; `text` is what came back before the connection was closed. */
function ask({ port }: Supervised) {
  const socket = connect(port, '127.0.0.1')
  ends.push(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n\r\n')
  let read = ''
  socket.setEncoding('utf8').on('data', data => {
    read += data
  })
  return {
    opened: new Promise<void>(resolve => socket.once('connect', () => resolve())),
    text: new Promise<string>(resolve => socket.once('close', () => resolve(read))),
  }
}

const ANSWERED = /^HTTP\/1\.1 200 /

/** Stops the processes, so that they take nothing any more, and kills them while they are given connections. */
async function killDuringHandoff(supervised: Supervised, pids: readonly number[]) {
  const before = supervised.said().filter(line => line === STARTED_AGAIN).length
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const asked = Array.from({ length: 6 }, () => ask(supervised))
  await Promise.all(asked.map(({ opened }) => opened))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  const texts = await Promise.all(asked.map(({ text }) => text))
  await vi.waitFor(
    () => expect(supervised.said().filter(line => line === STARTED_AGAIN)).toHaveLength(before + pids.length),
    SOON,
  )
  for (let count = 0; count < 4; count++) expect(await ask(supervised).text).toMatch(ANSWERED)
  return texts
}

const STARTED_AGAIN = 'a process has started again'

test.skipIf(!existsSync('/proc/self/fd'))(
  'a process that is killed while it is given connections: the other process answers all, and none stays open',
  async () => {
    const supervised = await startTwo()
    const before = openIn(supervised)
    for (let round = 0; round < 2; round++)
      for (const text of await killDuringHandoff(supervised, childrenOf(supervised).slice(0, 1)))
        expect(text).toMatch(ANSWERED)
    await vi.waitFor(() => expect(openIn(supervised)).toBeLessThanOrEqual(before), SOON)
  },
)

test.skipIf(!existsSync('/proc/self/fd'))(
  'all processes are killed while they are given connections: these are closed, and later ones are answered',
  async () => {
    const supervised = await startTwo()
    const before = openIn(supervised)
    await killDuringHandoff(supervised, childrenOf(supervised))
    await vi.waitFor(() => expect(openIn(supervised)).toBeLessThanOrEqual(before), SOON)
  },
)
