// Interface 4.1, 2.2, 2.6 and 7.2; contract 2, 4, 5.1, 7, 16.1 and 16.2 for e-mails; check vectors 1, 2, 4 to 8, 18 to 20.
import { createHmac, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { freePort } from '../support/port.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate, UUID7 } from '../support/sends.ts'
import { call, callerWith, type World, world } from '../support/world.ts'

const DECODING =
  'Error decoding arguments: The browser (or proxy) sent a request that this server could not understand.'
const FORMAT = 'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format'
const PAST = 'scheduled_for datetime cannot be in the past'
const FAR = 'scheduled_for datetime can only be up to 96 hours in the future'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id
let fixed: Id
let text: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ name: 'Sample & Sons', may_send_files: false, rate_limit: 100_000 })
  key = await service.key()
  template = await emailTemplate(key)
  fixed = await emailTemplate(key, 'Nothing to fill in', 'News')
  text = await smsTemplate(key)
})

const body = (more: object = {}) => ({ email_address: 'ann@example.net', template_id: fixed, ...more })
const send = (more: object = {}) => key.post(EMAIL, body(more))
const raw = (bytes: string, headers: Record<string, string> = {}) =>
  here.call('POST', EMAIL, {
    raw: bytes,
    headers: { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'application/json', ...headers },
  })

describe('4.1, 5.1 the answer', () => {
  test('201 with id, reference, content, uri, template and scheduled_for, in this order', async () => {
    const due = inMinutes(60)
    const reply = await key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: { name: 'Ann & Bob' },
      reference: 'case 7',
      scheduled_for: due,
    })
    expect(reply.status).toBe(201)
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    const { id } = reply.body
    expect(id).toMatch(UUID7)
    expect(reply.text).toBe(
      JSON.stringify({
        id,
        reference: 'case 7',
        content: {
          subject: 'Dear Ann & Bob',
          body: 'Hello Ann & Bob',
          from_email: 'sample.sons@herald.example',
        },
        uri: `${here.address}/v2/notifications/${id}`,
        template: { id: template, version: 1, uri: `${here.address}/v2/template/${template}/1` },
        scheduled_for: due,
      }),
    )
  })

  test('without a reference and a due time both are null, and present', async () => {
    const { body: sent, text: answer } = await send()
    expect(Object.keys(sent)).toEqual(['id', 'reference', 'content', 'uri', 'template', 'scheduled_for'])
    expect(Object.keys(sent.content)).toEqual(['subject', 'body', 'from_email'])
    expect(answer).toContain('"reference":null')
    expect(answer).toMatch(/"scheduled_for":null\}$/)
  })

  test('uri and template.uri are addresses that answer', async () => {
    const { body: sent } = await send()
    expect((await key.get(sent.uri.slice(here.address.length))).body.id).toBe(sent.id)
    expect((await key.get(sent.template.uri.slice(here.address.length))).body).toMatchObject({
      id: fixed,
      version: 1,
      body: 'Nothing to fill in',
    })
  })

  test('1.1 absolute addresses begin with the configured public address', async () => {
    const port = await freePort()
    const other = await world({ HERALD_PORT: String(port), HERALD_BASE_URL: `http://localhost:${port}` })
    const itsKey = callerWith(`http://127.0.0.1:${port}`, (await (await other.service()).key()).key)
    const id = await emailTemplate(itsKey, 'Hello', 'News')
    const { body: sent } = await itsKey.post(EMAIL, body({ template_id: id }))
    expect(sent.uri).toBe(`http://localhost:${port}/v2/notifications/${sent.id}`)
    expect(sent.template.uri).toBe(`http://localhost:${port}/v2/template/${id}/1`)
  })

  test('1.5 scheduled_for is the caller’s own string, unchanged', async () => {
    const due = `${new Date(Date.now() + 7_200_000).toISOString().slice(0, 16).replace('T', ' ')}+00`
    expect((await send({ scheduled_for: due })).body.scheduled_for).toBe(due)
    expect((await send({ scheduled_for: null })).body.scheduled_for).toBe(null)
  })

  test('the version that is current is used, and stays (recording)', async () => {
    const id = await emailTemplate(key, 'One', 'First')
    const first = (await send({ template_id: id })).body
    await key.patch(`/v2/manage-template/${id}`, { content: 'Two' })
    await expect.poll(async () => (await send({ template_id: id })).body.template.version, { interval: 5 }).toBe(2)
    const second = (await send({ template_id: id })).body
    expect([first.content.body, second.content.body]).toEqual(['One', 'Two'])
    expect((await key.get(`${LIST}/${first.id}`)).body).toMatchObject({ body: 'One', template: { version: 1 } })
  })

  test('1.1 two identical requests make two messages', async () => {
    const [one, two] = [await send({ reference: 'twice' }), await send({ reference: 'twice' })]
    expect(one.body.id).not.toBe(two.body.id)
    expect((await key.get(`${LIST}?reference=twice`)).body.notifications).toHaveLength(2)
  })
})

