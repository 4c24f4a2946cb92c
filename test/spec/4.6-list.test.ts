// Interface 4.6, 7.3 and 8; contract 1.1, 4 (list messages), 5.3, 11 and 16.3.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { floorOf, type Id } from '../../src/core/id.ts'
import {
  copy,
  EMAIL,
  emailTemplate,
  hold,
  inMinutes,
  type Key,
  LIST,
  putState,
  SMS,
  smsTemplate,
} from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

type Service = Awaited<ReturnType<World['service']>>
type Listed = { id: Id; status: string; type: string; reference: string | null }

let here: World
beforeAll(async () => {
  here = await world()
})

/** A service of its own, so that its list contains only what the test creates. */
async function fresh(options: Parameters<World['service']>[0] = {}) {
  const service: Service = await here.service({ rate_limit: 100_000, ...options })
  const key: Key = await service.key()
  const [template, text] = [await emailTemplate(key, 'Hello', 'News'), await smsTemplate(key, 'Hello')]
  const at = inMinutes(60)
  const email = async (more: object = {}, by: Key = key): Promise<Id> => {
    const message = { email_address: 'maria@example.org', template_id: template, scheduled_for: at, ...more }
    return (await by.post(EMAIL, message)).body.id
  }
  const sms = async (more: object = {}, by: Key = key): Promise<Id> => {
    const message = { phone_number: '+16135550199', template_id: text, scheduled_for: at, ...more }
    return (await by.post(SMS, message)).body.id
  }
  const list = (query = '', by: Key = key) => by.get(LIST + query)
  const ids = async (query = '', by: Key = key): Promise<Id[]> =>
    (await list(query, by)).body.notifications.map((one: Listed) => one.id)
  return { service, key, email, sms, list, ids }
}

describe('5.3 the page', () => {
  test('empty: no messages, links.current only', async () => {
    const { list } = await fresh()
    const reply = await list()
    expect([reply.status, reply.text]).toEqual([200, '{"notifications":[],"links":{"current":"/v2/notifications"}}'])
  })

  test('each message as GET shows it, newest first; next on every page that holds a message', async () => {
    const { key, email, sms, list } = await fresh()
    const sent = [await email({ reference: 'a' }), await sms(), await email()]
    const one = async (id: Id) => (await key.get(`${LIST}/${id}`)).body
    const newestFirst = await Promise.all(sent.toReversed().map(one))
    const reply = await list()
    expect(reply.text).toBe(
      JSON.stringify({
        notifications: newestFirst,
        links: { current: '/v2/notifications', next: `/v2/notifications?older_than=${sent[0]}` },
      }),
    )
  })

  test('250 a page; ties of time by id, descending; a caller pages until the page is empty', async () => {
    const { email, key, list } = await fresh()
    const first = await email()
    // All created in the same millisecond: only the random part of the id differs.
    const moment = floorOf(here.parts.clock.micros()).slice(0, 19)
    const ties = Array.from({ length: 601 }, () => `${moment}8${randomUUID().slice(20)}` as Id)
    await copy(here, first, ties)
    const expected = [...ties.toSorted().toReversed(), first]

    const seen: Id[] = []
    const sizes: number[] = []
    let address: string | undefined = LIST
    let current = ''
    while (address) {
      const { body } = await key.get(address)
      current = body.links.current
      expect(current).toBe(address)
      seen.push(...body.notifications.map((one: Listed) => one.id))
      sizes.push(body.notifications.length)
      address = body.links.next
    }
    expect(sizes).toEqual([250, 250, 102, 0])
    expect(seen).toEqual(expected)
    expect((await list(`?older_than=${first}`)).body).toEqual({
      notifications: [],
      links: { current: `/v2/notifications?older_than=${first}` },
    })
  })

  test('links: older_than, template_type, status, reference, include_jobs, whatever the order asked in', async () => {
    const { email, sms, list } = await fresh()
    const reference = 'a b&c=é/+?#%"'
    const [older, newer] = [await email({ reference }), await sms({ reference })]
    const coded = 'a%20b%26c%3D%C3%A9%2F%2B%3F%23%25%22'
    const filters = `template_type=sms&template_type=email&status=created&status=failed&reference=${coded}&include_jobs=true`
    const reply = await list(
      `?include_jobs=true&reference=${coded}&status=created&template_type=sms&status=failed&template_type=email`,
    )
    expect(reply.body.notifications.map((one: Listed) => one.id)).toEqual([newer, older])
    expect(reply.body.links).toEqual({
      current: `/v2/notifications?${filters}`,
      next: `/v2/notifications?older_than=${older}&${filters}`,
    })
    const next = await list(`?older_than=${newer.toUpperCase()}&${filters}`)
    expect(next.body.notifications.map((one: Listed) => one.id)).toEqual([older])
    // 21.25: links print the normalised form.
    expect(next.body.links.current).toBe(`/v2/notifications?older_than=${newer}&${filters}`)
  })

  test('links survive being followed', async () => {
    const { key, email, list } = await fresh()
    const reference = '100 % + more'
    const sent = [await email({ reference }), await email({ reference }), await email()]
    const { links } = (await list(`?reference=${encodeURIComponent(reference)}&older_than=${sent[2]}`)).body
    expect((await key.get(links.current)).body.notifications).toHaveLength(2)
    expect((await key.get(links.next)).body.notifications).toHaveLength(0)
  })
})

