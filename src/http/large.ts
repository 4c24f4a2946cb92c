// Large responses: each megabyte of text is encoded in its own turn of the event loop, and tables are written while they are sent.
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

const LARGE = 1_000_000

/** Sends JSON that is already serialised. */
export async function sendJson(reply: FastifyReply, json: string): Promise<FastifyReply> {
  reply.type('application/json')
  if (json.length < LARGE) return reply.send(json)
  const bytes = await encoded(json)
  await turn()
  return reply.send(bytes)
}

/** A message with a long text is serialised in a turn of its own. */
export async function sendMessage(reply: FastifyReply, message: { body: string }): Promise<FastifyReply> {
  if (message.body.length >= LARGE) await turn()
  return sendJson(reply, JSON.stringify(message))
}

async function encoded(json: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let at = 0; at < json.length; ) {
    await turn()
    const end = isInsidePair(json, at + LARGE) ? at + LARGE + 1 : at + LARGE
    pieces.push(Buffer.from(json.slice(at, end)))
    at = end
  }
  return Buffer.concat(pieces)
}

const TABLES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const

/** Headers of a table that is saved as a file. */
export const asTable = (reply: FastifyReply, name: string, format: keyof typeof TABLES): FastifyReply =>
  reply.type(TABLES[format]).header('content-disposition', `attachment; filename="${name}.${format}"`)

/** The body of a response that is written while it is sent. A handler returns it: sent by the handler, it would use up its turn. */
export const streamed = (rows: AsyncIterable<string | Uint8Array>): Readable =>
  Readable.from(rows, { objectMode: false })

/** Whether the text must not be cut here: a surrogate without its partner cannot be encoded. */
const isInsidePair = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00
