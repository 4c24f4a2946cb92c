// Interface 2.3, 4.3 and 7.2 (bulk); contract 4 (bulk), 5.4, 8, 9, 15.4, 15.5, 16.2 (B rows), 18, 20 and 21.
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, SMS, smsTemplate, UUID7 } from '../support/sends.ts'
import { CATEGORY, type Reply, type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'
const DECODING =
  'Error decoding arguments: The browser (or proxy) sent a request that this server could not understand.'
const UNLIMITED = 10_000_000

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let email: Id
let text: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({
    name: 'Parking',
    rate_limit: UNLIMITED,
    email_daily_limit: UNLIMITED,
    sms_daily_limit: UNLIMITED,
  })
  key = await service.key({ name: 'website' })
  email = await emailTemplate(key)
  text = await smsTemplate(key)
})

const HEAD = ['email address', 'name']
const ANN = ['ann@example.org', 'Ann']
const good = (more: object = {}) => ({ name: 'Letters', template_id: email, rows: [HEAD, ANN], ...more })
const goodText = (more: object = {}) => ({
  name: 'Texts',
  template_id: text,
  rows: [
    ['phone number', 'name'],
    ['6135550123', 'Ann'],
  ],
  ...more,
})
const post = (body: unknown, by: Key = key, headers: Record<string, string> = {}) => by.post(BULK, body, headers)
const csv = (content: string, more: object = {}, by: Key = key) =>
  post({ name: 'A file', template_id: email, csv: content, ...more }, by)
const rows = (content: unknown[], more: object = {}, by: Key = key) => post(good({ rows: content, ...more }), by)
const refused = (reply: Reply, message: string) => expect(reply).toBeRefused(400, 'BadRequestError', message)
const invalid = (reply: Reply, ...messages: string[]) => expect(reply).toBeRefused(400, 'ValidationError', ...messages)

/** Another service with templates of its own, for tests that must not affect the others. */
async function apart(options: Parameters<World['service']>[0] = {}, type: 'normal' | 'team' | 'test' = 'normal') {
  const own = await here.service({ rate_limit: UNLIMITED, ...options })
  const manager = await own.key()
  const itsEmail = await emailTemplate(manager)
  const itsText = await smsTemplate(manager)
  const by = type === 'normal' ? manager : await own.key({ type })
  return { own, manager, by, email: itsEmail, text: itsText }
}

const many = (count: number, row: (n: number) => string[]) => Array.from({ length: count }, (_, n) => row(n))
const people = (count: number) => many(count, n => [`p${n}@example.org`, `P ${n}`])

