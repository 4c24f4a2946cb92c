// Where webhooks may go (SSRF). A name is resolved by us for every new connection, each address found is checked, and the connection
// uses exactly these addresses: a name that changes between a check and a connection gains nothing.
import { ADDRCONFIG } from 'node:dns'
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { rangesOf, type WebhookSettings } from './settings.ts'

// Special-purpose addresses: IANA IPv4 Special-Purpose Address Registry (RFC 6890), and metadata services of clouds that are not
// among them.
const FORBIDDEN_IPV4 = rangesOf([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16', // metadata of Azure
  '169.254.0.0/16', // link-local, metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, metadata of Oracle
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
])

// Of IPv6 only global unicast addresses are public. Unique local, link-local, multicast, loopback and unspecified addresses are
// outside of this range.
const GLOBAL_IPV6 = rangesOf(['2000::/3'])
const FORBIDDEN_IPV6 = rangesOf([
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which contains an IPv4 address
  '3fff::/20', // documentation
])
/** Prefixes of IPv6 addresses whose last 32 bits are an IPv4 address: IPv4-mapped, and NAT64 (RFC 6052). */
const EMBEDDING = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']

export type Resolve = (host: string) => Promise<readonly string[]>

export type Addresses = {
  /** Whether a connection to this IP address may be made. */
  mayConnect(address: string): boolean
  checkUrl(text: string): CheckedUrl
  /** For net.connect: finds the addresses of a name and leaves out those that are not allowed. */
  lookup: LookupFunction
}

/** The problem is the second half of a sentence about the address of an endpoint. */
export type CheckedUrl = { problem: string } | { url: URL }

export const checkUrl = (text: string, settings: WebhookSettings): CheckedUrl =>
  createAddresses(settings).checkUrl(text)

/** The code of the error when a name has no address that is allowed. */
export const NOT_ALLOWED = 'ERR_ADDRESS_NOT_ALLOWED'

export function createAddresses(settings: WebhookSettings, resolve: Resolve = resolverFor(settings)): Addresses {
  const allowed = rangesOf(settings.webhookAllow)

  function mayConnect(address: string): boolean {
    const ipv4 = isIP(address) === 4 ? address : embeddedIpv4(address)
    if (allowed.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')) return true
    if (ipv4 !== null) return allowed.check(ipv4, 'ipv4') || !FORBIDDEN_IPV4.check(ipv4, 'ipv4')
    return isIP(address) === 6 && GLOBAL_IPV6.check(address, 'ipv6') && !FORBIDDEN_IPV6.check(address, 'ipv6')
  }

  return {
    mayConnect,
    checkUrl: text => check(text, settings, mayConnect),
    lookup(host, { all }, callback) {
      resolve(host).then(
        found => {
          const usable = found.filter(mayConnect).map(address => ({ address, family: isIP(address) }))
          const [first] = usable
          if (!first) callback(failure(found.length === 0 ? 'ENOTFOUND' : NOT_ALLOWED), '')
          else if (all) callback(null, usable)
          else callback(null, first.address, first.family)
        },
        error => callback(error, ''),
      )
    },
  }
}

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })

const LONGEST = 2_000

function check(
  text: string,
  { webhookPorts, webhookSchemes }: WebhookSettings,
  mayConnect: (address: string) => boolean,
): CheckedUrl {
  const problem = (sentence: string) => ({ problem: sentence })
  if (text.length > LONGEST) return problem(`must have at most ${LONGEST} characters`)
  // A parser accepts more than this, and changes it: white space is removed, a backslash becomes a slash, other scripts have digits.
  if (!/^[a-z]+:\/\/[\x21-\x7e]+$/i.test(text) || text.includes('\\') || !URL.canParse(text))
    return problem('must be an address like https://example.org/events, in ASCII')
  const url = new URL(text)
  const scheme = url.protocol.slice(0, -1)
  if (!webhookSchemes.some(known => known === scheme))
    return problem(
      `must begin with ${webhookSchemes.map(known => `${known}://`).join(' or ')}; the operator decides by HERALD_WEBHOOK_SCHEMES`,
    )
  if (url.username !== '' || url.password !== '') return problem('must not contain a user name or a password')
  if (text.includes('#')) return problem('must not contain a fragment (#)')
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port)
  if (!webhookPorts.some(({ from, to }) => port >= from && port <= to))
    return problem(`must not use port ${port}; the operator decides by HERALD_WEBHOOK_PORTS`)
  const literal = literalIn(url)
  if (literal !== null && !mayConnect(literal))
    return problem('must not be an address inside a network; the operator decides by HERALD_WEBHOOK_ALLOW')
  return { url }
}

/** The IP address in a URL, in its normal form; null: a name. `new URL` has converted octal, hexadecimal and short spellings. */
export function literalIn({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) !== 0) return bare
  return /^(.+\.)?localhost\.?$/.test(hostname) ? '127.0.0.1' : null
}

function embeddedIpv4(address: string): string | null {
  const groups = groupsOf(address)
  if (
    !groups ||
    !EMBEDDING.includes(
      groups
        .slice(0, 6)
        .map(group => group.toString(16))
        .join(':'),
    )
  )
    return null
  const [high = 0, low = 0] = groups.slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] | null {
  if (isIP(address) !== 6 || address.includes('%')) return null
  // The URL parser writes it in hexadecimal groups, also when it ends in an IPv4 address.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const read = (text = '') => (text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16)))
  const [first, last] = [read(head), read(tail)]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}

const DNS = { timeout: 2_000, tries: 2 }

/**
 * DNS is queried directly: the system's resolver blocks one of four threads of the process for each query, and a hostile name server
 * could keep all of them busy. The system is asked only where an operator allows addresses inside the network, whose names may be in
 * the hosts file.
 */
function resolverFor({ webhookAllow }: WebhookSettings): Resolve {
  return async host => {
    const resolver = new Resolver(DNS)
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    if (webhookAllow.length > 0)
      return (await systemLookup(host, { all: true, hints: ADDRCONFIG })).map(one => one.address)
    const failed = answers.find(answer => answer.status === 'rejected')
    throw failed?.reason ?? failure('ENOTFOUND')
  }
}
