// How a noun describes one of its routes; the table in src/routes.ts adds the method, the address and who may call it.
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { type Id, readId } from '../core/id.ts'
import { inOrder } from './json.ts'
import { refuse } from './refusals.ts'
import { invalid, type JsonSchema, type ObjectSchema } from './validation.ts'

/** How a request is admitted: docs/admission.md, "Requests", explains each. */
export const ADMISSIONS = ['send', 'bulk', 'turn', 'own', 'page', 'download', 'receipts', 'plain'] as const
export type Admission = (typeof ADMISSIONS)[number]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A server refuses a route without one (server.ts). */
    admission?: Admission
  }
}

export type Route = {
  summary: string
  /** The section of the API reference. */
  tag: string
  /** For the API reference: an example body and its response. */
  example: { readonly body?: unknown; readonly reply: unknown }
  /** A send: repeating it with the same Idempotency-Key sends nothing twice. */
  hasIdempotencyKey?: true
  body?: ObjectSchema
  query?: ObjectSchema
  /** The response on success. */
  status?: number
  reply: JsonSchema
  /** Media types of the response on request, besides JSON. */
  others?: Readonly<Record<string, { schema: JsonSchema; example: unknown }>>
  /** The response is streamed: lines of JSON, each as `reply`, or CSV as in this example. */
  csv?: string
  bodyLimit?: number
  config?: RouteShorthandOptions['config']
  /** Path parameters that are ids, each with its name in the error sentence for a malformed id. */
  ids?: Readonly<Record<string, string>>
  /** Without it: `turn`. */
  admission?: 'send' | 'bulk' | 'own'
  handler(request: FastifyRequest, reply: FastifyReply): unknown
}

/** The router matches `/v2/template/` with an empty id; the interface defines it as an unknown path. */
export const noEmptyPart = async (request: FastifyRequest) => {
  if (Object.values(request.params as Record<string, string>).includes('')) throw refuse.unknownPath()
}

/** Refuses a malformed id in the path and replaces a valid one by its canonical spelling. */
export const idsInPath = (ids: Readonly<Record<string, string>>) => async (request: FastifyRequest) => {
  const params = request.params as Record<string, string>
  for (const [param, name] of Object.entries(ids)) {
    const id = readId(params[param])
    if (!id) throw invalid([`${name} is not a valid UUID`])
    params[param] = id
  }
}

export const idParam = (request: FastifyRequest, name: string) => (request.params as Record<string, Id>)[name] as Id

/** The query as the interface reads it: only the named parameters are lists; of any other repeated one the first counts. */
export function queryOf(request: FastifyRequest, lists: readonly string[] = []): Record<string, unknown> {
  const parameters = Object.entries(request.query as Record<string, string | string[]>)
  const query = Object.fromEntries(
    parameters.map(([name, value]) => [name, lists.includes(name) ? [value].flat() : [value].flat()[0]]),
  )
  return parameters.some(([name]) => /^\d+$/.test(name)) ? inOrder(query, namesAsWritten(request.url, query)) : query
}

/** The names of a query in the caller's order (contract 22.8). A name that was read in another way comes last. */
function namesAsWritten(url: string, query: Record<string, unknown>): string[] {
  const written = url
    .slice(url.indexOf('?') + 1)
    .split('&')
    .map(pair => decoded((pair.split('=', 1)[0] ?? '').replaceAll('+', ' ')))
  return [...written.filter(name => Object.hasOwn(query, name)), ...Object.keys(query)]
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name // as Fastify reads it
  }
}