describe('7, 14.1 values', () => {
  test.each([
    [{ name: 'Ann', other: 'ignored', more: ['x'] }, 'Hello Ann'],
    [{ NAME: 'Ann' }, 'Hello Ann'],
    [{ 'n a-m_e': 'Ann' }, 'Hello Ann'],
    [{ name: '' }, 'Hello '],
    [{ name: 0 }, 'Hello 0'],
    [{ name: false }, 'Hello False'],
    [{ name: true }, 'Hello True'],
    [{ name: 1.5 }, 'Hello 1.5'],
    [{ name: '((name))' }, 'Hello ((name))'],
  ])('%j', async (personalisation, expected) => {
    expect((await send({ template_id: template, personalisation })).body.content?.body).toBe(expected)
  })

  test('missing placeholders: names as written in the template, subject first, each once', async () => {
    const id = await emailTemplate(key, '((B side)) ((a)) ((c??text)) ((a))', '((s)) ((B side))')
    const missing = (names: string) => `Missing personalisation for template ID ${id}: ${names}`
    const refused = (personalisation?: object) => send({ template_id: id, ...(personalisation && { personalisation }) })
    expect(await refused()).toBeRefused(400, 'BadRequestError', missing('s, B side, a, c'))
    expect(await refused({})).toBeRefused(400, 'BadRequestError', missing('s, B side, a, c'))
    expect(await refused({ s: 1, 'b-side': 2 })).toBeRefused(400, 'BadRequestError', missing('a, c'))
    expect(await refused({ s: 1, bside: 2, a: null, c: 'no' })).toBeRefused(400, 'BadRequestError', missing('a'))
    expect((await refused({ s: 1, bside: 2, a: 3, c: 'no' })).status).toBe(201)
  })

  test('blank result', async () => {
    const id = await emailTemplate(key, ' ((name)) \n', 'Subject')
    expect(await send({ template_id: id, personalisation: { name: '  \t' } })).toBeRefused(
      400,
      'BadRequestError',
      'Message is empty or just whitespace',
    )
    expect((await send({ template_id: id, personalisation: { name: '.' } })).status).toBe(201)
  })
})

describe('7 templates', () => {
  const refused = async (more: object, message: string) =>
    expect(await send(more)).toBeRefused(400, 'BadRequestError', message)

  test('unknown, nil and foreign ones are not found', async () => {
    const foreign = await emailTemplate(await (await here.service()).key())
    for (const id of [randomUUID(), '00000000-0000-0000-0000-000000000000', foreign])
      await refused({ template_id: id }, 'Template not found')
  })

  test('of the wrong type', () => refused({ template_id: text }, 'sms template is not suitable for email notification'))

  test('check vector 20: archived; GET answers 200 with archived true', async () => {
    const id = await emailTemplate(key, 'Bye', 'Bye')
    await key.delete(`/v2/manage-template/${id}`)
    expect((await key.get(`/v2/manage-template/${id}`)).body.archived).toBe(true)
    await expect.poll(async () => (await send({ template_id: id })).status, { interval: 5 }).toBe(400)
    await refused({ template_id: id }, 'Template has been deleted')
  })
})

describe('7 reply-to address', () => {
  test('one of the service, spelled as the caller likes; without one the default', async () => {
    const replyTo = await service.addReplyTo('office@example.org')
    const second = await service.addReplyTo('second@example.org')
    await expect.poll(async () => (await send({ email_reply_to_id: second.id })).status, { interval: 5 }).toBe(201)
    for (const id of [replyTo.id, replyTo.id.toUpperCase(), `{${replyTo.id}}`])
      expect((await send({ email_reply_to_id: id })).status).toBe(201)
    expect((await send()).status).toBe(201)
  })

  test('the one that is used is kept with the message: the given one, else the default, else the only one, else none', async () => {
    const owner = await here.service()
    const caller = await owner.key()
    const template_id = await emailTemplate(caller, 'Hello', 'News')
    const used = async (more: object = {}) => {
      const { id } = (await caller.post(EMAIL, body({ template_id, ...more }))).body
      const [row] = await here.parts.db.sql<{ sender_id: Id | null }>`
        select sender_id from notifications where id = ${id}`
      return row?.sender_id
    }
    expect(await used()).toBe(null)
    const only = await owner.addReplyTo('only@example.org')
    await expect.poll(() => used(), { interval: 5 }).toBe(only.id)
    await here.parts.db.sql`update reply_tos set is_default = false where id = ${only.id}`
    expect(await used()).toBe(only.id)
    const other = await owner.addReplyTo('default@example.org', true)
    await expect.poll(() => used(), { interval: 5 }).toBe(other.id)
    expect(await used({ email_reply_to_id: only.id })).toBe(only.id)
  })

  test('unknown, archived or of another service', async () => {
    const foreign = await (await here.service()).addReplyTo('theirs@example.org')
    const archived = await service.addReplyTo('old@example.org')
    await here.parts.db.sql`update reply_tos set archived = true where id = ${archived.id}`
    for (const id of [randomUUID(), foreign.id, archived.id])
      expect(await send({ email_reply_to_id: id.toUpperCase() })).toBeRefused(
        400,
        'BadRequestError',
        `email_reply_to_id ${id} does not exist in database for service id ${service.id}`,
      )
  })
})

