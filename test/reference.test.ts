// The reference of the API at /docs/api: every operation with an example in every language, and the same body in all of them.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { LANGUAGES } from '../src/reference/languages.ts'
import { callOf, operationsOf } from '../src/reference/operations.ts'
import { refusalsOf } from '../src/reference/refused.ts'
import { openApi } from '../src/routes.ts'
import { type World, world } from './support/world.ts'

const api = openApi()
const operations = operationsOf(api)
const BASE = 'https://herald.example'

describe('examples', () => {
  test('there are seven languages', () => {
    expect(LANGUAGES.map(({ name }) => name)).toEqual(['curl', 'Node', 'Python', 'PHP', 'Ruby', 'C#', 'Java'])
  })

  test.each(LANGUAGES)(
    '$name: every operation has its method, address, key, and the body of openapi.json',
    ({ key, write }) => {
      for (const operation of operations) {
        const call = callOf(operation, BASE)
        const text = write(call)
        expect(text).toContain(call.url)
        expect(text).toMatch(/HERALD_KEY/)
        expect(text).toMatch(new RegExp(operation.method === 'GET' && key === 'curl' ? 'curl' : operation.method, 'i'))
        expect(bodyIn(key, text), `${operation.id} in ${key}`).toEqual(operation.body?.example)
      }
    },
  )

  test('quotes, backslashes, line breaks and other scripts stay what they are', () => {
    const body = {
      'a "quoted" name': `it's`,
      path: 'C:\\temp\\n',
      lines: 'one\ntwo\t“three”',
      script: 'ليلى 🎈',
      dollars: '$HOME #{x} $' + '{y} {z}',
      list: [true, false, null, 0.5, []],
      empty: {},
    }
    for (const { key, write } of LANGUAGES)
      expect(bodyIn(key, write({ method: 'POST', url: `${BASE}/x`, body })), key).toEqual(body)
  })
})

/** The body as the program would send it. */
function bodyIn(language: string, text: string): unknown {
  const between = (pattern: RegExp) => pattern.exec(text)?.[1]
  const parsed = (json: string | undefined) => (json === undefined ? undefined : JSON.parse(json))
  switch (language) {
    case 'curl':
      return parsed(between(/ -d '([\s\S]*)'$/)?.replaceAll("'\\''", "'"))
    case 'node':
      return parsed(between(/JSON\.stringify\(([\s\S]*)\),\n\}\)/))
    case 'python': {
      const literal = between(/json\.dumps\(([\s\S]*)\)\.encode\(\),\n\)/)
      if (literal === undefined) return undefined
      const read = spawnSync(
        'python3',
        ['-c', 'import ast,json,sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))'],
        {
          input: literal,
          encoding: 'utf8',
        },
      )
      return read.error ? parsed(asJson(literal)) : parsed(read.stdout)
    }
    case 'php':
      return parsed(between(/<<<'JSON'\n([\s\S]*)\nJSON;/))
    case 'ruby':
      return parsed(between(/<<~'JSON'\n([\s\S]*)\nJSON\n/))
    case 'csharp':
      return parsed(between(/"""\n([\s\S]*)\n *"""/))
    case 'java':
      return parsed(between(/"""\n([\s\S]*)\n *"""/)?.replaceAll('\\\\', '\\'))
    default:
      throw new Error(`no reader for ${language}`)
  }
}

/** Where there is no Python: enough for the examples of openapi.json. */
const asJson = (literal: string) =>
  literal
    .replaceAll(/\bTrue\b/g, 'true')
    .replaceAll(/\bFalse\b/g, 'false')
    .replaceAll(/\bNone\b/g, 'null')
    .replaceAll(/,(\s*[\]}])/g, '$1')

describe('GET /docs/api', () => {
  let here: World
  let html: string

  beforeAll(async () => {
    here = await world({ HERALD_CONSOLE: '0' })
    html = (await here.call('GET', '/docs/api')).text
  })

  test('exists without the console, under a policy that allows its own files only', async () => {
    const { status, headers } = await here.call('GET', '/docs/api')
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/)
    expect(html).not.toMatch(/(src|href)="https?:|style="|<script>|<style/)
    for (const [, path] of html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)) {
      const file = await here.call('GET', String(path))
      expect([path, file.status]).toEqual([path, 200])
      expect(file.headers.get('cache-control')).toContain('immutable')
    }
  })

  test('shows every operation, with a link that leads to it, its refusals and its examples', () => {
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
    for (const { id, tag } of operations) {
      expect(ids).toContain(id)
      expect(html.split(`href="#${id}"`)).toHaveLength(3)
      for (const { key } of LANGUAGES) expect(ids).toContain(`${id}-${key}`)
      expect(refusalsOf(tag).length, tag).toBeGreaterThan(0)
    }
    expect([...html.matchAll(/ id="([^"]+)"/g)]).toHaveLength(ids.size)
  })

  test('is small when it is compressed, and names no host that is none', async () => {
    const response = await fetch(`${here.address}/docs/api`, { headers: { 'accept-encoding': 'gzip' } })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.text()).toBe(html)
    const { rawRequest } = { rawRequest: await raw('evil"; rm -rf ~; "') }
    expect(rawRequest).not.toContain('rm -rf')
  })

  /** With any Host header. */
  async function raw(host: string): Promise<string> {
    const { request } = await import('node:http')
    const { hostname, port } = new URL(here.address)
    return new Promise((resolve, reject) => {
      const sent = request(
        { hostname, port, path: '/docs/api', headers: { host, 'accept-encoding': 'gzip' } },
        answer => {
          const pieces: Buffer[] = []
          answer.on('data', piece => pieces.push(piece))
          answer.on('end', () => {
            const bytes = Buffer.concat(pieces)
            expect(bytes.length).toBeLessThan(120_000)
            resolve(answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString())
          })
        },
      )
      sent.on('error', reject)
      sent.end()
    })
  }
})

