// Interface 3.2, 4.4 and 7.3; contract 4 (cancel message), 5.6 and 11.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, putState, SMS, smsTemplate } from '../support/sends.ts'
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
  template = await emailTemplate(key, 'Hello', 'News')
  text = await smsTemplate(key, 'Hello')
})

const email = async (more: object = { scheduled_for: inMinutes(60) }, by: Key = key): Promise<Id> =>
  (await by.post(EMAIL, { email_address: 'maria@example.org', template_id: template, ...more })).body.id
const sms = async (): Promise<Id> =>
  (await key.post(SMS, { phone_number: '+16135550123', template_id: text, scheduled_for: inMinutes(60) })).body.id
const cancel = (id: string, by: Key = key) => by.delete(`${LIST}/${id}`)

describe('a scheduled message', () => {
  test('200 {"result": "success"}; afterwards GET answers 404, the list omits it, a second DELETE answers 404', async () => {
    for (const id of [await email(), await sms()]) {
      const reply = await cancel(id)
      expect([reply.status, reply.text]).toEqual([200, '{"result":"success"}'])
      expect(await key.get(`${LIST}/${id}`)).toBeRefused(404, 'NoResultFound', 'No result found')
      expect(await cancel(id)).toBeRefused(404, 'NoResultFound', 'Notification not found in database')
      for (const filter of ['', '?status=created', '?template_type=email', '?template_type=sms'])
        expect((await key.get(LIST + filter)).text).not.toContain(id)
    }
  })

  test('is omitted from a list by reference, too', async () => {
    const reference = randomUUID()
    const [gone, stays] = [
      await email({ reference, scheduled_for: inMinutes(60) }),
      await email({ reference, scheduled_for: inMinutes(60) }),
    ]
    await cancel(gone)
    const ids = (await key.get(`${LIST}?reference=${reference}`)).body.notifications.map((one: { id: Id }) => one.id)
    expect(ids).toEqual([stays])
  })

  test('nothing is left for the engine to send, and its row shows what happened', async () => {
    const id = await email()
    await cancel(id)
    const { sql } = here.parts.db
    expect(await sql`select id from tickets where ${id} = any (subjects)`).toEqual([])
    expect(await sql`select moves from states where id = ${id}`).toEqual([{ moves: ['created', 'cancelled'] }])
  })

  test('any key of the service, of any type, in any spelling of the id', async () => {
    const keys = { normal: key, team: await service.key({ type: 'team' }), test: await service.key({ type: 'test' }) }
    for (const by of Object.values(keys))
      for (const of of Object.values(keys)) {
        const id = await email({ scheduled_for: inMinutes(60) }, of)
        expect((await cancel(`%7B${id.toUpperCase()}%7D`, by)).status).toBe(200)
      }
  })

  test('also by a suspended service: reading and cancelling still work', async () => {
    const other = await here.service()
    const itsKey = await other.key()
    const id = await email({ template_id: await emailTemplate(itsKey, 'x', 'x'), scheduled_for: inMinutes(60) }, itsKey)
    await other.change({ state: 'suspended' })
    expect((await cancel(id, itsKey)).status).toBe(200)
  })

  test('§22.4 several cancels of one message at the same time: one 200; the others 404', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await email()
      const replies = await Promise.all(Array.from({ length: 20 }, () => cancel(id)))
      expect(replies.filter(reply => reply.status === 200)).toHaveLength(1)
      for (const reply of replies.filter(reply => reply.status !== 200))
        expect(reply).toBeRefused(404, 'NoResultFound', 'Notification not found in database')
    }
  })
})

describe('refused', () => {
  test('malformed ids', async () => {
    for (const id of ['x', '123', `${randomUUID()}0`, `%20${randomUUID()}`, '%00'])
      expect(await cancel(id)).toBeRefused(400, 'ValidationError', 'notification_id is not a valid UUID')
  })

  test('1.3 DELETE /v2/notifications/bulk, /email and /sms read the word as an id', async () => {
    for (const word of ['bulk', 'email', 'sms'])
      expect(await cancel(word)).toBeRefused(400, 'ValidationError', 'notification_id is not a valid UUID')
  })

  test('unknown ids, and those of another service', async () => {
    const stranger = await (await here.service()).key()
    const id = await email()
    for (const reply of [await cancel(randomUUID()), await cancel('0'.repeat(32)), await cancel(id, stranger)])
      expect(reply).toBeRefused(404, 'NoResultFound', 'Notification not found in database')
    expect((await key.get(`${LIST}/${id}`)).status).toBe(200)
  })

  test('a message that was not scheduled', async () => {
    for (const more of [{}, { scheduled_for: null }]) {
      const id = await email(more)
      expect(await cancel(id)).toBeRefused(
        400,
        'BadRequestError',
        'Notification is not scheduled and cannot be deleted',
      )
      expect((await key.get(`${LIST}/${id}`)).status).toBe(200)
    }
  })

  test.each(['sending', 'sent', 'pending', 'delivered', 'technical-failure', 'permanent-failure', 'temporary-failure'])(
    'a scheduled message that is %s by now',
    async status => {
      const id = await email()
      await here.parts.db.sql`delete from tickets where id = ${id}`
      await putState(here, id, { status })
      expect(await cancel(id)).toBeRefused(
        400,
        'BadRequestError',
        'Notification has already been sent and cannot be deleted',
      )
      expect((await key.get(`${LIST}/${id}`)).body.status).toBe(status)
    },
  )

  test('a worker picks it up at the same moment: its status is still created, but it is the worker’s', async () => {
    const id = await email()
    await here.parts.db.sql`
      update tickets
      set owner = ${randomUUID()}, attempts = 1, leased_until = now() + interval '1 minute'
      where id = ${id}`
    expect(await cancel(id)).toBeRefused(
      400,
      'BadRequestError',
      'Notification has already been sent and cannot be deleted',
    )
    expect((await key.get(`${LIST}/${id}`)).body.status).toBe('created')
  })

  test('authentication comes before the id', async () => {
    expect((await here.call('DELETE', `${LIST}/x`)).status).toBe(401)
  })

  test('a body is ignored, never parsed', async () => {
    const id = await email()
    expect((await key.delete(`${LIST}/${id}`, 'not looked at', { 'content-type': 'text/plain' })).status).toBe(200)
  })
})
