// Contract 22, rows 1, 2, 10, 13 and 20 (bulk): limits of a message after its values are merged.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, type Key, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { type Reply, type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'
const TOO_LARGE = 'Content has a character count greater than the limit of 2000000'
const UNLIMITED = 10_000_000

let here: World
let key: Key

beforeAll(async () => {
  here = await world({}, { engine: true })
  const limits = { rate_limit: UNLIMITED, email_daily_limit: UNLIMITED, sms_daily_limit: UNLIMITED }
  const service = await here.service({ name: 'Parking', ...limits })
  key = await service.key()
})

const email = (template: Id, personalisation: object, by: Key = key) =>
  by.post(EMAIL, { email_address: 'ann@example.org', template_id: template, personalisation })
const sms = (template: Id, personalisation: object) =>
  key.post(SMS, { phone_number: '6135550123', template_id: template, personalisation })
const bulk = (template: Id, rows: unknown[], by: Key = key) =>
  by.post(BULK, { name: 'Letters', template_id: template, rows })
const refused = (reply: Reply, message: string) => expect(reply).toBeRefused(400, 'BadRequestError', message)

async function ended(by: Key, statuses: string[]): Promise<Reply['body']['notifications']> {
  for (;;) {
    const { body } = await by.get(`${LIST}?include_jobs=true`)
    const all = body.notifications as Reply['body']['notifications']
    if (all.length > 0 && all.every((one: { status: string }) => statuses.includes(one.status))) return all
    await new Promise(resume => setTimeout(resume, 50))
  }
}

describe('§22.1 a list without items counts as missing in a send', () => {
  test.each([[[]], [[null, '']]])('single sends: %j', async list => {
    const letter = await emailTemplate(key)
    refused(await email(letter, { name: list }), `Missing personalisation for template ID ${letter}: name`)
    const text = await smsTemplate(key)
    refused(await sms(text, { name: list }), `Missing personalisation for template ID ${text}: name`)
    expect((await email(letter, { name: [null, 'Ann'] })).status).toBe(201)
  })

  test('a conditional asks for a value too', async () => {
    const letter = await emailTemplate(key, 'Hello ((name??you))', 'Subject')
    refused(await email(letter, { name: [] }), `Missing personalisation for template ID ${letter}: name`)
  })

  test('bulk: the row error of a missing value', async () => {
    const reply = await bulk(await emailTemplate(key), [
      ['email address', 'name'],
      ['ann@example.org', []],
      ['bob@example.org', [null, '']],
      ['cid@example.org', 'Cid'],
    ])
    refused(reply, 'Some rows have errors. Row 1 - name: Missing. Row 2 - name: Missing.')
  })
})

describe('§22.2 a bulk message whose text is blank after merging', () => {
  const anEmail = (maker: Key) => emailTemplate(maker, '((shown??Hello))', 'Subject')
  const aText = (maker: Key) => smsTemplate(maker, ' ((shown??Hello))')
  const cases = [
    ['an e-mail', anEmail, 'email address', 'ann@example.org'],
    ['a text message', aText, 'phone number', '6135550123'],
  ] as const
  for (const [what, makeTemplate, column, to] of cases)
    for (const type of ['normal', 'test'] as const)
      test(`${what} by a ${type} key ends technical-failure, and its neighbours do not`, async () => {
        const service = await here.service({ rate_limit: UNLIMITED })
        const maker = await service.key()
        const by = await service.key({ type })
        const job = await bulk(
          await makeTemplate(maker),
          [
            [column, 'shown'],
            [to, 'no'],
            [to, 'yes'],
          ],
          by,
        )
        expect(job.status).toBe(201)
        const [second, first] = await ended(by, ['technical-failure', 'delivered'])
        expect(first).toMatchObject({ status: 'technical-failure', provider_response: 'empty message', sent_at: null })
        expect(second).toMatchObject({ status: 'delivered', provider_response: null })
        const { messages } = await here.parts.inbox.list(null, 100)
        const captured = messages.filter(one => !one.test && (one.id === second.id || one.id === first.id))
        expect(captured.map(one => one.id)).toEqual(type === 'normal' ? [second.id] : [])
        const found = await by.get(`${BULK}/${job.body.data.id}`)
        expect(found.body.data.job_status).toBe('finished')
      })
})

describe('§22.10 a link file whose placeholder is hidden by a conditional', () => {
  const doc = { file: Buffer.from('hello').toString('base64'), filename: 'a.txt', sending_method: 'link' }

  test('is refused like a link without a placeholder', async () => {
    const hidden = await emailTemplate(key, 'Hello ((doc??see the file))', 'Subject')
    refused(await email(hidden, { doc }), 'Template has no placeholder for file link: doc')
    const without = await emailTemplate(key, 'Hello', 'Subject')
    refused(await email(without, { doc }), 'Template has no placeholder for file link: doc')
  })

  test('but passes where the address is shown as well', async () => {
    const shown = await emailTemplate(key, 'Hello ((doc??see the file:)) ((doc))', 'Subject')
    expect((await email(shown, { doc })).status).toBe(201)
  })
})

