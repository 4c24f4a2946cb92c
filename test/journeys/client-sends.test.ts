// The published client of this interface family, notifications-node-client, sends, reads, lists and pages; it signs tokens.
import { readFileSync } from 'node:fs'
import { NotifyClient } from 'notifications-node-client'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { emailTemplate, hold, LIST, putState, smsTemplate, UUID7, ZULU } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let client: NotifyClient
let template: Id
let text: Id
let replyTo: Id
let sender: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ name: 'Sample & Sons', rate_limit: 100_000 })
  replyTo = (await service.addReplyTo('office@example.org')).id
  sender = (await service.addSender('HERALD')).id
  const key = await service.key()
  client = new NotifyClient(here.address, key.key)
  template = await emailTemplate(key)
  text = await smsTemplate(key)
})

const personalisation = { name: 'Ann' }
/** What the client throws for a refusal: the answer is in `response`. */
const refusal = async (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable('it was not refused'),
    error => ({ status: error.response.status, data: error.response.data }),
  )
const ids = (reply: { data: { notifications: { id: string }[] } }) => reply.data.notifications.map(one => one.id)

describe('sends', () => {
  test('an e-mail', async () => {
    const { status, data } = await client.sendEmail(template, 'ann@example.net', {
      personalisation,
      reference: 'a mail',
      emailReplyToId: replyTo,
    })
    expect(status).toBe(201)
    expect(data).toEqual({
      id: expect.stringMatching(UUID7),
      reference: 'a mail',
      content: { subject: 'Dear Ann', body: 'Hello Ann', from_email: 'sample.sons@herald.example' },
      uri: `${here.address}${LIST}/${data.id}`,
      template: { id: template, version: 1, uri: `${here.address}/v2/template/${template}/1` },
      scheduled_for: null,
    })
  })

  test('a text message', async () => {
    const { status, data } = await client.sendSms(text, '+16135550123', {
      personalisation,
      reference: 'a text',
      smsSenderId: sender,
    })
    expect(status).toBe(201)
    expect(data).toMatchObject({ reference: 'a text', content: { body: 'Hi Ann', from_number: 'HERALD' } })
  })

  test('without options', async () => {
    const key = await service.key()
    const { data } = await client.sendEmail(await emailTemplate(key, 'Fixed', 'News'), 'ann@example.net')
    expect(data).toMatchObject({ reference: null, content: { body: 'Fixed' } })
  })

  test('a list of values', async () => {
    const { data } = await client.sendSms(text, '+16135550123', { personalisation: { name: ['Ann', 'Bob', 'Eve'] } })
    expect(data.content.body).toBe('Hi Ann, Bob and Eve')
  })

  test('a file of prepareUpload once it has sending_method and filename, as docs/clients.md says', async () => {
    const files = await here.service({ may_send_files: true })
    const key = await files.key()
    const upload = new NotifyClient(here.address, key.key)
    const letter = await emailTemplate(key, 'See ((document))', 'A file')
    const prepared = upload.prepareUpload(Buffer.from('a plain text'), { filename: 'terms.txt' })
    const by = (document: object) => upload.sendEmail(letter, 'ann@example.net', { personalisation: { document } })
    expect(await refusal(by(prepared))).toMatchObject({
      status: 400,
      data: { errors: [{ error: 'ValidationError', message: 'sending_method is a required property' }] },
    })
    expect((await by({ ...prepared, sending_method: 'attach' })).status).toBe(201)
    const unnamed = upload.prepareUpload(Buffer.from('a plain text'))
    expect((await refusal(by({ ...unnamed, sending_method: 'attach' }))).status).toBe(400)
    expect(readFileSync('docs/clients.md', 'utf8')).toContain(
      'add `sending_method` (`attach` or `link`) and `filename` to what it returns',
    )
  })
})

describe('reads', () => {
  test('one message, straight after it was sent', async () => {
    const { data: sent } = await client.sendEmail(template, 'ann@example.net', { personalisation, reference: 'r' })
    const { status, data } = await client.getNotificationById(sent.id)
    expect(status).toBe(200)
    expect(data).toMatchObject({
      id: sent.id,
      reference: 'r',
      email_address: 'ann@example.net',
      phone_number: null,
      type: 'email',
      body: 'Hello Ann',
      subject: 'Dear Ann',
      created_at: expect.stringMatching(ZULU),
    })
  })

  test('the version a message was made from', async () => {
    const { data } = await client.getTemplateByIdAndVersion(template, 1)
    expect(data).toMatchObject({ id: template, version: 1, body: 'Hello ((name))' })
  })
})

