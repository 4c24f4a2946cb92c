// HTML pages: text escaped, no resources of other hosts, no scripts.
import type { FastifyReply } from 'fastify'

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** `policy`: what the page adds to the Content-Security-Policy `default-src 'none'`. */
export const sendPage = (reply: FastifyReply, policy: string, html: string): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', `default-src 'none'; ${policy}; frame-ancestors 'none'; base-uri 'none'`)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(html)