describe('2.1 to 2.5 phase A', () => {
  test('check vector 1: {}', async () => {
    expect(await key.post(EMAIL, {})).toBeRefused(
      400,
      'ValidationError',
      'email_address is a required property',
      'template_id is a required property',
    )
  })

  test('check vector 2: field rules, then missing fields, then unexpected ones in request order', async () => {
    expect(await key.post(EMAIL, { template_id: 1, foo: 1, bar: 2 })).toBeRefused(
      400,
      'ValidationError',
      'template_id is not a valid UUID',
      'email_address is a required property',
      'Additional properties are not allowed (foo, bar were unexpected)',
    )
  })

  test('every field rule at once, in the order of the fields', async () => {
    const wrong = {
      email_reply_to_id: 'x',
      scheduled_for: 42,
      personalisation: [],
      template_id: null,
      email_address: 7,
      reference: 1,
      phone_number: '+16135550100',
    }
    expect(await key.post(EMAIL, wrong)).toBeRefused(
      400,
      'ValidationError',
      'reference 1 is not of type string',
      'email_address 7 is not of type string',
      'template_id is not a valid UUID',
      'personalisation [] is not of type object',
      'scheduled_for 42 is not of type string, null',
      'email_reply_to_id is not a valid UUID',
      'Additional properties are not allowed (phone_number was unexpected)',
    )
  })

  test.each<[object, string]>([
    [{ reference: null }, 'reference None is not of type string'],
    [{ reference: true }, 'reference True is not of type string'],
    [{ reference: false }, 'reference False is not of type string'],
    [{ reference: 42 }, 'reference 42 is not of type string'],
    [{ reference: 1.5 }, 'reference 1.5 is not of type string'],
    [{ reference: [] }, 'reference [] is not of type string'],
    [{ reference: {} }, 'reference {} is not of type string'],
    [{ reference: ['a', 1, null] }, 'reference [a, 1, None] is not of type string'],
    [{ reference: { a: 1, b: "it's" } }, 'reference {a: 1, b: its} is not of type string'],
    [{ reference: ['x'.repeat(400)] }, `reference [${'x'.repeat(299)} is not of type string`],
    [{ reference: 'r'.repeat(1001) }, `reference ${'r'.repeat(300)} is too long`],
    [{ reference: 'a\u0000b' }, 'reference contains a character that is not allowed'],
    [{ email_address: null }, 'email_address None is not of type string'],
    [{ email_address: ['a@example.org'] }, 'email_address [a@example.org] is not of type string'],
    [{ email_address: '' }, 'email_address Not a valid email address'],
    [{ template_id: null }, 'template_id is not a valid UUID'],
    [{ template_id: '' }, 'template_id is not a valid UUID'],
    [{ template_id: {} }, 'template_id is not a valid UUID'],
    [{ template_id: 'not-a-uuid' }, 'template_id is not a valid UUID'],
    [{ personalisation: null }, 'personalisation None is not of type object'],
    [{ personalisation: '' }, 'personalisation  is not of type object'],
    [{ personalisation: 'name' }, 'personalisation name is not of type object'],
    [{ personalisation: ['a'] }, 'personalisation [a] is not of type object'],
    [{ personalisation: { a: '\u0000' } }, 'personalisation contains a character that is not allowed'],
    [{ personalisation: { 'a\u0000': 'x' } }, 'personalisation contains a character that is not allowed'],
    [{ scheduled_for: 42 }, 'scheduled_for 42 is not of type string, null'],
    [{ scheduled_for: ['2026'] }, 'scheduled_for [2026] is not of type string, null'],
    [{ scheduled_for: false }, 'scheduled_for False is not of type string, null'],
    [{ email_reply_to_id: null }, 'email_reply_to_id is not a valid UUID'],
    [{ email_reply_to_id: '' }, 'email_reply_to_id is not a valid UUID'],
    [{ email_reply_to_id: 7 }, 'email_reply_to_id is not a valid UUID'],
    [{ foo: 1 }, 'Additional properties are not allowed (foo was unexpected)'],
    [{ "it's": 1 }, 'Additional properties are not allowed (its was unexpected)'],
    [{ sms_sender_id: randomUUID() }, 'Additional properties are not allowed (sms_sender_id was unexpected)'],
    [{ constructor: 1 }, 'Additional properties are not allowed (constructor was unexpected)'],
  ])('%j', async (more, message) => {
    expect(await send(more)).toBeRefused(400, 'ValidationError', message)
  })

  test('21.20 __proto__ is an unexpected field like any other', async () => {
    const reply = await raw(`{"__proto__": {}, "email_address": "a@example.org", "template_id": "${fixed}"}`)
    expect(reply).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed (__proto__ was unexpected)',
    )
  })

  test('21.14 a list of unexpected names is cut after 300 code points', async () => {
    const names = Array.from({ length: 90 }, (_, at) => `f${at}`)
    const reply = await send(Object.fromEntries(names.map(name => [name, 1])))
    expect(reply).toBeRefused(
      400,
      'ValidationError',
      `Additional properties are not allowed (${names.join(', ').slice(0, 300)} were unexpected)`,
    )
  })

  test('an empty reference, 1,000 characters of one, and no values at all are fine', async () => {
    expect((await send({ reference: '' })).body.reference).toBe('')
    expect((await send({ reference: '😀'.repeat(1000) })).status).toBe(201)
    expect((await send({ personalisation: {} })).status).toBe(201)
  })
})

