// GET /download/<token>: a page for browsers, the file for other clients (contract 21.7). No API key: the token is the permission.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/refusal.ts'
import type { Database } from '../db/connect.ts'
import { answerOf } from '../http/errors.ts'
import { sendPage } from '../http/html.ts'
import type { Services } from '../services/load.ts'
import { type DownloadApp, download } from './download.ts'
import { fileHeaders, PAGE_POLICY, PRIVATE, pageOf, problemPage } from './present.ts'
import type { FileStore } from './store.ts'

type App = { db: Database; clock: Clock; services: Services; files: { store: FileStore } } & Pick<
  DownloadApp,
  'isCancelled'
>

export const downloadFile = (app: App) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { token } = request.params as { token: string }
  const isPerson = (request.headers.accept ?? '').includes('text/html')
  const wantsFile = (request.query as { get?: string }).get === 'file'
  reply.headers(PRIVATE)
  try {
    const file = await download({ ...app, sql: app.db.sql, store: app.files.store }, token)
    if (isPerson && !wantsFile) return sendPage(reply, PAGE_POLICY, pageOf(file))
    return reply.headers(fileHeaders(file)).send(Readable.from(file.pieces(), { objectMode: false }))
  } catch (error) {
    const status = isPerson && error instanceof Refusal ? answerOf(error.kind)[0] : 0
    const page = problemPage(status)
    if (page === null) throw error
    return sendPage(reply.code(status), PAGE_POLICY, page)
  }
}
