// One network for the machines of a bench: a bridge with the database and the mail server on one side, and a network namespace with an
// address of its own for each machine on the other. Where that is not allowed (root and CAP_NET_ADMIN are needed), addresses of the
// loopback device stand in, and the output says so.
import { spawnSync } from 'node:child_process'

export type Machine = { address: string; through: readonly string[] }
export type Network = {
  hasNamespaces: boolean
  /** The address at which the machines find the database and the mail server, and their network with its prefix length. */
  host: string
  range: string
  machines: readonly Machine[]
  /** Removes everything; also runs at the end of the process. */
  remove(): void
}

const { pid } = process
const BRIDGE = `hb${pid}`
const NAMESPACE = `herald-bench-${pid}`

/** Names and addresses contain our process id, so that two benches at the same time do not meet. */
export function createNetwork(count: number): Network {
  const remove = () => removeAll(count)
  process.once('exit', remove)
  const net = `10.${200 + (pid % 50)}.${Math.floor(pid / 50) % 250}`
  const failed = build(net, count)
  if (failed === null)
    return {
      hasNamespaces: true,
      host: `${net}.1`,
      range: `${net}.0/24`,
      machines: Array.from({ length: count }, (_, n) => ({
        address: `${net}.${n + 10}`,
        through: ['ip', 'netns', 'exec', `${NAMESPACE}-${n}`],
      })),
      remove,
    }
  remove()
  console.log(`No network namespaces here (${failed}): all machines are on the loopback device.`)
  const loop = `127.${1 + (pid % 250)}.${Math.floor(pid / 250) % 250}`
  return {
    hasNamespaces: false,
    host: `${loop}.1`,
    range: '127.0.0.0/8',
    machines: Array.from({ length: count }, (_, n) => ({ address: `${loop}.${n + 10}`, through: [] })),
    remove,
  }
}

/** What failed, or null. */
function build(net: string, count: number): string | null {
  const steps = [
    `link add ${BRIDGE} type bridge`,
    `addr add ${net}.1/24 dev ${BRIDGE}`,
    `link set ${BRIDGE} up`,
    ...Array.from({ length: count }, (_, n) => n).flatMap(n => {
      const [name, outside] = [`${NAMESPACE}-${n}`, `${BRIDGE}v${n}`]
      return [
        `netns add ${name}`,
        `link add ${outside} type veth peer name eth0 netns ${name}`,
        `link set ${outside} master ${BRIDGE} up`,
        `-n ${name} addr add ${net}.${n + 10}/24 dev eth0`,
        `-n ${name} link set lo up`,
        `-n ${name} link set eth0 up`,
      ]
    }),
  ]
  for (const step of steps) {
    const { status, stderr, error } = ip(step)
    if (status !== 0) return (error?.message ?? String(stderr)).trim() || `ip ${step}`
  }
  return null
}

// What does not exist is not removed: each step may fail.
function removeAll(count: number): void {
  for (let n = 0; n < count; n++) {
    ip(`link del ${BRIDGE}v${n}`)
    ip(`netns del ${NAMESPACE}-${n}`)
  }
  ip(`link del ${BRIDGE}`)
}

const ip = (command: string) => spawnSync('ip', command.split(' '), { encoding: 'utf8' })
