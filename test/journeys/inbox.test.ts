// Messages that were not sent to anyone, for the operator on this machine who has the link, and for nobody else.
import { get } from 'node:http'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { inboxToken } from '../../src/inbox/link.ts'
import { keep } from '../../src/inbox/sql.ts'
import { CATEGORY, type World, world } from '../support/world.ts'

let here: World
let token: string
let captured: string
let tested: string
let textMessage: string
let scheduled: string

beforeAll(async () => {
  here = await world({}, { engine: true })
  token = inboxToken(here.parts)
  const service = await here.service({ name: 'Parking permits' })
  await service.addSender('Permits', true)
  const key = await service.key()
  const test = await service.key({ type: 'test' })
  const template = await key.post('/v2/manage-template', {
    name: 'Welcome',
    template_type: 'email',
    subject: 'Hello ((name))',
    content: '# Welcome\n\n((name)) <script>',
    template_category_id: CATEGORY.general,
  })
  const text = await key.post('/v2/manage-template', {
    name: 'Code',
    template_type: 'sms',
    content: 'Your code: ((code))',
    template_category_id: CATEGORY.general,
  })
  const mail = { email_address: 'ada@example.org', template_id: template.body.id, personalisation: { name: 'Ada' } }
  captured = (await key.post('/v2/notifications/email', mail)).body.id
  tested = (await test.post('/v2/notifications/email', { ...mail, personalisation: { name: 'Tess' } })).body.id
  const sms = { phone_number: '6135550123', template_id: text.body.id, personalisation: { code: '1234' } }
  textMessage = (await test.post('/v2/notifications/sms', sms)).body.id
  const scheduled_for = new Date(Date.now() + 3_600_000).toISOString()
  scheduled = (await test.post('/v2/notifications/email', { ...mail, scheduled_for })).body.id
  for (const [caller, id] of [
    [key, captured],
    [test, tested],
    [test, textMessage],
  ] as const)
    await vi.waitFor(async () => expect((await caller.get(`/v2/notifications/${id}`)).body.status).toBe('delivered'))
})

describe('GET /inbox', () => {
  test('shows captured messages, as JSON and as a page without scripts', async () => {
    const { messages, details } = (await here.inbox()).body
    const said = 'E-mails are captured, not sent: the inbox keeps them.'
    expect(details[0]).toBe(said)
    expect((await browser('/inbox', { cookie: (await opened()).cookie })).body).toContain(said)
    expect(messages.at(-1)).toMatchObject({ id: captured, type: 'email', test: false, to: 'ada@example.org' })
    expect((await here.inbox(`/inbox/${captured}`)).body.text).toContain('Ada <script>')
    const page = await browser(`/inbox/${captured}`, { cookie: (await opened()).cookie })
    expect(page.body).toContain('Hello Ada')
    expect(page.body).toContain('captured, not sent')
    expect(page.body).not.toContain('<script>')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect(page.headers['cache-control']).toBe('no-store')
  })

  test('shows messages of test keys, marked, as they would have been sent; not scheduled ones', async () => {
    const { messages } = (await here.inbox()).body
    expect(messages.map((one: { id: string; test: boolean }) => [one.id, one.test])).toEqual([
      [textMessage, true],
      [tested, true],
      [captured, false],
    ])
    const { html, ...mail } = (await here.inbox(`/inbox/${tested}`)).body
    expect(mail).toEqual({
      id: tested,
      type: 'email',
      at: expect.stringMatching(/Z$/),
      test: true,
      from: 'Parking permits <parking.permits@herald.example>',
      to: 'ada@example.org',
      subject: 'Hello Tess',
      text: expect.stringContaining('Tess <script>'),
    })
    expect(html).toContain('Tess &lt;script&gt;')
    expect((await here.inbox(`/inbox/${textMessage}`)).body).toMatchObject({
      from: 'Permits',
      to: '+16135550123',
      subject: null,
      text: 'Parking permits: Your code: 1234',
      html: null,
    })
    expect((await here.inbox(`/inbox/${scheduled}`)).status).toBe(404)
    const { cookie } = await opened()
    expect((await browser('/inbox', { cookie })).body.match(/test message/g)).toHaveLength(2)
    expect((await browser(`/inbox/${tested}`, { cookie })).body).toContain('test message')
  })

  test('pages by older_than', async () => {
    const older = async (than: string) =>
      (await here.call('GET', `/inbox?token=${token}&older_than=${than}`)).body.messages.map(
        (one: { id: string }) => one.id,
      )
    expect(await older(textMessage)).toEqual([tested, captured])
    expect(await older(captured)).toEqual([])
    expect(await older('x')).toHaveLength(3)
  })

  test('a page of large messages is shorter, and none is skipped', async () => {
    const big = await world({ HERALD_DATABASE_SECONDS: '60' }) // 18 MB in one statement
    const ids = [...Array(12)].map(() => big.parts.ids.next())
    const kept = { from: null, to: '+16135550123', subject: null, text: 'x'.repeat(1_500_000), html: null }
    const sealed = big.parts.seal.seal('captured message', JSON.stringify(kept))
    await keep(
      big.parts.db.sql,
      ids.map(id => ({ id, channel: 'sms' as const, sealed })),
    )
    const first = await big.parts.inbox.list(null, 50)
    expect([first.messages.length, first.hasMore]).toEqual([6, true])
    const second = await big.parts.inbox.list(first.messages.at(-1)?.id ?? null, 50)
    expect([...first.messages, ...second.messages].map(one => one.id)).toEqual(ids.reverse())
  })
})

