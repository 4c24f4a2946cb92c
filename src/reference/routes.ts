// GET /docs, the documentation, and /docs/api, the reference. Pages name no other host, and their policy allows nothing but their own files.
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { networkOf } from '../core/network.ts'
import type { Links } from '../http/links.ts'
import type { OpenApi } from '../http/openapi.ts'
import { refuse } from '../http/refusals.ts'
import { FOR_EVER, type StaticFile, sendStatic, staticFile } from '../http/static.ts'
import type { Reads } from '../limits/reads.ts'
import { renderReference } from './page.tsx'
import { type Assets, renderPage, type Site } from './site.tsx'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const IMAGE_TYPES: Readonly<Record<string, string>> = { '.png': 'image/png', '.svg': 'image/svg+xml' }
const HTML = 'text/html; charset=utf-8'
const PAGE = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' }
const ASSET = { 'content-security-policy': "default-src 'none'", 'cache-control': FOR_EVER }
/** A picture of a page. An SVG may have styles of its own and nothing else. */
const IMAGE = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'cache-control': 'max-age=3600',
}

/** A host that is not one is not repeated in examples, which people copy into a shell. */
const PLAIN_BASE = /^https?:\/\/[A-Za-z0-9.:[\]-]+(\/[A-Za-z0-9._~/-]*)?$/
/** In place of the address while the page is rendered. */
const ADDRESS = 'https://address.of.this.installation.invalid'

type App = { links: Links; reads: Pick<Reads, 'page'> }

export function addReference(app: FastifyInstance, { links, reads }: App, api: OpenApi): void {
  const style = assetOf('reference', 'css', 'text/css; charset=utf-8')
  const script = assetOf('reference', 'js', 'text/javascript; charset=utf-8')
  const assets = { style: style.path, script: script.path }
  const site = once(readSite)
  const index = once(() => staticFile('application/json', JSON.stringify(site().index)))
  const reference = once(() => createReferencePage(renderReference({ api, base: ADDRESS, assets })))
  const pages = new Map<string, StaticFile>()

  function pageOf(slug: string): StaticFile {
    const known = pages.get(slug)
    if (known) return known
    const isImage = site().images.includes(slug)
    const made = isImage ? imageOf(slug) : documentOf(site(), slug, { ...assets, index: '/docs/search.json' })
    pages.set(slug, made)
    return made
  }

  const serve = (path: string, headers: Readonly<Record<string, string>>, find: (request: Request) => StaticFile) =>
    app.get(path, { config: { admission: 'page' } }, (request: Request, reply) =>
      reads.page(networkOf(request.ip), () => {
        const file = find(request)
        return sendStatic(request, reply, file, file.type.startsWith('image/') ? IMAGE : headers)
      }),
    )
  serve('/docs/api', PAGE, request => reference()(links.base(request)))
  for (const path of ['/docs', '/docs/*']) serve(path, PAGE, ({ params }) => pageOf(params['*'] ?? ''))
  serve('/docs/search.json', {}, index)
  for (const { path, file } of [style, script]) serve(path, ASSET, () => file)
}

type Request = FastifyRequest<{ Params: { '*'?: string } }>

/** Without HERALD_BASE_URL the address comes from the Host header, which may be anything. */
const MOST_ADDRESSES = 4

/**
 * The page with an address in its examples. It is rendered once. For the first addresses it is compressed and kept; for any further one
 * the address is only put in, and nothing is kept.
 */
function createReferencePage(html: string): (base: string) => StaticFile {
  const pieces = html.split(ADDRESS)
  const known = new Map<string, StaticFile>()
  return given => {
    const base = PLAIN_BASE.test(given) ? given : 'http://localhost'
    const isKept = known.size < MOST_ADDRESSES
    const file = known.get(base) ?? staticFile(HTML, pieces.join(base), { isZipped: isKept })
    if (isKept) known.set(base, file)
    return file
  }
}

function documentOf(site: Site, slug: string, assets: Assets): StaticFile {
  const html = renderPage(site, slug, assets)
  if (html === null) throw refuse.unknownPath()
  return staticFile(HTML, html)
}

function imageOf(path: string): StaticFile {
  const type = IMAGE_TYPES[extname(path)]
  if (!type) throw refuse.unknownPath()
  return staticFile(type, readFileSync(new URL(`../../docs/${path}`, import.meta.url)), { isZipped: false })
}

/** The build writes it. The path is the same from src/ and from dist/. */
const readSite = () =>
  JSON.parse(readFileSync(new URL('../../dist/reference/site.json', import.meta.url), 'utf8')) as Site

function assetOf(name: string, ending: string, type: string): { path: string; file: StaticFile } {
  const file = staticFile(type, readFileSync(new URL(`./assets/${name}.${ending}`, import.meta.url)))
  return { path: `/docs/${name}-${file.hash}.${ending}`, file }
}

/** Made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
