// How a noun describes one of its routes; the table in src/routes.ts adds the method, the address and who may call it.
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { type Id, readId } from '../core/id.ts'
import { refuse } from './refusals.ts'
import { invalid, type JsonSchema, type ObjectSchema } from './validation.ts'

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
  /** The response is streamed: lines of JSON, each as `reply`, or CSV as in this example. */
  csv?: string
  bodyLimit?: number
  config?: RouteShorthandOptions['config']
  /** Path parameters that are ids, each with its name in the error sentence for a malformed id. */
  ids?: Readonly<Record<string, string>>
  /** It may wait for long, and asks for admission itself where it reads. */
  admitsItself?: true
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
  const given = request.query as Record<string, string | string[]>
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, lists.includes(name) ? [value].flat() : [value].flat()[0]]),
  )
}
