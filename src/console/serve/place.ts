// Where the browser sees the console: scheme, host and path. Links in mails are made of it, so a host that only the request
// names is accepted on the machine itself only.
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../../core/network.ts'

export type Place = {
  /** `https` or the machine itself; else a page says what is missing. */
  kind: 'https' | 'loopback' | 'needs https' | 'needs address'
  origin: string
  /** Which values the header Origin of our own forms may have. */
  origins: readonly string[]
}

export function createPlaces({ baseUrl, consolePath }: { baseUrl: string | null; consolePath: string }) {
  const base = baseUrl === null ? null : new URL(baseUrl)
  // A proxy may serve Herald under a path that it removes.
  const path = `${base?.pathname.replace(/\/+$/, '') ?? ''}${consolePath}`
  return {
    path,
    of(request: FastifyRequest): Place {
      const asked = `${request.protocol}://${request.host}`
      const origin = base?.origin ?? asked
      return { kind: kindOf(request, base), origin, origins: base ? [base.origin, asked] : [asked] }
    },
  }
}

function kindOf(request: FastifyRequest, base: URL | null): Place['kind'] {
  const isLocal = isOnThisMachine(request.hostname)
  if (base?.protocol === 'https:') return 'https'
  if (request.protocol === 'https') return base || isLocal ? 'https' : 'needs address'
  return isLocal && (!base || isOnThisMachine(base.hostname)) ? 'loopback' : 'needs https'
}

/** Browsers resolve every name below `localhost` to the machine itself, too (RFC 6761). */
const isOnThisMachine = (host: string) => isLoopback(host) || /^[a-z0-9.-]+\.localhost$/i.test(host)
