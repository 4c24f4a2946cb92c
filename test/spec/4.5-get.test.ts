// Interface 2.1, 3.1, 4.5, 7.3 and 8; contract 1.1, 1.5, 5.2, 6.1, 6.2, 11 and 15.6.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import {
  copy,
  EMAIL,
  emailTemplate,
  FINAL,
  hold,
  inMinutes,
  type Key,
  LIST,
  putState,
  SMS,
  smsTemplate,
  ZULU,
} from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id
let text: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ rate_limit: 100_000 })
  key = await service.key()
  template = await emailTemplate(key)
  text = await smsTemplate(key)
})

const personalisation = { name: 'Ann' }
/** Messages that are not due, so that only the test changes their state. */
const email = async (more: object = {}): Promise<Id> =>
  (
    await key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation,
      scheduled_for: inMinutes(60),
      ...more,
    })
  ).body.id
const sms = async (more: object = {}): Promise<Id> =>
  (
    await key.post(SMS, {
      phone_number: '613 555 0123',
      template_id: text,
      personalisation,
      scheduled_for: inMinutes(60),
      ...more,
    })
  ).body.id
const get = (id: string, by: Key = key) => by.get(`${LIST}/${id}`)

describe('5.2 the message, every field in its order', () => {
  test('an e-mail', async () => {
    const id = await email({ reference: 'case 7' })
    await hold(here, id)
    await putState(here, id, {
      status: 'delivered',
      sent_at: '2026-06-15T12:30:01Z',
      completed_at: '2026-06-15T12:30:04.5Z',
    })
    const reply = await get(id)
    expect(reply.status).toBe(200)
    expect(reply.body.created_at).toMatch(ZULU)
    expect(reply.text).toBe(
      JSON.stringify({
        id,
        reference: 'case 7',
        email_address: 'ann@example.net',
        phone_number: null,
        type: 'email',
        status: 'delivered',
        status_description: 'Delivered',
        provider_response: null,
        template: { id: template, version: 1, uri: `/v2/template/${template}/1` },
        body: 'Hello Ann',
        subject: 'Dear Ann',
        created_at: reply.body.created_at,
        created_by_name: null,
        sent_at: '2026-06-15T12:30:01.000000Z',
        completed_at: '2026-06-15T12:30:04.500000Z',
        scheduled_for: null,
      }),
    )
  })

  test('a scheduled text message stays created until due', async () => {
    const due = inMinutes(90)
    const id = await sms({ scheduled_for: due })
    const reply = await get(id)
    expect(reply.text).toBe(
      JSON.stringify({
        id,
        reference: null,
        email_address: null,
        phone_number: '613 555 0123',
        type: 'sms',
        status: 'created',
        status_description: 'In transit',
        provider_response: null,
        template: { id: text, version: 1, uri: `/v2/template/${text}/1` },
        body: 'Hi Ann',
        subject: null,
        created_at: reply.body.created_at,
        created_by_name: null,
        sent_at: null,
        completed_at: null,
        scheduled_for: `${due}.000000Z`,
      }),
    )
  })

  test('1.5 created_at is the moment of acceptance, in UTC with six digits', async () => {
    const before = Date.now()
    const id = await email()
    const { created_at } = (await get(id)).body
    expect(created_at).toMatch(ZULU)
    expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before - 1_000)
    expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.now() + 1_000)
  })

  test('the location template.uri names answers with the version', async () => {
    const { uri, version } = (await get(await email())).body.template
    expect((await key.get(uri)).body).toMatchObject({ id: template, version })
  })

  test('rendered from the version recorded at acceptance, also after later changes and after archiving', async () => {
    const own = await emailTemplate(key, 'One ((name))', 'First ((name))')
    const id = await email({ template_id: own })
    await key.patch(`/v2/manage-template/${own}`, { content: 'Two', subject: 'Second' })
    await key.delete(`/v2/manage-template/${own}`)
    expect((await get(id)).body).toMatchObject({
      body: 'One Ann',
      subject: 'First Ann',
      template: { id: own, version: 1, uri: `/v2/template/${own}/1` },
    })
  })

  test('14.2, 21.5 the subject: whitespace collapsed, no typography; the body untouched', async () => {
    const own = await emailTemplate(key, '  # Hi   ((name))\n\n* "a" -- b', ' "Dear"   ((name))\n ')
    const { subject, body } = (await get(await email({ template_id: own }))).body
    expect(subject).toBe('"Dear" Ann')
    expect(body).toBe('  # Hi   Ann\n\n* "a" -- b')
  })

  test('what was answered to the send is what is read', async () => {
    const sent = (
      await key.post(EMAIL, {
        email_address: 'ann@example.net',
        template_id: template,
        personalisation,
        reference: 'r',
      })
    ).body
    const read = (await get(sent.id)).body
    expect([read.id, read.reference, read.subject, read.body, read.template.version]).toEqual([
      sent.id,
      sent.reference,
      sent.content.subject,
      sent.content.body,
      sent.template.version,
    ])
  })
})