describe('scope', () => {
  test('only messages made by keys of the same type', async () => {
    const { service, key, email, sms, ids } = await fresh()
    const keys = [key, await service.key({ type: 'team' }), await service.key({ type: 'test' })]
    for (const by of keys) {
      const own = [await email({}, by), await sms({}, by)]
      const twin = await service.key({ type: by.key_type })
      expect(await ids('', by)).toEqual(own.toReversed())
      expect(await ids('?template_type=sms', twin)).toEqual([own[1]])
      expect(await ids('?status=created', twin)).toEqual(own.toReversed())
    }
  })

  test('only those of the service; its neighbours see nothing of it by any filter', async () => {
    const { email } = await fresh()
    const reference = randomUUID()
    await email({ reference })
    const other = await fresh()
    for (const query of ['', `?reference=${reference}`, '?status=created', '?include_jobs=true'])
      expect(await other.ids(query)).toEqual([])
  })

  test('older_than may name a message of another key type of the service', async () => {
    const { service, email, ids } = await fresh()
    const old = await email()
    const ofTeam = await email({}, await service.key({ type: 'team' }))
    await email()
    expect(await ids(`?older_than=${ofTeam}`)).toEqual([old])
  })
})

describe('filters', () => {
  test('status, alone and repeated; failed stands for every failure status', async () => {
    const { email, sms, ids } = await fresh()
    const all = [
      'created',
      'sending',
      'sent',
      'pending',
      'delivered',
      'permanent-failure',
      'temporary-failure',
      'technical-failure',
      'pending-virus-check',
      'virus-scan-failed',
    ]
    const of: Record<string, Id[]> = {}
    for (const status of all) {
      of[status] = [await email({ reference: status }), await sms({ reference: status })]
      for (const id of of[status]) {
        await hold(here, id)
        await putState(here, id, { status })
      }
    }
    const expected = (...statuses: string[]) =>
      statuses
        .flatMap(status => of[status] ?? [])
        .toSorted()
        .toReversed()
    for (const status of all) expect(await ids(`?status=${status}`)).toEqual(expected(status))
    expect(await ids('?status=created&status=delivered')).toEqual(expected('created', 'delivered'))
    expect(await ids('?status=sent&status=sent')).toEqual(expected('sent'))
    const failures = ['permanent-failure', 'temporary-failure', 'technical-failure', 'virus-scan-failed']
    expect(await ids('?status=failed')).toEqual(expected(...failures))
    expect(await ids('?status=failed&status=technical-failure&status=created')).toEqual(
      expected('created', ...failures),
    )
    expect(await ids('?status=delivered&template_type=sms')).toEqual([of.delivered?.[1]])
    expect(await ids('?status=failed&reference=temporary-failure')).toEqual(expected('temporary-failure'))
    expect(await ids('?status=failed&reference=delivered')).toEqual([])
    expect(await ids()).toEqual(expected(...all))
  })

  test('template_type, alone and repeated', async () => {
    const { email, sms, ids } = await fresh()
    const [mail, message] = [await email(), await sms()]
    expect(await ids('?template_type=email')).toEqual([mail])
    expect(await ids('?template_type=sms')).toEqual([message])
    expect(await ids('?template_type=email&template_type=sms')).toEqual([message, mail])
  })

  test('reference: exact match, case included; of a repeated one the first counts', async () => {
    const { email, ids } = await fresh()
    const [upper, lower, empty] = [
      await email({ reference: 'Case 7' }),
      await email({ reference: 'case 7' }),
      await email({ reference: '' }),
    ]
    await email()
    expect(await ids('?reference=Case%207')).toEqual([upper])
    expect(await ids('?reference=case+7')).toEqual([lower])
    expect(await ids('?reference=case')).toEqual([])
    expect(await ids('?reference=')).toEqual([empty])
    expect(await ids('?reference=Case%207&reference=case%207')).toEqual([upper])
  })

  test('include_jobs: only true or True includes messages of a job', async () => {
    const { email, ids, list } = await fresh()
    const single = await email({ reference: 'x' })
    const ofJob = [here.parts.ids.next(), here.parts.ids.next()]
    await copy(here, single, ofJob, randomUUID() as Id)
    const all = [...ofJob.toReversed(), single]
    expect(await ids()).toEqual([single])
    for (const value of ['false', 'False']) expect(await ids(`?include_jobs=${value}`)).toEqual([single])
    for (const value of ['true', 'True']) {
      expect(await ids(`?include_jobs=${value}`)).toEqual(all)
      expect(await ids(`?include_jobs=${value}&status=created`)).toEqual(all)
      expect(await ids(`?include_jobs=${value}&reference=x`)).toEqual(all)
      expect((await list(`?include_jobs=${value}`)).body.links.current).toBe(`${LIST}?include_jobs=${value}`)
    }
    expect(await ids('?status=created')).toEqual([single])
    expect(await ids('?reference=x')).toEqual([single])
    expect(await ids('?include_jobs=false&include_jobs=true')).toEqual([single])
    expect(await ids(`?older_than=${ofJob[1]}&include_jobs=true`)).toEqual([ofJob[0], single])
    // A message of a job may be the start of a page, whether or not such messages are listed.
    expect(await ids(`?older_than=${ofJob[0]}`)).toEqual([single])
  })
})