describe('1.6 UUID spellings', () => {
  test.each([
    ['capitals', (id: string) => id.toUpperCase()],
    ['no hyphens', (id: string) => id.replaceAll('-', '')],
    ['hyphens anywhere', (id: string) => `${id.replaceAll('-', '').slice(0, 3)}-${id.replaceAll('-', '').slice(3)}`],
    ['braces', (id: string) => `{${id}}`],
    ['a URN', (id: string) => `urn:uuid:${id}`],
  ])('%s are read; the answer is lower case and hyphenated', async (_name, spell) => {
    expect((await send({ template_id: spell(fixed) })).body.template?.id).toBe(fixed)
  })

  test.each([
    ['space in front', (id: string) => ` ${id}`],
    ['space behind', (id: string) => `${id} `],
    ['a line break behind', (id: string) => `${id}\n`],
    ['a brace too few', (id: string) => `{${id}`],
    ['a digit too few', (id: string) => id.slice(1)],
    ['a digit too many', (id: string) => `${id}0`],
    ['no hexadecimal digit', (id: string) => `g${id.slice(1)}`],
  ])('%s is malformed', async (_name, spell) => {
    expect(await send({ template_id: spell(fixed) })).toBeRefused(
      400,
      'ValidationError',
      'template_id is not a valid UUID',
    )
  })
})

describe('2.7 e-mail addresses', () => {
  test.each([
    ['ann@example.net'],
    ['ANN@Example.NET'],
    ["o'neil+tag!#$%&*/=?^_`{|}~-@example.org"],
    ['élise@example.org'],
    ['ann@bücher.example'],
    ['ann@a.b.c.example.museum'],
    [`${'a'.repeat(300)}@example.org`],
    ['ann@example.xn--p1ai'],
  ])('%s', async email_address => {
    const { status, body: sent } = await send({ email_address })
    expect(status).toBe(201)
    expect((await key.get(`${LIST}/${sent.id}`)).body.email_address).toBe(email_address)
  })

  test('stored and returned as submitted, trimmed; zero-width characters are dropped', async () => {
    const { body: sent } = await send({ email_address: ' \tAnn\u200b@Exa\ufeffmple.net\r\n' })
    expect((await key.get(`${LIST}/${sent.id}`)).body.email_address).toBe('Ann@Example.net')
  })

  test.each([
    ['ann'],
    ['@example.org'],
    ['ann@'],
    ['ann@@example.org'],
    ['ann@b@example.org'],
    ['ann@example'],
    ['ann@.example.org'],
    ['ann..b@example.org'],
    ['ann@example..org'],
    ['ann@127.0.0.1'],
    ['ann@example.c'],
    ['ann@-example.org'],
    ['ann@example-.org'],
    ['ann@exa_mple.org'],
    ['an n@example.org'],
    ['ann(a)@example.org'],
    ['Ann <ann@example.org>'],
    ['ann@example.org, bob@example.org'],
    ['ann@example.org\r\nbcc: bob@example.org'],
    [`${'a'.repeat(309)}@example.org`],
    [`ann@${'a'.repeat(64)}.org`],
    [`ann@${'a.'.repeat(130)}org`],
  ])('%j is refused', async email_address => {
    expect(await send({ email_address })).toBeRefused(400, 'ValidationError', 'email_address Not a valid email address')
  })
})

describe('2.8 scheduled_for', () => {
  const soon = () => new Date(Date.now() + 86_400_000).toISOString()

  test.each([
    ['YYYY-MM-DD', () => soon().slice(0, 10)],
    ['YYYYMMDD', () => soon().slice(0, 10).replaceAll('-', '')],
    ['T and hours', () => soon().slice(0, 13)],
    ['T, hours and minutes', () => soon().slice(0, 16)],
    ['T, hours, minutes and seconds', () => soon().slice(0, 19)],
    ['one space instead of T', () => soon().slice(0, 19).replace('T', ' ')],
    ['a fraction after a dot', () => soon().slice(0, 23)],
    ['a fraction after a comma', () => soon().slice(0, 23).replace('.', ',')],
    ['Z', () => soon()],
    ['+HH:MM', () => `${soon().slice(0, 19)}+05:30`],
    ['+HHMM', () => `${soon().slice(0, 19)}+0530`],
    ['-HH', () => `${soon().slice(0, 19)}-05`],
  ])('%s', async (_name, due) => {
    const scheduled_for = due()
    const reply = await send({ scheduled_for })
    expect([reply.status, reply.body.scheduled_for]).toEqual([201, scheduled_for])
  })

  test('no zone means UTC, a zone is converted to UTC; read with six digits', async () => {
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
    const read = async (scheduled_for: string) =>
      (await key.get(`${LIST}/${(await send({ scheduled_for })).body.id}`)).body.scheduled_for
    expect(await read(`${day}T10:30:00`)).toBe(`${day}T10:30:00.000000Z`)
    expect(await read(`${day}T10:30:00.123456`)).toBe(`${day}T10:30:00.123456Z`)
    expect(await read(`${day}T23:59:59.9999999`)).toBe(`${day}T23:59:59.999999Z`)
    expect(await read(`${day}T10:30:00+05:30`)).toBe(`${day}T05:00:00.000000Z`)
    expect(await read(`${day}T10:30:00-0200`)).toBe(`${day}T12:30:00.000000Z`)
    expect(await read(`${day}T10`)).toBe(`${day}T10:00:00.000000Z`)
    expect(await read(day)).toBe(`${day}T00:00:00.000000Z`)
  })

  test.each([
    [''],
    ['tomorrow'],
    ['2026-13-01T00:00:00'],
    ['2026-02-30'],
    ['2026-06-15T24:00'],
    ['2026-06-15T10:60'],
    ['2026-06-15T'],
    ['2026-06-15  10:30'],
    ['2026-6-15'],
    ['20260615T1030'],
    ['2026-06-15Z'],
    ['2026-06-15+02:00'],
    ['2026-W25-1'],
    [' 2026-06-15'],
    ['2026-06-15T10:30:00+25:00'],
    ['1781519400'],
  ])('%j is a format error', async scheduled_for => {
    expect(await send({ scheduled_for })).toBeRefused(400, 'ValidationError', FORMAT)
  })

  test('not before now', async () => {
    for (const scheduled_for of [inMinutes(-1), '2020', '2020-06', '2020-06-15T10:30:00Z'])
      expect(await send({ scheduled_for })).toBeRefused(400, 'ValidationError', PAST)
  })

  test('check vector 8: exactly 96 hours ahead is accepted, one second more is not', async () => {
    // The service's own clock, which follows the database clock, not the machine's.
    const ahead = (ms: number) => new Date(here.parts.clock.now() + 96 * 3_600_000 + ms).toISOString()
    expect((await send({ scheduled_for: ahead(0) })).status).toBe(201)
    // The clock advances: a request that took a second itself proves nothing.
    let reply = await send({ scheduled_for: ahead(1000) })
    for (let tries = 0; reply.status === 201 && tries < 5; tries++) reply = await send({ scheduled_for: ahead(1000) })
    expect(reply).toBeRefused(400, 'ValidationError', FAR)
    expect(await send({ scheduled_for: '9999-12-31T23:59:59' })).toBeRefused(400, 'ValidationError', FAR)
  })

  test('one sentence for one field: a wrong type is not also a wrong format', async () => {
    expect((await send({ scheduled_for: {} })).body.errors).toHaveLength(1)
  })
})

