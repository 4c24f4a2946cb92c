// Objects of another service behave as if they did not exist (reliability I1, S-04). The routes come from openapi.json: one that
// takes an id and has no case here fails.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { readable } from './support/events.ts'
import { bulk, CASES, type Ids, idsOfRoutes, plain, unknownLike } from './support/tenants.ts'
import { CATEGORY, type Reply, type World, world } from './support/world.ts'

type Caller = Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
let here: World
let stranger: Caller
let strangers: Ids
let owner: Ids
let ownersKey: Caller

beforeAll(async () => {
  here = await world()
  const [mine, theirs] = [await inhabited(), await inhabited()]
  ownersKey = mine.key
  owner = mine.ids
  stranger = theirs.key
  strangers = theirs.ids
  for (const id of Object.values(owner)) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  await readable(here.parts.db.sql) // a webhook also shows what is behind it
}, 60_000)

/** A service with one object of every kind that has an id. */
async function inhabited() {
  const service = await here.service()
  const key = await service.key({ manageWebhooks: true })
  const template = async (type: 'email' | 'sms') => {
    const shape = { name: 'A template', template_type: type, content: 'Hello', template_category_id: CATEGORY.general }
    return (await key.post('/v2/manage-template', { ...shape, subject: 'Hello' })).body.id as string
  }
  const emailTemplate = await template('email')
  const archivedTemplate = await template('email')
  await key.delete(`/v2/manage-template/${archivedTemplate}`)
  const send = async (more: object) =>
    (
      await key.post('/v2/notifications/email', {
        email_address: 'owner@example.org',
        template_id: emailTemplate,
        ...more,
      })
    ).body.id as string
  const ids: Ids = {
    email: await send({ reference: 'secret reference' }),
    scheduled: await send({ scheduled_for: inOneHour() }),
    job: (await key.post('/v2/notifications/bulk', { ...bulk(emailTemplate), scheduled_for: inOneHour() })).body.data
      .id,
    emailTemplate,
    smsTemplate: await template('sms'),
    archivedTemplate,
    folder: (await service.addFolder('A folder')).id,
    replyTo: (await service.addReplyTo('answers@example.org')).id,
    sender: (await service.addSender('+16135550101')).id,
    webhook: (await key.post('/herald/v1/webhooks', { url: 'https://owner.example.org/' })).body.id,
  }
  return { key, ids }
}

const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString()
test('every id that a route takes has a case here, and every case has its route', () => {
  expect(Object.keys(CASES).sort()).toEqual(idsOfRoutes().sort())
})

describe("an id of another service is answered like one that does not exist, to the byte, the caller's own id apart", () => {
  for (const [name, { body, path, isAnswered }] of Object.entries(CASES))
    test(name, async () => {
      const [method = '', template = ''] = name.split(' ')
      const ask = (id: string): Promise<Reply> =>
        here.call(method, path ? path(id, strangers) : template.replace(/\{[^}]+\}/, id), {
          headers: { authorization: `ApiKey-v1 ${stranger.key}` },
          ...(body && { body: body(strangers, id) }),
        })

      const before = await belongings()
      for (const { status } of before) expect(status).toBe(200)
      for (const [kind, theirs] of Object.entries(owner)) {
        const nobodys = unknownLike(theirs)
        const [one, other] = [await ask(theirs), await ask(nobodys)]
        expect([kind, one.status, plain(one, theirs)]).toEqual([kind, other.status, plain(other, nobodys)])
        expect([kind, isAnswered ? one.status === 200 : one.status >= 400 && one.status < 500]).toEqual([kind, true])
      }
      expect(await belongings()).toEqual(before)
    })
})

test('the list of messages and of templates shows nothing of another service', async () => {
  for (const path of [
    '/v2/notifications',
    '/v2/notifications?reference=secret%20reference',
    '/v2/notifications/bulk',
    '/v2/templates',
    '/herald/v1/webhooks',
  ]) {
    const reply = await stranger.get(path)
    expect(reply.status).toBe(200)
    for (const id of Object.values(owner)) expect(reply.text).not.toContain(id)
  }
})

test('an Idempotency-Key of another service is a new one', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const send = (key: Caller, template_id: string) =>
    key.post('/v2/notifications/email', { email_address: 'a@example.org', template_id }, headers)
  const first = await send(ownersKey, owner.emailTemplate)
  const second = await send(stranger, strangers.emailTemplate)
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.headers.get('idempotent-replayed')).toBe(null)
  expect(second.body.id).not.toBe(first.body.id)
})

test('fifty refused edits keep the connections that all services share', async () => {
  const processes = async () =>
    here.parts.db.sql<{ pid: number }>`
      select pid
      from pg_stat_activity
      where datname = current_database() and application_name = 'herald' and backend_type = 'client backend'`
  const before = new Set((await processes()).map(({ pid }) => pid))
  const added = new Set<number>()
  for (let times = 0; times < 50; times++) {
    const reply = await stranger.patch(`/v2/manage-template/${randomUUID()}`, { name: 'x' })
    expect(reply.status).toBe(404)
    for (const { pid } of await processes()) if (!before.has(pid)) added.add(pid)
  }
  // The pool may grow by a connection for statements that run beside the requests.
  expect(added.size).toBeLessThanOrEqual(2)
})

/** What the owner sees of its own objects: a stranger's attempts must not change it. */
async function belongings() {
  const paths = [
    `/v2/notifications/${owner.email}`,
    `/v2/notifications/${owner.scheduled}`,
    `/v2/notifications/bulk/${owner.job}`,
    `/v2/manage-template/${owner.emailTemplate}`,
    `/v2/manage-template/${owner.smsTemplate}`,
    '/v2/templates',
    `/herald/v1/webhooks/${owner.webhook}`,
  ]
  const replies = await Promise.all(paths.map(path => ownersKey.get(path)))
  return replies.map(({ status, text }) => ({ status, text }))
}
