// Finds the addresses of a relay. It queries DNS directly, because the system's resolver blocks one of libuv's four threads
// for each query. Names that DNS does not know are looked up by the system, which reads the hosts file.
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Relay } from '../relay.ts'

const FRESH_MS = 300_000

/** The addresses found last. Used for five minutes, and longer while DNS does not answer. */
const known = new WeakMap<Relay, { addresses: readonly string[]; at: number }>()

/** Empty when the name is not found. */
export async function addressesOf(
  relay: Relay,
  resolver = new Resolver(),
  freshMs = FRESH_MS,
): Promise<readonly string[]> {
  if (isIP(relay.host) !== 0) return [relay.host]
  const last = known.get(relay)
  if (last && performance.now() - last.at < freshMs) return last.addresses
  const found = await byDns(relay, resolver)
  const addresses = found.length > 0 ? found : (last?.addresses ?? (await bySystem(relay.host)))
  if (addresses.length > 0) known.set(relay, { addresses, at: performance.now() })
  return addresses
}

async function byDns({ host, connectSeconds }: Relay, resolver: Resolver): Promise<string[]> {
  if (host === 'localhost') return []
  // The other half of the time is left for connecting to an address found earlier.
  const timer = setTimeout(() => resolver.cancel(), connectSeconds * 500)
  const answers = await Promise.allSettled([resolver.resolve6(host), resolver.resolve4(host)])
  clearTimeout(timer)
  return answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
}

async function bySystem(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    return [] // the name is not known
  }
}
