// Reads request bodies: content type, size and speed limits, and the memory each service may use. The caller is authenticated
// before the first byte is read (keys/hook.ts).
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mapped, resized, unmap } from '../runtime/mapped.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { answerOnSocket } from './errors.ts'
import { readJson } from './json.ts'
import { refuse } from './refusals.ts'
import { createShares } from './shares.ts'

const MIB = 1024 * 1024
/** Size limits of bodies (contract 1.3). */
export const BODY = { single: 20 * MIB, bulk: 64 * MIB, other: MIB } as const

export type BodyReadOptions = {
  requestSeconds: number
  /** MiB of bodies in memory at the same time. */
  bodyBudget: number
  /** Who shares the budget: the service of the caller, once it is known. */
  ownerOf(request: FastifyRequest): string | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the raw bytes (bulk: parsed off the event loop). */
    rawBody?: boolean
    /** The route accepts bodies of any type (receipts: each provider has its own). */
    anyType?: boolean
    /** The route reads the body as a stream, and limits its size itself. */
    streamed?: boolean
    /** The route also accepts a request without a body; then no content type is needed. */
    optionalBody?: boolean
  }
}

// Content types are checked here and not by Fastify, whose per-type parsing has been bypassed before.
const JSON_TYPE = /^\s*application\/(?:json|[^\s;/]+\+json)\s*(?:;|$)/i

export function readBodies(app: FastifyInstance, options: BodyReadOptions) {
  const collect = createCollector(app, options)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => collect(request, payload, done))
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    const isJson = JSON_TYPE.test(type) && encoding === 'identity'
    const isFine = isJson || !takesBody(request) || isOmitted(request) || request.routeOptions.config.anyType
    done(isFine ? null : refuse.notJson(), payload)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    try {
      if (!takesBody(request) || isOmitted(request)) request.body = undefined
      else if (!request.routeOptions.config.rawBody) request.body = parsed(request.body)
      done()
    } catch (error) {
      done(error as Error)
    }
  })
}

const takesBody = (request: FastifyRequest) =>
  (request.method === 'POST' || request.method === 'PATCH') && !request.is404

const isOmitted = ({ headers, routeOptions }: FastifyRequest) =>
  routeOptions.config.optionalBody === true &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) === 0

function parsed(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) throw refuse.unreadable()
  return readJson(body)
}

/** Smaller bodies are not charged to the budget. */
const UNCHARGED = 16 * 1024
/** Charged ahead of what has arrived: one read of a socket returns up to this much. */
const PIECE = 64 * 1024

type Done = (error: Error | null, body?: Buffer | Readable) => void

function createCollector(app: FastifyInstance, options: BodyReadOptions) {
  const shares = createShares(options.bodyBudget * MIB)
  /** How to give back what a body takes. */
  const open = new WeakMap<FastifyRequest, () => void>()
  const pace = createPace(app, options.requestSeconds)
  // Released when the response is sent, not when the caller disconnects: the body may still be in use.
  app.addHook('onSend', (request, _reply, payload, done) => {
    open.get(request)?.()
    done(null, payload)
  })

  return (request: FastifyRequest, payload: Readable, done: Done) => {
    const { raw } = request
    const limit = request.routeOptions.bodyLimit ?? BODY.other
    const announced = request.headers['content-length'] === undefined ? null : Number(request.headers['content-length'])
    if (announced !== null && announced > limit) return done(refuse.tooLarge())
    if (request.routeOptions.config.streamed) {
      pace.follow(raw, STREAMED_MS)
      return done(null, payload)
    }
    const gathered = createGathering(announced, limit)
    const progress = pace.follow(raw)
    const share =
      announced !== null && announced <= UNCHARGED ? null : shares.open(options.ownerOf(request) ?? request.ip)
    const discard = () => {
      gathered.discard()
      share?.close()
    }
    if (share) open.set(request, discard)
    let charged = 0

    const readOn = () => {
      const ahead = Math.min(gathered.length() + PIECE, announced ?? limit)
      const more = Math.max(0, ahead - charged)
      charged += more
      if (!share || share.add(more, goOn)) return payload.resume()
      progress.hold()
      payload.pause()
    }
    const goOn = () => {
      progress.goOn()
      payload.resume()
    }
    const take = (chunk: Buffer) => {
      if (!gathered.add(chunk)) end(refuse.tooLarge())
      else if (share) readOn()
    }
    const end = (error: Error | null) => {
      payload.off('data', take).off('end', finish).off('error', fail).off('close', fail)
      pace.forget(raw)
      if (error) discard()
      done(error, error ? undefined : gathered.whole())
    }
    const finish = () => end(null)
    const fail = () => end(refuse.unreadable())
    payload.on('end', finish).on('error', fail).on('close', fail).on('data', take)
    readOn()
  }
}

