// The console over HTTP, without a browser: headers, cookies, forms and who may open what. The pages of the table below stand for
// all; each answers in another way.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { h } from 'preact'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../src/audit/role.ts'
import { readConfig } from '../../src/config/index.ts'
import { FORM_TOKEN, Form, Input, Textarea } from '../../src/console/components/form.tsx'
import type { Handler, ServiceVisit, UploadVisit, Visit } from '../../src/console/page.ts'
import { MOST_SCRIPT_BYTES, readAssets } from '../../src/console/serve/assets.ts'
import { addConsole } from '../../src/console/serve/index.ts'
import { anyone, fresh, may, operator, type PageRow, signedIn, withFile } from '../../src/console/who.ts'
import type { Id } from '../../src/core/id.ts'
import { LOOPBACK } from '../../src/core/network.ts'
import { createServer } from '../../src/http/server.ts'
import { changeRole, removeMember } from '../../src/people/members.ts'
import { addOperator, removeOperator, removePerson } from '../../src/people/operators.ts'
import { confirmAgain, endOtherSessions, readSession, startSession } from '../../src/people/session.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { formTokenOf, newToken } from '../../src/people/token.ts'
import { answeredBy } from '../../src/request-log.ts'
import { addPlain } from '../../src/routes.ts'
import { change } from '../../src/services/change.ts'
import { addUser } from '../../src/services/people.ts'
import { refuse } from '../../src/services/refusals.ts'
import { relayed } from '../support/relayed.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** What the forms of the table have done. */
const done: string[] = []
let streams = 0
let lastVisit: Visit | null = null

const page = (title: string) => () => ({ kind: 'page' as const, title, body: h('p', null, title) })
async function* forever(signal: AbortSignal) {
  streams++
  try {
    yield { first: '<b>' }
    await new Promise(resume => signal.addEventListener('abort', resume, { once: true }))
  } finally {
    streams--
  }
}
/** More than the buffers between us and a browser that reads nothing. */
async function* flood(signal: AbortSignal) {
  streams++
  try {
    while (!signal.aborted) yield 'x'.repeat(1024 * 1024)
  } finally {
    streams--
  }
}
function acted(what: string, to: string) {
  done.push(what)
  return { kind: 'redirect' as const, to }
}
const open = (handler: Handler<Visit>) => handler
const overview: Handler<ServiceVisit> = visit => page(`Overview of ${visit.service.name}`)()
/** What arrived of uploads: fields, and the bytes of the file. */
const uploads: {
  form: Record<string, string>
  name: string | null
  field: string | null
  bytes: number
  end: string
}[] = []
const MOST_UPLOAD = 2 * 1024 * 1024
const taken: Handler<UploadVisit> = async ({ form, upload }) => {
  const one = {
    form: Object.fromEntries(form),
    name: upload?.name ?? null,
    field: upload?.field ?? null,
    bytes: 0,
    end: 'open',
  }
  uploads.push(one)
  try {
    for await (const chunk of upload?.chunks ?? []) one.bytes += chunk.length
    one.end = 'whole'
  } catch (error) {
    one.end = 'broken'
    throw error
  }
  return { kind: 'redirect', to: '/account?done=uploaded' }
}
/** A page that takes a file and does not read it until it is told to. */
let readOn = () => {}
const LARGE_UPLOAD = 100 * 1024 * 1024
const slow: Handler<UploadVisit> = async visit => {
  await new Promise<void>(resolve => {
    readOn = resolve
  })
  return taken(visit)
}
const live: Handler<Visit> = ({ signal }) => ({ kind: 'events', values: forever(signal) })
/** A download that has begun and goes on. */
const downloaded =
  (kind: 'download' | 'export'): Handler<Visit> =>
  ({ signal }) => {
    const rows = async function* () {
      for await (const value of forever(signal)) yield `${JSON.stringify(value)}\n`
    }
    return { kind, name: 'rows.csv', type: 'text/csv', chunks: rows() }
  }
