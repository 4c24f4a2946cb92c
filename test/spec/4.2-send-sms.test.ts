// Interface 4.2, 2.2 and 7.2; contract 2.5, 2.7, 4, 5.1, 7 and 16.2 for text messages; check vector 3.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate, UUID7 } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const PREFIX = 'Sample & Sons: '
const TOO_LONG = 'Content for template has a character count greater than the limit of 612'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id
let fixed: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ name: 'Sample & Sons', rate_limit: 100_000 })
  key = await service.key()
  template = await smsTemplate(key)
  fixed = await smsTemplate(key, 'Nothing to fill in')
})

const body = (more: object = {}) => ({ phone_number: '+16135550123', template_id: fixed, ...more })
const send = (more: object = {}) => key.post(SMS, body(more))

describe('4.2, 5.1 the answer', () => {
  test('201 with id, reference, content, uri, template and scheduled_for; a body without the service’s name', async () => {
    const due = inMinutes(60)
    const reply = await key.post(SMS, {
      phone_number: '+16135550123',
      template_id: template,
      personalisation: { name: 'Ann' },
      reference: 'case 7',
      scheduled_for: due,
    })
    expect(reply.status).toBe(201)
    const { id } = reply.body
    expect(id).toMatch(UUID7)
    expect(reply.text).toBe(
      JSON.stringify({
        id,
        reference: 'case 7',
        content: { body: 'Hi Ann', from_number: null },
        uri: `${here.address}/v2/notifications/${id}`,
        template: { id: template, version: 1, uri: `${here.address}/v2/template/${template}/1` },
        scheduled_for: due,
      }),
    )
  })

  test('without a reference and a due time both are null', async () => {
    expect((await send()).body).toMatchObject({ reference: null, scheduled_for: null })
    expect((await send({ scheduled_for: null })).body.scheduled_for).toBe(null)
  })
})

describe('5.1, 7, 21.3 from_number', () => {
  const from = async (caller: Key, id: Id, more: object = {}) =>
    (await caller.post(SMS, body({ template_id: id, ...more }))).body.content?.from_number

  test('the only sender, the default one, the chosen one', async () => {
    const owner = await here.service()
    const only = await owner.addSender('HERALD')
    const caller = await owner.key()
    const id = await smsTemplate(caller, 'Hello')
    expect(await from(caller, id)).toBe('HERALD')
    const second = await owner.addSender('+16135550111', true)
    await expect.poll(() => from(caller, id), { interval: 5 }).toBe('+16135550111')
    expect(await from(caller, id, { sms_sender_id: only.id })).toBe('HERALD')
    expect(await from(caller, id, { sms_sender_id: second.id.toUpperCase() })).toBe('+16135550111')
  })

  test('22.16 null only if the service has no sender and its name cannot be one', async () => {
    expect(await from(key, fixed)).toBe(null)
  })

  test('unknown, archived or of another service', async () => {
    const foreign = await (await here.service()).addSender('THEIRS')
    const archived = await service.addSender('OLD')
    await here.parts.db.sql`update senders set archived = true where id = ${archived.id}`
    for (const id of [randomUUID(), foreign.id, archived.id])
      await expect
        .poll(async () => (await send({ sms_sender_id: id.toUpperCase() })).text, { interval: 5 })
        .toBe(
          JSON.stringify({
            errors: [
              {
                error: 'BadRequestError',
                message: `sms_sender_id ${id} does not exist in database for service id ${service.id}`,
              },
            ],
            status_code: 400,
          }),
        )
  })
})