describe('6.1, 6.2 status and status_description', () => {
  const labels: [status: string, email: string, sms: string][] = [
    ['created', 'In transit', 'In transit'],
    ['sending', 'In transit', 'In transit'],
    ['pending', 'In transit', 'In transit'],
    ['pending-virus-check', 'In transit', 'In transit'],
    ['delivered', 'Delivered', 'Delivered'],
    ['sent', 'Delivered', 'Sent'],
    ['permanent-failure', 'No such address', 'No such number'],
    ['temporary-failure', 'Content or inbox issue', 'Carrier issue'],
    ['technical-failure', 'Tech issue', 'Tech issue'],
    ['virus-scan-failed', 'Attachment has virus', 'Attachment has virus'],
  ]

  test.each(labels)('%s: e-mail "%s", text "%s"', async (status, ofEmail, ofSms) => {
    for (const [id, label] of [
      [await email(), ofEmail],
      [await sms(), ofSms],
    ] as [Id, string][]) {
      await hold(here, id)
      await putState(here, id, { status, sent_at: '2026-06-15T12:30:01Z', provider_response: 'said so' })
      const { body } = await get(id)
      expect([body.status, body.status_description]).toEqual([status, label])
      expect(body.provider_response).toBe(status === 'technical-failure' ? 'said so' : null)
      expect(body.completed_at).toBe(FINAL.includes(status) ? '2026-06-15T12:30:04.500000Z' : null)
    }
  })

  test('permanent-failure is Blocked when a list or a carrier refused it', async () => {
    for (const id of [await email(), await sms()]) {
      await hold(here, id)
      await putState(here, id, { status: 'permanent-failure', failure_detail: 'blocked' })
      expect((await get(id)).body.status_description).toBe('Blocked')
    }
  })

  test('provider_response of a technical-failure is null when nothing is known', async () => {
    const id = await email()
    await hold(here, id)
    await putState(here, id, { status: 'technical-failure' })
    expect((await get(id)).body.provider_response).toBe(null)
  })
})

describe('11 who may read', () => {
  test('any key of the service: other key types and messages of a job included', async () => {
    const keys = [key, await service.key({ type: 'team' }), await service.key({ type: 'test' })]
    const id = await email()
    const ofJob = here.parts.ids.next()
    await copy(here, id, [ofJob], randomUUID() as Id)
    for (const by of keys) {
      expect((await get(id, by)).body.id).toBe(id)
      expect((await get(ofJob, by)).body).toMatchObject({ id: ofJob, created_by_name: null })
      const own = (await by.post(EMAIL, { email_address: 'maria@example.org', template_id: template, personalisation }))
        .body.id
      for (const reader of keys) expect((await get(own, reader)).status).toBe(200)
    }
  })

  test('1.6 any spelling of the id', async () => {
    const id = await email()
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), `urn:uuid:${id}`, `{${id}}`])
      expect((await get(encodeURIComponent(spelling))).body.id).toBe(id)
  })

  test('unknown and foreign ids', async () => {
    const stranger = await (await here.service()).key()
    const id = await email()
    const replies = [
      await get(randomUUID()),
      await get('0'.repeat(32)),
      await get('f'.repeat(32)),
      await get(id, stranger),
    ]
    for (const reply of replies) expect(reply).toBeRefused(404, 'NoResultFound', 'No result found')
  })

  test('malformed ids; the words of the send routes are read as ids', async () => {
    for (const id of ['x', '123', 'email', 'sms', `%20${randomUUID()}`, `${randomUUID()}%0A`, '%00', '%F0%9F%98%80'])
      expect(await get(id)).toBeRefused(400, 'ValidationError', 'id is not a valid UUID')
  })

  test('authentication comes before the id', async () => {
    expect((await here.call('GET', `${LIST}/x`)).status).toBe(401)
  })
})

test('1.1 read your write: 1,000 times a GET straight after the 201 finds the message', async () => {
  let found = 0
  const sender = async () => {
    for (let sent = 0; sent < 50; sent++) {
      const { id } = (
        await key.post(EMAIL, { email_address: 'ann@example.net', template_id: template, personalisation })
      ).body
      if ((await get(id)).status === 200) found++
    }
  }
  await Promise.all(Array.from({ length: 20 }, sender))
  expect(found).toBe(1_000)
}, 120_000)

describe('8, 15.6 messages 7 days old or newer', () => {
  const DAY = 86_400_000

  test('exactly 7 days, or what the service has set for the type; cut off at the moment of reading', async () => {
    const elsewhere = await world()
    const usual = await (await elsewhere.service()).key()
    const short = await (await elsewhere.service({ email_retention_days: 3, sms_retention_days: 9 })).key()
    const sentBy = async (by: Key) => {
      const mail = { email_address: 'ann@example.net', template_id: await emailTemplate(by, 'x', 'x') }
      const message = { phone_number: '+16135550123', template_id: await smsTemplate(by, 'x') }
      return [(await by.post(EMAIL, mail)).body.id, (await by.post(SMS, message)).body.id] as [Id, Id]
    }
    const [usualIds, shortIds] = [await sentBy(usual), await sentBy(short)]
    const MARGIN = 20_000
    const statuses = async () => [
      ...(await Promise.all(usualIds.map(async id => (await get(id, usual)).status))),
      ...(await Promise.all(shortIds.map(async id => (await get(id, short)).status))),
    ]

    elsewhere.moveClock(3 * DAY - MARGIN)
    expect(await statuses()).toEqual([200, 200, 200, 200])
    elsewhere.moveClock(2 * MARGIN)
    expect(await statuses()).toEqual([200, 200, 404, 200])
    expect(await get(shortIds[0], short)).toBeRefused(404, 'NoResultFound', 'No result found')
    elsewhere.moveClock(4 * DAY - 2 * MARGIN)
    expect(await statuses()).toEqual([200, 200, 404, 200])
    elsewhere.moveClock(2 * MARGIN)
    expect(await statuses()).toEqual([404, 404, 404, 200])
    elsewhere.moveClock(2 * DAY)
    expect(await statuses()).toEqual([404, 404, 404, 404])
  })
})