describe('accepted', () => {
  const job = (over: object) => ({
    id: expect.stringMatching(UUID7),
    original_file_name: 'Letters',
    notification_count: 1,
    template: email,
    template_version: 1,
    template_type: 'email',
    service: service.id,
    service_name: { name: 'Parking' },
    created_by: { id: '4e1a1b2c-0000-4000-8000-000000000001', name: 'API service user' },
    api_key: { id: key.id, name: 'website', key_type: 'normal' },
    job_status: 'pending',
    scheduled_for: null,
    processing_started: null,
    processing_finished: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
    updated_at: null,
    archived: false,
    sender_id: null,
    statistics: [],
    ...over,
  })

  test('5.4 201 {"data": <full job>}, its keys in the order of the contract', async () => {
    const reply = await post(good())
    expect([reply.status, reply.body]).toEqual([201, { data: job({}) }])
    expect(Object.keys(reply.body)).toEqual(['data'])
    expect(Object.keys(reply.body.data)).toEqual(Object.keys(job({})))
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    expect(reply.headers.get('ratelimit')).toMatch(/^"requests";r=\d+;t=\d+$/)
  })

  test('a text template; csv instead of rows; the name may be empty', async () => {
    const reply = await post(goodText({ rows: undefined, csv: 'phone number,name\n6135550123,Ann', name: '' }))
    expect([reply.status, reply.body.data]).toEqual([
      201,
      job({ original_file_name: '', template: text, template_type: 'sms' }),
    ])
  })

  test('2.5 reference is accepted and ignored; reply_to_id and scheduled_for may be null; csv "" counts as not given', async () => {
    const reply = await post(good({ reference: 'R', reply_to_id: null, scheduled_for: null, csv: '' }))
    expect([reply.status, reply.body.data.sender_id]).toEqual([201, null])
    expect((await post({ ...good({ rows: undefined }), csv: 'email address,name\na@b.example,A' })).status).toBe(201)
  })

  test('5.4 key_type: normal for Live, team, test', async () => {
    for (const type of ['team', 'test'] as const) {
      const by = await service.key({ type, name: `${type} key` })
      const reply = await rows([HEAD, ['maria@example.org', 'Maria']], {}, by)
      expect(reply.body.data.api_key).toEqual({ id: by.id, name: `${type} key`, key_type: type })
    }
  })

  test('the version of the template at this moment', async () => {
    const id = await emailTemplate(key)
    await key.patch(`/v2/manage-template/${id}`, { name: 'Changed' })
    expect((await post(good({ template_id: id }))).body.data.template_version).toBe(2)
  })

  test('1.5 scheduled_for: stored in UTC, shown with an offset and six digits', async () => {
    const due = new Date(Date.now() + 3_600_000)
    due.setUTCMilliseconds(0)
    const shown = `${due.toISOString().slice(0, 19)}.000000+00:00`
    const local = `${new Date(due.getTime() + 2 * 3_600_000).toISOString().slice(0, 19)}+02:00`
    for (const given of [due.toISOString(), due.toISOString().slice(0, 19), local]) {
      const reply = await post(good({ scheduled_for: given }))
      expect([reply.status, reply.body.data.scheduled_for, reply.body.data.job_status]).toEqual([201, shown, 'pending'])
    }
  })

  test('21.2 sender_id: the given one; without it the default or the only one; null if there is none', async () => {
    const { own, by, email: template, text: itsText } = await apart()
    const senderOf = async (more: object, which = template) => {
      const recipient = which === template ? ['email address', 'ann@example.org'] : ['phone number', '6135550123']
      const reply = await rows(
        [
          [recipient[0], 'name'],
          [recipient[1], 'Ann'],
        ],
        { template_id: which, ...more },
        by,
      )
      expect(reply.status).toBe(201)
      return reply.body.data.sender_id
    }
    const settled = (more: object, which: Id, expected: string) =>
      expect.poll(() => senderOf(more, which), { interval: 5 }).toBe(expected)
    expect(await senderOf({})).toBe(null)
    expect(await senderOf({}, itsText)).toBe(null)
    const first = await own.addReplyTo('one@example.org')
    await settled({}, template, first.id)
    const second = await own.addReplyTo('two@example.org', true)
    await settled({}, template, second.id)
    expect(await senderOf({ reply_to_id: first.id.toUpperCase() })).toBe(first.id)
    const sender = await own.addSender('PARKING', true)
    await settled({}, itsText, sender.id)
    const other = await own.addSender('METERS')
    await settled({ reply_to_id: other.id }, itsText, other.id)
  })
})

describe('B5 validation: every complaint, in the order of 2.5', () => {
  test('20.9 POST bulk {}', async () => {
    invalid(await post({}), 'template_id is a required property', 'name is a required property')
  })

  test('everything at once', async () => {
    invalid(
      await post({
        zeta: 1,
        rows: [],
        csv: 1,
        reply_to_id: 'x',
        scheduled_for: 42,
        reference: null,
        template_id: 'x',
        alpha: 2,
      }),
      'template_id is not a valid UUID',
      'reference None is not of type string',
      'scheduled_for 42 is not of type string, null',
      'reply_to_id is not a valid UUID',
      'csv 1 is not of type string',
      'rows [] is too short',
      'name is a required property',
      'Additional properties are not allowed (zeta, alpha were unexpected)',
    )
  })

  test.each([
    [{ template_id: null }, 'template_id is not a valid UUID'],
    [{ template_id: 7 }, 'template_id is not a valid UUID'],
    [{ name: null }, 'name None is not of type string'],
    [{ name: ['a', 1, null] }, 'name [a, 1, None] is not of type string'],
    [{ rows: null }, 'rows None is not of type array'],
    [{ rows: 'a' }, 'rows a is not of type array'],
    [{ rows: { a: 1 } }, 'rows {a: 1} is not of type array'],
    [{ csv: null }, 'csv None is not of type string'],
    [{ csv: true }, 'csv True is not of type string'],
    [{ reply_to_id: 1.5 }, 'reply_to_id is not a valid UUID'],
    [{ rows: [['email address']] }, 'rows [[email address]] is too short'],
    [
      { scheduled_for: 'tomorrow' },
      'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format',
    ],
    [{ scheduled_for: '' }, 'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format'],
    [{ scheduled_for: '2020-01-01T00:00:00' }, 'scheduled_for datetime cannot be in the past'],
    [{ scheduled_for: inMinutes(97 * 60) }, 'scheduled_for datetime can only be up to 96 hours in the future'],
    [{ foo: 1 }, 'Additional properties are not allowed (foo was unexpected)'],
  ])('%j', async (more, message) => {
    invalid(await post(good(more)), message)
  })

  test('21.21 lengths: reference 1,000 and name 255 characters', async () => {
    invalid(await post(good({ name: 'é'.repeat(256) })), `name ${'é'.repeat(256)} is too long`)
    invalid(await post(good({ reference: 'r'.repeat(1001) })), `reference ${'r'.repeat(300)} is too long`)
    expect((await post(good({ name: '😀'.repeat(255), reference: '😀'.repeat(1000) }))).status).toBe(201)
  })

  test('21.20 NUL in any string', async () => {
    invalid(await post(good({ name: 'a\u0000b' })), 'name contains a character that is not allowed')
    invalid(await rows([HEAD, ['a\u0000@b.example', 'A']]), 'rows contains a character that is not allowed')
    invalid(await csv('email address,name\na@b.example,\u0000'), 'csv contains a character that is not allowed')
  })

  test('2.8 exactly 96 hours ahead is accepted', async () => {
    expect((await post(good({ scheduled_for: inMinutes(96 * 60) }))).status).toBe(201)
  })

  test('2.1 apostrophes are removed', async () => {
    invalid(
      await post(good({ rows: "it's", "o'clock": 1 })),
      'rows its is not of type array',
      'Additional properties are not allowed (oclock was unexpected)',
    )
  })

  test('1.3 not an object, not JSON, no JSON type', async () => {
    invalid(await post(null), 'None is not of type object')
    invalid(await post([1]), '[1] is not of type object')
    const raw = (content: string | Buffer, type = 'application/json') =>
      here.call('POST', BULK, {
        raw: content,
        headers: { authorization: `ApiKey-v1 ${key.key}`, 'content-type': type },
      })
    for (const broken of [
      '[',
      '',
      '{"name": "a", "name": "b"}',
      '{"name": "\\ud800"}',
      Buffer.from([0x22, 0xff, 0x22]),
    ])
      refused(await raw(broken), DECODING)
    expect(await raw('{}', 'text/csv')).toBeRefused(
      415,
      'BadRequestError',
      "UnsupportedMediaType error: Did not attempt to load JSON data because the request Content-Type was not 'application/json'.",
    )
  })
})

