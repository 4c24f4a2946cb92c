// Answers that take a while to put together: a megabyte of text becomes bytes in a turn of its own.
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

const LARGE = 1_000_000

/** Sends JSON that is written already. */
export async function sendJson(reply: FastifyReply, json: string): Promise<FastifyReply> {
  reply.type('application/json')
  if (json.length < LARGE) return reply.send(json)
  await turn()
  const bytes = Buffer.from(json)
  await turn()
  return reply.send(bytes)
}
