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