describe('B6 and B7', () => {
  const either = 'You should specify either rows or csv'

  test('20.12 both, or neither', async () => {
    refused(await post(good({ csv: 'email address,name\na@b.example,A' })), either)
    refused(await post({ name: 'n', template_id: email }), either)
    refused(await post({ name: 'n', template_id: email, csv: '' }), either)
  })

  test('Template not found: unknown, or of another service', async () => {
    refused(await post(good({ template_id: randomUUID() })), 'Template not found')
    refused(await post(good({ template_id: (await apart()).email })), 'Template not found')
  })

  test('Template has been deleted', async () => {
    const id = await emailTemplate(key)
    await key.delete(`/v2/manage-template/${id}`)
    refused(await post(good({ template_id: id })), 'Template has been deleted')
  })
})

describe('B8 to B10', () => {
  test('the service may not send this type', async () => {
    const { own, by, ...templates } = await apart()
    await own.change({ may_send_email: false, may_send_sms: false })
    const sent = () => post(good({ template_id: templates.email }), by)
    await expect.poll(async () => (await sent()).status, { interval: 5 }).toBe(400)
    refused(await sent(), 'Service is not allowed to send emails')
    refused(await post(goodText({ template_id: templates.text }), by), 'Service is not allowed to send text messages')
  })

  test('15.1 one bulk call is one request; refused ones are counted', async () => {
    const { own, by, email: template } = await apart()
    await own.change({ rate_limit: 3 })
    const body = good({ template_id: template, rows: [HEAD, ...people(10)] })
    await expect
      .poll(async () => (await post(body, by)).headers.get('ratelimit-policy'), { interval: 5 })
      .toMatch(/q=3/)
    let reply = await post(body, by)
    while (reply.status === 201) reply = await post(body, by)
    expect(reply).toBeRefused(
      429,
      'RateLimitError',
      'Exceeded rate limit for key type LIVE of 3 requests per 60 seconds',
    )
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a refusal after the count shows the rate, one before does not', async () => {
    expect((await rows([['foo'], ['bar']])).headers.get('ratelimit')).not.toBe(null)
    expect((await post(good({ template_id: randomUUID() }))).headers.get('ratelimit')).toBe(null)
  })

  test('reply_to_id: a reply-to address for e-mail, a sender for text; unknown, archived or of another service', async () => {
    const stranger = await (await here.service()).addReplyTo('other@example.org')
    const sender = await service.addSender('PARKING')
    for (const id of [randomUUID(), stranger.id, sender.id])
      refused(
        await post(good({ reply_to_id: id })),
        `email_reply_to_id ${id} does not exist in database for service id ${service.id}`,
      )
    const id = randomUUID()
    refused(
      await post(goodText({ reply_to_id: id.toUpperCase() })),
      `sms_sender_id ${id} does not exist in database for service id ${service.id}`,
    )
  })
})

