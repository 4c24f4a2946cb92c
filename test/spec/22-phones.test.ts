// Contract 22, rows 16 to 19: senders of text messages, home countries of phone numbers, ids of services.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { emailTemplate, type Key, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { type Reply, type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let here: World

beforeAll(async () => {
  here = await world({}, { engine: true })
})

const send = (key: Key, template: Id, phone_number: string) => key.post(SMS, { phone_number, template_id: template })

async function caller(options: Parameters<World['service']>[0] = {}, at: World = here) {
  const service = await at.service(options)
  const key = await service.key()
  return { service, key, template: await smsTemplate(key, 'Hello') }
}

async function ended(key: Key, path: string): Promise<Reply['body']> {
  for (;;) {
    const { body } = await key.get(path)
    const all = body.notifications ?? [body]
    if (all.length > 0 && all.every((one: { completed_at: string | null }) => one.completed_at !== null)) return body
    await new Promise(resume => setTimeout(resume, 50))
  }
}

describe('§22.16 from_number of a service without a sender', () => {
  const shown = async (name: string, at: World = here) => {
    const { key, template } = await caller({ name }, at)
    return (await send(key, template, '6135550123')).body.content.from_number
  }

  test('is the name of the service, cut to 11 characters', async () => {
    expect(await shown('Permits')).toBe('Permits')
    expect(await shown('Parking permits of the city')).toBe('Parking per')
    expect(await shown('Department of X')).toBe('Department')
  })

  test("is the installation's, which is also what is handed over", async () => {
    const other = await world({ HERALD_SMS_SENDER: 'CITY' }, { engine: true })
    const { key, template, service } = await caller({ name: 'Sport' }, other)
    const sent = await send(key, template, '6135550123')
    expect(sent.body.content.from_number).toBe('CITY')
    await ended(key, `${LIST}/${sent.body.id}`)
    expect((await other.parts.inbox.get(sent.body.id))?.from).toBe('CITY')
    await service.addSender('SPORT')
    await expect
      .poll(async () => (await send(key, template, '6135550123')).body.content.from_number, { interval: 5 })
      .toBe('SPORT')
  })
})

describe('§22.17 the home country of phone numbers', () => {
  const refusedAbroad = (reply: Reply) =>
    expect(reply).toBeRefused(400, 'BadRequestError', 'Cannot send to international mobile numbers')

  test('by default Canada, with all of +1', async () => {
    const { key, template } = await caller({ may_send_international: false })
    expect((await send(key, template, '613-555-0123')).status).toBe(201)
    expect((await send(key, template, '+1 212 555 0123')).status).toBe(201)
    refusedAbroad(await send(key, template, '+33 6 12 34 56 78'))
  })

  test('a service has its own: national numbers are read in it, and its numbers are not international', async () => {
    const { key, template, service } = await caller({ home_country: 'FR', may_send_international: false })
    const sent = await send(key, template, '06 12 34 56 78')
    expect(sent.status).toBe(201)
    expect((await send(key, template, '+33 6 12 34 56 78')).status).toBe(201)
    refusedAbroad(await send(key, template, '+1 613 555 0123'))
    expect(await send(key, template, '613-555-0123')).toBeRefused(
      400,
      'ValidationError',
      'phone_number Not a valid international number',
    )
    const found = await ended(key, `${LIST}/${sent.body.id}`)
    expect(found).toMatchObject({ phone_number: '06 12 34 56 78', status: 'delivered' })
    expect((await here.parts.inbox.get(sent.body.id))?.to).toBe('+33612345678')
    await service.change({ may_send_international: true })
    await expect.poll(async () => (await send(key, template, '+16135550123')).status, { interval: 5 }).toBe(201)
  })

  test('an accepted message goes to the number as read at acceptance, whatever the home country is later', async () => {
    const { key, template, service } = await caller({ home_country: 'FR' })
    const soon = new Date(Date.now() + 5_000).toISOString().slice(0, 19)
    const body = { phone_number: '06 12 34 56 78', template_id: template, scheduled_for: soon }
    const sent = await key.post(SMS, body)
    expect(sent.status).toBe(201)
    await service.change({ home_country: null })
    await ended(key, `${LIST}/${sent.body.id}`)
    expect((await here.parts.inbox.get(sent.body.id))?.to).toBe('+33612345678')
  })

  test('bulk jobs read numbers in the same country, and abroad is sent, not delivered', async () => {
    const { key, template } = await caller({ home_country: 'FR' })
    const rows = [['phone number'], ['06 12 34 56 78'], ['+16135550123']]
    expect((await key.post(BULK, { name: 'Texts', template_id: template, rows })).status).toBe(201)
    const { notifications } = await ended(key, `${LIST}?include_jobs=true`)
    const byNumber = Object.fromEntries(
      notifications.map((one: { phone_number: string; status: string }) => [one.phone_number, one.status]),
    )
    expect(byNumber).toEqual({ '06 12 34 56 78': 'delivered', '+16135550123': 'sent' })
    const wrong = [['phone number'], ['613-555-0123']]
    expect(await key.post(BULK, { name: 'Texts', template_id: template, rows: wrong })).toBeRefused(
      400,
      'BadRequestError',
      'Some rows have errors. Row 1 - phone number: invalid recipient.',
    )
  })

  test('the installation has one, and team members and safelists are read in it', async () => {
    const british = await world({ HERALD_HOME_COUNTRY: 'GB' })
    const service = await british.service({ mode: 'trial' })
    const key = await service.key()
    const template = await smsTemplate(key, 'Hello')
    await service.addToSafelist('07911 123456')
    await expect.poll(async () => (await send(key, template, '+44 7911 123456')).status, { interval: 5 }).toBe(201)
    expect((await send(key, template, '07911123456')).status).toBe(201)
  })
})

