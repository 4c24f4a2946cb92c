// Pages for people: text escaped, nothing from another host, no script.
import type { FastifyReply } from 'fastify'

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** `policy` says what the page itself may use beyond nothing at all. */
export const sendPage = (reply: FastifyReply, policy: string, html: string): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', `default-src 'none'; ${policy}; frame-ancestors 'none'; base-uri 'none'`)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(html)
