// The edge of the three send routes: calls `first` with the bytes of the body, or replies with the stored answer of the
// Idempotency-Key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendJson } from '../http/large.ts'
import { refuse as refuseAtEdge } from '../http/refusals.ts'
import { callerOf } from '../keys/hook.ts'
import type { Replay, Replays, SendAnswer } from './replay.ts'

export async function answerOnce(
  replays: Replays,
  request: FastifyRequest,
  reply: FastifyReply,
  first: (body: Buffer, replay: Replay | null) => Promise<SendAnswer>,
): Promise<FastifyReply> {
  const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const answer = (replay: Replay | null) => {
    if (raw.length === 0) throw refuseAtEdge.unreadable()
    return first(raw, replay)
  }
  const { service, key } = callerOf(request)
  const scope = { service: service.id, keyType: key.key_type }
  const header = request.headers['idempotency-key']
  const given =
    header === undefined
      ? await answer(null)
      : await replays.once(scope, String(header), { route: `POST ${request.routeOptions.url}`, body: raw }, answer)
  if ('replayed' in given && given.replayed) reply.header('idempotent-replayed', 'true')
  return sendJson(reply.code(given.status), given.body)
}