const ROWS: readonly PageRow[] = [
  ['POST', '/s/:service/slow-file', may('see-messages'), slow, withFile(LARGE_UPLOAD)],
  ['POST', '/s/:service/file', may('see-messages'), taken, withFile(MOST_UPLOAD, ['pasted'])],
  ['GET', '/s/:service/file', may('see-messages'), page('Choose a file')],
  ['POST', '/s/:service/keys/file', may('manage-keys'), taken, withFile(MOST_UPLOAD)],
  ['GET', '/', signedIn, page('Services')],
  ['GET', '/account', signedIn, page('Account')],
  ['GET', '/open', anyone, page('Open')],
  ['GET', '/sign-in', anyone, page('Sign in')],
  [
    'POST',
    '/echo',
    anyone,
    open(visit => {
      done.push('echo')
      lastVisit = visit
      const value = visit.form.get('value') ?? ''
      const fields = [
        h(Input, { label: 'Short', name: 'short', value }),
        h(Textarea, { label: 'Long', name: 'long', value }),
      ]
      return { kind: 'page', status: 422, title: 'Error: echo', body: h('div', null, h(Form, { children: fields })) }
    }),
  ],
  ['POST', '/act', signedIn, () => acted('act', '/account?done=acted')],
  ['POST', '/sensitive', fresh(signedIn), () => acted('sensitive', '/')],
  ['GET', '/sensitive', fresh(signedIn), page('Sensitive')],
  ['GET', '/operator', operator, page('Operators')],
  ['GET', '/s/:service', may('see-service'), overview],
  ['GET', '/s/:service/messages', may('see-messages'), page('Messages')],
  ['POST', '/s/:service/messages/search', may('see-messages'), open(() => ({ kind: 'redirect', to: '/' }))],
  ['GET', '/s/:service/keys', may('manage-keys'), page('Keys')],
  ['GET', '/s/:service/team', may('see-service'), page('Team')],
  ['GET', '/go', anyone, open(visit => ({ kind: 'redirect', to: visit.query.get('to') ?? '' }))],
  ['GET', '/begin', anyone, open(() => ({ kind: 'redirect', to: '/', session: newToken() }))],
  ['GET', '/end', anyone, open(() => ({ kind: 'redirect', to: '/', session: null }))],
  ['GET', '/leave', anyone, open(() => ({ kind: 'leave', to: 'https://login.example.org/?a=1' }))],
  ['POST', '/leave', anyone, open(() => ({ kind: 'leave', to: 'https://login.example.org/?a=1' }))],
  ['GET', '/fragment', anyone, open(() => ({ kind: 'fragment', body: h('p', null, '<script>') }))],
  ['GET', '/json', anyone, open(() => ({ kind: 'json', data: { a: '<' } }))],
  ['GET', '/frame', anyone, open(() => ({ kind: 'frame', html: '<!doctype html><p>Mail' }))],
  [
    'GET',
    '/file',
    anyone,
    open(() => ({ kind: 'download', name: 'Größe "1".csv', type: 'text/csv; charset=utf-8', chunks: chunks() })),
  ],
  ['GET', '/events', anyone, live],
  ['GET', '/s/:service/events', may('manage-keys'), live],
  ['GET', '/s/:service/flood', may('manage-keys'), open(({ signal }) => ({ kind: 'events', values: flood(signal) }))],
  ['GET', '/s/:service/export', may('see-messages'), downloaded('download')],
  ['GET', '/operator/export', operator, downloaded('export')],
  [
    'GET',
    '/broken',
    anyone,
    () => {
      throw new Error('ada@example.org')
    },
  ],
  [
    'GET',
    '/refused',
    anyone,
    () => {
      throw refuse.unknownService('<x>')
    },
  ],
]

async function* chunks() {
  yield 'id\n'
  yield '1\n'
}

let here: World
let end: () => Promise<void>
let address = ''
let service: Awaited<ReturnType<World['service']>>
let maria: { token: string; cookie: string }

async function serveRows(parts: World['parts'], config: Partial<World['config']> = {}) {
  const all = { ...parts, config: { ...parts.config, ...config } }
  const server = createServer({ ...all.config, log: parts.log, answered: answeredBy(parts), ownerOf: () => undefined })
  const pages = addConsole(server.app, all, ROWS)
  addPlain(server.app, all, pages.path)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.app.server.address() as { port: number }
  const end = async () => {
    server.app.server.closeAllConnections()
    await server.app.close()
  }
  return { server, pages, address: `http://127.0.0.1:${port}`, end }
}

async function signIn(email: string) {
  const person = await personBy(here.parts.db.sql, email)
  if (!person) throw new Error(`nobody is ${email}`)
  const { token } = await startSession(here.parts, person, { method: 'link', device: 'Tests' })
  return { token, cookie: `herald-console=${token}` }
}

beforeAll(async () => {
  here = await world()
  service = await here.service({ name: 'Parking permits' })
  ;({ address, end } = await serveRows(here.parts))
  maria = await signIn('maria@example.org')
})
afterAll(async () => {
  await end()
})

type Options = {
  method?: string
  headers?: Record<string, string>
  form?: Record<string, string> | string
  body?: string
}