describe('2.1 to 2.5 phase A', () => {
  test('{}', async () => {
    expect(await key.post(SMS, {})).toBeRefused(
      400,
      'ValidationError',
      'phone_number is a required property',
      'template_id is a required property',
    )
  })

  test('check vector 3: one entry for one field', async () => {
    expect(await send({ phone_number: null })).toBeRefused(
      400,
      'ValidationError',
      'phone_number None is not of type string',
    )
  })

  test('every field rule at once, in the order of the fields', async () => {
    const wrong = {
      email_address: 'ann@example.org',
      sms_sender_id: 'x',
      scheduled_for: 42,
      personalisation: 1,
      template_id: null,
      phone_number: '12',
      reference: null,
    }
    expect(await key.post(SMS, wrong)).toBeRefused(
      400,
      'ValidationError',
      'reference None is not of type string',
      'phone_number Not a valid international number',
      'template_id is not a valid UUID',
      'personalisation 1 is not of type object',
      'scheduled_for 42 is not of type string, null',
      'sms_sender_id is not a valid UUID',
      'Additional properties are not allowed (email_address was unexpected)',
    )
  })

  test.each<[object, string]>([
    [{ phone_number: 6135550123 }, 'phone_number 6135550123 is not of type string'],
    [{ phone_number: ['+16135550123'] }, 'phone_number [+16135550123] is not of type string'],
    [{ sms_sender_id: null }, 'sms_sender_id is not a valid UUID'],
    [{ sms_sender_id: 'HERALD' }, 'sms_sender_id is not a valid UUID'],
    [{ template_id: 7 }, 'template_id is not a valid UUID'],
    [{ personalisation: null }, 'personalisation None is not of type object'],
    [{ reference: 'r'.repeat(1001) }, `reference ${'r'.repeat(300)} is too long`],
    [{ phone_number: '+1613555\u00000123' }, 'phone_number contains a character that is not allowed'],
    [{ scheduled_for: inMinutes(-5) }, 'scheduled_for datetime cannot be in the past'],
    [{ scheduled_for: inMinutes(96 * 60 + 5) }, 'scheduled_for datetime can only be up to 96 hours in the future'],
    [
      { scheduled_for: '2026-13-01' },
      'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format',
    ],
    [{ email_reply_to_id: randomUUID() }, 'Additional properties are not allowed (email_reply_to_id was unexpected)'],
  ])('%j', async (more, message) => {
    expect(await send(more)).toBeRefused(400, 'ValidationError', message)
  })

  test('phase B: values of more than 51,200 characters', async () => {
    expect(await send({ personalisation: { a: 'x'.repeat(51_200), b: 'y' } })).toBeRefused(
      400,
      'ValidationError',
      'Personalisation variables size of 51201 bytes is greater than allowed limit of 51200 bytes.',
    )
    expect((await send({ personalisation: { a: 'x'.repeat(51_200) } })).status).toBe(201)
  })
})

describe('2.7 phone numbers', () => {
  test.each([
    '6135550123',
    '613-555-0123',
    '(613) 555-0123',
    '613.555.0123',
    '613 555 0123',
    '1 613 555 0123',
    '+1 (613) 555-0123',
    '+33 6 12 34 56 78',
    '+447911123456',
  ])('%s is read, stored and returned as submitted', async phone_number => {
    const { status, body: sent } = await send({ phone_number })
    expect(status).toBe(201)
    expect((await key.get(`${LIST}/${sent.id}`)).body.phone_number).toBe(phone_number)
  })

  test('trimmed', async () => {
    const { body: sent } = await send({ phone_number: ' \t6135550123\n' })
    expect((await key.get(`${LIST}/${sent.id}`)).body.phone_number).toBe('6135550123')
  })

  test.each([
    ['6135550123;ext=5', 'Not a valid number'],
    [';', 'Not a valid number'],
    ['', 'Not a valid international number'],
    ['x', 'Not a valid international number'],
    ['555-0123', 'Not a valid international number'],
    ['+1 613 555', 'Not a valid international number'],
    ['0005550123', 'Not a valid international number'],
    ['+999 12345678', 'Not a valid international number'],
    ['ann@example.org', 'Not a valid international number'],
    ['6'.repeat(200), 'Not a valid international number'],
    ['+43 1110', 'Not enough digits'],
  ])('%j: %s', async (phone_number, text) => {
    expect(await send({ phone_number })).toBeRefused(400, 'ValidationError', `phone_number ${text}`)
  })
})