describe('B11 conversion', () => {
  test.each([
    [1, 'int'],
    [1.5, 'float'],
    [true, 'bool'],
    [null, 'NoneType'],
    ['a,b', 'str'],
    [{ a: 1 }, 'dict'],
  ])('a row that is not an array: %j', async (row, kind) => {
    refused(await rows([HEAD, ANN, row]), `Error converting to CSV: iterable expected, not ${kind}`)
    refused(await rows([row, ANN]), `Error converting to CSV: iterable expected, not ${kind}`)
  })

  test('9 numbers and booleans by their text form, null as empty', async () => {
    const { manager, own } = await apart()
    const id = await emailTemplate(manager, '((a))|((b))|((c))', 'x')
    const by = await own.key({ type: 'test' })
    const reply = await rows(
      [
        ['email address', 'a', 'b', 'c'],
        ['a@b.example', 1.5, true, 7],
      ],
      { template_id: id },
      by,
    )
    expect(reply.status).toBe(201)
    refused(
      await rows(
        [
          ['email address', 'a', 'b', 'c'],
          ['a@b.example', null, false, 0],
        ],
        { template_id: id },
        by,
      ),
      'Some rows have errors. Row 1 - a: Missing.',
    )
  })
})

describe('B12 and B13 headers', () => {
  test('20.11 missing: placeholders as in the template, the recipient column, sorted by code point', async () => {
    refused(await post(goodText({ rows: [['foo'], ['bar']] })), 'Missing column headers: name, phone number')
    const id = await emailTemplate(key, '((Zeta)) ((alpha)) ((é)) ((late??x))', 'About ((Subject))')
    refused(
      await post(good({ template_id: id, rows: [['email'], ['x']] })),
      'Missing column headers: Subject, Zeta, alpha, email address, late, é',
    )
  })

  test('matching: lower case, without spaces, underscores and hyphens; French recipient columns', async () => {
    for (const header of ['Email_Address', 'EMAIL-ADDRESS', ' email address ', 'adresse courriel', 'emailaddress'])
      expect((await rows([[header, ' N_A-M e '], ANN])).status).toBe(201)
    for (const header of ['phone_number', 'Numéro de téléphone'])
      expect(
        (
          await post(
            goodText({
              rows: [
                [header, 'name'],
                ['613 555 0123', 'Ann'],
              ],
            }),
          )
        ).status,
      ).toBe(201)
  })

  test('duplicate: each spelling once, sorted; extra columns may repeat', async () => {
    refused(
      await rows([
        ['email address', 'Name', 'NAME', 'email_address', 'Name'],
        ['a@b.example', 'A', 'A', 'a@b.example', 'A'],
      ]),
      'Duplicate column headers: NAME, Name, email address, email_address',
    )
    expect(
      (
        await rows([
          [...HEAD, 'note', 'note', ''],
          [...ANN, '1', '2', '3'],
        ])
      ).status,
    ).toBe(201)
  })
})

describe('B14 row count', () => {
  const tooMany = 'Too many rows. Maximum number of rows allowed is 50000'
  const body = (count: number) => [HEAD, ...people(count)]
  const file = (count: number) =>
    body(count)
      .map(row => row.join(','))
      .join('\n')

  test('50,000 rows are accepted, by rows and by csv', async () => {
    for (const reply of [await rows(body(50_000)), await csv(file(50_000))]) {
      expect([reply.status, reply.body.data?.notification_count]).toEqual([201, 50_000])
    }
  }, 60_000)

  test('50,001 are refused, by rows and by csv', async () => {
    refused(await rows(body(50_001)), tooMany)
    refused(await csv(file(50_001)), tooMany)
    refused(await csv(`${file(50_001)}\n,,\n\n`), tooMany)
  }, 60_000)

  test('trailing blank rows do not count', async () => {
    const reply = await rows([...body(2), ['', ''], [], ['', null]])
    expect(reply.body.data.notification_count).toBe(2)
    expect((await csv(`\uFEFF\n${file(2)}\n\n , ,\n`)).body.data.notification_count).toBe(2)
  })

  test('header only: rows is too short, csv has not enough rows', async () => {
    invalid(await rows([HEAD]), 'rows [[email address, name]] is too short')
    for (const only of ['email address,name', 'email address,name\n\n', '\uFEFFemail address,name\r\n'])
      refused(await csv(only), 'Not enough rows. Minimum number of rows allowed is 1')
    refused(await rows([HEAD, ['', '']]), 'Not enough rows. Minimum number of rows allowed is 1')
  })
})