describe('2.4 file objects', () => {
  const file = (more: object = {}) => ({ file: 'aGVsbG8=', filename: 'hello.txt', sending_method: 'attach', ...more })
  const withFiles = (personalisation: object) => send({ personalisation })
  const refused = async (personalisation: object, ...messages: string[]): Promise<void> => {
    expect(await withFiles(personalisation)).toBeRefused(400, 'ValidationError', ...messages)
  }

  test('check vector 6: {}', () =>
    refused(
      { doc: {} },
      'file is a required property',
      'sending_method is a required property',
      'filename is a required property',
    ))

  test('each key that is missing', async () => {
    await refused({ doc: { filename: 'a.txt', sending_method: 'link' } }, 'file is a required property')
    await refused({ doc: { file: '', filename: 'a.txt' } }, 'sending_method is a required property')
    await refused({ doc: { file: '', sending_method: 'link' } }, 'filename is a required property')
    await refused({ doc: { file: '', sending_method: 'attach' } }, 'filename is a required property')
  })

  test.each<[object, string]>([
    [{ sending_method: 'post' }, 'personalisation doc is not one of [attach, link]'],
    [{ sending_method: 'ATTACH' }, 'personalisation doc is not one of [attach, link]'],
    [{ sending_method: null }, 'personalisation doc is not one of [attach, link]'],
    [{ sending_method: ['attach'] }, 'personalisation doc is not one of [attach, link]'],
    [{ filename: 'ab' }, 'filename is too short'],
    [{ filename: '' }, 'filename is too short'],
    [{ filename: 'n'.repeat(250) }, 'filename is too long'],
    [{ filename: '😀😀' }, 'filename is too short'],
    [{ filename: 7 }, 'filename 7 is not of type string'],
    [{ filename: null }, 'filename None is not of type string'],
    [{ file: null }, 'file None is not of type string'],
    [{ file: { a: [1] } }, 'file {a: [1]} is not of type string'],
    [{ file: true }, 'file True is not of type string'],
  ])('%j', (more, message) => refused({ doc: file(more) }, message))

  test('3 and 249 characters of a name, 249 of them outside the basic plane, and unknown keys are tolerated', async () => {
    for (const more of [
      { filename: 'abc' },
      { filename: 'n'.repeat(249) },
      { filename: '😀'.repeat(249) },
      { is_csv: 1 },
    ])
      expect((await withFiles({ doc: file(more) })).body.errors?.[0].error).not.toBe('ValidationError')
  })

  test('type and list errors of file, sending_method, filename first, then missing keys in that order', async () => {
    await refused(
      { doc: { filename: 1 } },
      'filename 1 is not of type string',
      'file is a required property',
      'sending_method is a required property',
    )
    await refused(
      { doc: { filename: 'x', sending_method: 'x', file: 1 } },
      'file 1 is not of type string',
      'personalisation doc is not one of [attach, link]',
      'filename is too short',
    )
  })

  test('2.1 identical messages are reported once', () =>
    refused(
      { a: {}, b: {}, c: { sending_method: 'x' }, d: { sending_method: 'x' } },
      'file is a required property',
      'sending_method is a required property',
      'filename is a required property',
      'personalisation c is not one of [attach, link]',
      'personalisation d is not one of [attach, link]',
    ))

  test('21.13 they stand at the place of personalisation in the field order', async () => {
    const reply = await key.post(EMAIL, {
      scheduled_for: 'x',
      personalisation: { doc: { file: '', sending_method: 'link' } },
      template_id: 1,
      reference: 2,
      foo: 1,
    })
    expect(reply).toBeRefused(
      400,
      'ValidationError',
      'reference 2 is not of type string',
      'template_id is not a valid UUID',
      'filename is a required property',
      FORMAT,
      'email_address is a required property',
      'Additional properties are not allowed (foo was unexpected)',
    )
  })

  test('2.1 apostrophes are removed, also those inside the names callers chose', async () => {
    await refused({ "it's": file({ sending_method: 'x' }) }, 'personalisation its is not one of [attach, link]')
    await refused({ "it's": file({ file: 'abc' }) }, 'its : Incorrect padding : Error decoding base64 field')
  })

  test('2.2 a name is cut like a value', async () => {
    const [long, shown] = ['k'.repeat(1000), 'k'.repeat(300)]
    await refused({ [long]: file({ sending_method: 'x' }) }, `personalisation ${shown} is not one of [attach, link]`)
    await refused({ [long]: file({ file: 'abc' }) }, `${shown} : Incorrect padding : Error decoding base64 field`)
  })

  describe('phase B', () => {
    const PADDING = 'doc : Incorrect padding : Error decoding base64 field'

    test('check vector 7: not base64', () => refused({ doc: file({ file: 'abc' }) }, PADDING))

    test.each(['a', 'ab==c', 'aGVsbG8', 'aGVsbG8-', 'aGVs_G8=', '=', '====', 'a===', 'aGVsbG8=aGVsbG8=', 'é', '!!!!'])(
      'whatever the defect, one message: %j',
      text => refused({ doc: file({ file: text }) }, PADDING),
    )

    test.each(['', 'aGVsbG8=', 'aGVs\r\nbG8=', ' aGVs bG8= ', 'aGV+bG8/', 'YQ=='])('base64: %j', async text => {
      expect((await withFiles({ doc: file({ file: text }) })).text).not.toContain('Incorrect padding')
    })

    test('more than 10 files', async () => {
      const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, file()]))
      await refused(files(11), 'File number exceed allowed limits of 10 with number of 11.')
      expect((await withFiles(files(10))).text).not.toContain('File number')
    })

    test('a file of more than 6,291,456 bytes', async () => {
      const bytes = (count: number) => Buffer.alloc(count, 7).toString('base64')
      await refused(
        { doc: file({ file: bytes(6_291_457) }) },
        'doc : File size for hello.txt is 6291457 and greater than allowed limit of 6291456.',
      )
      expect((await withFiles({ doc: file({ file: bytes(6_291_456) }) })).text).not.toContain('File size for')
    })

    test('values of more than 51,200 characters; equal is allowed, files do not count', async () => {
      const large = (values: object) => send({ template_id: template, personalisation: values })
      const message = (size: number) =>
        `Personalisation variables size of ${size} bytes is greater than allowed limit of 51200 bytes.`
      expect((await large({ name: 'x'.repeat(51_200) })).status).toBe(201)
      expect((await large({ name: '😀'.repeat(51_200) })).status).toBe(201)
      expect(await large({ name: 'x'.repeat(51_201) })).toBeRefused(400, 'ValidationError', message(51_201))
      // None, True, False, 1.5 and a list of two count by their text form.
      const others = { a: null, b: true, c: false, d: 1.5, e: ['x', 'y'] }
      expect((await large({ name: 'x'.repeat(51_200 - 26), ...others })).status).toBe(201)
      expect(await large({ name: 'x'.repeat(51_200 - 25), ...others })).toBeRefused(
        400,
        'ValidationError',
        message(51_201),
      )
      const reply = await large({ name: 'x'.repeat(51_200), doc: file({ file: 'a'.repeat(400) }) })
      expect(reply.text).not.toContain('Personalisation variables size')
    })

    test('all failures are collected: size, number, then each file', async () => {
      const files = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`f${at}`, file()]))
      await refused(
        { name: 'x'.repeat(51_201), ...files, f3: file({ file: 'abc' }), f7: file({ file: 'abcde' }) },
        'Personalisation variables size of 51201 bytes is greater than allowed limit of 51200 bytes.',
        'File number exceed allowed limits of 10 with number of 11.',
        'f3 : Incorrect padding : Error decoding base64 field',
        'f7 : Incorrect padding : Error decoding base64 field',
      )
    })

    test('runs only when phase A found nothing', () =>
      refused({ doc: file({ file: 'abc' }), other: {} }, ...missingKeys))

    const missingKeys = ['file', 'sending_method', 'filename'].map(name => `${name} is a required property`)
  })

  test('S15 service is not allowed to send documents', async () => {
    expect(await withFiles({ doc: file() })).toBeRefused(
      400,
      'BadRequestError',
      'Service is not allowed to send documents',
    )
  })
})

