// Links in responses. The public address comes from the settings; without it, the Host header of the request is used. HTTP/1.0
// requests may have none: then it is the local address of the connection.
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

export type Links = { base(request: FastifyRequest): string }

export const createLinks = (baseUrl: string | null): Links => ({
  base: request => baseUrl ?? `${request.protocol}://${request.host || arrivedAt(request.raw.socket)}`,
})

function arrivedAt({ localAddress = '', localPort }: Socket): string {
  const host = localAddress.replace(/^::ffff:(?=\d+\.)/, '')
  return `${host.includes(':') ? `[${host}]` : host}:${localPort}`
}

const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::\d{0,5})?$/i

/** Whether a Host header names a host, and a port below 65,536 if it names one: it becomes part of links and of the console's origin. */
export const isAuthority = (host: string): boolean => AUTHORITY.test(host) && URL.canParse(`http://${host}`)

/** Path and query in the order given; absent parameters are omitted, lists are repeated. */
export function address(
  path: string,
  query: readonly (readonly [string, string | readonly string[] | undefined])[],
): string {
  const pairs = query.flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map(item => `${name}=${encodeURIComponent(item)}`),
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}