describe('B15 daily remainder', () => {
  const sentence = (n: number, m: number) =>
    `You only have ${n} remaining messages before you reach your daily limit. You've tried to send ${m} messages.`

  test('for both types, apart from each other, shared with single messages; all or nothing', async () => {
    const { by, ...templates } = await apart({ email_daily_limit: 5, sms_daily_limit: 3 })
    const mails = (count: number) => rows([HEAD, ...people(count)], { template_id: templates.email }, by)
    const texts = (count: number) =>
      post(
        goodText({
          template_id: templates.text,
          rows: [['phone number', 'name'], ...many(count, n => [`61355501${10 + n}`, 'A'])],
        }),
        by,
      )
    refused(await mails(6), sentence(5, 6))
    expect((await mails(3)).status).toBe(201)
    refused(await mails(3), sentence(2, 3))
    await by.post(EMAIL, { email_address: 'a@b.example', template_id: templates.email, personalisation: { name: 'A' } })
    refused(await mails(2), sentence(1, 2))
    expect((await mails(1)).status).toBe(201)
    refused(await mails(1), sentence(0, 1))
    expect((await texts(3)).status).toBe(201)
    refused(await texts(1), sentence(0, 1))
    const single = await by.post(SMS, {
      phone_number: '6135550123',
      template_id: templates.text,
      personalisation: { name: 'A' },
    })
    expect(single).toBeRefused(429, 'TooManyRequestsError', 'Exceeded send limits (3) for today')
  })

  test('n is never below 0', async () => {
    const { own, by, email: template } = await apart({ email_daily_limit: 5 })
    expect((await rows([HEAD, ...people(4)], { template_id: template }, by)).status).toBe(201)
    await own.change({ email_daily_limit: 2 })
    await expect
      .poll(async () => (await rows([HEAD, ANN], { template_id: template, scheduled_for: null }, by)).text, {
        interval: 5,
      })
      .toContain(sentence(0, 1))
  })

  test('not for test keys, not for simulated recipients', async () => {
    const { own, manager, email: template } = await apart({ email_daily_limit: 1 })
    const test = await own.key({ type: 'test' })
    expect((await rows([HEAD, ...people(10)], { template_id: template }, test)).status).toBe(201)
    const smoke = ['simulate-delivered@herald.example', 'S']
    expect((await rows([HEAD, smoke, smoke, smoke], { template_id: template }, manager)).status).toBe(201)
    refused(await rows([HEAD, smoke, ...people(2)], { template_id: template }, manager), sentence(1, 2))
    expect((await rows([HEAD, smoke, ANN, smoke], { template_id: template }, manager)).status).toBe(201)
  })

  test('15.2 the day is that of the due time, and a cancelled job gives its messages back', async () => {
    const { by, email: template } = await apart({ email_daily_limit: 3 })
    const sent = (hours: number) =>
      rows([HEAD, ...people(3)], { template_id: template, ...(hours && { scheduled_for: inMinutes(hours * 60) }) }, by)
    expect((await sent(0)).status).toBe(201)
    const later = await sent(48)
    expect(later.status).toBe(201)
    refused(await sent(48), sentence(0, 3))
    expect((await by.delete(`${BULK}/${later.body.data.id}`)).status).toBe(200)
    expect((await sent(48)).status).toBe(201)
  })
})

describe('B16 who may be written to (15.4)', () => {
  const teamOnly = 'You cannot send to these recipients because you used a team and safelist API key.'
  const trial =
    'You cannot send to these recipients because your service is in trial mode. You can only send to members of your team and your safelist.'
  const to = (list: string[]) => [HEAD, ...list.map(address => [address, 'A'])]

  test('team key of a live service: the team and the safelist only, compared in their normal form', async () => {
    const { own, manager, text: itsText, email: template } = await apart()
    const by = await own.key({ type: 'team' })
    await own.addToSafelist('safe@example.org')
    const sent = (list: string[]) => rows(to(list), { template_id: template }, by)
    await expect
      .poll(async () => (await sent(['MARIA@example.org', ' Safe@Example.org '])).status, { interval: 5 })
      .toBe(201)
    refused(await sent(['maria@example.org', 'ann@example.org']), teamOnly)
    const texts = (number: string) =>
      post(
        goodText({
          template_id: itsText,
          rows: [
            ['phone number', 'name'],
            [number, 'A'],
          ],
        }),
        by,
      )
    expect((await texts('(613) 555-0199')).status).toBe(201)
    refused(await texts('6135550123'), teamOnly)
    expect((await rows(to(['ann@example.org']), { template_id: template }, manager)).status).toBe(201)
  })

  test('trial service: live and team keys get the trial text, test keys may write to anyone', async () => {
    const { own, by, email: template } = await apart({ mode: 'trial' })
    refused(await rows(to(['ann@example.org']), { template_id: template }, by), trial)
    const team = await own.key({ type: 'team' })
    refused(await rows(to(['ann@example.org']), { template_id: template }, team), trial)
    const test = await own.key({ type: 'test' })
    expect((await rows(to(['ann@example.org']), { template_id: template }, test)).status).toBe(201)
    expect((await rows(to(['maria@example.org']), { template_id: template }, by)).status).toBe(201)
  })

  test('15.5 simulated recipients are exempt', async () => {
    const { by, email: template, text: itsText } = await apart({ mode: 'trial' })
    const mails = to(['simulate-delivered@herald.example', 'SIMULATE-delivered-2@herald.example', 'maria@example.org'])
    expect((await rows(mails, { template_id: template }, by)).status).toBe(201)
    const numbers = [
      ['phone number', 'name'],
      ['+1 613 253 2222', 'A'],
      ['6132532224', 'A'],
    ]
    expect((await post(goodText({ template_id: itsText, rows: numbers }), by)).status).toBe(201)
  })
})