describe('lists', () => {
  let mine: NotifyClient
  let mails: string[]
  let texts: string[]

  beforeAll(async () => {
    const own = await here.service({ rate_limit: 100_000 })
    const key = await own.key()
    mine = new NotifyClient(here.address, own.id, key.key)
    const [email, sms] = [await emailTemplate(key, 'Hello', 'News'), await smsTemplate(key, 'Hello')]
    mails = []
    texts = []
    for (const reference of ['first', 'second & third']) {
      mails.push((await mine.sendEmail(email, 'ann@example.net', { reference })).data.id)
      texts.push((await mine.sendSms(sms, '+16135550123', { reference })).data.id)
    }
    // One message of each kind gets its status directly, independent of the engine.
    for (const id of [mails[0], texts[0]] as Id[]) {
      await hold(here, id)
      await putState(here, id, { status: 'permanent-failure' })
    }
  })

  test('all, newest first, with links', async () => {
    const reply = await mine.getNotifications()
    expect(ids(reply)).toEqual([texts[1], mails[1], texts[0], mails[0]])
    expect(reply.data.links).toEqual({ current: LIST, next: `${LIST}?older_than=${mails[0]}` })
  })

  test('by type, status and reference', async () => {
    expect(ids(await mine.getNotifications('email'))).toEqual([mails[1], mails[0]])
    expect(ids(await mine.getNotifications('sms', 'permanent-failure'))).toEqual([texts[0]])
    expect(ids(await mine.getNotifications(undefined, 'failed'))).toEqual([texts[0], mails[0]])
    expect(ids(await mine.getNotifications(undefined, undefined, 'second & third'))).toEqual([texts[1], mails[1]])
    expect(ids(await mine.getNotifications('sms', 'failed', 'second & third'))).toEqual([])
  })

  test('pages by olderThanId until a page is empty', async () => {
    expect(ids(await mine.getNotifications(undefined, undefined, undefined, mails[1]))).toEqual([texts[0], mails[0]])
    expect(ids(await mine.getNotifications('sms', undefined, undefined, mails[1]))).toEqual([texts[0]])
    const last = await mine.getNotifications(undefined, undefined, undefined, mails[0])
    expect(last.data).toEqual({ notifications: [], links: { current: `${LIST}?older_than=${mails[0]}` } })
  })

  test('pages of 250', async () => {
    const own = await here.service({ rate_limit: 100_000 })
    const key = await own.key()
    const busy = new NotifyClient(here.address, key.key)
    const email = await emailTemplate(key, 'Hello', 'News')
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let sent = 0; sent < 26; sent++) await busy.sendEmail(email, 'ann@example.net')
      }),
    )
    const seen: string[] = []
    for (;;) {
      const page = ids(await busy.getNotifications(undefined, undefined, undefined, seen.at(-1)))
      if (page.length === 0) break
      seen.push(...page)
    }
    expect(seen).toHaveLength(260)
    expect(new Set(seen).size).toBe(260)
    expect(seen).toEqual(seen.toSorted().toReversed())
  })
})

describe('refusals arrive as the client’s users know them: response.data.errors and status_code', () => {
  test('several sentences of a ValidationError', async () => {
    expect(await refusal(client.sendEmail('not-a-uuid', 'nobody', { personalisation }))).toEqual({
      status: 400,
      data: {
        errors: [
          { error: 'ValidationError', message: 'email_address Not a valid email address' },
          { error: 'ValidationError', message: 'template_id is not a valid UUID' },
        ],
        status_code: 400,
      },
    })
  })

  test('missing personalisation', async () => {
    expect(await refusal(client.sendSms(text, '+16135550123'))).toEqual({
      status: 400,
      data: {
        errors: [{ error: 'BadRequestError', message: `Missing personalisation for template ID ${text}: name` }],
        status_code: 400,
      },
    })
  })

  test('an unknown message', async () => {
    expect(await refusal(client.getNotificationById('00000000-0000-0000-0000-000000000000'))).toEqual({
      status: 404,
      data: { errors: [{ error: 'NoResultFound', message: 'No result found' }], status_code: 404 },
    })
  })

  test('a status that does not exist', async () => {
    const { status, data } = await refusal(client.getNotifications('email', 'lost'))
    expect([status, data.errors[0].error]).toEqual([400, 'ValidationError'])
  })

  test('a key that is not ours', async () => {
    const key = await service.key()
    const other = new NotifyClient(here.address, `${key.key.slice(0, -36)}00000000-0000-4000-8000-000000000000`)
    expect(await refusal(other.getNotifications())).toEqual({
      status: 403,
      data: {
        errors: [{ error: 'AuthError', message: 'Invalid token: signature, api token not found' }],
        status_code: 403,
      },
    })
  })

  test('too many requests', async () => {
    const slow = await (await here.service({ rate_limit: 0 })).key()
    const { status, data } = await refusal(new NotifyClient(here.address, slow.key).sendSms(text, '+16135550123'))
    expect([status, data.errors[0].error]).toEqual([429, 'RateLimitError'])
  })
})