describe('refused', () => {
  const STATUSES =
    '[created, sending, sent, delivered, pending, failed, technical-failure, temporary-failure, permanent-failure, pending-virus-check, virus-scan-failed]'

  test.each([
    ['status=x', `status x is not one of ${STATUSES}`],
    ['status=', `status  is not one of ${STATUSES}`],
    ['status=cancelled', `status cancelled is not one of ${STATUSES}`],
    ['status=Delivered', `status Delivered is not one of ${STATUSES}`],
    ['status=created&status=y', `status y is not one of ${STATUSES}`],
    ['template_type=letter', 'template_type letter is not one of [sms, email]'],
    ['template_type=sms&template_type=fax', 'template_type fax is not one of [sms, email]'],
    ['include_jobs=yes', 'include_jobs yes is not one of [true, True, false, False]'],
    ['include_jobs=TRUE', 'include_jobs TRUE is not one of [true, True, false, False]'],
    ['include_jobs=', 'include_jobs  is not one of [true, True, false, False]'],
    ['older_than=x', 'id is not a valid UUID'],
    ['older_than=', 'id is not a valid UUID'],
    ['page=2', 'Additional properties are not allowed (page was unexpected)'],
    ['page=2&other_than=3', 'Additional properties are not allowed (page, other_than were unexpected)'],
    ['__proto__=1', 'Additional properties are not allowed (__proto__ was unexpected)'],
    ["it's=1", 'Additional properties are not allowed (its was unexpected)'],
    ["status=it's", `status its is not one of ${STATUSES}`],
    ['reference=%00', 'reference contains a character that is not allowed'],
  ])('?%s', async (query, message) => {
    const { list } = await fresh()
    expect(await list(`?${query}`)).toBeRefused(400, 'ValidationError', message)
  })

  test('all query rules together, in the order reference, status, template_type, include_jobs, older_than, unexpected', async () => {
    const { list } = await fresh()
    const reply = await list('?foo=1&older_than=x&include_jobs=x&template_type=x&status=y&status=z&reference=%00')
    expect(reply).toBeRefused(
      400,
      'ValidationError',
      'reference contains a character that is not allowed',
      `status y is not one of ${STATUSES}`,
      `status z is not one of ${STATUSES}`,
      'template_type x is not one of [sms, email]',
      'include_jobs x is not one of [true, True, false, False]',
      'id is not a valid UUID',
      'Additional properties are not allowed (foo was unexpected)',
    )
  })

  test('query rules come before older_than known, authentication before both', async () => {
    const { list } = await fresh()
    expect((await list(`?older_than=${randomUUID()}&foo=1`)).status).toBe(400)
    expect((await here.call('GET', `${LIST}?foo=1`)).status).toBe(401)
  })

  test('older_than that never existed in this service: random, of a neighbour, from the future', async () => {
    const { list } = await fresh()
    const foreign = await (await fresh()).email()
    const future = floorOf(here.parts.clock.micros() + 86_400_000_000)
    for (const id of [randomUUID(), '0'.repeat(32), foreign, future])
      expect(await list(`?older_than=${id}`), id).toBeRefused(404, 'NoResultFound', 'No result found')
  })
})