describe('1.3, 16.1 before the fields', () => {
  test.each([
    '[',
    '',
    '{',
    'x',
    '{"a": 1, "a": 2}',
    '{"email_address": "\\ud800"}',
    '{"personalisation": {"a": [1e400]}}',
  ])('check vector 5: %j cannot be decoded', async bytes => {
    expect(await raw(bytes)).toBeRefused(400, 'BadRequestError', DECODING)
  })

  test.each([
    ['null', 'None is not of type object'],
    ['[]', '[] is not of type object'],
    ['"x"', 'x is not of type object'],
    ['42', '42 is not of type object'],
    ['false', 'False is not of type object'],
  ])('check vector 4: %s', async (bytes, message) => {
    expect(await raw(bytes)).toBeRefused(400, 'ValidationError', message)
  })

  test('415 for anything but JSON', async () => {
    expect(await raw('{}', { 'content-type': 'text/plain' })).toBeRefused(
      415,
      'BadRequestError',
      "UnsupportedMediaType error: Did not attempt to load JSON data because the request Content-Type was not 'application/json'.",
    )
    expect((await raw(JSON.stringify(body()), { 'content-type': 'application/vnd.api+json' })).status).toBe(201)
  })

  test('413 over 20 MiB, and not below', async () => {
    const bytes = (size: number) => {
      const rest = JSON.stringify(body({ foo: '' }))
      return `${rest.slice(0, -2)}${'x'.repeat(size - rest.length)}"}`
    }
    expect(await raw(bytes(20 * 1024 * 1024 + 1))).toBeRefused(
      413,
      'RequestEntityTooLarge',
      'The data value transmitted exceeds the capacity limit.',
    )
    expect(await raw(bytes(20 * 1024 * 1024))).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed (foo was unexpected)',
    )
  })

  test('unknown paths and wrong methods', async () => {
    const UNKNOWN =
      'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.'
    for (const path of [`${EMAIL}/`, `${LIST}/letter`, `${LIST}/${randomUUID()}`, '/v2/notifications/Email'])
      expect(await key.post(path, body()), path).toBeRefused(404, 'NotFound', UNKNOWN)
    for (const call of [key.put, key.patch]) {
      const reply = await call(EMAIL, body())
      expect(reply).toBeRefused(405, 'MethodNotAllowed', 'The method is not allowed for the requested URL.')
      expect(reply.headers.get('allow')).toContain('POST')
    }
  })

  test('check vectors 18 and 19: who may not call', async () => {
    const as = (authorization: string) =>
      here.call('POST', EMAIL, { body: body(), headers: authorization ? { authorization } : {} })
    expect(await as('')).toBeRefused(401, 'AuthError', 'Unauthorized, authentication token must be provided')
    expect(await as('Basic x')).toBeRefused(
      401,
      'AuthError',
      'Unauthorized, Authorization header is invalid. Supported authentication methods: ApiKey-v1, Bearer',
    )
    expect(await as('ApiKey-v1 x')).toBeRefused(403, 'AuthError', 'Invalid token: API key not found')
    const clock = 'Error: Your system clock must be accurate to within 30 seconds'
    expect(await as(`Bearer ${token(-33)}`)).toBeRefused(403, 'AuthError', clock)
    expect((await as(`Bearer ${token(-29)}`)).status).toBe(201)
  })

  const token = (seconds: number) => {
    const coded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const iat = Math.floor(Date.now() / 1000) + seconds
    const signed = `${coded({ alg: 'HS256', typ: 'JWT' })}.${coded({ iss: service.id, iat })}`
    return `${signed}.${createHmac('sha256', key.key.slice(-36)).update(signed).digest('base64url')}`
  }
})