describe('§22.18 a text sender has one spelling', () => {
  test('digits that are a number of the home country become E.164', async () => {
    const service = await here.service()
    expect((await service.addSender('613 555 0111')).value).toBe('+16135550111')
    expect((await service.addSender('16135550112')).value).toBe('+16135550112')
    const french = await here.service({ home_country: 'FR' })
    expect((await french.addSender('0612345678')).value).toBe('+33612345678')
  })

  test('short codes and names stay as typed', async () => {
    const service = await here.service()
    for (const sender of ['123', '55555', '12345678', 'HERALD', 'Permits 1'.replace(' ', ''), '7eleven'])
      expect((await service.addSender(sender)).value).toBe(sender)
    for (const sender of ['12', '123456789', 'twelve-letters', ''])
      await expect(service.addSender(sender)).rejects.toThrow('is not a text sender')
  })

  test('the same number in two spellings is one sender', async () => {
    const service = await here.service()
    await service.addSender('(613) 555-0111')
    await expect(service.addSender('+16135550111')).rejects.toThrow('is already a text sender')
    await expect(service.addSender('6135550111')).rejects.toThrow('is already a text sender')
  })
})

test('§22.18 senders that were kept as typed are brought into one spelling by the migration', async () => {
  const service = await here.service()
  const add = (at: number, sender: string, isDefault = false) => here.parts.db.sql`
    insert into senders (id, service_id, sender, is_default, created_at)
    values (gen_random_uuid(), ${service.id}, ${sender}, ${isDefault}, now() + ${at} * interval '1 second')`
  await add(1, '6135550111')
  await add(2, '+16135550111', true)
  await add(3, '16135550112')
  await add(4, '6135550112')
  await add(5, '55555')
  await add(6, 'HERALD')
  const client = new pg.Client({ connectionString: String(here.config.databaseUrl) })
  await client.connect()
  const statements = readFileSync('migrations/0011_home_country.sql', 'utf8').split(';')
  for (const statement of statements.filter(text => !/alter table/.test(text))) await client.query(statement)
  const { rows } = await client.query(
    'select sender, is_default from senders where service_id = $1 and not archived order by created_at',
    [service.id],
  )
  await client.end()
  expect(rows).toEqual([
    { sender: '+16135550111', is_default: true },
    { sender: '+16135550112', is_default: false },
    { sender: '55555', is_default: false },
    { sender: 'HERALD', is_default: false },
  ])
})

test('§22.19 the id of a service is version 4, also in its keys and jobs', async () => {
  const { service, key } = await caller()
  expect(service.id).toMatch(UUID4)
  expect(key.key.slice(-73, -37)).toBe(service.id)
  const template = await emailTemplate(key, 'Hello', 'Subject')
  const job = await key.post(BULK, { name: 'Job', template_id: template, rows: [['email address'], ['a@example.org']] })
  expect(job.body.data.service).toBe(service.id)
})
