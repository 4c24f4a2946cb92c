// Addresses we print. The public address comes from the settings; only without one is the request's own host believed.
import type { FastifyRequest } from 'fastify'

export type Links = { base(request: FastifyRequest): string }

export const createLinks = (baseUrl: string | null): Links => ({
  base: request => baseUrl ?? `${request.protocol}://${request.host}`,
})

/** Path and query in the order given; absent parameters are left out, lists are repeated. */
export function address(
  path: string,
  query: readonly (readonly [string, string | readonly string[] | undefined])[],
): string {
  const pairs = query.flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map(item => `${name}=${encodeURIComponent(item)}`),
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}