describe('4 order of checks: of two faults the earlier step answers', () => {
  const FILE = { file: 'aGVsbG8=', filename: 'hello.txt', sending_method: 'attach' }
  const BAD_FILE = { ...FILE, file: 'abc' }
  const other = async (options: Parameters<World['service']>[0]) => (await here.service(options)).key()

  test('1 route before 2 authentication', async () => {
    expect((await here.call('POST', '/v2/notifications/letter', { body: {} })).status).toBe(404)
    expect((await here.call('PUT', EMAIL, { body: {} })).status).toBe(405)
  })

  test('2 authentication before 3 parsing', async () => {
    expect((await here.call('POST', EMAIL, { raw: '[' })).status).toBe(401)
    const plain = { raw: 'x', headers: { 'content-type': 'text/plain' } }
    expect((await here.call('POST', EMAIL, plain)).status).toBe(401)
  })

  test('4 phase A before 5 phase B', async () => {
    expect(await send({ foo: 1, personalisation: { doc: BAD_FILE } })).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed (foo was unexpected)',
    )
  })

  test('4 and 5 before 6 suspended', async () => {
    const suspended = await other({ state: 'suspended' })
    expect((await suspended.post(EMAIL, {})).body.errors[0].error).toBe('ValidationError')
    expect(await suspended.post(EMAIL, body({ personalisation: { doc: BAD_FILE } }))).toBeRefused(
      400,
      'ValidationError',
      'doc : Incorrect padding : Error decoding base64 field',
    )
  })

  test('6 suspended before 7 may send this type', async () => {
    const suspended = await other({ state: 'suspended', may_send_email: false })
    expect(await suspended.post(EMAIL, body())).toBeRefused(403, 'BadRequestError', 'Service is suspended')
    expect((await suspended.get(LIST)).status).toBe(200)
  })

  test('7 may send this type before 8 rate limit', async () => {
    const silent = await other({ may_send_email: false, rate_limit: 0 })
    expect(await silent.post(EMAIL, body())).toBeRefused(
      400,
      'BadRequestError',
      'Service is not allowed to send emails',
    )
  })

  test('8 rate limit before 9 template', async () => {
    const slow = await other({ rate_limit: 0 })
    expect(await slow.post(EMAIL, body({ template_id: randomUUID() }))).toBeRefused(
      429,
      'RateLimitError',
      'Exceeded rate limit for key type LIVE of 0 requests per 60 seconds',
    )
  })

  test('9 right type before not archived', async () => {
    const id = await smsTemplate(key)
    await key.delete(`/v2/manage-template/${id}`)
    expect(await send({ template_id: id })).toBeRefused(
      400,
      'BadRequestError',
      'sms template is not suitable for email notification',
    )
  })

  test('9 not archived before missing personalisation', async () => {
    const id = await emailTemplate(key)
    await key.delete(`/v2/manage-template/${id}`)
    expect(await send({ template_id: id })).toBeRefused(400, 'BadRequestError', 'Template has been deleted')
  })

  test('9 missing personalisation before not blank', async () => {
    const id = await emailTemplate(key, '((a))((b))', 'x')
    expect(await send({ template_id: id, personalisation: { a: '' } })).toBeRefused(
      400,
      'BadRequestError',
      `Missing personalisation for template ID ${id}: b`,
    )
  })

  test('9 each check of the template before 11 daily limit', async () => {
    const full = await other({ email_daily_limit: 0 })
    const blank = await emailTemplate(full, '((a))', 'x')
    const refused = async (more: object, message: string) =>
      expect(await full.post(EMAIL, body(more))).toBeRefused(400, 'BadRequestError', message)
    await refused({ template_id: randomUUID() }, 'Template not found')
    await refused({ template_id: await smsTemplate(full) }, 'sms template is not suitable for email notification')
    await refused({ template_id: blank }, `Missing personalisation for template ID ${blank}: a`)
    await refused({ template_id: blank, personalisation: { a: ' ' } }, 'Message is empty or just whitespace')
  })

  test('11 daily limit before 12 reply-to id, 13 recipient and 15 files', async () => {
    const full = await other({ email_daily_limit: 0, mode: 'trial', may_send_files: false })
    const id = await emailTemplate(full, 'Hello', 'x')
    for (const more of [{ email_reply_to_id: randomUUID() }, {}, { personalisation: { doc: FILE } }])
      expect(await full.post(EMAIL, body({ template_id: id, ...more }))).toBeRefused(
        429,
        'TooManyRequestsError',
        'Exceeded send limits (0) for today',
      )
  })

  test('12 reply-to id before 13 recipient allowed', async () => {
    const trial = await here.service({ mode: 'trial' })
    const trialKey = await trial.key()
    const id = await emailTemplate(trialKey, 'Hello', 'x')
    const unknown = randomUUID()
    expect(await trialKey.post(EMAIL, body({ template_id: id, email_reply_to_id: unknown }))).toBeRefused(
      400,
      'BadRequestError',
      `email_reply_to_id ${unknown} does not exist in database for service id ${trial.id}`,
    )
  })

  test('13 recipient allowed before 15 files', async () => {
    const trial = await other({ mode: 'trial', may_send_files: false })
    const id = await emailTemplate(trial, 'Hello', 'x')
    expect(await trial.post(EMAIL, body({ template_id: id, personalisation: { doc: FILE } }))).toBeRefused(
      400,
      'BadRequestError',
      "Can't send to this recipient when service is in trial mode",
    )
  })

  test('a request that is refused stores nothing', async () => {
    const reference = randomUUID()
    await send({ reference, email_reply_to_id: randomUUID() })
    await send({ reference, template_id: template })
    await send({ reference, scheduled_for: 'x' })
    expect((await key.get(`${LIST}?reference=${reference}`)).body.notifications).toEqual([])
  })
})