describe('7 templates and text', () => {
  const refused = async (more: object, message: string) =>
    expect(await send(more)).toBeRefused(400, 'BadRequestError', message)

  test('unknown or foreign', async () => {
    const foreign = await smsTemplate(await (await here.service()).key())
    for (const id of [randomUUID(), foreign]) await refused({ template_id: id }, 'Template not found')
  })

  test('of the wrong type', async () =>
    refused({ template_id: await emailTemplate(key) }, 'email template is not suitable for sms notification'))

  test('archived', async () => {
    const id = await smsTemplate(key)
    await key.delete(`/v2/manage-template/${id}`)
    await refused({ template_id: id }, 'Template has been deleted')
  })

  test('file objects: Files can only be sent by email, and no file error ever comes from this route', async () => {
    for (const doc of [{}, { file: 'abc' }, { file: 1, filename: 2, sending_method: 3 }, { any: 'thing' }])
      await refused({ personalisation: { doc } }, 'Files can only be sent by email')
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}`, {}]))
    await refused({ personalisation: many }, 'Files can only be sent by email')
  })

  test('missing placeholders', () =>
    refused({ template_id: template }, `Missing personalisation for template ID ${template}: name`))

  test('blank result, also when only characters that nobody sees are left', async () => {
    for (const name of ['', '  \n\t ', '\u200b'])
      await refused(
        { template_id: await smsTemplate(key, '((name))'), personalisation: { name } },
        'Message is empty or just whitespace',
      )
  })

  test('612 characters, counted with the prefix; equal is allowed', async () => {
    const id = await smsTemplate(key, '((text))')
    const room = 612 - PREFIX.length
    const long = (text: string) => send({ template_id: id, personalisation: { text } })
    expect((await long('a'.repeat(room))).status).toBe(201)
    expect(await long('a'.repeat(room + 1))).toBeRefused(400, 'BadRequestError', TOO_LONG)
    expect((await long(`${'a'.repeat(room - 2)}€`)).status).toBe(201)
    expect(await long(`${'a'.repeat(room - 1)}€`)).toBeRefused(400, 'BadRequestError', TOO_LONG)
  })

  test('without the prefix setting all 612 are the caller’s', async () => {
    const plain = await (await here.service({ sms_prefix: false })).key()
    const id = await smsTemplate(plain, '((text))')
    const long = (count: number) =>
      plain.post(SMS, body({ template_id: id, personalisation: { text: 'a'.repeat(count) } }))
    expect((await long(612)).status).toBe(201)
    expect(await long(613)).toBeRefused(400, 'BadRequestError', TOO_LONG)
  })

  test('14.1, 14.3 the body: lists, replaced characters, no spaces before punctuation', async () => {
    const id = await smsTemplate(key, 'See ((list)) ,\r\n“((name))”…')
    const { content } = (
      await send({ template_id: id, personalisation: { list: ['a', null, 'b', 'c'], name: 'Żora' } })
    ).body
    expect(content.body).toBe('See a, b and c,\n"Zora"...')
  })
})

describe('7 international numbers', () => {
  const CANNOT = 'Cannot send to international mobile numbers'

  test('21.26 allowed by default, switched off by the service; home numbers always pass', async () => {
    expect((await send({ phone_number: '+33612345678' })).status).toBe(201)
    const home = await (await here.service({ may_send_international: false })).key()
    const id = await smsTemplate(home, 'Hello')
    const to = (phone_number: string) => home.post(SMS, body({ phone_number, template_id: id }))
    expect(await to('+33 6 12 34 56 78')).toBeRefused(400, 'BadRequestError', CANNOT)
    expect((await to('+1 613 555 0123')).status).toBe(201)
    expect((await to('6135550123')).status).toBe(201)
  })
})

describe('4 order of checks: of two faults the earlier step answers', () => {
  const other = async (options: Parameters<World['service']>[0]) => (await here.service(options)).key()

  test('6 suspended, 7 may send this type, 8 rate limit, 9 template', async () => {
    const suspended = await other({ state: 'suspended', may_send_sms: false })
    expect(await suspended.post(SMS, body())).toBeRefused(403, 'BadRequestError', 'Service is suspended')
    const silent = await other({ may_send_sms: false, rate_limit: 0 })
    expect(await silent.post(SMS, body())).toBeRefused(
      400,
      'BadRequestError',
      'Service is not allowed to send text messages',
    )
    const slow = await other({ rate_limit: 0 })
    expect((await slow.post(SMS, body())).status).toBe(429)
  })

  test('a service that may not send texts may still send e-mails, and the reverse', async () => {
    const noTexts = await other({ may_send_sms: false })
    const mail = { email_address: 'ann@example.org', template_id: await emailTemplate(noTexts, 'Hello', 'x') }
    expect((await noTexts.post(EMAIL, mail)).status).toBe(201)
    const noMails = await other({ may_send_email: false })
    expect((await noMails.post(SMS, body({ template_id: await smsTemplate(noMails, 'Hello') }))).status).toBe(201)
  })

  test('9 not archived before files, files before missing personalisation', async () => {
    const id = await smsTemplate(key)
    const files = { template_id: id, personalisation: { doc: {} } }
    expect(await send(files)).toBeRefused(400, 'BadRequestError', 'Files can only be sent by email')
    await key.delete(`/v2/manage-template/${id}`)
    await expect.poll(async () => (await send(files)).text, { interval: 5 }).toContain('Template has been deleted')
  })

  test('9 missing personalisation before too long', async () => {
    const id = await smsTemplate(key, '((a)) ((b))')
    expect(await send({ template_id: id, personalisation: { a: 'x'.repeat(700) } })).toBeRefused(
      400,
      'BadRequestError',
      `Missing personalisation for template ID ${id}: b`,
    )
  })

  test('9 too long and blank before 11 daily limit', async () => {
    const full = await other({ sms_daily_limit: 0 })
    const id = await smsTemplate(full, '((a))')
    const to = (a: string) => full.post(SMS, body({ template_id: id, personalisation: { a } }))
    expect(await to('x'.repeat(700))).toBeRefused(400, 'BadRequestError', TOO_LONG)
    expect(await to(' ')).toBeRefused(400, 'BadRequestError', 'Message is empty or just whitespace')
    expect(await to('x')).toBeRefused(429, 'TooManyRequestsError', 'Exceeded send limits (0) for today')
  })

  test('11 daily limit before 12 sender id, 13 recipient allowed and 14 international', async () => {
    const full = await other({ sms_daily_limit: 0, mode: 'trial', may_send_international: false })
    const template_id = await smsTemplate(full, 'Hello')
    for (const more of [{ sms_sender_id: randomUUID() }, {}, { phone_number: '+33612345678' }])
      expect(await full.post(SMS, body({ template_id, ...more }))).toBeRefused(
        429,
        'TooManyRequestsError',
        'Exceeded send limits (0) for today',
      )
  })

  test('12 sender id before 13 recipient allowed before 14 international', async () => {
    const trial = await here.service({ mode: 'trial', may_send_international: false })
    const caller = await trial.key()
    const template_id = await smsTemplate(caller, 'Hello')
    const [unknown, phone_number] = [randomUUID(), '+33612345678']
    expect(await caller.post(SMS, { phone_number, template_id, sms_sender_id: unknown })).toBeRefused(
      400,
      'BadRequestError',
      `sms_sender_id ${unknown} does not exist in database for service id ${trial.id}`,
    )
    expect(await caller.post(SMS, { phone_number, template_id })).toBeRefused(
      400,
      'BadRequestError',
      "Can't send to this recipient when service is in trial mode",
    )
  })
})
