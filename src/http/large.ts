// Large responses: each megabyte of text is encoded in its own turn of the event loop.
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

const LARGE = 1_000_000

/** Sends JSON that is already serialised. */
export async function sendJson(reply: FastifyReply, json: string): Promise<FastifyReply> {
  reply.type('application/json')
  if (json.length < LARGE) return reply.send(json)
  await turn()
  const bytes = Buffer.from(json)
  await turn()
  return reply.send(bytes)
}
