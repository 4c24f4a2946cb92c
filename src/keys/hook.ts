// Authenticates a request before its body is read, so that bodies of unauthenticated requests are never read.
import type { FastifyReply, FastifyRequest } from 'fastify'
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

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/** Requires a valid key. */
export const anyKey = (authenticate: Authenticate) => authenticated(authenticate, () => null)

/** With `done` and not with a promise: the caller of most requests is in memory. `refusalOf`: why this caller may not. */
function authenticated(authenticate: Authenticate, refusalOf: (caller: Caller) => Refusal | null): Hook {
  return (request, _reply, done) => {
    const admit = (caller: Caller) => {
      request.caller = caller
      done(refusalOf(caller) ?? undefined)
    }
    const caller = authenticate(request.headers, () => request.ip)
    if (!(caller instanceof Promise)) return admit(caller)
    caller.then(admit, error => {
      request.refusedKey = authenticate.refusedKey(error)
      done(error)
    })
  }
}

/** Requires a key that may manage templates. The refusal comes before any other check of the request. */
export const managerKey = (authenticate: Authenticate) => keyWith(authenticate, 'manage-templates', refuse.notManager)

/** Requires a key that may manage webhooks. */
export const webhookKey = (authenticate: Authenticate) =>
  keyWith(authenticate, 'manage-webhooks', refuse.notWebhookManager)

const keyWith = (authenticate: Authenticate, permission: Permission, refusal: () => Refusal) =>
  authenticated(authenticate, ({ key, service }) => (may(actorOf(key), permission, service.id) ? null : refusal()))

/** For the request log; undefined while the request is not authenticated. */
export const serviceOf = (request: FastifyRequest) => request.caller?.service.id
