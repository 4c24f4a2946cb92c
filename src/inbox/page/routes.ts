// GET /inbox: captured messages and those of test keys, as HTML and as JSON. For the operator: it answers only to callers on this
// machine who have the link.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import { type Id, readId } from '../../core/id.ts'
import { isFromThisMachine } from '../../core/network.ts'
import type { Seal } from '../../core/seal.ts'
import { escaped, sendPage } from '../../http/html.ts'
import { refuse as refuseRequest } from '../../http/refusals.ts'
import type { Inbox, InboxMessage } from '../inbox.ts'
import { isInboxToken } from '../link.ts'
import { refuse } from '../refusals.ts'

const PAGE = 50

type App = { inbox: Inbox; seal: Seal; clock: Clock; about: { details: readonly string[] } }
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

export const inboxPage = ({ inbox, about: { details }, ...app }: App): Handler =>
  withToken(app, async (request, reply) => {
    const { older_than } = request.query as { older_than?: unknown }
    const { messages, hasMore } = await inbox.list(typeof older_than === 'string' ? readId(older_than) : null, PAGE)
    if (!wantsHtml(request)) return json(reply, { messages, details })
    return page(reply, 'Inbox', list(messages, hasMore, details))
  })

export const inboxMessage = ({ inbox, ...app }: App): Handler =>
  withToken(app, async (request, reply) => {
    const id = readId((request.params as { id: string }).id)
    const message = id && (await inbox.get(id as Id))
    if (!message) throw refuseRequest.unknownPath()
    if (!wantsHtml(request)) return json(reply, message)
    return page(reply, message.subject ?? 'Text message', one(message))
  })

/** A browser gets the token from the address into a cookie and is redirected, so that the token stays out of its history. Both expire together. */
function withToken(app: Pick<App, 'seal' | 'clock'>, handler: Handler): Handler {
  return async (request, reply) => {
    if (!isFromThisMachine(request.raw)) throw refuseRequest.unknownPath()
    const { token } = request.query as { token?: unknown }
    const isNew = isInboxToken(app, token)
    if (!isNew && !isInboxToken(app, cookieOf(app.seal, request))) {
      if (!wantsHtml(request)) throw refuse.linkNeeded()
      return page(reply.code(403), 'Inbox', LINK_NEEDED)
    }
    if (!isNew || !wantsHtml(request)) return handler(request, reply)
    return reply
      .header('set-cookie', `${cookieName(app.seal)}=${token}; Path=/inbox; HttpOnly; SameSite=Lax`)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-store')
      .redirect(request.url.split('?', 1)[0] ?? '/inbox', 303)
  }
}

const LINK_NEEDED = `<p>This page shows messages, so it opens by its link only. On this machine, with the settings of the service:</p>
<pre>npx herald inbox --link</pre><p>A start on a terminal prints the link too. It is valid for 24 hours.</p>`

// Cookies are shared between ports: two installations on one machine need different names.
const cookieName = (seal: Seal) =>
  `herald_inbox_${seal.digest('inbox cookie name', 'cookie of the inbox').toString('hex').slice(0, 8)}`

const cookieOf = (seal: Seal, { headers }: FastifyRequest) =>
  (headers.cookie ?? '')
    .split(';')
    .map(pair => pair.trim().split('='))
    .find(([name]) => name === cookieName(seal))?.[1]

const wantsHtml = (request: FastifyRequest) => (request.headers.accept ?? '').includes('text/html')

const json = (reply: FastifyReply, data: unknown) =>
  reply.type('application/json').header('cache-control', 'no-store').send(data)

const list = (messages: readonly InboxMessage[], hasMore: boolean, details: readonly string[]) =>
  `<p>Nothing on this page was sent to anyone. ${escaped(details.join(' '))} Messages of test keys are never sent.</p>${
    messages.length === 0
      ? '<p>There is no message yet.</p>'
      : `<table><tr><th>When (UTC)</th><th>To</th><th>What</th><th>Why it was not sent</th></tr>${messages
          .map(
            m =>
              `<tr><td>${m.at.slice(0, 19).replace('T', ' ')}</td><td>${escaped(m.to)}</td><td><a href="/inbox/${m.id}">${escaped(m.subject ?? m.text.slice(0, 80))}</a></td><td>${tag(m)}</td></tr>`,
          )
          .join('')}</table>`
  }${hasMore ? `<p><a href="/inbox?older_than=${messages.at(-1)?.id}">Older</a></p>` : ''}`

const tag = ({ test }: InboxMessage) => (test ? '<b class="test">test message</b>' : '<b>captured, not sent</b>')

const one = (
  m: InboxMessage,
) => `<p>${tag(m)} ${m.test ? 'It was sent with a test key.' : 'Its channel has no provider.'}</p><dl><dt>From</dt><dd>${escaped(m.from ?? '')}</dd><dt>To</dt><dd>${escaped(m.to)}</dd>
<dt>When</dt><dd>${m.at}</dd></dl><pre>${escaped(m.text)}</pre>
${m.html === null ? '' : `<iframe sandbox title="The e-mail as HTML" srcdoc="${escaped(m.html)}"></iframe>`}<p><a href="/inbox">All messages</a></p>`

// The e-mail is shown in a sandboxed frame. It needs nothing but inline styles.
const page = (reply: FastifyReply, title: string, body: string) =>
  sendPage(
    reply.header('cache-control', 'no-store'),
    "style-src 'unsafe-inline'; frame-src 'self'",
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid #8884;overflow-wrap:anywhere}dt{font-weight:600}dd{margin:0 0 .4rem}b{font-size:.85rem;font-weight:600;white-space:nowrap;padding:.1rem .5rem;border-radius:1rem;background:#8883}b.test{background:#fc06}pre{white-space:pre-wrap;background:#8881;padding:1rem}iframe{width:100%;height:40rem;border:1px solid #8884;background:#fff}@media(max-width:40rem){tr,td{display:block;border:0;padding:0}tr{border-top:1px solid #8884;padding:.6rem 0}tr:has(th){display:none}}</style>
</head><body><h1>${escaped(title)}</h1>${body}</body></html>`,
  )
