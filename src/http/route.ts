// What a noun tells of one of its routes; the table in src/routes.ts gives it a method, an address and who may call it.
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { type Id, readId } from '../core/id.ts'
import { refuse } from './refusals.ts'
import { invalid, type JsonSchema, type ObjectSchema } from './validation.ts'

export type Route = {
  summary: string
  /** The chapter of the reference it stands in. */
  tag: string
  /** For the reference: a body that is taken and the answer to it. */
  example: { readonly body?: unknown; readonly reply: unknown }
  /** A send: repeating it with the same Idempotency-Key sends nothing twice. */
  hasIdempotencyKey?: true
  body?: ObjectSchema
  query?: ObjectSchema
  /** The answer on success. */
  status?: number
  reply: JsonSchema
  bodyLimit?: number
  config?: RouteShorthandOptions['config']
  /** Path parameters that are ids, each with the name it has in the sentence about a malformed one. */
  ids?: Readonly<Record<string, string>>
  handler(request: FastifyRequest, reply: FastifyReply): unknown
}

/** The router takes `/v2/template/` for an id of no characters; to us it is an unknown path. */
export const noEmptyPart = async (request: FastifyRequest) => {
  if (Object.values(request.params as Record<string, string>).includes('')) throw refuse.unknownPath()
}

/** Refuses a malformed id in the path and puts the one spelling we print in its place. */
export const idsInPath = (ids: Readonly<Record<string, string>>) => async (request: FastifyRequest) => {
  const params = request.params as Record<string, string>
  for (const [param, name] of Object.entries(ids)) {
    const id = readId(params[param])
    if (!id) throw invalid([`${name} is not a valid UUID`])
    params[param] = id
  }
}

export const idParam = (request: FastifyRequest, name: string) => (request.params as Record<string, Id>)[name] as Id

/** A query as the interface reads it: only the named parameters are lists, of any other repeated one the first counts. */
export function queryOf(request: FastifyRequest, lists: readonly string[] = []): Record<string, unknown> {
  const given = request.query as Record<string, string | string[]>
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, lists.includes(name) ? [value].flat() : [value].flat()[0]]),
  )
}