describe('GET /docs', () => {
  let here: World
  /** Every page by its address. */
  const pages = new Map<string, string>()

  beforeAll(async () => {
    here = await world({ HERALD_CONSOLE: '0' })
    const home = (await here.call('GET', '/docs')).text
    pages.set('/docs', home)
    for (const [, path = ''] of home.matchAll(/<li><a href="(\/docs\/[^"]+)"/g))
      pages.set(path, (await here.call('GET', path)).text)
  })

  test('has the tutorial, the guides, the reference, and every page of docs/', () => {
    const names = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md'))
    const addresses = names.map(name => `/docs/${name.slice(0, -3)}`)
    expect([...pages.keys()].sort()).toEqual(['/docs', '/docs/api', '/docs/changelog', ...addresses].sort())
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(pages.get('/docs')).toContain(`version ${version}`)
    expect(pages.get('/docs/releases')).toContain('href="/docs/changelog"')
  })

  test('the first page says of each page in a whole sentence what it is about', () => {
    const tiles = [...(pages.get('/docs') ?? '').matchAll(/<a href="\/docs\/([^"]+)">[^<]*<\/a><\/h3><p>([^<]*)<\/p>/g)]
    expect(tiles).toHaveLength(pages.size - 1)
    const fragments = tiles.filter(
      ([, , text = '']) =>
        !/^\p{Lu}.*\.$/u.test(text) ||
        text.split(' ').length < 4 ||
        /\.md|^(For|What|How|Starting|Sending) /.test(text),
    )
    expect(fragments.map(([, name, text]) => `${name}: ${text}`)).toEqual([])
  })

  test('has the colours, sizes and logo of the console', () => {
    const tokensOf = (path: string) =>
      new Map(
        [...(/^:root \{.*?^\}/ms.exec(readFileSync(path, 'utf8'))?.[0] ?? '').matchAll(/(--[\w-]+): ([^;]+);/g)].map(
          ([, name, value]) => [name, value],
        ),
      )
    const [own, theirs] = [tokensOf('src/reference/assets/reference.css'), tokensOf('src/console/assets/console.css')]
    expect(own.size).toBeGreaterThan(40)
    for (const [name, value] of own) expect([name, value]).toEqual([name, theirs.get(name)])
    expect(pages.get('/docs')).toContain('class="icon"')
    expect(readFileSync('src/console/assets/icons.svg', 'utf8')).toContain('M3 1.5v13M3 2.5h10.2L10.6 6l2.6 3.5H3')
  })

  test('every link leads to a page and to an anchor that is there', () => {
    const ids = new Map(
      [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(one => one[1]))]),
    )
    const wrong = [...pages].flatMap(([path, html]) =>
      [...html.matchAll(/ href="(?:(\/docs[^"#]*)|)(?:#([^"]*))?"/g)]
        .filter(
          ([, target = path, anchor]) =>
            !/\.(css|js)$/.test(target) && !(ids.get(target) && (anchor === undefined || ids.get(target)?.has(anchor))),
        )
        .map(([link]) => `${path}: ${link}`),
    )
    expect(wrong).toEqual([])
  })

  test('pages follow each other, have no mark of a test, and keep to the policy', async () => {
    const { headers } = await here.call('GET', '/docs/tutorial')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/)
    for (const [path, html] of pages)
      if (path !== '/docs/api')
        expect(html, path).not.toMatch(/<!--|&lt;!-- run|style="|<script>|<th><\/th>|<img [^>]*alt=""/)
    const seen = ['/docs/tutorial']
    for (;;) {
      const next = /rel="next" href="([^"]+)"/.exec(pages.get(seen.at(-1) ?? '') ?? '')?.[1]
      if (!next) break
      seen.push(next)
    }
    expect(seen).toHaveLength(pages.size - 2)
  })

  test('pictures are served, and no other file of docs/', async () => {
    const sources = [...pages.values()].flatMap(html =>
      [...html.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path),
    )
    expect(sources.length).toBeGreaterThan(5)
    for (const path of sources) {
      const { status, headers } = await here.call('GET', String(path))
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-type')).toMatch(/^image\/(png|svg\+xml)$/)
    }
    for (const path of ['providers.schema.json', 'interface.md', 'console/../providers.schema.json'])
      expect((await here.call('GET', `/docs/${path}`)).status).toBe(404)
  })

  test('what is not a page is unknown, and the index names sections that are there', async () => {
    expect((await here.call('GET', '/docs/nothing')).status).toBe(404)
    expect((await here.call('GET', '/docs/../package.json')).status).toBe(404)
    const { body } = await here.call('GET', '/docs/search.json')
    for (const [slug, id] of body as [string, string][]) expect(pages.get(`/docs/${slug}`)).toContain(` id="${id}"`)
  })
})