async function ask(path: string, { method, headers = {}, form, body }: Options = {}, at = address) {
  const payload = body ?? (form === undefined ? undefined : new URLSearchParams(form).toString())
  const response = await fetch(at + path, {
    method: method ?? (payload === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      ...(payload !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin: at }),
      ...headers,
    },
    ...(payload !== undefined && { body: payload }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const asMaria = () => ({ cookie: maria.cookie })
const mariasForm = (fields: Record<string, string> = {}) => ({ [FORM_TOKEN]: formTokenOf(maria.token), ...fields })

describe('headers', () => {
  test('a page', async () => {
    const { status, headers, text } = await ask('/console/open')
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(text).toMatch(/^<!doctype html><html lang="en">/)
    expect(text).toContain('<title>Open – Herald</title>')
  })

  test('an e-mail in a frame has a policy of its own', async () => {
    const { headers, text } = await ask('/console/frame')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(
      /^sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'/,
    )
    expect(policy).not.toContain('script')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(text).toBe('<!doctype html><p>Mail')
  })

  test('a part of a page is escaped', async () => {
    const { headers, text } = await ask('/console/fragment')
    expect(headers.get('content-security-policy')).toBe(POLICY)
    expect(text).toBe('<p>&lt;script></p>')
  })

  test('JSON', async () => {
    const { headers, text } = await ask('/console/json')
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).toBe('{"a":"<"}')
  })

  test('a download has its name in any script', async () => {
    const { headers, text } = await ask('/console/file')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e _1_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.csv`,
    )
    expect(text).toBe('id\n1\n')
  })

  test('HEAD answers like GET without the body, and starts no stream', async () => {
    expect(await ask('/console/open', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    expect(await ask('/console/events', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    expect(streams).toBe(0)
  })
})

describe('redirects', () => {
  const location = async (path: string) => {
    const { status, headers } = await ask(path)
    return [status, headers.get('location')]
  }

  test.each([
    ['/s/1?a=b', '/console/s/1?a=b'],
    ['/', '/console'],
    ['https://evil.example', '/console'],
    ['//evil.example', '/console'],
    ['/\\evil.example', '/console'],
    ['/%0d%0ax: y', '/console/%0d%0ax:%20y'],
    ['/..//evil.example', '/console'],
    ['javascript:alert(1)', '/console'],
    ['', '/console'],
  ])('to %s', async (to, expected) => {
    expect(await location(`/console/go?to=${encodeURIComponent(to)}`)).toEqual([303, expected])
  })

  test('to the provider of single sign-on; from a form by a page, because the policy of forms forbids it', async () => {
    expect(await location('/console/leave')).toEqual([303, 'https://login.example.org/?a=1'])
    const browser = newToken()
    const { status, headers, text } = await ask('/console/leave', {
      form: { [FORM_TOKEN]: formTokenOf(browser) },
      headers: { cookie: `herald-browser=${browser}` },
    })
    expect([status, headers.get('refresh')]).toEqual([200, '0; url=https://login.example.org/?a=1'])
    expect(text).toContain('href="https://login.example.org/?a=1"')
  })
})

describe('cookies', () => {
  const cookies = async (path: string, headers: Record<string, string> = {}, at = address) =>
    (await ask(path, { headers }, at)).headers.getSetCookie()

  test('on the machine itself without TLS they have plain names', async () => {
    const [browser, session] = await cookies('/console/begin')
    expect(browser).toMatch(/^herald-browser=[\w-]{43}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/)
    expect(session).toMatch(/^herald-console=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/)
    expect(await cookies('/console/end', { cookie: `herald-browser=${newToken()}` })).toEqual([
      'herald-console=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ])
  })

  test('a browser keeps its cookie; one that we did not make is replaced', async () => {
    expect(await cookies('/console/open', { cookie: `a=b; herald-browser=${newToken()}` })).toEqual([])
    expect(await cookies('/console/open', { cookie: 'herald-browser=mine' })).toHaveLength(1)
  })

  test('https by a trusted proxy: only this host can set them', async () => {
    const proxied = await serveRows(here.parts, { trustedProxies: ['127.0.0.1'] })
    try {
      const headers = { 'x-forwarded-proto': 'https' }
      const [browser, session] = await cookies('/console/begin', headers, proxied.address)
      expect(browser).toMatch(
        /^__Host-herald-browser=[\w-]{43}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure$/,
      )
      expect(session).toMatch(/^__Host-herald=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/)
      // The cookie of plain http is worth nothing here.
      const { status } = await ask('/console/account', { headers: { ...headers, ...asMaria() } }, proxied.address)
      expect(status).toBe(303)
      const secure = { ...headers, cookie: `__Host-herald=${maria.token}` }
      expect((await ask('/console/account', { headers: secure }, proxied.address)).status).toBe(200)
    } finally {
      await proxied.end()
    }
  })

  test('https by the public address, whatever the proxy forwards', async () => {
    const based = await serveRows(here.parts, { baseUrl: 'https://notify.example.org' })
    try {
      const [browser] = await cookies('/console/open', {}, based.address)
      expect(browser).toMatch(/^__Host-herald-browser=.*; Secure$/)
      const form = { [FORM_TOKEN]: formTokenOf('x') }
      const posted = (origin: string) => ask('/console/echo', { form, headers: { origin } }, based.address)
      expect((await posted('https://evil.example')).text).toContain('This form did not come from Herald')
      // The token is wrong, but the origin is right: what was entered is kept.
      expect((await posted('https://notify.example.org')).text).toContain('Send again')
    } finally {
      await based.end()
    }
  })

  test('a forwarded scheme of a proxy that is not trusted counts nothing', async () => {
    const [browser] = await cookies('/console/open', { 'x-forwarded-proto': 'https' })
    expect(browser).toMatch(/^herald-browser=/)
  })

  test('http on another host: a page says what is missing, and no session is read', async () => {
    const plain = await serveRows(here.parts, { baseUrl: 'http://notify.example.org' })
    try {
      const { status, text } = await ask('/console/account', { headers: asMaria() }, plain.address)
      expect(status).toBe(403)
      expect(text).toContain('The console needs https')
    } finally {
      await plain.end()
    }
  })
})

describe('forms', () => {
  const count = () => done.length

  test('of the session and of the browser are accepted', async () => {
    const before = count()
    const acted = await ask('/console/act', { form: mariasForm(), headers: asMaria() })
    expect([acted.status, acted.headers.get('location')]).toEqual([303, '/console/account?done=acted'])
    const browser = newToken()
    const cookie = `${maria.cookie}; herald-browser=${browser}`
    const form = { [FORM_TOKEN]: formTokenOf(browser) }
    expect((await ask('/console/act', { form, headers: { cookie } })).status).toBe(303)
    expect(count()).toBe(before + 2)
  })

  test.each([
    ['a missing token', {}, {}],
    ['a foreign token', { [FORM_TOKEN]: formTokenOf(newToken()) }, {}],
    ['a foreign Origin', mariasForm, { origin: 'https://evil.example' }],
    ['an opaque Origin', mariasForm, { origin: 'null' }],
    ['another port', mariasForm, { origin: 'http://127.0.0.1:1' }],
    ['Sec-Fetch-Site cross-site', mariasForm, { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site same-site', mariasForm, { 'sec-fetch-site': 'same-site' }],
    ['Sec-Fetch-Site none', mariasForm, { 'sec-fetch-site': 'none' }],
  ] as const)('%s: 403, and nothing happens', async (_name, form, headers) => {
    const before = count()
    const given = typeof form === 'function' ? form() : (form as Record<string, string>)
    const { status } = await ask('/console/act', { form: given, headers: { ...asMaria(), ...headers } })
    expect(status).toBe(403)
    expect(count()).toBe(before)
  })

  test('neither Origin nor Sec-Fetch-Site: 403', async () => {
    const before = count()
    const response = await fetch(`${address}/console/act`, {
      method: 'POST',
      headers: { ...asMaria(), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(mariasForm()).toString(),
      redirect: 'manual',
    })
    expect(response.status).toBe(403)
    expect(count()).toBe(before)
  })

  test('what was entered is kept when the session has ended, and can be sent after signing in again', async () => {
    const value = 'Zwei\nZeilen "und" <b>\u{1f468}‍\u{1f469}‍\u{1f467}</b> שלום'
    const browser = newToken()
    const first = await ask('/console/act', {
      form: { [FORM_TOKEN]: formTokenOf(newToken()), value, other: '1' },
      headers: { cookie: `herald-console=${newToken()}; herald-browser=${browser}` },
    })
    expect(first.status).toBe(403)
    expect(first.text).toContain('Your session has ended')
    expect(first.text).toContain('target="_blank"')
    const kept = fieldsOf(first.text)
    expect(kept).toEqual({ [FORM_TOKEN]: formTokenOf(browser), value, other: '1' })
    const again = await signIn('maria@example.org')
    const cookie = `${again.cookie}; herald-browser=${browser}`
    expect((await ask('/console/act', { form: kept, headers: { cookie } })).status).toBe(303)
  })

  test('a sensitive act wants a recent sign-in; the fields are kept', async () => {
    const old = await signIn('maria@example.org')
    const browser = newToken()
    const headers = { cookie: `${old.cookie}; herald-browser=${browser}` }
    const form = { [FORM_TOKEN]: formTokenOf(old.token), name: 'Key' }
    expect((await ask('/console/sensitive', { form, headers })).status).toBe(303)
    here.moveClock(11 * 60_000)
    try {
      const before = count()
      const kept = await ask('/console/sensitive', { form, headers })
      expect(kept.status).toBe(403)
      // The token of the browser: confirming in another tab gives the session a new one.
      expect(fieldsOf(kept.text)).toEqual({ [FORM_TOKEN]: formTokenOf(browser), name: 'Key' })
      expect(kept.text).toContain('/console/sign-in/confirm')
      expect(count()).toBe(before)
      const opened = await ask('/console/sensitive?a=1', { headers })
      expect(opened.headers.get('location')).toBe('/console/sign-in/confirm?return=%2Fsensitive%3Fa%3D1')
    } finally {
      here.moveClock(-11 * 60_000)
    }
  })

  test.each([
    ['10,000 characters', 'x'.repeat(10_000)],
    ['10,000 emoji', '\u{1f600}'.repeat(10_000)],
    ['right to left', 'שלום עולם — مرحبا \u202eabc\u202c'],
    ['markup', `"><script>alert('1')</script>&amp;<!-- </textarea>`],
    ['line breaks, also at the start', '\n\n one\n two \n'],
  ])('a value comes back as it was: %s', async (_name, value) => {
    const browser = newToken()
    const { status, text } = await ask('/console/echo', {
      form: { [FORM_TOKEN]: formTokenOf(browser), value },
      headers: { cookie: `herald-browser=${browser}` },
    })
    expect(status).toBe(422)
    expect(lastVisit?.form.get('value')).toBe(value)
    expect(decoded(/name="short"[^>]*/.exec(text)?.[0].match(/value="([^"]*)"/)?.[1] ?? textOfInput(text))).toBe(value)
    // A browser drops the first line break of a textarea.
    expect(decoded(/<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(text)?.[1] ?? '')).toBe(value)
  })

  test('line breaks of browsers become \\n; a NUL is replaced', async () => {
    const browser = newToken()
    const body = `${FORM_TOKEN}=${formTokenOf(browser)}&value=a%0D%0Ab%00c&bad=%ff%zz`
    await ask('/console/echo', { body, headers: { cookie: `herald-browser=${browser}` } })
    expect(lastVisit?.form.get('value')).toBe('a\nb\ufffdc')
    expect(lastVisit?.form.get('bad')).toBe('\ufffd%zz')
  })

  test('other types: 415; more than a MiB: 413', async () => {
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain', '']) {
      const { status, text } = await ask('/console/echo', { body: '{}', headers: { 'content-type': type } })
      expect([type, status]).toEqual([type, 415])
      expect(text).toContain('This address takes forms only')
    }
    const large = await ask('/console/echo', { body: `value=${'x'.repeat(1024 * 1024)}` })
    expect(large.status).toBe(413)
    expect(large.text).toContain('That is too large')
  })

  test('the browser is told from others by its cookie, the network by its address, the device in words', async () => {
    const browser = newToken()
    await ask('/console/echo', {
      form: { [FORM_TOKEN]: formTokenOf(browser) },
      headers: {
        cookie: `herald-browser=${browser}`,
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      },
    })
    expect(lastVisit).toMatchObject({ browser, network: LOOPBACK, device: 'Firefox on Linux', here: '/echo' })
  })
})

describe('who may open a page', () => {
  test('somebody who is not signed in goes there after signing in', async () => {
    const at = async (path: string, headers: Record<string, string> = {}) =>
      (await ask(path, { headers })).headers.get('location')
    expect(await at('/console')).toBe('/console/sign-in')
    expect(await at('/console/')).toBe('/console')
    expect(await at(`/console/s/${service.id}/messages?status=failed`)).toBe(
      `/console/sign-in?return=${encodeURIComponent(`/s/${service.id}/messages?status=failed`)}`,
    )
    expect(await at('/console/account', { cookie: `herald-console=${newToken()}` })).toMatch(/sign-in/)
    expect(await at('/console/account', { cookie: 'herald-console=%00%00' })).toMatch(/sign-in/)
  })

  test('a script reads the status instead', async () => {
    const headers = { 'sec-fetch-dest': 'empty' }
    expect((await ask('/console/account', { headers })).status).toBe(401)
  })

  test('pages of a service: by role, with the roles that may and the managers', async () => {
    const open = await ask(`/console/s/${service.id}`, { headers: asMaria() })
    expect(open.status).toBe(200)
    expect(open.text).toContain('<title>Overview of Parking permits – Parking permits – Herald</title>')
    const closed = await ask(`/console/s/${service.id}/keys`, { headers: asMaria() })
    expect(closed.status).toBe(403)
    expect(closed.text).toContain('is for developers and managers')
    expect(closed.text).toContain('You are a <strong>viewer</strong> there')
  })

  test('navigation has what exists and may be opened', async () => {
    const { text } = await ask(`/console/s/${service.id}`, { headers: asMaria() })
    const sidebar = text.slice(text.indexOf('<nav class="sidebar"'), text.indexOf('<header'))
    expect([...sidebar.matchAll(/href="\/console\/s\/[^/"]+([^"]*)"/g)].map(([, path]) => path)).toEqual([
      '',
      '',
      '/messages',
      '/team',
    ])
  })

  test('a service of others, an unknown one and what is no id look the same', async () => {
    const other = await here.service()
    await here.parts.db.sql`delete from users where service_id = ${other.id}`
    const body = async (id: string) => {
      const { status, text } = await ask(`/console/s/${id}`, { headers: asMaria() })
      return { status, text }
    }
    const unknown = await body('5c0a0b8e-7a0f-4a43-9b1e-1a2b3c4d5e6f')
    expect(unknown.status).toBe(404)
    expect(await body(other.id)).toEqual(unknown)
    expect(await body('nothing')).toEqual(unknown)
    expect(await body('%00')).toEqual(unknown)
  })

  test('operators open every service, but not its messages', async () => {
    const other = await here.service()
    const sql = here.parts.db.sql
    await sql`insert into people (id, email_address, name, is_operator)
              values (${here.parts.ids.next() as Id}, 'op@example.org', 'Op', true)`
    const { cookie } = await signIn('op@example.org')
    expect((await ask(`/console/s/${other.id}`, { headers: { cookie } })).status).toBe(200)
    const messages = await ask(`/console/s/${other.id}/messages`, { headers: { cookie } })
    expect(messages.status).toBe(403)
    expect(messages.text).toContain('join its team')
    expect((await ask('/console/operator', { headers: { cookie } })).status).toBe(200)
    expect((await ask('/console/operator', { headers: asMaria() })).status).toBe(403)
  })
})

describe('errors are pages', () => {
  test('an unknown path', async () => {
    for (const path of ['/console/nothing', '/console//', '/console/s', `/console/s/${service.id}/nothing`]) {
      const { status, text, headers } = await ask(path, { headers: asMaria() })
      expect([path, status]).toEqual([path, 404])
      expect(text).toContain('There is nothing here')
      expect(headers.get('content-security-policy')).toBe(POLICY)
    }
  })

  test('a wrong method, before the body is read', async () => {
    const get = await ask('/console/act')
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { status, headers, text } = await ask('/console/open', { method, body: 'x'.repeat(2_000_000) })
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      expect(text).toContain('This address does not work that way')
    }
  })

  test('a refusal says its sentence', async () => {
    const { status, text } = await ask('/console/refused')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(text).not.toContain('<x>')
  })

  test('anything else: the number of the request, and no word of the error', async () => {
    const { status, text, headers } = await ask('/console/broken')
    expect(status).toBe(500)
    expect(text).toContain(headers.get('x-request-id'))
    expect(text).not.toContain('ada@example.org')
    expect(text).toContain('Messages accepted before are safe.')
  })

  test('without a database the page says so, and not that messages are being sent', async () => {
    const { relay, url } = await relayed()
    const urlOf = (database: string) => url.replace(/\/postgres$/, `/${database}`)
    const cutOff = await world({ HERALD_DATABASE_SECONDS: '1' }, { urlOf })
    await relay.stop()
    const headers = { cookie: `herald-console=${newToken()}` }
    const { status, text } = await cutOff.call('GET', '/console', { headers })
    expect(status).toBe(500)
    expect(text).toContain('Herald cannot reach its database. Messages accepted before are safe, and are sent when')
  })
})

describe('event streams', () => {
  const listen = async () => {
    const controller = new AbortController()
    const response = await fetch(`${address}/console/events`, { signal: controller.signal })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('data:')) text += new TextDecoder().decode((await reader?.read())?.value)
    return { controller, response, reader, text }
  }
  const settled = async () => {
    for (let waited = 0; streams > 0 && waited < 20_000; waited += 20) await wait(20)
    return streams
  }

  test('each value is the data of an event; it ends with the connection', async () => {
    const { controller, response, text } = await listen()
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(text).toContain('data: {"first":"<b>"}\n\n')
    expect(streams).toBe(1)
    controller.abort()
    expect(await settled()).toBe(0)
  })

  test('a stop ends them', async () => {
    const other = await serveRows(here.parts)
    const response = await fetch(`${other.address}/console/events`)
    const text = response.text()
    other.pages.endStreams()
    await other.server.drain()
    expect(await text).toContain('data:')
    expect(await settled()).toBe(0)
  })
})

describe('streams and downloads end with the rights of the person', () => {
  /** Someone with a role of their own in a service of their own, who has begun to read. */
  async function reading(path: 'events' | 'export', role: Role, isOperator = false) {
    const { id } = await here.service({ name: `Service ${newToken()}` })
    const email_address = `${newToken().toLowerCase()}@example.org`
    const user = await addUser(here.parts, OPERATOR, id, { name: 'Ada', email_address, role })
    await addUser(here.parts, OPERATOR, service.id, { name: 'Ada', email_address }) // stays signed in elsewhere
    if (isOperator) await addOperator(here.parts, OPERATOR, { email_address })
    const { token, cookie } = await signIn(email_address)
    const signal = AbortSignal.timeout(20_000)
    const at = isOperator ? '/console/operator/export' : `/console/s/${id}/${path}`
    const response = await fetch(address + at, { headers: { cookie }, signal })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('first')) text += new TextDecoder().decode((await reader?.read())?.value)
    /** How it ended: a download must not look complete. */
    const ending = async () => {
      try {
        for (;;) if ((await reader?.read())?.done) return 'complete'
      } catch {
        return signal.aborted ? 'still open after 20 s' : 'broken off'
      }
    }
    return { service: id, user, email_address, token, ending }
  }
  type Reading = Awaited<ReturnType<typeof reading>>
  const everyone = async ({ token }: Reading) => {
    const signedIn = await readSession(here.parts, token)
    const other = await signIn(signedIn?.person.email_address ?? '')
    const there = await readSession(here.parts, other.token)
    if (there) await endOtherSessions(here.parts, there)
  }

  test.each<[string, (one: Reading) => Promise<unknown>]>([
    ['removed from the service', one => removeMember(here.parts, OPERATOR, one.service, one.user.id)],
    ['given a lower role', one => changeRole(here.parts, OPERATOR, one.service, one.user.id, 'sender')],
    ['signed out everywhere else', everyone],
    ['removed altogether', one => removePerson(here.parts, OPERATOR, one.user.person_id)],
    ['in a service that is archived', one => change(here.parts, OPERATOR, one.service, { state: 'archived' })],
  ])(
    '%s: the stream ends',
    async (_, lose) => {
      const one = await reading('events', 'developer')
      await lose(one)
      expect(await one.ending()).toBe('complete')
      expect(streams).toBe(0)
    },
    30_000,
  )

  test('a download or an export is broken off, so that it does not look complete', async () => {
    const one = await reading('export', 'viewer')
    await removeMember(here.parts, OPERATOR, one.service, one.user.id)
    expect(await one.ending()).toBe('broken off')
    const two = await reading('export', 'viewer', true)
    await addOperator(here.parts, OPERATOR, { email_address: 'noor@example.org' })
    await removeOperator(here.parts, OPERATOR, two.email_address)
    expect(await two.ending()).toBe('broken off')
    expect(streams).toBe(0)
  }, 60_000)

  test('a browser that reads nothing is disconnected', async () => {
    const { id } = await here.service({ name: `Service ${newToken()}` })
    const email_address = `${newToken().toLowerCase()}@example.org`
    const user = await addUser(here.parts, OPERATOR, id, { name: 'Ada', email_address, role: 'developer' })
    await addUser(here.parts, OPERATOR, service.id, { name: 'Ada', email_address }) // stays signed in elsewhere
    const { cookie } = await signIn(email_address)
    const { port } = new URL(address)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    const closed = once(socket, 'close')
    socket.pause().write(`GET /console/s/${id}/flood HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n\r\n`)
    await expect.poll(() => streams).toBe(1)
    await removeMember(here.parts, OPERATOR, id, user.id)
    await expect.poll(() => streams).toBe(0)
    socket.resume()
    await closed
  }, 30_000)

  test('a new token of the same session ends nothing', async () => {
    const one = await reading('export', 'viewer')
    const signedIn = await readSession(here.parts, one.token)
    if (!signedIn) throw new Error('not signed in')
    expect(await confirmAgain(here.parts, signedIn, 'link')).not.toBe(null)
    const before = await here.parts.db.sql`select last_seen_at from sessions where id = ${signedIn.session.id}`
    // Two checks later it is still open, and the checks do not count as use.
    expect(await Promise.race([one.ending(), wait(5_000, 'open')])).toBe('open')
    expect(await here.parts.db.sql`select last_seen_at from sessions where id = ${signedIn.session.id}`).toEqual(before)
    await removeMember(here.parts, OPERATOR, one.service, one.user.id)
  }, 30_000)
})