test('personal data is sealed at rest: no table shows a recipient or a value', async () => {
  const canary = randomUUID().replaceAll('-', '')
  const number = '+16135550142'
  const personalisation = { name: canary }
  const replay = { 'idempotency-key': randomUUID() }
  const mail = { email_address: `${canary}@example.net`, template_id: template, personalisation }
  expect((await key.post(EMAIL, mail, replay)).status).toBe(201)
  expect((await key.post(EMAIL, { ...mail, scheduled_for: inMinutes(60) })).status).toBe(201)
  expect((await key.post(SMS, { phone_number: number, template_id: text, personalisation })).status).toBe(201)

  const client = here.parts.db.client()
  await client.connect()
  const tables = await client.query(
    "select c.relname from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
  )
  let dump = ''
  for (const { relname } of tables.rows)
    dump += (await client.query(`select t::text as row from "${relname}" t`)).rows.map(one => one.row).join('\n')
  await client.end()
  expect(dump).toContain(service.id)
  for (const secret of [canary, number, number.slice(1)]) {
    expect(dump).not.toContain(secret)
    expect(dump).not.toContain(Buffer.from(secret).toString('hex'))
    expect(dump).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
  }
})

test('cross-tenant: the key of another service gets nothing of ours', async () => {
  const stranger = await (await here.service()).key()
  const { id } = (await send({ scheduled_for: inMinutes(60) })).body
  expect((await stranger.get(`${LIST}/${id}`)).status).toBe(404)
  expect((await stranger.delete(`${LIST}/${id}`)).status).toBe(404)
  expect((await stranger.get(`${LIST}?older_than=${id}`)).status).toBe(404)
  expect((await stranger.get(LIST)).body.notifications).toEqual([])
  expect(
    (await call(here.address, 'POST', EMAIL, { body: body(), headers: { authorization: `ApiKey-v1 ${stranger.key}` } }))
      .body.errors[0].message,
  ).toBe('Template not found')
})
