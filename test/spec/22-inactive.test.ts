// Contract 22.3: an inactive service is a suspended or an archived one (6.3, 6.5, 6.7).
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const BULK = `${LIST}/bulk`
const ROWS = [
  ['email address', 'name'],
  ['ann@example.net', 'Ann'],
  ['bea@example.net', 'Bea'],
]

let here: World

beforeAll(async () => {
  here = await world({}, { engine: true })
}, 60_000)

async function sender() {
  const service = await here.service()
  const key = await service.key()
  return { service, key, email: await emailTemplate(key), text: await smsTemplate(key) }
}

const personalisation = { name: 'Ann' }

/** Scheduled messages and chunks are due at once. */
const bringForward = (service: Id) => here.parts.db.sql`
  update tickets
  set due_at = clock_timestamp()
  where service_id = ${service}`

async function state(id: Id) {
  const [row] = await here.parts.db.sql<{ status: string; provider: string | null; provider_response: string | null }>`
    select status, provider, provider_response from states where id = ${id}`
  return row
}

const NOT_ACTIVE = { status: 'technical-failure', provider: null, provider_response: 'service is not active' }

describe.each(['suspended', 'archived'] as const)('a %s service', inactive => {
  test('§22.3 what is due while a service is inactive ends technical-failure: service is not active', async () => {
    const { service, key, email, text } = await sender()
    const tests = await service.key({ type: 'test' })
    const scheduled_for = inMinutes(60)
    const mail = { email_address: 'ann@example.net', template_id: email, personalisation, scheduled_for }
    const sms = { phone_number: '+16135550123', template_id: text, personalisation, scheduled_for }
    const replies = [await key.post(EMAIL, mail), await key.post(SMS, sms), await tests.post(EMAIL, mail)]
    const ids = replies.map(reply => reply.body.id as Id)

    await service.change({ state: inactive })
    await bringForward(service.id)

    for (const id of ids) await expect.poll(() => state(id), { timeout: 10_000 }).toEqual(NOT_ACTIVE)
  })

  test('§22.3 its scheduled jobs end cancelled, and the daily limit is given back', async () => {
    const { service, key, email } = await sender()
    const made = await key.post(BULK, { name: 'Later', template_id: email, rows: ROWS, scheduled_for: inMinutes(60) })
    expect(made.status).toBe(201)

    await service.change({ state: inactive })
    await bringForward(service.id)

    const job = async () =>
      (
        await here.parts.db.sql`
        select status, processing_started from jobs where id = ${made.body.data.id}`
      )[0]
    await expect.poll(job, { timeout: 10_000 }).toEqual({ status: 'cancelled', processing_started: null })
    expect(await here.parts.db.sql`select used from usage where service_id = ${service.id}`).toEqual([{ used: 0 }])
    expect(await here.parts.db.sql`select id from notifications where service_id = ${service.id}`).toEqual([])
  })
})

test('§22.3 reading goes on for a suspended service', async () => {
  const { service, key, email } = await sender()
  const sent = await key.post(EMAIL, { email_address: 'ann@example.net', template_id: email, personalisation })
  const made = await key.post(BULK, { name: 'Now', template_id: email, rows: ROWS, scheduled_for: inMinutes(60) })
  await expect.poll(async () => (await state(sent.body.id))?.status, { timeout: 10_000 }).toBe('delivered')
  await service.change({ state: 'suspended' })

  expect((await key.get(`${LIST}/${sent.body.id}`)).body.status).toBe('delivered')
  expect((await key.get(LIST)).body.notifications).toHaveLength(1)
  expect((await key.get(`${BULK}/${made.body.data.id}`)).body.data.id).toBe(made.body.data.id)
  expect((await key.get(`/v2/template/${email}`)).body.id).toBe(email)
  expect((await key.get('/v2/templates')).body.templates).toHaveLength(2)
})

test('§22.3 a service that is active again when a message is due sends it', async () => {
  const { service, key, email } = await sender()
  const mail = { email_address: 'ann@example.net', template_id: email, personalisation, scheduled_for: inMinutes(60) }
  const { body } = await key.post(EMAIL, mail)
  await service.change({ state: 'suspended' })
  await service.change({ state: 'active' })
  await bringForward(service.id)
  await expect.poll(async () => (await state(body.id))?.status, { timeout: 10_000 }).toBe('delivered')
})
