// GET /inbox: what the capture provider kept, as a page for people and as JSON. For the operator only: it answers on the
// machine itself and nowhere else.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Id, readId } from '../core/id.ts'
import { escaped, sendPage } from '../http/html.ts'
import { refuse } from '../http/refusals.ts'
import type { Inbox, Shown } from './inbox.ts'

const PAGE = 50

export const inboxPage = (inbox: Inbox) => async (request: FastifyRequest, reply: FastifyReply) => {
  onlyHere(request)
  const { older_than } = request.query as { older_than?: string }
  const messages = await inbox.list(readId(older_than), PAGE)
  if (!wantsHtml(request)) return reply.type('application/json').send({ messages })
  return page(reply, 'Inbox', list(messages))
}

export const inboxMessage = (inbox: Inbox) => async (request: FastifyRequest, reply: FastifyReply) => {
  onlyHere(request)
  const id = readId((request.params as { id: string }).id)
  const message = id && (await inbox.get(id as Id))
  if (!message) throw refuse.unknownPath()
  if (!wantsHtml(request)) return reply.type('application/json').send(message)
  return page(reply, message.subject ?? 'Text message', one(message))
}

// Only a caller on this machine who also calls it by a name of this machine: a proxy beside us forwards strangers under our
// public name, and a page in the operator's browser can reach us only under a name of its own.
function onlyHere(request: FastifyRequest) {
  const isLocal = LOCAL.test(request.socket.remoteAddress ?? '') && LOCAL_NAME.test(request.headers.host ?? '')
  if (!isLocal || request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined)
    throw refuse.unknownPath()
}

const LOCAL = /^(127\.|::1$|::ffff:127\.)/
const LOCAL_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

const wantsHtml = (request: FastifyRequest) => (request.headers.accept ?? '').includes('text/html')

const list = (messages: readonly Shown[]) =>
  messages.length === 0
    ? '<p>Nothing was sent yet. Messages appear here while no provider is configured.</p>'
    : `<table><tr><th>When</th><th>To</th><th>What</th></tr>${messages
        .map(
          m =>
            `<tr><td>${m.at.slice(0, 19).replace('T', ' ')}</td><td>${escaped(m.to)}</td><td><a href="/inbox/${m.id}">${escaped(m.subject ?? m.text.slice(0, 80))}</a></td></tr>`,
        )
        .join('')}</table><p><a href="/inbox?older_than=${messages.at(-1)?.id}">Older</a></p>`

const one = (m: Shown) => `<dl><dt>From</dt><dd>${escaped(m.from ?? '')}</dd><dt>To</dt><dd>${escaped(m.to)}</dd>
<dt>When</dt><dd>${m.at}</dd></dl><pre>${escaped(m.text)}</pre>
${m.html === null ? '' : `<iframe sandbox title="The e-mail as HTML" srcdoc="${escaped(m.html)}"></iframe>`}<p><a href="/inbox">All messages</a></p>`

// The mail is shown in a frame without rights; inline styles are all it needs.
const page = (reply: FastifyReply, title: string, body: string) =>
  sendPage(
    reply,
    "style-src 'unsafe-inline'; frame-src 'self'",
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-top:1px solid #8884}pre{white-space:pre-wrap;background:#8881;padding:1rem}iframe{width:100%;height:40rem;border:1px solid #8884;background:#fff}</style>
</head><body><h1>${escaped(title)}</h1>${body}</body></html>`,
  )