describe('B17 and B18 rows', () => {
  const long = (row: number) =>
    `Row ${row} - has a character count greater than 612 characters. Some messages may be too long due to custom content.`

  test('text too long after merge, prefix included; rows are counted from 1', async () => {
    const { by, text: template } = await apart({ name: 'Ab', sms_prefix: true })
    const texts = (...lengths: number[]) =>
      post(
        goodText({
          template_id: template,
          rows: [['phone number', 'name'], ...lengths.map(length => ['6135550123', 'x'.repeat(length)])],
        }),
        by,
      )
    // "Ab: Hi " and the name.
    expect((await texts(605)).status).toBe(201)
    refused(await texts(605, 605, 606, 606), long(3))
    refused(await texts(300, 304 + 302), long(2))
  })

  test('e-mails may be long', async () => {
    expect((await rows([HEAD, ['a@b.example', 'x'.repeat(100_000)]])).status).toBe(201)
  })

  test('20.10 the rows that are wrong', async () => {
    const file = [HEAD, ['a@example.org', 'A'], ['bad', 'B'], ['c@example.org', '']]
    const sentence = 'Some rows have errors. Row 2 - email address: invalid recipient. Row 3 - name: Missing.'
    refused(await rows(file), sentence)
    refused(await csv(file.map(row => row.join(',')).join('\r\n')), sentence)
  })

  test('21.15 several in a row: header order, joined by a comma; headers as given', async () => {
    refused(
      await csv(' N-ame ,E-Mail Address\n,bad\n , \nA,b@example.org'),
      'Some rows have errors. Row 1 - N-ame: Missing,E-Mail Address: invalid recipient. Row 2 - N-ame: Missing,E-Mail Address: Missing.',
    )
  })

  test('the first 20 failing rows', async () => {
    const list = many(60, n => [n % 2 === 0 ? 'bad' : `p${n}@example.org`, 'A'])
    const told = Array.from({ length: 20 }, (_, n) => `Row ${2 * n + 1} - email address: invalid recipient.`)
    refused(await rows([HEAD, ...list]), `Some rows have errors. ${told.join(' ')}`)
  })

  test('9 shorter rows lack cells, longer ones have too many, blank ones in between are rows', async () => {
    refused(
      await csv('email address,name\na@b.example\n\nc@d.example,C,D,E'),
      'Some rows have errors. Row 1 - name: Missing. Row 2 - email address: Missing,name: Missing.',
    )
  })

  test('quotes, spaces after commas, line ends; zero-width characters are removed', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      expect(
        (await csv(['email address, name', 'a@b.example, "Smith, ""J"""', '"c@d.example"," \u200b D"'].join(end))).body
          .data?.notification_count,
      ).toBe(2)
    refused(
      await csv('email address,name\na@b.example," \u200b\uFEFF "'),
      'Some rows have errors. Row 1 - name: Missing.',
    )
  })

  test('numbers: invalid, or of another country when the service may not', async () => {
    const { own, by, text: template } = await apart()
    const texts = (number: string) =>
      post(
        goodText({
          template_id: template,
          rows: [
            ['phone number', 'name'],
            [number, 'A'],
          ],
        }),
        by,
      )
    for (const bad of ['12', 'abc', '+1613555', '6135550123;'])
      refused(await texts(bad), 'Some rows have errors. Row 1 - phone number: invalid recipient.')
    expect((await texts('+44 7911 123456')).status).toBe(201)
    await own.change({ may_send_international: false })
    await expect.poll(async () => (await texts('+447911123456')).status, { interval: 5 }).toBe(400)
    refused(await texts('+447911123456'), 'Some rows have errors. Row 1 - phone number: invalid recipient.')
    expect((await texts('6135550123')).status).toBe(201)
  })

  test('the same recipient twice is allowed', async () => {
    expect((await rows([HEAD, ANN, ANN])).body.data.notification_count).toBe(2)
  })

  test('21.21 a value of the column reference has at most 1,000 characters', async () => {
    const file = (reference: string) => [
      [...HEAD, 'Reference'],
      [...ANN, reference],
    ]
    expect((await rows(file('é'.repeat(1_000)))).status).toBe(201)
    invalid(await rows(file("r'".repeat(501))), `reference ${'r'.repeat(150)} is too long`)
  })
})

