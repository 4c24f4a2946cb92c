// The inbox as an API: a team reads what its keys would have sent, instead of a mailbox.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { problemsOf } from '../src/inbox/links.ts'
import { OF_NOBODY, scopeOfService } from '../src/inbox/read.ts'
import { emptyInbox, removeCaptured } from '../src/inbox/remove.ts'
import { ALL, note, pageOf } from '../src/inbox/sql.ts'
import { MOST_OF_SERVICE } from '../src/inbox/waits.ts'
import { emptyFinishedFiles } from '../src/maintenance/files.ts'
import { CATEGORY, type Caller, OPERATOR, type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let live: Caller
let tests: Caller
let email: string
let text: string

beforeAll(async () => {
  here = await world({}, { engine: true })
  service = await here.service({ name: 'Parking permits' })
  await service.addReplyTo('desk@example.org', true)
  live = await service.key()
  tests = await service.key({ type: 'test' })
  const made = (body: object) =>
    live.post('/v2/manage-template', { name: 'Welcome', template_category_id: CATEGORY.general, ...body })
  email = (
    await made({
      template_type: 'email',
      subject: 'Hello ((name))',
      content:
        'Dear ((name))\n\n[Your permit](https://permits.example.org/p?a=1&b=2) [Old](http://localhost/x)\n\n((file))',
    })
  ).body.id
  text = (await made({ template_type: 'sms', content: 'Your code: ((code))' })).body.id
})

/** The machine that runs the tests may be slow. */
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

const mail = (caller: Caller, to: string, name = 'Ada', more: object = {}) =>
  caller.post('/v2/notifications/email', {
    email_address: to,
    template_id: email,
    personalisation: { name, file: '', ...more },
  })
const sms = (caller: Caller, to: string) =>
  caller.post('/v2/notifications/sms', { phone_number: to, template_id: text, personalisation: { code: '1234' } })

const inbox = (caller: Caller, query = '') => caller.get(`/herald/v1/inbox${query}`)
const subjects = async (caller: Caller, query = '') =>
  (await inbox(caller, query)).body.messages.map((one: { subject: string }) => one.subject)

describe('GET /herald/v1/inbox', () => {
  test('waits for the next message to an address, and answers with its content and its links', async () => {
    const waiting = inbox(tests, '?to=ADA.wait@example.org&wait=20')
    await soon(() => expect(here.parts.inboxWaits.waiting()).toBe(1))
    await mail(tests, 'other@example.org')
    const { id } = (await mail(tests, 'ada.wait@example.org')).body

    const { status, body } = await waiting
    expect(status).toBe(200)
    expect(body.messages).toHaveLength(1)
    expect(body.messages[0]).toMatchObject({
      ...{ id, type: 'email', simulated: true, to: 'ada.wait@example.org', reply_to: 'desk@example.org' },
      from: 'Parking permits <parking.permits@herald.example>',
      subject: 'Hello Ada',
      text: expect.stringContaining('Dear Ada'),
      html: expect.stringContaining('<a '),
      ...{ parts: null, attachments: [] },
      links: [
        { url: 'https://permits.example.org/p?a=1&b=2', text: 'Your permit', problems: [] },
        { url: 'http://localhost/x', text: 'Old', problems: ['local'] },
      ],
    })
    expect(here.parts.inboxWaits.waiting()).toBe(0)
  })

  test('a wait ends empty when its time is up, and at once when there is a message', async () => {
    const began = performance.now()
    expect((await inbox(tests, '?to=nobody@example.org&wait=1')).body).toEqual({ messages: [], has_more: false })
    expect(performance.now() - began).toBeGreaterThan(900)
    await mail(tests, 'already@example.org')
    await soon(async () => expect(await subjects(tests, '?to=already@example.org')).toHaveLength(1))
    expect((await inbox(tests, '?to=already@example.org&wait=25')).body.messages).toHaveLength(1)
  })

  test('a key sees messages of its own service and type only', async () => {
    const stranger = await (await here.service()).key({ type: 'test' })
    await mail(live, 'split@example.org', 'Live')
    await mail(tests, 'split@example.org', 'Test')
    await soon(async () => expect(await subjects(live, '?to=split@example.org')).toEqual(['Hello Live']))
    await soon(async () => expect(await subjects(tests, '?to=split@example.org')).toEqual(['Hello Test']))
    const { id, simulated } = (await inbox(live, '?to=split@example.org')).body.messages[0]
    expect(simulated).toBe(false)
    expect((await inbox(stranger)).body.messages).toEqual([])
    for (const other of [tests, stranger]) {
      expect((await other.get(`/herald/v1/inbox/${id}`)).status).toBe(404)
      expect((await other.delete(`/herald/v1/inbox/${id}`)).status).toBe(404)
    }
    expect((await live.get(`/herald/v1/inbox/${id}`)).body.id).toBe(id)
  })

  test('filters by type and time, in pages; a number is found in any spelling', async () => {
    const key = await (await here.service()).key({ type: 'test' })
    const template = (
      await key.post('/v2/manage-template', {
        ...{ name: 'Code', template_type: 'sms', content: 'Code', template_category_id: CATEGORY.general },
      })
    ).body.id
    const began = new Date().toISOString()
    for (const phone_number of ['6135550111', '+16135550112', '6135550111'])
      await key.post('/v2/notifications/sms', { phone_number, template_id: template })
    await soon(async () => expect((await inbox(key)).body.messages).toHaveLength(3))
    expect((await inbox(key, '?type=email')).body.messages).toEqual([])
    expect((await inbox(key, `?after=${encodeURIComponent(began)}`)).body.messages).toHaveLength(3)
    expect((await inbox(key, `?before=${encodeURIComponent(began)}`)).body.messages).toEqual([])
    const { messages, has_more } = (await inbox(key, '?limit=2&type=sms')).body
    expect([messages.length, has_more, messages[0].parts, messages[0].html]).toEqual([2, true, 1, null])
    const rest = (await inbox(key, `?limit=2&before=${messages[1].id}`)).body
    expect([rest.messages.length, rest.has_more]).toEqual([1, false])
    expect((await inbox(key, `?after=${messages[1].id}`)).body.messages.map((one: { id: Id }) => one.id)).toEqual([
      messages[0].id,
    ])
    expect((await inbox(key, '?to=%2B1%20613%20555-0111')).body.messages).toHaveLength(2)
  })

  test.each([
    ['?to=nonsense', 'to is not an e-mail address or a phone number'],
    ['?limit=0', 'limit 0 is not a whole number from 1 to 100'],
    ['?wait=26', 'wait 26 is not a whole number from 0 to 25'],
    ['?after=yesterday', 'after yesterday is not the id of a message or a time such as 2026-01-31T12:00:00Z'],
  ])('%s is refused', async (query, message) => {
    const { status, body } = await inbox(tests, query)
    expect([status, body.errors[0].message]).toEqual([400, message])
  })

  test('a service may have only so many requests that wait; they end when the caller goes', async () => {
    const gone = new AbortController()
    const waits = [...Array(MOST_OF_SERVICE)].map(() =>
      fetch(`${here.address}/herald/v1/inbox?to=nobody@example.org&wait=25`, {
        headers: { authorization: `ApiKey-v1 ${tests.key}` },
        signal: gone.signal,
      }).catch(() => null),
    )
    await soon(() => expect(here.parts.inboxWaits.waiting()).toBe(MOST_OF_SERVICE))
    const { status, headers } = await inbox(tests, '?to=nobody@example.org&wait=25')
    expect({ status, again: headers.get('retry-after') }).toEqual({ status: 429, again: '1' })
    gone.abort()
    await Promise.all(waits)
    await soon(() => expect(here.parts.inboxWaits.waiting()).toBe(0))
  })
})

describe('GET /herald/v1/inbox/:id', () => {
  test('has headers and source as they would be sent, with attachments', async () => {
    const file = { file: Buffer.from('a,b\n1,2\n').toString('base64'), filename: 'Größe.csv', sending_method: 'attach' }
    const { id } = (await mail(tests, 'files@example.org', 'Ünal', { file })).body
    await soon(async () => expect((await tests.get(`/herald/v1/inbox/${id}`)).status).toBe(200))

    const { body } = await tests.get(`/herald/v1/inbox/${id}`)
    expect(body.attachments).toEqual([{ filename: 'Größe.csv', media_type: 'text/csv', bytes: 8 }])
    const header = (name: string) => body.headers.find((one: { name: string }) => one.name === name)?.value
    expect(header('To')).toBe('files@example.org')
    expect(header('Reply-To')).toBe('desk@example.org')
    expect(header('Message-ID')).toBe(`<${id}@herald.example>`)
    expect(header('Content-Type')).toMatch(/^multipart\/mixed; boundary=/)
    expect(body.source).toContain(Buffer.from('a,b\n1,2\n').toString('base64'))
    expect(body.source).toMatch(/\r\nSubject: =\?UTF-8\?B\?/)
  })

  test('attachments stay as long as the inbox shows the message, and go with it', async () => {
    const file = { file: Buffer.from('a,b\n').toString('base64'), filename: 'kept.csv', sending_method: 'attach' }
    const { id } = (await mail(tests, 'kept@example.org', 'Ada', { file })).body
    await soon(async () => expect((await tests.get(`/v2/notifications/${id}`)).body.status).toBe('delivered'))
    const { sql } = here.parts.db
    const emptied = async () => {
      await sql`update files set look_at = now() - interval '1 hour' where notification_id = ${id} and look_at is not null`
      for await (const _step of emptyFinishedFiles(here.parts));
      return (await sql<{ emptied: boolean }>`select emptied from files where notification_id = ${id}`)[0]?.emptied
    }
    expect(await emptied()).toBe(false)
    expect((await tests.get(`/herald/v1/inbox/${id}`)).body.source).toContain('YSxiCg==')
    expect((await tests.delete(`/herald/v1/inbox/${id}`)).body).toEqual({ result: 'success' })
    expect(await emptied()).toBe(true)
  })

  test('a text message has neither', async () => {
    const { id } = (await sms(tests, '6135550123')).body
    await soon(async () => expect((await tests.get(`/herald/v1/inbox/${id}`)).status).toBe(200))
    expect((await tests.get(`/herald/v1/inbox/${id}`)).body).toMatchObject({
      ...{ type: 'sms', to: '+16135550123', text: 'Parking permits: Your code: 1234' },
      ...{ parts: 1, headers: [], source: null, subject: null, html: null },
    })
  })

  test('404 for what is not in the inbox, 400 for what is no id', async () => {
    expect((await tests.get(`/herald/v1/inbox/${service.id}`)).status).toBe(404)
    expect((await tests.get('/herald/v1/inbox/x')).status).toBe(400)
  })
})

describe('DELETE /herald/v1/inbox', () => {
  test('deletes one message, those to one recipient, or all of the key type; the messages stay', async () => {
    const own = await here.service()
    const [key, other] = [await own.key({ type: 'test' }), await own.key()]
    const template = (
      await key.post('/v2/manage-template', {
        ...{ name: 'Code', template_type: 'email', subject: 'S', content: 'C', template_category_id: CATEGORY.general },
      })
    ).body.id
    const send = async (caller: Caller, email_address: string) =>
      (await caller.post('/v2/notifications/email', { email_address, template_id: template })).body.id
    const ids = [await send(key, 'a@example.org'), await send(key, 'a@example.org'), await send(key, 'b@example.org')]
    await send(key, 'b@example.org')
    await send(other, 'a@example.org')
    await soon(async () => expect((await inbox(key)).body.messages).toHaveLength(4))
    await soon(async () => expect((await inbox(other)).body.messages).toHaveLength(1))

    expect((await key.delete(`/herald/v1/inbox/${ids[2]}`)).body).toEqual({ result: 'success' })
    expect((await key.delete(`/herald/v1/inbox/${ids[2]}`)).status).toBe(404)
    expect((await key.delete('/herald/v1/inbox?to=A@example.org')).body).toEqual({ deleted: 2, has_more: false })
    expect((await key.delete('/herald/v1/inbox')).body).toEqual({ deleted: 1, has_more: false })
    expect((await inbox(other)).body.messages).toHaveLength(1)
    expect((await key.get(`/v2/notifications/${ids[0]}`)).body.status).toBe('delivered')
    expect((await inbox(key)).body.messages).toEqual([])
  })

  test('the audit log names people and operators who delete, not keys', async () => {
    const { sql } = here.parts.db
    const actions = () =>
      sql<{
        action: string
      }>`select action from audit where service_id = ${service.id} and action like '%inbox%' or action like 'captured%'`
    const ids = [(await mail(tests, 'audit@example.org')).body.id, (await mail(tests, 'audit@example.org')).body.id]
    await soon(async () => expect(await subjects(tests, '?to=audit@example.org')).toHaveLength(2))
    await tests.delete(`/herald/v1/inbox/${ids[0]}`)
    expect(await actions()).toEqual([])
    const scope = scopeOfService(service.id)
    await removeCaptured({ sql }, OPERATOR, scope, ids[1])
    await emptyInbox({ sql }, OPERATOR, scope, ALL)
    expect((await actions()).map(({ action }) => action)).toEqual(['captured message deleted', 'inbox emptied'])
    const stranger = {
      kind: 'person' as const,
      id: service.id,
      service_id: service.id,
      permissions: [],
      email_address: '',
      name: '',
    }
    await expect(emptyInbox({ sql }, stranger, scope, ALL)).rejects.toThrow('see-inbox')
    await expect(emptyInbox({ sql }, stranger, OF_NOBODY, ALL)).rejects.toThrow('manage-installation')
  })
})

test('mails of Herald itself belong to no service', async () => {
  const { sql } = here.parts.db
  await here.parts.inbox.keep.email({
    ...{
      id: here.parts.ids.next(),
      messageId: '<a@b>',
      from: { name: 'Herald', address: 'a@b.example' },
      replyTo: null,
    },
    ...{ to: 'person@example.org', subject: 'Your link', text: 'https://x.example', html: '', attachments: [] },
  })
  const rows = await pageOf(sql, OF_NOBODY, ALL, 10, 1_000_000)
  expect(rows.map(row => [row.service_id, row.sealed === null])).toEqual([[null, false]])
  expect(
    (await pageOf(sql, scopeOfService(service.id), ALL, 1000, 1_000_000)).some(row => row.service_id === null),
  ).toBe(false)
})

test('a message that was captured twice is there once', async () => {
  const { id } = (await mail(live, 'twice@example.org')).body
  await soon(async () => expect(await subjects(live, '?to=twice@example.org')).toHaveLength(1))
  expect(await note(here.parts.db.sql, [id])).toEqual([])
  expect(await subjects(live, '?to=twice@example.org')).toHaveLength(1)
})

test.each([
  ['https://example.org/a?b=c#d', 'Open it', []],
  ['https://example.org/', 'www.example.org', []],
  ['https://example.org/', 'https://example.com/login', ['other-address']],
  ['http://example.org/', 'Open it', ['not-encrypted']],
  ['http://127.0.0.1:3000/', 'Open it', ['local']],
  ['https://intranet.local/', 'Open it', ['local']],
  ['https://example.org/((token))', 'Open it', ['placeholder']],
  ['https://example.org/a b', 'Open it', ['spaces']],
  ['javascript:alert(1)', 'Open it', ['scheme']],
  ['/relative', 'Open it', ['unreadable']],
  ['mailto:ada@example.org', 'ada@example.org', []],
  ['tel:+16135550123', 'Call', []],
] as const)('the form of a link: %s “%s” %j', (url, words, problems) => {
  expect(problemsOf(url, words)).toEqual(problems)
})