test('the session of a request is read in a turn of its network: many requests leave connections to others', async () => {
  const { reads } = here.parts
  let end = () => {}
  const released = new Promise<void>(resolve => {
    end = resolve
  })
  const busy = [1, 2].map(() => reads.visit({ owner: LOOPBACK, person: null }, () => released))
  const answer = ask('/console/account', { headers: asMaria() })
  await expect.poll(() => reads.waiting()).toBe(1)
  end()
  await Promise.all(busy)
  expect((await answer).status).toBe(200)
})

test('who is not signed in takes turns of their network, and none of the service in the address', async () => {
  const { reads } = here.parts
  let end = () => {}
  const released = new Promise<void>(resolve => {
    end = resolve
  })
  const busy = [1, 2].map(() => reads.visit({ owner: service.id, person: null }, () => released))
  const answers = [1, 2, 3].map(() => ask(`/console/s/${service.id}/messages`))
  for (const { status } of await Promise.all(answers)) expect(status).toBe(303)
  end()
  await Promise.all(busy)
})

describe('assets', () => {
  const assets = readAssets()

  test('have hashes in their names and may be kept for ever', async () => {
    for (const path of [assets.style, assets.script, assets.sprite, assets.favicon]) {
      expect(path).toMatch(/^\/assets\/[a-z]+-[0-9a-f]{12}\.(css|js|svg)$/)
      const { status, headers, text } = await ask(`/console${path}`)
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.getSetCookie()).toEqual([])
      expect(text).toBe(assets.byName.get(path.slice('/assets/'.length))?.bytes.toString())
    }
    expect((await ask('/console/assets/console-000000000000.css')).status).toBe(404)
    expect((await ask('/console/assets/..%2f..%2fpackage.json')).status).toBe(404)
  })

  test('the script is one small module', () => {
    const { bytes } = [...assets.byName.values()].find(({ type }) => type.startsWith('text/javascript')) ?? {}
    expect(bytes?.length).toBeLessThanOrEqual(MOST_SCRIPT_BYTES)
    expect(() => new Function(String(bytes))).not.toThrow()
  })

  test('name no address of others, and pages use no inline script or style', async () => {
    const isForeign = (text: string) =>
      [...text.matchAll(/(?:https?:)?\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi)]
        .map(([found]) => found)
        .filter(found => !found.endsWith('www.w3.org') && !found.includes('127.0.0.1'))
    for (const [name, { bytes }] of assets.byName) expect([name, isForeign(String(bytes))]).toEqual([name, []])
    for (const path of ['/open', '/account', `/s/${service.id}`, '/nothing']) {
      const { text } = await ask(`/console${path}`, { headers: asMaria() })
      expect(isForeign(text)).toEqual([])
      expect(text).not.toMatch(/\sstyle=|<style|<script(?! type="module" src=)|\son[a-z]+=/)
    }
  })
})

