// Sends the answer of a page with its headers.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { leaving } from '../errors.tsx'
import { type Frame, renderFragment, renderPage } from '../layout.tsx'
import type { DirectAnswer } from '../page.ts'
import { localPath } from '../paths.ts'
import { type Names, writeSession } from './cookies.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** An e-mail is a document of its own, without scripts, forms and addresses of others. */
const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
const NOTHING = "sandbox; default-src 'none'; frame-ancestors 'none'"

/** `same-origin`, not `no-referrer`: with that, browsers would send our own forms with `Origin: null`. Others see nothing either way. */
const common = (policy: string) => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
})

export type Sending = {
  request: FastifyRequest
  reply: FastifyReply
  frame: Frame
  names: Names
  signal: AbortSignal
}

export function sendAnswer(answer: DirectAnswer, sending: Sending): FastifyReply {
  const { request, reply, frame, names, signal } = sending
  const { context } = frame
  const isHead = request.method === 'HEAD'
  switch (answer.kind) {
    case 'page':
      if (answer.againAfterSeconds) again(reply, answer.againAfterSeconds)
      return html(reply.code(answer.status ?? 200), POLICY, renderPage(answer, frame))
    case 'fragment':
      return html(reply, POLICY, renderFragment(answer.body, context))
    case 'frame':
      return html(reply, FRAME_POLICY, answer.html, 'no-referrer')
    case 'redirect':
      if (answer.session !== undefined) writeSession(reply, names, answer.session)
      return reply
        .headers(common(NOTHING))
        .code(303)
        .header('location', context.url(localPath(answer.to) ?? '/'))
        .send()
    case 'leave':
      return leave(answer.to, sending)
    case 'json':
      return reply
        .headers(common(NOTHING))
        .code(answer.status ?? 200)
        .type('application/json')
        .send(JSON.stringify(answer.data))
    case 'export':
    case 'download':
      reply
        .headers(common(NOTHING))
        .type(answer.kind === 'export' ? 'text/csv; charset=utf-8' : answer.type)
        .header('content-disposition', attachment(answer.name))
      return reply.send(isHead ? '' : Readable.from(answer.chunks, { signal, objectMode: false }))
    case 'events':
      // A proxy must not gather the events.
      reply.headers(common(NOTHING)).type('text/event-stream').header('x-accel-buffering', 'no')
      return reply.send(isHead ? '' : Readable.from(events(answer.values, signal), { objectMode: false }))
  }
}

const html = (reply: FastifyReply, policy: string, text: string, referrer = 'same-origin') =>
  reply
    .headers({ ...common(policy), 'referrer-policy': referrer })
    .type('text/html; charset=utf-8')
    .send(text)

/** For a browser, and for a program. */
const again = (reply: FastifyReply, seconds: number) => reply.headers({ refresh: seconds, 'retry-after': seconds })

/** To the provider of single sign-on. A browser does not let the answer to a form lead to another site, so a page does. */
function leave(to: string, { request, reply, frame }: Sending): FastifyReply {
  if (request.method !== 'POST') return reply.headers(common(NOTHING)).code(303).header('location', to).send()
  return html(reply.header('refresh', `0; url=${to}`), POLICY, renderPage(leaving(to), frame))
}

/** The name with any characters, and a plain one for what cannot read it. */
const attachment = (name: string) =>
  `attachment; filename="${name.replace(/[^A-Za-z0-9._ -]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)}`

/** Keeps proxies from closing a quiet connection, and shows us that the browser is gone. */
const BEAT_MS = 15_000

async function* events(values: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<string> {
  const iterator = values[Symbol.asyncIterator]()
  const ended = new Promise<'ended'>(resolve => {
    if (signal.aborted) resolve('ended')
    signal.addEventListener('abort', () => resolve('ended'), { once: true })
  })
  yield ': open\n\n'
  try {
    let next = iterator.next()
    for (;;) {
      const beat = timer(BEAT_MS)
      const first = await Promise.race([next, ended, beat.done]).finally(beat.stop)
      if (first === 'ended') return
      if (first === 'beat') {
        yield ': \n\n'
        continue
      }
      if (first.done) return
      yield `data: ${JSON.stringify(first.value)}\n\n`
      next = iterator.next()
    }
  } finally {
    // The values may wait for something: they end by the signal.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

function timer(ms: number) {
  let timeout: NodeJS.Timeout | undefined
  const done = new Promise<'beat'>(resolve => {
    timeout = setTimeout(() => resolve('beat'), ms)
  })
  return { done, stop: () => clearTimeout(timeout) }
}