describe('access', () => {
  test('nobody without the token: a local proxy that adds no header is answered like any other caller', async () => {
    for (const path of ['/inbox', `/inbox/${captured}`])
      for (const given of ['', '?token=', `?token=${'x'.repeat(43)}`, `?token=${token.slice(1)}`, '?token=a&token=b']) {
        const page = await browser(path + given)
        expect([page.status, page.headers['set-cookie']]).toEqual([403, undefined])
        expect(page.body).toContain('npx herald inbox --link')
        expect(page.body).not.toContain('ada@example.org')
        const reply = await here.call('GET', path + given)
        expect([reply.status, reply.body.errors[0].error]).toEqual([403, 'AuthError'])
        expect(reply.body.errors[0].message).toContain('herald inbox --link')
      }
    for (const cookie of ['herald_inbox=x', `${(await opened()).cookie}x`])
      expect((await browser('/inbox', { cookie })).status).toBe(403)
  })

  test('the link opens it: a cookie for this page alone, and the token is removed from the address', async () => {
    const { reply, cookie } = await opened()
    expect([reply.status, reply.headers.location]).toEqual([303, '/inbox'])
    expect(reply.headers['referrer-policy']).toBe('no-referrer')
    expect(reply.headers['set-cookie']?.[0]).toMatch(
      /^herald_inbox_[0-9a-f]{8}=[0-9a-z]{8}\.[\w-]{43}; Path=\/inbox; HttpOnly; SameSite=Lax$/,
    )
    expect((await browser('/inbox', { cookie })).status).toBe(200)
    expect((await browser('/inbox', { cookie: `a=b; ${cookie}; c=d` })).status).toBe(200)
  })

  test('another installation has another token', async () => {
    expect(inboxToken((await world()).parts)).not.toBe(token)
  })

  test('it is an unknown path through a proxy or under another host name, token or not', async () => {
    const strangers: Record<string, string>[] = [
      { host: 'notify.example.org' },
      { host: 'localhost.evil.example' },
      { 'x-forwarded-for': '203.0.113.7' },
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-host': 'notify.example.org' },
      { 'x-real-ip': '203.0.113.7' },
      { via: '1.1 proxy' },
      { forwarded: 'for=203.0.113.7' },
    ]
    for (const headers of strangers)
      for (const path of ['/inbox', `/inbox/${captured}`, `/inbox?token=${token}`])
        expect((await browser(path, headers)).status).toBe(404)
    expect((await browser('/inbox', { cookie: (await opened()).cookie, host: `localhost:${here.port}` })).status).toBe(
      200,
    )
  })
})

test('its contents cannot be read in the database', async () => {
  const [row] = await here.parts.db.sql<{ dump: string }>`select string_agg(inbox::text, '') as dump from inbox`
  expect(row?.dump).not.toContain(Buffer.from('ada@example.org').toString('hex'))
})

async function opened() {
  const reply = await browser(`/inbox?token=${token}`)
  return { reply, cookie: reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '' }
}

// fetch does not let a caller choose the Host header.
function browser(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; headers: import('node:http').IncomingHttpHeaders; body: string }>(
    (resolve, reject) => {
      get({ host: '127.0.0.1', port: here.port, path, headers: { accept: 'text/html', ...headers } }, response => {
        let body = ''
        response.on('data', chunk => {
          body += String(chunk)
        })
        response.once('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
      }).on('error', reject)
    },
  )
}
