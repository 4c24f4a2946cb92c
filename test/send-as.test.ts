// A person sends by hand: with the checks and limits of a live key, and recorded with the message.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PersonActor } from '../src/audit/actor.ts'
import { MAY, ROLES, type Role } from '../src/audit/role.ts'
import { entries } from '../src/audit/sql.ts'
import type { Id } from '../src/core/id.ts'
import { Refusal } from '../src/core/refusal.ts'
import { type HandSent, sendAs } from '../src/notifications/send-as.ts'
import { EMAIL, emailTemplate, type Key, smsTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
const BASE = 'https://herald.example'

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
})

const person = (service_id: Id, role: Role = 'sender'): PersonActor => ({
  kind: 'person',
  id: randomUUID() as Id,
  service_id,
  email_address: 'ada@example.org',
  name: 'Ada Park',
  permissions: MAY[role],
})

const given = async (changes: Partial<HandSent> = {}): Promise<HandSent> => ({
  channel: 'email',
  to: 'jo@example.net',
  template_id: (await emailTemplate(key, 'Hello ((name))')) as Id,
  personalisation: { name: 'Jo' },
  ...changes,
})

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(Refusal)
  return (error as Refusal).messages.join(' ')
}

describe('a person sends', () => {
  test('an e-mail that the interface shows with the name of the person', async () => {
    const actor = person(service.id)
    const id = await sendAs(here.parts, actor, service.id, await given({ reference: 'by hand' }), { base: BASE })
    const { body } = await key.get(`/v2/notifications/${id}`)
    expect(body).toMatchObject({
      email_address: 'jo@example.net',
      body: 'Hello Jo',
      created_by_name: 'Ada Park',
      reference: 'by hand',
      status: 'created',
    })
    const [entry] = await entries(here.parts.db.sql, service.id, 1)
    expect(entry).toMatchObject({
      action: 'message sent',
      actor_kind: 'person',
      actor_id: actor.id,
      subject_id: id,
      key_id: null,
      actor_name: null,
    })
  })

  test('a text message with a number of the home country, at a later time', async () => {
    const template_id = (await smsTemplate(key, 'Code ((code))')) as Id
    const scheduled_for = new Date(Date.now() + 3_600_000).toISOString()
    const id = await sendAs(
      here.parts,
      person(service.id),
      service.id,
      { channel: 'sms', to: '613-555-0123', template_id, personalisation: { code: '4471' }, scheduled_for },
      { base: BASE },
    )
    const { body } = await key.get(`/v2/notifications/${id}`)
    expect(body).toMatchObject({ phone_number: '613-555-0123', body: expect.stringContaining('Code 4471') })
    expect(body.scheduled_for).toContain(scheduled_for.slice(0, 19))
    expect(body.created_by_name).toBe('Ada Park')
  })

  test('messages of keys have no such name', async () => {
    const { template_id } = await given()
    const { body } = await key.post(EMAIL, {
      email_address: 'jo@example.net',
      template_id,
      personalisation: { name: 'Jo' },
    })
    expect((await key.get(`/v2/notifications/${body.id}`)).body.created_by_name).toBeNull()
  })
})

describe('the checks are those of a live key', () => {
  const send = async (changes: Partial<HandSent>) =>
    refusal(sendAs(here.parts, person(service.id), service.id, await given(changes), { base: BASE }))

  test.each<[string, Partial<HandSent>, RegExp]>([
    ['an address', { to: 'no address' }, /^email_address Not a valid email address$/],
    ['values', { personalisation: {} }, /^Missing personalisation for template ID .*: name$/],
    ['a template of another service', { template_id: randomUUID() as Id }, /^Template not found$/],
    ['a reply-to address', { sender_id: randomUUID() as Id }, /^email_reply_to_id .* does not exist/],
    ['a time in the past', { scheduled_for: '2020-01-01T00:00:00Z' }, /cannot be in the past/],
    ['a long reference', { reference: 'x'.repeat(1_001) }, /^reference /],
  ])('%s', async (_name, changes, words) => {
    expect(await send(changes)).toMatch(words)
  })

  test('in trial mode only the team receives', async () => {
    const trial = await here.service({ mode: 'trial' })
    const trialKey = await trial.key()
    const template_id = (await emailTemplate(trialKey, 'Hi', 'Hi')) as Id
    const to = (address: string) =>
      sendAs(
        here.parts,
        person(trial.id),
        trial.id,
        { channel: 'email', to: address, template_id, personalisation: {} },
        { base: BASE },
      )
    expect(await refusal(to('jo@example.net'))).toBe("Can't send to this recipient when service is in trial mode")
    expect(await to('maria@example.org')).not.toBeNull()
  })

  test('the daily limit and the rate count', async () => {
    const small = await here.service({ email_daily_limit: 1, rate_limit: 2 })
    const template_id = (await emailTemplate(await small.key(), 'Hi', 'Hi')) as Id
    const send = () =>
      sendAs(
        here.parts,
        person(small.id),
        small.id,
        { channel: 'email', to: 'jo@example.net', template_id, personalisation: {} },
        { base: BASE },
      )
    await send()
    expect(await refusal(send())).toBe('Exceeded send limits (1) for today')
    expect(await refusal(send())).toMatch(/^Exceeded rate limit for key type LIVE of 2 requests/)
  })

  test('a smoke test is not stored', async () => {
    const to = here.parts.simulated.all.find(one => one.includes('@')) ?? ''
    expect(await sendAs(here.parts, person(service.id), service.id, await given({ to }), { base: BASE })).toBeNull()
  })
})

describe('who may', () => {
  test.each(ROLES)('%s', async role => {
    const work = sendAs(here.parts, person(service.id, role), service.id, await given(), { base: BASE })
    if (role === 'sender' || role === 'manager') expect(await work).not.toBeNull()
    else expect(await refusal(work)).toMatch(/permission/)
  })

  test('not in another service', async () => {
    const other = await here.service()
    const work = sendAs(here.parts, person(other.id), service.id, await given(), { base: BASE })
    expect(await refusal(work)).toMatch(/permission/)
  })

  test('what was refused is not recorded', async () => {
    const before = (await entries(here.parts.db.sql, service.id, 1_000)).length
    const asked = await given({ personalisation: {} })
    const templates = (await entries(here.parts.db.sql, service.id, 1_000)).length - before
    await refusal(sendAs(here.parts, person(service.id), service.id, asked, { base: BASE }))
    expect((await entries(here.parts.db.sql, service.id, 1_000)).length - before - templates).toBe(0)
  })
})

test('people and keys share a statement', async () => {
  const asked = await given()
  const before = new Set((await entries(here.parts.db.sql, service.id, 1_000)).map(one => one.subject_id))
  const work = Array.from({ length: 40 }, (_one, n) =>
    n % 2 === 0
      ? sendAs(here.parts, person(service.id), service.id, asked, { base: BASE })
      : key
          .post(EMAIL, {
            email_address: 'jo@example.net',
            template_id: asked.template_id,
            personalisation: { name: 'Jo' },
          })
          .then(reply => reply.body.id as Id),
  )
  const ids = await Promise.all(work)
  const recorded = (await entries(here.parts.db.sql, service.id, 1_000)).map(one => one.subject_id)
  const added = recorded.filter(id => !before.has(id)).sort()
  expect(added).toEqual(ids.filter((_id, n) => n % 2 === 0).sort())
})