describe('B19 simulated numbers', () => {
  const mixed = 'Bulk sending to testing and non-testing numbers is not supported'
  const numbers = (...list: string[]) => goodText({ rows: [['phone number', 'name'], ...list.map(one => [one, 'A'])] })

  test('mixed with others: refused; only them: accepted; a test key and e-mails may mix', async () => {
    refused(await post(numbers('6132532222', '6135550123')), mixed)
    expect((await post(numbers('6132532222', '+16132532223'))).status).toBe(201)
    const test = await service.key({ type: 'test' })
    expect((await post(numbers('6132532222', '6135550123'), test)).status).toBe(201)
    expect((await rows([HEAD, ANN, ['simulate-delivered@herald.example', 'S']])).status).toBe(201)
  })
})

describe('4 the order of the steps: of two errors the earlier one is reported', () => {
  const unknown = () => randomUUID()

  test('2 authentication, 3 parse, 4 suspended, 5 fields', async () => {
    expect((await here.call('POST', BULK, { raw: '[' })).status).toBe(401)
    const { own, by } = await apart()
    await own.change({ state: 'suspended' })
    await expect.poll(async () => (await post({}, by)).status, { interval: 5 }).toBe(403)
    expect(await post({}, by)).toBeRefused(403, 'BadRequestError', 'Service is suspended')
    const broken = await here.call('POST', BULK, { raw: '[', headers: { authorization: `ApiKey-v1 ${by.key}` } })
    refused(broken, DECODING)
  })

  test('5 fields, 6 rows or csv, 7 template', async () => {
    invalid(await post({ template_id: email }), 'name is a required property')
    refused(await post({ name: 'n', template_id: unknown() }), 'You should specify either rows or csv')
  })

  test('7 template, 8 permission, 9 rate, 10 reply_to_id', async () => {
    const { own, by, email: template } = await apart()
    const gone = await emailTemplate(by)
    await by.delete(`/v2/manage-template/${gone}`)
    await own.change({ may_send_email: false, rate_limit: 0 })
    const sent = (more: object = {}) => post(good({ template_id: template, reply_to_id: unknown(), ...more }), by)
    await expect.poll(async () => (await sent()).status, { interval: 5 }).not.toBe(201)
    refused(await sent({ template_id: gone }), 'Template has been deleted')
    refused(await sent(), 'Service is not allowed to send emails')
    await own.change({ may_send_email: true })
    await expect.poll(async () => (await sent()).status, { interval: 5 }).toBe(429)
    expect((await sent()).body.errors[0].error).toBe('RateLimitError')
  })

  test('10 reply_to_id, 11 conversion, 12 missing, 13 duplicate, 14 count', async () => {
    const id = unknown()
    refused(
      await rows([['foo'], 3], { reply_to_id: id }),
      `email_reply_to_id ${id} does not exist in database for service id ${service.id}`,
    )
    refused(await rows([['foo'], 3]), 'Error converting to CSV: iterable expected, not int')
    refused(
      await rows([
        ['name', 'Name'],
        ['a', 'b'],
      ]),
      'Missing column headers: email address',
    )
    refused(await csv('email address,name,NAME'), 'Duplicate column headers: NAME, name')
  })

  test('14 count, 15 daily remainder, 16 recipients', async () => {
    const { by, email: template } = await apart({ mode: 'trial', email_daily_limit: 0 })
    const only = (count: number) =>
      `You only have 0 remaining messages before you reach your daily limit. You've tried to send ${count} messages.`
    refused(
      await csv('email address,name', { template_id: template }, by),
      'Not enough rows. Minimum number of rows allowed is 1',
    )
    refused(
      await rows([HEAD, ...people(50_001)], { template_id: template }, by),
      'Too many rows. Maximum number of rows allowed is 50000',
    )
    refused(await rows([HEAD, ANN], { template_id: template }, by), only(1))
    refused(await rows([HEAD, ['bad', '']], { template_id: template }, by), only(1))
  })

  test('16 recipients, 17 too long, 18 row errors, 19 mixed', async () => {
    const trial = await apart({ mode: 'trial' })
    const texts = (template: Id, by: Key, ...list: string[][]) =>
      post(goodText({ template_id: template, rows: [['phone number', 'name'], ...list] }), by)
    expect((await texts(trial.text, trial.by, ['6135550123', 'x'.repeat(700)])).text).toContain('trial mode')
    refused(
      await texts(text, key, ['bad', 'A'], ['6135550123', 'x'.repeat(700)]),
      'Row 2 - has a character count greater than 612 characters. Some messages may be too long due to custom content.',
    )
    refused(
      await texts(text, key, ['6132532222', 'A'], ['6135550123', '']),
      'Some rows have errors. Row 2 - name: Missing.',
    )
  })
})

