// Authenticates a request before its body is read, so that bodies of unauthenticated requests are never read.
import type { FastifyRequest } from 'fastify'
import { may, type Permission } from '../audit/actor.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Authenticate } from './authenticate.ts'
import { actorOf, type Caller, type Key } from './key.ts'
import { refuse } from './refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    /** A key that was refused, such as a revoked one; for the request log. */
    refusedKey: Key | null
  }
}

export function callerOf({ caller }: FastifyRequest): Caller {
  if (!caller) throw new Error('the route needs a caller but has no authentication hook')
  return caller
}

/** Requires a valid key. */
export const anyKey = (authenticate: Authenticate) => async (request: FastifyRequest) => {
  await authenticated(authenticate, request)
}

async function authenticated(authenticate: Authenticate, request: FastifyRequest): Promise<Caller> {
  try {
    const caller = await authenticate(request.headers, () => request.ip)
    request.caller = caller
    return caller
  } catch (error) {
    request.refusedKey = authenticate.refusedKey(error)
    throw error
  }
}

/** Requires a key that may manage templates. The refusal comes before any other check of the request. */
export const managerKey = (authenticate: Authenticate) => keyWith(authenticate, 'manage-templates', refuse.notManager)

/** Requires a key that may manage webhooks. */
export const webhookKey = (authenticate: Authenticate) =>
  keyWith(authenticate, 'manage-webhooks', refuse.notWebhookManager)

const keyWith =
  (authenticate: Authenticate, permission: Permission, refusal: () => Refusal) => async (request: FastifyRequest) => {
    const caller = await authenticated(authenticate, request)
    if (!may(actorOf(caller.key), permission, caller.service.id)) throw refusal()
  }

/** For the request log; undefined while the request is not authenticated. */
export const serviceOf = (request: FastifyRequest) => request.caller?.service.id
