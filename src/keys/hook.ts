// Puts the caller on the request before its body is read, so that a stranger's body never is.
import type { FastifyRequest } from 'fastify'
import { may } from '../audit/actor.ts'
import type { Authenticate } from './authenticate.ts'
import { actorOf, type Caller } from './key.ts'
import { refuse } from './refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
}

export function callerOf({ caller }: FastifyRequest): Caller {
  if (!caller) throw new Error('a route asked for its caller without the hook that finds one')
  return caller
}

/** Any live key of a service. */
export const anyKey = (authenticate: Authenticate) => async (request: FastifyRequest) => {
  request.caller = await authenticate(request.headers, () => request.ip)
}

/** A key that may manage templates: told first thing, before ids and bodies are looked at. */
export const managerKey = (authenticate: Authenticate) => async (request: FastifyRequest) => {
  const caller = await authenticate(request.headers, () => request.ip)
  if (!may(actorOf(caller.key), 'manage-templates', caller.service.id)) throw refuse.notManager()
  request.caller = caller
}

/** For the request log: the service that asked, once it is known. */
export const serviceOf = (request: FastifyRequest) => request.caller?.service.id