describe('§22.13 length of one rendered e-mail', () => {
  test('a body of 2,000,000 characters is accepted, one more is not', async () => {
    const template = await emailTemplate(key, '((a))'.repeat(50), 'Subject')
    expect((await email(template, { a: 'x'.repeat(40_000) })).status).toBe(201)
    const over = await emailTemplate(key, `${'((a))'.repeat(50)}y`, 'Subject')
    refused(await email(over, { a: 'x'.repeat(40_000) }), TOO_LARGE)
  })

  test('the subject has the same limit', async () => {
    const template = await emailTemplate(key, 'Hello', '((a))'.repeat(50))
    expect((await email(template, { a: 'x'.repeat(40_000) })).status).toBe(201)
    refused(await email(template, { a: 'x'.repeat(40_001) }), TOO_LARGE)
  })

  test('a conditional that is not shown and a list count as they show', async () => {
    const hidden = await emailTemplate(key, `${'((a))'.repeat(50)}((b??more))`, 'Subject')
    expect((await email(hidden, { a: 'x'.repeat(40_000), b: 'no' })).status).toBe(201)
    refused(await email(hidden, { a: 'x'.repeat(40_000), b: 'yes' }), TOO_LARGE)
    const list = await emailTemplate(key, '((a))'.repeat(50), 'Subject')
    // Each list is 2 + 2 + 39,996 characters.
    expect((await email(list, { a: ['x'.repeat(39_996)] })).status).toBe(201)
    refused(await email(list, { a: ['x'.repeat(39_997)] }), TOO_LARGE)
  })

  test('bulk: the same sentence as row error', async () => {
    const template = await emailTemplate(key, '((a))'.repeat(400), 'Subject')
    const reply = await bulk(template, [
      ['email address', 'a'],
      ['ann@example.org', 'short'],
      ['bob@example.org', 'x'.repeat(5_001)],
      ['cid@example.org', 'x'.repeat(5_000)],
      ['nobody', 'x'.repeat(40_000)],
    ])
    refused(
      reply,
      `Some rows have errors. Row 2 - ${TOO_LARGE}. Row 4 - email address: invalid recipient,${TOO_LARGE}.`,
    )
  })

  test('a preview has the same limit', async () => {
    const template = await emailTemplate(key, '((a))'.repeat(8_000), 'Subject')
    refused(
      await key.post(`/v2/template/${template}/preview`, { personalisation: { a: 'x'.repeat(50_000) } }),
      TOO_LARGE,
    )
    const large = await key.post(`/v2/template/${template}/preview`, { personalisation: { a: 'x'.repeat(50) } })
    expect(large.body.html).toContain('x'.repeat(400_000))
  })

  test('a text message has its own limit, also decided before rendering', async () => {
    const template = await smsTemplate(key, '((a))'.repeat(100_000))
    const tooLong = 'Content for template has a character count greater than the limit of 612'
    refused(await sms(template, { a: 'x'.repeat(50_000) }), tooLong)
    refused(await sms(template, { a: '\u00a0'.repeat(50_000) }), tooLong)
    const row = [
      ['phone number', 'a'],
      ['6135550123', 'x'.repeat(50_000)],
    ]
    refused(
      await bulk(template, row),
      'Row 1 - has a character count greater than 612 characters. Some messages may be too long due to custom content.',
    )
  })

  test('a large message is delivered and read whole', async () => {
    const service = await here.service({ rate_limit: UNLIMITED })
    const by = await service.key()
    const template = await emailTemplate(by, '((a))'.repeat(50), 'Subject')
    const sent = await email(template, { a: 'word '.repeat(8_000) }, by)
    const [found] = await ended(by, ['delivered'])
    expect(found.body).toBe('word '.repeat(400_000))
    expect(found.body).toBe(sent.body.content.body)
  })

  test('a page ends early when its messages are large, and the next one continues', async () => {
    const service = await here.service({ rate_limit: UNLIMITED })
    const maker = await service.key()
    const by = await service.key({ type: 'test' })
    const template = await emailTemplate(maker, '((a))'.repeat(50), 'Subject')
    const rows = Array.from({ length: 5 }, (_, at) => ['ann@example.org', `${at}${'x'.repeat(30_000)}`])
    expect((await bulk(template, [['email address', 'a'], ...rows], by)).status).toBe(201)
    await ended(by, ['delivered'])
    const seen: string[] = []
    const sizes: number[] = []
    for (let path = `${LIST}?include_jobs=true`; ; ) {
      const { body } = await by.get(path)
      if (body.notifications.length === 0) break
      sizes.push(body.notifications.length)
      seen.push(...body.notifications.map((one: { body: string }) => one.body[0]))
      path = body.links.next
    }
    expect(seen).toEqual(['4', '3', '2', '1', '0'])
    expect(sizes).toEqual([2, 2, 1])
  })
})

describe('§22.20 columns of a bulk job', () => {
  const wide = (columns: number) => [
    'email address',
    'name',
    ...Array.from({ length: columns - 2 }, (_, at) => `x${at}`),
  ]
  const TOO_MANY = 'Too many columns. Maximum number of columns allowed is 1000'

  test('1,000 are accepted, 1,001 are not, by rows and by csv', async () => {
    const template = await emailTemplate(key)
    const csv = (columns: number) =>
      key.post(BULK, { name: 'Wide', template_id: template, csv: `${wide(columns).join(',')}\nann@example.org,Ann` })
    const row = ['ann@example.org', 'Ann']
    expect((await bulk(template, [wide(1_000), row])).status).toBe(201)
    expect((await csv(1_000)).status).toBe(201)
    refused(await bulk(template, [wide(1_001), row]), TOO_MANY)
    refused(await csv(1_001), TOO_MANY)
  })

  test('they are counted before missing and duplicate headers are reported', async () => {
    const many = Array.from({ length: 1_001 }, () => 'name')
    refused(await bulk(await emailTemplate(key), [many, ['Ann']]), TOO_MANY)
  })

  test('a row may be longer than the header', async () => {
    const row = ['ann@example.org', 'Ann', ...Array.from({ length: 5_000 }, () => 'x')]
    expect((await bulk(await emailTemplate(key), [['email address', 'name'], row])).status).toBe(201)
  })
})
