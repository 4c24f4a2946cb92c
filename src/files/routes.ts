// GET /download/<token>: a page for browsers, the file for other clients (contract 21.7). No API key: the token is the permission.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../core/clock.ts'
import { networkOf } from '../core/network.ts'
import { Refusal } from '../core/refusal.ts'
import type { Database } from '../db/connect.ts'
import { answerOf } from '../http/errors.ts'
import { sendPage } from '../http/html.ts'
import { streamed } from '../http/large.ts'
import type { Reads } from '../limits/reads.ts'
import { inTurns, type Turns } from '../runtime/turns.ts'
import type { Services } from '../services/load.ts'
import { type DownloadApp, download } from './download.ts'
import { fileHeaders, PAGE_POLICY, PRIVATE, pageOf, problemPage } from './present.ts'
import type { FileStore } from './store.ts'

type App = {
  db: Database
  clock: Clock
  services: Services
  files: { store: FileStore; reading: Turns }
  reads: Pick<Reads, 'visit'>
} & Pick<DownloadApp, 'isCancelled'>

export const downloadFile = (app: App) => (request: FastifyRequest, reply: FastifyReply) => answer(app, request, reply)

async function answer(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { token } = request.params as { token: string }
  const network = networkOf(request.ip)
  const isPerson = (request.headers.accept ?? '').includes('text/html')
  const wantsFile = (request.query as { get?: string }).get === 'file'
  reply.headers(PRIVATE)
  try {
    const file = await app.reads.visit({ owner: network, person: null }, () =>
      download({ ...app, sql: app.db.sql, store: app.files.store }, token),
    )
    if (isPerson && !wantsFile) return sendPage(reply, PAGE_POLICY, pageOf(file))
    const pieces = inTurns<Buffer>(read => app.files.reading.run(network, read), file.pieces())
    return reply.headers(fileHeaders(file)).send(streamed(pieces))
  } catch (error) {
    const status = isPerson && error instanceof Refusal ? answerOf(error.kind)[0] : 0
    const page = problemPage(status)
    if (page === null) throw error
    return sendPage(reply.code(status), PAGE_POLICY, page)
  }
}