describe('older_than that aged out or was purged: 200, empty list, links.current only', () => {
  const DAY = 86_400_000_000

  test('a v7 id whose time is outside the window; one inside it is unknown', async () => {
    const { email, list } = await fresh()
    await email()
    const purged = floorOf(here.parts.clock.micros() - 7 * DAY - 60_000_000)
    expect((await list(`?older_than=${purged}`)).text).toBe(
      JSON.stringify({ notifications: [], links: { current: `/v2/notifications?older_than=${purged}` } }),
    )
    const recent = floorOf(here.parts.clock.micros() - 7 * DAY + 60_000_000)
    expect(await list(`?older_than=${recent}`)).toBeRefused(404, 'NoResultFound', 'No result found')
  })

  test('the window follows the setting of the service', async () => {
    const { list } = await fresh({ email_retention_days: 3, sms_retention_days: 3 })
    const at = (days: number) => floorOf(here.parts.clock.micros() - days * DAY)
    expect((await list(`?older_than=${at(4)}`)).body.notifications).toEqual([])
    expect((await list(`?older_than=${at(2)}`)).status).toBe(404)
  })
})

test('8, 11 the window is applied at read time: 7 days, or what the service has set', async () => {
  const DAY = 86_400_000
  const MARGIN = 20_000
  const elsewhere = await world()
  const usual = await (await elsewhere.service()).key()
  const short = await (await elsewhere.service({ email_retention_days: 3 })).key()
  const reference = 'old'
  for (const by of [usual, short]) {
    const mail = { email_address: 'ann@example.net', template_id: await emailTemplate(by, 'x', 'x'), reference }
    const message = { phone_number: '+16135550123', template_id: await smsTemplate(by, 'x'), reference }
    await by.post(EMAIL, mail)
    await by.post(SMS, message)
  }
  const types = async (by: Key, query = '') =>
    (await by.get(LIST + query)).body.notifications.map((one: Listed) => one.type)
  const [last] = (await usual.get(LIST)).body.notifications

  elsewhere.moveClock(3 * DAY - MARGIN)
  expect([await types(usual), await types(short)]).toEqual([
    ['sms', 'email'],
    ['sms', 'email'],
  ])
  elsewhere.moveClock(2 * MARGIN)
  for (const query of ['', '?reference=old', '?template_type=sms&template_type=email'])
    expect([await types(usual, query), await types(short, query)]).toEqual([['sms', 'email'], ['sms']])
  expect(await types(short, '?template_type=email')).toEqual([])
  elsewhere.moveClock(4 * DAY)
  for (const query of ['', '?reference=old', `?status=${last.status}`, '?include_jobs=true'])
    expect(await types(usual, query)).toEqual([])
  expect((await usual.get(`${LIST}?older_than=${last.id}`)).text).toBe(
    JSON.stringify({ notifications: [], links: { current: `/v2/notifications?older_than=${last.id}` } }),
  )
})

test('21.21 a reference of 1,000 characters of any kind is accepted and found again', async () => {
  const reference = Array.from({ length: 1_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join(
    '',
  )
  const service = await here.service()
  const key = await service.key()
  const template_id = await emailTemplate(key)
  const sent = await key.post(EMAIL, {
    email_address: 'a@example.org',
    template_id,
    personalisation: { name: 'A' },
    reference,
  })
  expect(sent.status).toBe(201)
  const found = await key.get(`${LIST}?reference=${encodeURIComponent(reference)}`)
  expect(found.body.notifications.map((one: { id: string }) => one.id)).toEqual([sent.body.id])
})