describe('where the console is', () => {
  test('another path is in every address', async () => {
    const moved = await serveRows(here.parts, { consolePath: '/people/desk' })
    try {
      const { text } = await ask(`/people/desk/s/${service.id}`, { headers: asMaria() }, moved.address)
      const addresses = [...text.matchAll(/\s(?:href|src|action)="([^"#][^"]*)"/g)].map(([, found]) => found)
      expect(addresses.length).toBeGreaterThan(8)
      expect(addresses.filter(found => !found?.startsWith('/people/desk') && found !== '/docs')).toEqual([])
      expect((await ask('/console', {}, moved.address)).status).toBe(404)
      expect((await ask('/', {}, moved.address)).headers.get('location')).toBe('/people/desk')
    } finally {
      await moved.end()
    }
  })

  test('the program leads / there', async () => {
    expect((await here.call('GET', '/')).headers.get('location')).toBe('/console')
    expect(here.running.console).toBe(`${here.address}/console`)
  })

  test('switched off', async () => {
    const off = await world({ HERALD_CONSOLE: 'off' })
    expect((await off.call('GET', '/')).headers.get('location')).toBe('/docs')
    expect((await off.call('GET', '/console')).body).toMatchObject({ status_code: 404 })
    expect(off.running.console).toBe(null)
  })

  test('on a port of its own', async () => {
    const apart = await world({ HERALD_CONSOLE_PORT: '0' })
    const { consolePort } = apart.running
    expect(consolePort).not.toBe(apart.port)
    expect((await apart.call('GET', '/console')).body).toMatchObject({ status_code: 404 })
    expect((await apart.call('GET', '/')).headers.get('location')).toBe('/docs')
    const at = `http://127.0.0.1:${consolePort}`
    expect((await ask('/', {}, at)).headers.get('location')).toBe('/console')
    expect((await ask('/console/nothing', {}, at)).text).toContain('There is nothing here')
    expect((await ask('/health/ready', {}, at)).status).toBe(200)
    expect((await ask('/v2/notifications', {}, at)).status).toBe(404)
    expect((await ask('/metrics', {}, at)).status).toBe(404)
  })

  test('a path that Herald itself uses, or no path, is a wrong setting', () => {
    for (const path of ['/v2', '/docs', '/inbox/x', 'console', '/console/', '/', '/a b', '//x'])
      expect(() => readConfig({ HERALD_CONSOLE_PATH: path }), path).toThrow(/HERALD_CONSOLE_PATH/)
  })
})

describe('a form with a file', () => {
  const path = () => `/console/s/${service.id}/file`
  type Part = { name: string; value: string | Buffer; file?: string }
  const BOUNDARY = '----herald'

  function multipart(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
    const pieces = parts.flatMap(({ name, value, file }) => [
      Buffer.from(
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"` +
          (file === undefined ? '' : `; filename="${file}"\r\ncontent-type: application/octet-stream`) +
          '\r\n\r\n',
      ),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ])
    return Buffer.concat([...pieces, Buffer.from(end)])
  }

  const token = (): Part => ({ name: FORM_TOKEN, value: formTokenOf(maria.token) })
  const file = (value: string | Buffer, name = 'permits.csv'): Part => ({ name: 'file', value, file: name })

  async function post(parts: readonly Part[], headers: Record<string, string> = asMaria()) {
    const response = await fetch(address + path(), {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, origin: address, ...headers },
      body: new Uint8Array(multipart(parts)),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** A request on a socket of its own, of which only a part is sent. */
  async function sendPart(payload: Buffer, length: number, more: readonly string[] = [], to = path()) {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    const head = [
      `POST ${to} HTTP/1.1`,
      `host: ${new URL(address).host}`,
      `origin: ${address}`,
      `cookie: ${maria.cookie}`,
      `content-type: multipart/form-data; boundary=${BOUNDARY}`,
      `content-length: ${length}`,
      ...more,
      '',
      '',
    ]
    socket.write(Buffer.concat([Buffer.from(head.join('\r\n')), payload]))
    return socket
  }

  const answerTo = async (socket: ReturnType<typeof connect>) => String((await once(socket, 'data'))[0])

  test('the fields before it, its name and its bytes', async () => {
    const content = Buffer.alloc(1_500_000, 'ä')
    const before = uploads.length
    const parts = [token(), { name: 'template', value: 'a\r\nb' }, file(content, 'Été.csv'), { name: 'x', value: '1' }]
    const { status, headers } = await post(parts)
    expect([status, headers.get('location')]).toEqual([303, '/console/account?done=uploaded'])
    expect(uploads.slice(before)).toEqual([
      {
        form: { [FORM_TOKEN]: formTokenOf(maria.token), template: 'a\nb' },
        name: 'Été.csv',
        field: 'file',
        bytes: content.length,
        end: 'whole',
      },
    ])
  })

  test('no file, and a pasted text instead of one', async () => {
    const before = uploads.length
    await post([token(), file('', '')])
    await post([token(), file('', ''), { name: 'pasted', value: 'a\tb' }])
    expect(uploads.slice(before).map(({ name, field, bytes }) => [name, field, bytes])).toEqual([
      [null, null, 0],
      ['', 'pasted', 3],
    ])
  })

  test.each([
    ['without a token', () => [file('a')], {}, 403, 'earlier session'],
    ['with a foreign token', () => [{ ...token(), value: formTokenOf(newToken()) }, file('a')], {}, 403, 'once more'],
    ['with the token behind the file', () => [file('a'), token()], {}, 403, 'earlier session'],
    ['from another site', () => [token(), file('a')], { origin: 'https://evil.example' }, 403, 'did not come from'],
    ['from nowhere', () => [token(), file('a')], { 'sec-fetch-site': 'cross-site' }, 403, 'did not come from'],
    ['by somebody who is not signed in', () => [token(), file('a')], { cookie: 'a=b' }, 303, ''],
    ['of another type', () => [token(), file('a')], { 'content-type': 'text/csv' }, 415, 'a form with a file'],
  ])('%s takes nothing in', async (_name, parts, headers, status, words) => {
    const before = uploads.length
    const answer = await post(parts(), { ...asMaria(), ...headers })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(words)
    expect(uploads.length).toBe(before)
  })

  test('a person without the permission: nothing is taken in', async () => {
    const before = uploads.length
    const response = await fetch(`${address}/console/s/${service.id}/keys/file`, {
      method: 'POST',
      headers: { ...asMaria(), origin: address, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: new Uint8Array(multipart([token(), file('a')])),
    })
    expect(response.status).toBe(403)
    expect(uploads.length).toBe(before)
  })

  test('a form without a file does not take one, nor the other way round', async () => {
    const response = await fetch(`${address}/console/act`, {
      method: 'POST',
      headers: { ...asMaria(), origin: address, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: new Uint8Array(multipart([token()])),
    })
    expect(response.status).toBe(415)
    expect((await ask(path(), { form: mariasForm(), headers: asMaria() })).status).toBe(415)
  })

  test('an announced size over the limit is refused before a byte of it is read', async () => {
    const before = uploads.length
    const socket = await sendPart(Buffer.alloc(0), 10 * 1024 ** 3)
    expect(await answerTo(socket)).toMatch(/^HTTP\/1.1 413 [\s\S]*The file is too large. The most is 2 MB/)
    socket.destroy()
    expect(uploads.length).toBe(before)
  })

  test('a file over the limit without an announced size is refused when it gets there', async () => {
    const before = uploads.length
    const { status, text } = await post([token(), file(Buffer.alloc(MOST_UPLOAD + 1, 'a'))])
    expect(status).toBe(413)
    expect(text).toContain('The file is too large. The most is 2 MB')
    expect(uploads[before]).toMatchObject({ end: 'broken' })
    expect(uploads[before]?.bytes).toBeLessThanOrEqual(MOST_UPLOAD)
  })

  test('an upload that breaks off ends the page', async () => {
    const before = uploads.length
    const socket = await sendPart(multipart([token(), file(Buffer.alloc(200_000, 'a'))], ''), 1_000_000)
    for (let n = 0; n < 2_000 && (uploads[before]?.bytes ?? 0) < 100_000; n++) await wait(10)
    socket.destroy()
    for (let n = 0; n < 2_000 && uploads[before]?.end === 'open'; n++) await wait(10)
    expect(uploads[before]).toMatchObject({ end: 'broken' })
  })

  test('a form that ends in the middle is refused', async () => {
    const whole = multipart([token(), file(Buffer.alloc(100_000, 'a'))], '')
    const before = uploads.length
    const socket = await sendPart(whole, whole.length, ['connection: close'])
    expect(await answerTo(socket)).toMatch(/^HTTP\/1.1 400 /)
    expect(uploads[before]).toMatchObject({ end: 'broken' })
  })

  test('long fields and many fields are refused', async () => {
    const before = uploads.length
    expect((await post([token(), { name: 'long', value: 'x'.repeat(70_000) }, file('a')])).status).toBe(400)
    const many = Array.from({ length: 300 }, (_, n) => ({ name: `f${n}`, value: 'x' }))
    await post([token(), ...many, file('a')])
    expect(Object.keys(uploads[before]?.form ?? {}).length).toBeLessThanOrEqual(200)
  })

  test('the memory does not grow with the file: a page that does not read stops the sender', async () => {
    const before = uploads.length
    const large = multipart([token(), file(Buffer.alloc(LARGE_UPLOAD - 1_000, 'a'))])
    const socket = await sendPart(Buffer.alloc(0), large.length, [], `/console/s/${service.id}/slow-file`)
    for (let at = 0; at < large.length; at += 65_536) socket.write(large.subarray(at, at + 65_536))
    // What left the sender is in buffers of the system or in the program.
    let left = -1
    for (let now = 0; now !== left || now === 0; await wait(300)) {
      left = now
      now = large.length - socket.writableLength
    }
    expect(left).toBeLessThan(32 * 1024 * 1024)
    readOn()
    expect(await answerTo(socket)).toMatch(/^HTTP\/1.1 303 /)
    expect(uploads[before]).toMatchObject({ bytes: LARGE_UPLOAD - 1_000, end: 'whole' })
    socket.destroy()
  })
})

/** The fields that nobody sees. */
const fieldsOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      decoded(value),
    ]),
  )

const textOfInput = (text: string) => /<input[^>]*\bvalue="([^"]*)"[^>]*name="short"/s.exec(text)?.[1] ?? ''

const decoded = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
