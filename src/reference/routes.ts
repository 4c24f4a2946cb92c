// GET /docs, the documentation, and /docs/api, the reference. Pages name no other host, and their policy allows nothing but their own files.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Links } from '../http/links.ts'
import type { OpenApi } from '../http/openapi.ts'
import { refuse } from '../http/refusals.ts'
import { renderReference } from './page.tsx'
import { renderPage, type Site } from './site.tsx'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

type File = { type: string; text: Buffer; zipped: Buffer }

const IMAGE_TYPES: Readonly<Record<string, string>> = { '.png': 'image/png', '.svg': 'image/svg+xml' }

/** A host that is not one is not repeated in examples, which people copy into a shell. */
const PLAIN_BASE = /^https?:\/\/[A-Za-z0-9.:[\]-]+(\/[A-Za-z0-9._~/-]*)?$/

export function addReference(app: FastifyInstance, { links }: { links: Links }, api: OpenApi): void {
  const style = fileOf('reference', 'css', 'text/css; charset=utf-8')
  const script = fileOf('reference', 'js', 'text/javascript; charset=utf-8')
  const siteOnce = createSiteReader()
  // The page depends on the address only, so the last one is kept.
  let last: { base: string; file: File } | null = null
  const pageFor = (base: string): File => {
    if (last?.base !== base) {
      const html = renderReference({ api, base, assets: { style: style.path, script: script.path } })
      last = { base, file: zipped('text/html; charset=utf-8', html) }
    }
    return last.file
  }

  app.get('/docs/api', async (request, reply) => {
    const base = links.base(request)
    return send(request, reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache'), {
      ...pageFor(PLAIN_BASE.test(base) ? base : 'http://localhost'),
    })
  })
  const pageOf = (slug: string): File => {
    const site = siteOnce()
    const html = renderPage(site, slug, { style: style.path, script: script.path, index: '/docs/search.json' })
    if (html === null) throw refuse.unknownPath()
    return zipped('text/html; charset=utf-8', html)
  }
  const pages = new Map<string, File>()
  for (const path of ['/docs', '/docs/*'])
    app.get<{ Params: { '*'?: string } }>(path, async (request, reply) => {
      const slug = request.params['*'] ?? ''
      if (siteOnce().images.includes(slug)) return sendImage(reply, slug)
      const file = pages.get(slug) ?? pageOf(slug)
      pages.set(slug, file)
      return send(request, reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache'), file)
    })
  let index: File | null = null
  app.get('/docs/search.json', async (request, reply) => {
    index ??= zipped('application/json', JSON.stringify(siteOnce().index))
    return send(request, reply.header('cache-control', 'no-cache'), index)
  })
  for (const { path, file } of [style, script])
    app.get(path, async (request, reply) =>
      send(
        request,
        reply
          .header('content-security-policy', "default-src 'none'")
          // Its name changes with its content.
          .header('cache-control', 'public, max-age=31536000, immutable'),
        file,
      ),
    )
}

function send({ headers }: FastifyRequest, reply: FastifyReply, { type, text, zipped }: File): FastifyReply {
  const isZipped = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  if (isZipped) reply.header('content-encoding', 'gzip')
  return reply
    .headers({
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    .type(type)
    .send(isZipped ? zipped : text)
}

/** A picture of a page, from docs/. An SVG may have styles of its own and nothing else. */
async function sendImage(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const bytes = await readFile(new URL(`../../docs/${path}`, import.meta.url)).catch(() => null)
  const type = IMAGE_TYPES[extname(path)]
  if (!bytes || !type) throw refuse.unknownPath()
  return reply
    .headers({
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'max-age=3600',
    })
    .type(type)
    .send(bytes)
}

/** The build writes it; it is read when the first page is asked for. The path is the same from src/ and from dist/. */
function createSiteReader(): () => Site {
  let site: Site | null = null
  return () => {
    site ??= JSON.parse(readFileSync(new URL('../../dist/reference/site.json', import.meta.url), 'utf8')) as Site
    return site
  }
}

function fileOf(name: string, ending: string, type: string): { path: string; file: File } {
  const content = readFileSync(new URL(`./assets/${name}.${ending}`, import.meta.url), 'utf8')
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { path: `/docs/${name}-${hash}.${ending}`, file: zipped(type, content) }
}

function zipped(type: string, content: string): File {
  const text = Buffer.from(content)
  return { type, text, zipped: gzipSync(text) }
}
