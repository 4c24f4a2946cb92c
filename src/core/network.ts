// Where a request comes from: the network of an IP address, for limits, and whether a host is this machine.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** The network of every loopback address. Probably a proxy on this machine that is not in the settings: all callers share it. */
export const LOOPBACK = 'loopback'

/** Whether a host name or an IP address, with or without brackets, is this machine itself. */
export function isLoopback(host: string): boolean {
  const address = unmapped(host.replace(/^\[(.*)\]$/, '$1'))
  return /^(localhost|127(\.\d{1,3}){3})$/i.test(address) || (isIPv6(address) && groupsOf(address).join(':') === ONE)
}

/** An IPv4 address, the /64 network of an IPv6 address, because one subscriber has a whole /64, or `LOOPBACK`. */
export function networkOf(address: string): string {
  if (isLoopback(address)) return LOOPBACK
  const plain = unmapped(address)
  return isIPv6(plain) ? groupsOf(plain).slice(0, 4).join(':') : plain
}

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * For pages that are the operator's. The connection must come from this machine and the Host header must name it. The second check stops
 * requests that a local proxy forwards under the public name, and DNS rebinding by a web page in the operator's browser. Most proxies add
 * one of these headers; requests of one that adds none and changes the name cannot be told from local ones.
 */
export function isFromThisMachine({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
  const name = (headers.host ?? '').replace(/:\d+$/, '')
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    isLoopback(name) &&
    PROXY_HEADERS.every(header => headers[header] === undefined)
  )
}

const ONE = '0:0:0:0:0:0:0:1'

/** ::ffff:192.0.2.1, also written ::ffff:c000:201, is the IPv4 address 192.0.2.1. */
function unmapped(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const [high = '', low = ''] = groups.slice(6)
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return address
  return [high, low].flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}

/** The eight groups of an IPv6 address: lower case, without leading zeros and without a zone. */
function groupsOf(address: string): string[] {
  const hex = (address.split('%')[0] ?? '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number) as [number, number, number, number]
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [front = [], back] = hex.split('::').map(half => (half === '' ? [] : half.split(':')))
  const zeros = back ? Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0') : []
  return [...front, ...zeros, ...(back ?? [])].map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
}