/**
 * Smaller bodies are joined at the end. Joining a larger one would block the event loop (64 MiB: about 30 ms), and the pieces of bodies
 * that wait would keep the heap of malloc from shrinking.
 */
const JOINED = 256 * 1024

/**
 * The bytes that have arrived. A large body is one buffer with the announced size, once it is not small: only the part that is written takes
 * memory. Without an announced size it doubles in its place.
 */
function createGathering(announced: number | null, limit: number) {
  let pieces: Buffer[] = []
  let buffer: Buffer | null = null
  let length = 0

  function joined(needed: number): Buffer {
    const all = mapped(announced ?? Math.min(2 * needed, limit), limit)
    let at = 0
    for (const piece of pieces) at += piece.copy(all, at)
    pieces = []
    return all
  }

  return {
    /** False: there are too many. */
    add(piece: Buffer): boolean {
      const needed = length + piece.length
      if (needed > limit) return false
      if (needed > JOINED) {
        buffer ??= joined(needed)
        if (needed > buffer.length) buffer = resized(buffer, Math.min(2 * needed, limit))
        piece.copy(buffer, length)
      } else pieces.push(piece)
      length = needed
      return true
    },
    length: () => length,
    whole(): Buffer {
      if (!buffer) return Buffer.concat(pieces, length)
      if (length < buffer.length) buffer = resized(buffer, length)
      return buffer
    },
    discard() {
      if (buffer) unmap(buffer)
    },
  }
}

/** A file may take this much longer than a request; its slowest pace is the same. */
const STREAMED_MS = 270_000

/** A body slower than this many bytes per second, measured over a third of its time, is ended. */
const SLOWEST = 1024

type Progress = { since: number; from: number; bytes: number; heldAt: number | null; isAnswered: boolean }

// One periodic check for all bodies instead of a timer for each: most bodies arrive before a timer would start.
function createPace(app: FastifyInstance, requestSeconds: number) {
  const windowMs = (requestSeconds * 1000) / 3
  const followed = new Map<IncomingMessage, Progress>()
  const sweep = startPeriodic(
    async () => cutSlow(),
    Math.min(1_000, requestSeconds * 250),
    error => {
      throw error // a bug: it ends the process, as an uncaught error does
    },
  )
  app.addHook('onClose', () => sweep.stop())
  // The body of a request that is already answered (wrong key, GET with a body) is read and discarded, under the same time limit.
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) follow(raw).isAnswered = true
    done()
  })

  function follow(raw: IncomingMessage, longerMs = 0): Progress {
    const now = performance.now()
    const progress = { since: now + longerMs, from: now, bytes: raw.socket.bytesRead, heldAt: null, isAnswered: false }
    followed.set(raw, progress)
    return progress
  }

  function cutSlow() {
    const now = performance.now()
    for (const [raw, progress] of followed) {
      if (raw.complete || raw.destroyed) followed.delete(raw)
      else if (progress.heldAt === null && isSlow(raw, progress, now)) {
        followed.delete(raw)
        if (progress.isAnswered) raw.socket.destroy()
        else answerOnSocket({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, raw.socket)
      }
    }
  }

  function isSlow(raw: IncomingMessage, progress: Progress, now: number): boolean {
    if (now - progress.since > requestSeconds * 1000) return true
    if (now - progress.from < windowMs) return false
    const { bytesRead } = raw.socket
    if (bytesRead - progress.bytes < (SLOWEST * (now - progress.from)) / 1000) return true
    progress.from = now
    progress.bytes = bytesRead
    return false
  }

  return {
    follow(raw: IncomingMessage, longerMs?: number) {
      const progress = follow(raw, longerMs)
      return {
        /** We paused reading (no memory), so this time does not count against the caller. */
        hold() {
          progress.heldAt = performance.now()
        },
        goOn() {
          if (progress.heldAt === null) return
          const heldMs = performance.now() - progress.heldAt
          progress.since += heldMs
          progress.from += heldMs
          progress.heldAt = null
        },
      }
    },
    forget: (raw: IncomingMessage) => followed.delete(raw),
  }
}
