// Machines on one host: network namespaces with an address each, joined by a bridge. Where namespaces are not allowed, addresses of
// the loopback network stand for machines; lines between them cannot be cut then.
import { execFileSync } from 'node:child_process'
import type { Machine } from '../support/herald.ts'

export type Network = {
  /** Whether lines can be cut and machines can disappear. */
  hasNamespaces: boolean
  /** What this host cannot do, for the output. */
  notes: readonly string[]
  /** The address of the test run itself, which every machine reaches. */
  host: string
  machines: readonly Machine[]
  /** Silently drops every packet between the machines of one group and those of the other. */
  cut(some: readonly Machine[], others: readonly Machine[]): void
  /** Undoes every cut. */
  heal(): void
  /** The line of this machine is gone, without a goodbye to anybody; then its processes are killed and the machine is removed. */
  destroy(machine: Machine): void
  /** Makes a machine again that was destroyed. */
  restore(machine: Machine): void
  remove(): void
}

/** Packets for this address leave the machine and reach nobody. */
const NOBODY = '02:00:00:00:00:fe'

export function createNetwork(count: number): Network {
  const refused = namespacesRefused()
  return refused === null ? namespaces(count) : loopback(count, refused)
}

function namespaces(count: number): Network {
  const prefix = `hf${process.pid}`
  const net = freeSubnet()
  const machines = Array.from({ length: count }, (_, at) => {
    const name = `${prefix}-${at + 1}`
    return { name, host: `${net}.${at + 1}`, inside: ['ip', 'netns', 'exec', name] }
  })
  const notes: string[] = []
  const cuts: [Machine, Machine][] = []
  const linkOf = ({ name }: Machine) => name.replace('-', 'v')

  function restore(machine: Machine) {
    const link = linkOf(machine)
    ip('netns', 'add', machine.name)
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', machine.name)
    ip('link', 'set', link, 'master', prefix, 'up')
    ip('-n', machine.name, 'addr', 'add', `${machine.host}/24`, 'dev', 'eth0')
    ip('-n', machine.name, 'link', 'set', 'eth0', 'up')
    ip('-n', machine.name, 'link', 'set', 'lo', 'up')
    const isLate = tried('tc', '-n', machine.name, 'qdisc', 'add', 'dev', 'eth0', 'root', 'netem', 'delay', '500us')
    if (!isLate && notes.length === 0)
      notes.push('this kernel has no netem: the lines between the machines have no latency of 1 ms')
  }

  function destroy(machine: Machine) {
    tried('ip', 'link', 'del', linkOf(machine))
    killAll(machine)
    tried('ip', 'netns', 'del', machine.name)
  }

  function remove() {
    for (const machine of machines) destroy(machine)
    tried('ip', 'link', 'del', prefix)
  }

  process.on('exit', remove)
  ip('link', 'add', prefix, 'type', 'bridge')
  ip('addr', 'add', `${net}.254/24`, 'dev', prefix)
  ip('link', 'set', prefix, 'up')
  for (const machine of machines) restore(machine)
  return {
    hasNamespaces: true,
    notes,
    host: `${net}.254`,
    machines,
    cut(some, others) {
      for (const one of some)
        for (const other of others)
          for (const [from, to] of [
            [one, other],
            [other, one],
          ] as [Machine, Machine][]) {
            const to0 = ['neigh', 'replace', to.host, 'lladdr', NOBODY, 'nud', 'permanent', 'dev', 'eth0']
            ip('-n', from.name, ...to0)
            cuts.push([from, to])
          }
    },
    heal() {
      for (const [from, to] of cuts.splice(0)) tried('ip', '-n', from.name, 'neigh', 'del', to.host, 'dev', 'eth0')
    },
    destroy,
    restore,
    remove,
  }
}

function loopback(count: number, refused: string): Network {
  const net = `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}`
  const machines = Array.from({ length: count }, (_, at) => ({
    name: `${at + 1}`,
    host: `${net}.${at + 1}`,
    inside: [],
  }))
  const never = () => {
    throw new Error('the machines are addresses of the loopback network: their lines cannot be cut')
  }
  return {
    hasNamespaces: false,
    notes: [`no network namespaces (${refused}): the machines are addresses of the loopback network, without latency`],
    host: `${net}.254`,
    machines,
    cut: never,
    heal: () => {},
    destroy: never,
    restore: never,
    remove: () => {},
  }
}

/** Why namespaces cannot be made here; null: they can. */
function namespacesRefused(): string | null {
  if (process.platform !== 'linux') return 'not Linux'
  const name = `hf${process.pid}-0`
  try {
    ip('netns', 'add', name)
    ip('link', 'add', `hf${process.pid}v0`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
    ip('link', 'del', `hf${process.pid}v0`)
    return null
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n').at(-1)?.slice(0, 200) ?? ''
  } finally {
    tried('ip', 'netns', 'del', name)
  }
}

function freeSubnet(): string {
  const used = execFileSync('ip', ['-o', '-4', 'addr'], { encoding: 'utf8' })
  for (let tries = 0; tries < 64; tries++) {
    const net = `10.${64 + ((process.pid + tries) % 64)}.${(process.pid >> 6) % 256}`
    if (!used.includes(` ${net}.`)) return net
  }
  throw new Error('no free network of private addresses')
}

/** Also those that are stopped: SIGKILL ends them, too. */
function killAll({ name }: Machine) {
  let pids: number[] = []
  try {
    const list = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    pids = list.split('\n').flatMap(line => (line === '' ? [] : [Number(line)]))
  } catch {
    return // it is gone
  }
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
}

function ip(...words: string[]): void {
  try {
    execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const said = (error as { stderr?: Buffer }).stderr?.toString().trim()
    throw new Error(`ip ${words.join(' ')}: ${said || (error as Error).message}`)
  }
}

function tried(program: string, ...words: string[]): boolean {
  try {
    execFileSync(program, words, { stdio: 'ignore' })
    return true
  } catch {
    return false // the caller says what that means
  }
}