describe('18 Idempotency-Key', () => {
  const jobs = async (by: Key) => (await by.get(BULK)).body.bulk_jobs.length

  test('the same key and body: the same answer, one job, one share of the daily limit', async () => {
    const { by, email: template } = await apart({ email_daily_limit: 3 })
    const body = good({ template_id: template, rows: [HEAD, ...people(3)] })
    const first = await post(body, by, { 'idempotency-key': 'one' })
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
    const again = await post(body, by, { 'idempotency-key': 'one' })
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    expect(await jobs(by)).toBe(1)
    expect(await post({ ...body, name: 'Other' }, by, { 'idempotency-key': 'one' })).toBeRefused(
      422,
      'IdempotencyKeyReusedError',
      'This Idempotency-Key was used with another request',
    )
    invalid(await post(body, by, { 'idempotency-key': 'x'.repeat(256) }), 'Idempotency-Key is not valid')
  })

  test('a refusal is not remembered', async () => {
    const { by, email: template } = await apart()
    const name = randomUUID()
    expect((await rows([HEAD, ['bad', 'A']], { template_id: template }, by)).status).toBe(400)
    expect((await post(good({ template_id: template }), by, { 'idempotency-key': name })).status).toBe(201)
  })

  test('ten at once: one job, the others get its answer or 409', async () => {
    const { by, email: template } = await apart()
    const body = good({ template_id: template })
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => post(body, by, { 'idempotency-key': 'together' })),
    )
    const accepted = replies.filter(reply => reply.status === 201)
    expect(new Set(accepted.map(reply => reply.text)).size).toBe(1)
    for (const reply of replies.filter(reply => reply.status !== 201))
      expect(reply).toBeRefused(
        409,
        'IdempotencyConflictError',
        'A request with this Idempotency-Key is still being processed',
      )
    expect(await jobs(by)).toBe(1)
  })
})

describe('1.3 the cap of 64 MiB', () => {
  const CAP = 64 * 1024 * 1024

  test('a body of exactly 64 MiB is accepted', async () => {
    const body = JSON.stringify(
      good({
        rows: [
          [...HEAD, 'note'],
          [...ANN, 'x'.repeat(CAP - 1_000)],
        ],
      }),
    )
    const reply = await here.call('POST', BULK, {
      raw: body + ' '.repeat(CAP - Buffer.byteLength(body)),
      headers: { authorization: `ApiKey-v1 ${key.key}` },
    })
    expect([reply.status, reply.body.data?.notification_count]).toEqual([201, 1])
  }, 60_000)

  test('one byte more: 413', async () => {
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = http.request(here.address + BULK, {
        method: 'POST',
        headers: {
          authorization: `ApiKey-v1 ${key.key}`,
          'content-type': 'application/json',
          'content-length': CAP + 1,
        },
      })
      request.on('error', reject)
      request.on('response', response => {
        let said = ''
        response.setEncoding('utf8').on('data', data => {
          said += data
        })
        response.on('end', () => resolve({ status: response.statusCode, text: said }))
      })
      request.write('{')
    })
    expect(answer).toEqual({
      status: 413,
      text: '{"errors":[{"error":"RequestEntityTooLarge","message":"The data value transmitted exceeds the capacity limit."}],"status_code":413}',
    })
  })
})

test('6.6 lanes by size: 200 rows or more ride low, fewer never lowest; test keys in the simulation lane', async () => {
  const { own, manager, email: low } = await apart({ email_daily_limit: UNLIMITED })
  const high = await manager.post('/v2/manage-template', {
    name: 'Code',
    template_type: 'email',
    subject: 's',
    content: '((name))',
    template_category_id: CATEGORY.authentication,
  })
  const laneOf = async (template: Id, count: number, by: Key = manager) => {
    const { id } = (await rows([HEAD, ...people(count)], { template_id: template }, by)).body.data
    const [job] = await here.parts.db.sql<{ lane: string }>`select lane from jobs where id = ${id}`
    return job?.lane
  }
  expect(await laneOf(high.body.id, 200)).toBe('email-low')
  expect(await laneOf(high.body.id, 199)).toBe('email-high')
  expect(await laneOf(low, 200)).toBe('email-low')
  expect(await laneOf(low, 199)).toBe('email-medium')
  expect(await laneOf(low, 1, await own.key({ type: 'test' }))).toBe('simulation')
})
