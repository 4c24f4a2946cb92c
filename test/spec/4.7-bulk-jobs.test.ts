// Interface 2.3, 3.2, 4.7 to 4.9 and 7.4; contract 5.4, 6.6, 6.7, 8, 12, 15.5 and 16.3 (jobs).
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createIds } from '../../src/core/id.ts'
import { emailTemplate, inMinutes, type Key, LIST, smsTemplate } from '../support/sends.ts'
import { CATEGORY, type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'
const OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const UNLIMITED = 10_000_000
const HEAD = ['email address', 'name']
const people = (count: number) => Array.from({ length: count }, (_, n) => [`p${n}@example.org`, `P ${n}`])

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
type Json = any

/** A service with its key and a template each. */
async function caller(here: World, options: Parameters<World['service']>[0] = {}) {
  const service = await here.service({ rate_limit: UNLIMITED, email_daily_limit: UNLIMITED, ...options })
  const key = await service.key()
  const email = await emailTemplate(key)
  const post = (more: object = {}, by: Key = key) =>
    by.post(BULK, { name: 'Letters', template_id: email, rows: [HEAD, ...people(2)], ...more })
  const accepted = async (more: object = {}, by: Key = key): Promise<Json> => {
    const reply = await post(more, by)
    expect(reply.status).toBe(201)
    return reply.body.data
  }
  const job = async (id: string, by: Key = key): Promise<Json> => (await by.get(`${BULK}/${id}`)).body.data
  return { service, key, email, post, accepted, job }
}

describe('without an engine: jobs wait', () => {
  let here: World
  let mine: Awaited<ReturnType<typeof caller>>

  beforeAll(async () => {
    here = await world()
    mine = await caller(here)
  })

  describe('4.8 get', () => {
    test('{"data": <the job as it was answered>}', async () => {
      const made = await mine.post({ scheduled_for: inMinutes(60) })
      const reply = await mine.key.get(`${BULK}/${made.body.data.id}`)
      expect([reply.status, reply.text]).toEqual([200, made.text])
    })

    test('12 any key of the service, any spelling of the id; another service does not see it', async () => {
      const { id } = await mine.accepted()
      for (const type of ['normal', 'team', 'test'] as const) {
        const reply = await (await mine.service.key({ type })).get(`${BULK}/%7B${id.toUpperCase()}%7D`)
        expect([reply.status, reply.body.data.id]).toEqual([200, id])
      }
      const stranger = await (await here.service()).key()
      for (const reply of [
        await stranger.get(`${BULK}/${id}`),
        await mine.key.get(`${BULK}/${randomUUID()}`),
        await mine.key.get(`${BULK}/${'0'.repeat(32)}`),
        await stranger.delete(`${BULK}/${id}`),
        await mine.key.delete(`${BULK}/${randomUUID()}`),
      ])
        expect(reply).toBeRefused(404, 'JobNotFoundError', 'Job not found in database')
    })

    test('malformed ids, after authentication', async () => {
      for (const id of ['x', `${randomUUID()}0`, '%00'])
        for (const reply of [await mine.key.get(`${BULK}/${id}`), await mine.key.delete(`${BULK}/${id}`)])
          expect(reply).toBeRefused(400, 'ValidationError', 'job_id is not a valid UUID')
      expect((await here.call('GET', `${BULK}/x`)).status).toBe(401)
    })

    test('12 archived: true once the job is older than the retention period of its type; it stays', async () => {
      const own = await caller(here, { email_retention_days: 3 })
      const { id } = await own.accepted()
      expect((await own.job(id)).archived).toBe(false)
      here.moveClock(3 * 86_400_000 - 60_000)
      expect((await own.job(id)).archived).toBe(false)
      here.moveClock(120_000)
      expect((await own.job(id)).archived).toBe(true)
      expect((await own.key.get(BULK)).body.bulk_jobs[0]).toMatchObject({ id, archived: true })
      here.moveClock(-3 * 86_400_000 - 60_000)
    })
  })

  describe('4.7 list', () => {
    test('newest first, the full jobs, an absolute link to this page and none to a next', async () => {
      const own = await caller(here)
      const ids = []
      for (let n = 0; n < 3; n++) ids.unshift((await own.accepted({ name: `Job ${n}` })).id)
      const reply = await own.key.get(BULK)
      expect(Object.keys(reply.body)).toEqual(['bulk_jobs', 'links'])
      expect(reply.body.bulk_jobs.map((job: Json) => job.id)).toEqual(ids)
      expect(JSON.stringify(reply.body.bulk_jobs[0])).toBe(JSON.stringify(await own.job(ids[0])))
      expect(reply.body.links).toEqual({ current: `${here.address}${BULK}` })
      const second = await own.key.get(`${BULK}?older_than=${ids[0].toUpperCase().replaceAll('-', '')}`)
      expect(second.body.bulk_jobs.map((job: Json) => job.id)).toEqual(ids.slice(1))
      expect(second.body.links).toEqual({ current: `${here.address}${BULK}?older_than=${ids[0]}` })
      expect((await own.key.get(`${BULK}?older_than=${ids[2]}`)).body.bulk_jobs).toEqual([])
    })

    test('no jobs', async () => {
      const own = await caller(here)
      expect((await own.key.get(BULK)).text).toBe(`{"bulk_jobs":[],"links":{"current":"${here.address}${BULK}"}}`)
    })

    test('250 a page; next only when another page exists, and it may be followed as it is', async () => {
      const own = await caller(here)
      const { id } = await own.accepted()
      const ids = createIds(here.parts.clock)
      const copies = async (count: number) => {
        await here.parts.db.sql`
          insert into jobs (id, service_id, key_id, key_name, key_type, name, channel, template_id, template_version,
                            notification_count, counted, day, lane, status, chunks_left)
          select copy, service_id, key_id, key_name, key_type, name, channel, template_id, template_version,
                 notification_count, counted, day, lane, status, chunks_left
          from jobs, unnest(${Array.from({ length: count }, () => ids.next())}::uuid[]) as c (copy)
          where id = ${id}`
      }
      await copies(249)
      const full = await own.key.get(BULK)
      expect([full.body.bulk_jobs.length, full.body.links.next]).toEqual([250, undefined])
      await copies(1)
      const first = await own.key.get(BULK)
      const last = first.body.bulk_jobs[249].id
      expect(first.body.links).toEqual({
        current: `${here.address}${BULK}`,
        next: `${here.address}${BULK}?older_than=${last}`,
      })
      const next = await own.key.get(first.body.links.next.slice(here.address.length))
      expect(next.body.bulk_jobs.map((job: Json) => job.id)).toEqual([id])
      expect(next.body.links).toEqual({ current: first.body.links.next })
    })

    test('older_than: malformed, unknown, of another service; other parameters', async () => {
      const other = await caller(here)
      const { id } = await other.accepted()
      expect(await mine.key.get(`${BULK}?older_than=x`)).toBeRefused(
        400,
        'ValidationError',
        'older_than is not a valid UUID',
      )
      for (const unknown of [id, randomUUID()])
        expect(await mine.key.get(`${BULK}?older_than=${unknown}`)).toBeRefused(
          400,
          'BadRequestError',
          'older_than: Job does not exist for this service',
        )
      expect(await mine.key.get(`${BULK}?page=2&older_than=x`)).toBeRefused(
        400,
        'ValidationError',
        'older_than is not a valid UUID',
        'Additional properties are not allowed (page was unexpected)',
      )
    })
  })

  describe('4.9 cancel', () => {
    const already = [409, 'JobAlreadyCancelledError', 'Job has already been cancelled'] as const
    const never = [
      409,
      'JobCancellationNotAllowedError',
      'Job cannot be cancelled because it is already being sent or has already been sent',
    ] as const
    const cancel = (id: string, by: Key = mine.key) => by.delete(`${BULK}/${id}`)

    test('20.15 a scheduled job: 200 with exactly eleven fields; a second time 409', async () => {
      const job = await mine.accepted({ scheduled_for: inMinutes(60) })
      const reply = await cancel(job.id)
      expect(reply.status).toBe(200)
      const expected = {
        id: job.id,
        original_file_name: 'Letters',
        notification_count: 2,
        template: mine.email,
        template_version: 1,
        template_type: 'email',
        job_status: 'cancelled',
        scheduled_for: job.scheduled_for,
        created_at: job.created_at,
        updated_at: expect.stringMatching(OFFSET),
        statistics: [],
      }
      expect(reply.body).toEqual({ data: expected })
      expect(Object.keys(reply.body.data)).toEqual(Object.keys(expected))
      expect(await cancel(job.id)).toBeRefused(...already)
      expect(await mine.job(job.id)).toMatchObject({ job_status: 'cancelled', updated_at: reply.body.data.updated_at })
      expect((await mine.key.get(BULK)).text).toContain(job.id)
    })

    test('nothing is left of its rows, and nothing for the engine to do', async () => {
      const { id } = await mine.accepted({ scheduled_for: inMinutes(60), rows: [HEAD, ...people(1_100)] })
      const left = () => here.parts.db.sql`
        select c.id
        from chunks c
        join tickets t on t.id = c.id
        where c.job_id = ${id}`
      expect(await left()).toHaveLength(3)
      await cancel(id)
      expect(await left()).toHaveLength(0)
      expect(await here.parts.db.sql`select id from chunks where job_id = ${id}`).toEqual([])
    })

    test('any key of the service; a suspended service, too', async () => {
      const own = await caller(here)
      const test = await own.service.key({ type: 'test' })
      const [one, two] = [
        await own.accepted({ scheduled_for: inMinutes(60) }),
        await own.accepted({ scheduled_for: inMinutes(60) }),
      ]
      expect((await cancel(one.id, test)).status).toBe(200)
      await own.service.change({ state: 'suspended' })
      expect((await cancel(two.id, own.key)).status).toBe(200)
    })

    test('20.16 an immediate job', async () => {
      const { id } = await mine.accepted()
      expect(await cancel(id)).toBeRefused(...never)
      expect((await mine.job(id)).job_status).toBe('pending')
    })

    test.each(['in progress', 'finished', 'error', 'sending limits exceeded'])('a job that is %s', async status => {
      const { id } = await mine.accepted({ scheduled_for: inMinutes(60) })
      await here.parts.db.sql`update jobs set status = ${status} where id = ${id}`
      expect(await cancel(id)).toBeRefused(...never)
      expect((await mine.job(id)).job_status).toBe(status)
    })

    test('a job that is due, though no engine has started it yet', async () => {
      const { id } = await mine.accepted({ scheduled_for: inMinutes(60) })
      await here.parts.db.sql`update jobs set scheduled_for = now() where id = ${id}`
      expect(await cancel(id)).toBeRefused(...never)
    })

    test('of twenty who cancel at once exactly one succeeds, and the allowance is given back once', async () => {
      const own = await caller(here, { email_daily_limit: 10 })
      const day = { scheduled_for: inMinutes(48 * 60) }
      const kept = await own.accepted({ ...day, rows: [HEAD, ...people(5)] })
      const { id } = await own.accepted({ ...day, rows: [HEAD, ...people(5)] })
      const replies = await Promise.all(Array.from({ length: 20 }, () => cancel(id, own.key)))
      expect(replies.filter(reply => reply.status === 200)).toHaveLength(1)
      for (const reply of replies.filter(reply => reply.status !== 200)) expect(reply).toBeRefused(...already)
      expect((await own.job(kept.id)).job_status).toBe('pending')
      expect((await own.post({ ...day, rows: [HEAD, ...people(6)] })).text).toContain('You only have 5 remaining')
      expect((await own.post({ ...day, rows: [HEAD, ...people(5)] })).status).toBe(201)
    })

    test('a body is ignored, never parsed', async () => {
      const { id } = await mine.accepted({ scheduled_for: inMinutes(60) })
      expect((await mine.key.delete(`${BULK}/${id}`, 'not looked at', { 'content-type': 'text/plain' })).status).toBe(
        200,
      )
    })
  })
})

describe('with the engine: jobs become messages', () => {
  let here: World
  let mine: Awaited<ReturnType<typeof caller>>
  const finished = (job: Json) => job.job_status === 'finished'
  const counted = (job: Json) =>
    Object.fromEntries(job.statistics.map(({ status, count }: Json) => [status, count])) as Record<string, number>

  beforeAll(async () => {
    here = await world({}, { engine: true })
    mine = await caller(here)
  })

  const until = async (
    of: Awaited<ReturnType<typeof caller>>,
    id: string,
    is: (job: Json) => boolean,
  ): Promise<Json> => {
    await expect.poll(async () => is(await of.job(id)), { timeout: 20_000, interval: 20 }).toBe(true)
    return of.job(id)
  }
  const delivered = (of: Awaited<ReturnType<typeof caller>>, id: string, count: number) =>
    until(of, id, job => counted(job).delivered === count)
  const listed = async (by: Key, query = '?include_jobs=true') =>
    (await by.get(LIST + query)).body.notifications as Json[]
  /** Makes a scheduled job due now. */
  const bringForward = async (id: string) => {
    await here.parts.db.sql`update jobs set scheduled_for = now() where id = ${id}`
    await here.parts.db.sql`update tickets set due_at = now() where id in (select id from chunks where job_id = ${id})`
  }

  test('6.7 pending, then finished: times are set, statistics add up to notification_count', async () => {
    const made = await mine.accepted({ rows: [HEAD, ...people(1_200)] })
    expect(made.job_status).toBe('pending')
    const job = await delivered(mine, made.id, 1_200)
    expect(job).toMatchObject({ job_status: 'finished', notification_count: 1_200 })
    for (const field of ['processing_started', 'processing_finished', 'updated_at', 'created_at'])
      expect(job[field]).toMatch(OFFSET)
    expect(job.created_at <= job.processing_started && job.processing_started <= job.processing_finished).toBe(true)
    expect(job.updated_at).toBe(job.processing_finished)
    expect(job.statistics).toEqual([{ status: 'delivered', count: 1_200 }])
    expect(Object.keys(job)).toEqual(Object.keys(made))
  })

  test('each row is one message, with its values, its reference and the key type of the job', async () => {
    const own = await caller(here)
    const { id } = await own.accepted({
      rows: [
        ['Reference', ...HEAD],
        ['R1', 'one@example.org', 'One'],
        ['', ' Two@Example.org ', 'Two'],
        ['R1', 'one@example.org', 'One'],
      ],
      reference: 'of the body, ignored',
    })
    await delivered(own, id, 3)
    expect(await listed(own.key, '')).toEqual([])
    expect(await listed(own.key, '?reference=R1')).toEqual([])
    const messages = await listed(own.key)
    expect(messages.map(message => [message.email_address, message.reference, message.body, message.subject])).toEqual([
      ['one@example.org', 'R1', 'Hello One', 'Dear One'],
      ['Two@Example.org', null, 'Hello Two', 'Dear Two'],
      ['one@example.org', 'R1', 'Hello One', 'Dear One'],
    ])
    expect(messages[0]).toMatchObject({
      type: 'email',
      status: 'delivered',
      template: { id: own.email, version: 1 },
      created_by_name: null,
      scheduled_for: null,
    })
    expect(await listed(own.key, '?include_jobs=true&reference=R1')).toHaveLength(2)
    expect(await listed(await own.service.key({ type: 'team' }))).toEqual([])
    const one = await own.key.get(`${LIST}/${messages[1].id}`)
    expect(JSON.stringify(one.body)).toBe(JSON.stringify(messages[1]))
    expect(await own.key.delete(`${LIST}/${messages[0].id}`)).toBeRefused(
      400,
      'BadRequestError',
      'Notification is not scheduled and cannot be deleted',
    )
  })

  test('5.4 statistics: raw statuses, only counts above 0, in the order of the contract', async () => {
    const own = await caller(here)
    const { id } = await own.accepted({ rows: [HEAD, ...people(12)] })
    await delivered(own, id, 12)
    const statuses = [
      'virus-scan-failed',
      'technical-failure',
      'permanent-failure',
      'temporary-failure',
      'sent',
      'pending',
      'sending',
      'pending-virus-check',
      'created',
    ]
    for (const status of statuses)
      await here.parts.db.sql`
        insert into job_counts (job_id, status, messages) values (${id}, ${status}, 1)
        on conflict (job_id, status) do update set messages = 1`
    await here.parts.db.sql`update job_counts set messages = 0 where job_id = ${id} and status = 'pending'`
    expect((await own.job(id)).statistics.map((one: Json) => one.status)).toEqual([
      'created',
      'pending-virus-check',
      'sending',
      'sent',
      'delivered',
      'temporary-failure',
      'permanent-failure',
      'technical-failure',
      'virus-scan-failed',
    ])
  })

  test('15.5 test keys: nothing is sent, failures can be tried out, statistics tell them apart', async () => {
    const own = await caller(here, { mode: 'trial' })
    const test = await own.service.key({ type: 'test' })
    const rows = [HEAD, ...people(3), ['temp-fail@simulator.notify', 'T'], ['perm-fail@simulator.notify', 'P']]
    const { id } = await own.accepted({ rows }, test)
    const job = await until(own, id, one => counted(one)['permanent-failure'] === 1 && counted(one).delivered === 3)
    expect(job.statistics).toEqual([
      { status: 'delivered', count: 3 },
      { status: 'temporary-failure', count: 1 },
      { status: 'permanent-failure', count: 1 },
    ])
    expect(await listed(test)).toHaveLength(5)
    expect(await listed(own.key)).toEqual([])
    for (const message of await listed(test))
      expect((await here.inbox(`/inbox/${message.id}`)).body).toMatchObject({ id: message.id, test: true })
  })

  test('15.5 a job made only of simulated recipients ends delivered, unsent and uncounted', async () => {
    const own = await caller(here, { email_daily_limit: 1 })
    const smoke = ['simulate-delivered@herald.example', 'S']
    const { id } = await own.accepted({ rows: [HEAD, smoke, smoke, smoke] })
    expect((await delivered(own, id, 3)).job_status).toBe('finished')
    const messages = await listed(own.key)
    expect(messages.map(message => message.status)).toEqual(['delivered', 'delivered', 'delivered'])
    expect((await here.inbox()).text).not.toContain(messages[0].id)
    expect((await own.post({ rows: [HEAD, ...people(1)] })).status).toBe(201)
  })

  test('simulated e-mail recipients among others are not written to', async () => {
    const own = await caller(here)
    const rows = [HEAD, ['simulate-delivered-2@herald.example', 'S'], ...people(1)]
    const { id } = await own.accepted({ rows })
    await delivered(own, id, 2)
    const [real, simulated] = await listed(own.key)
    const inbox = (await here.inbox()).text
    expect([inbox.includes(real.id), inbox.includes(simulated.id)]).toEqual([true, false])
  })

  test('6.7 the template version of the acceptance, though the template is changed and archived meanwhile', async () => {
    const own = await caller(here)
    const { id, template_version } = await own.accepted({ scheduled_for: inMinutes(60) })
    await own.key.patch(`/v2/manage-template/${own.email}`, { content: 'Changed ((other))', subject: 'Changed' })
    await own.key.delete(`/v2/manage-template/${own.email}`)
    await bringForward(id)
    const job = await delivered(own, id, 2)
    expect([template_version, job.template_version]).toEqual([1, 1])
    const messages = await listed(own.key)
    expect(messages.map(message => [message.body, message.template.version])).toEqual([
      ['Hello P 1', 1],
      ['Hello P 0', 1],
    ])
    const kept = await here.inbox(`/inbox/${messages[0].id}`)
    expect([kept.body.subject, kept.body.text]).toEqual(['Dear P 1', expect.stringContaining('Hello P 1')])
  })

  test('the reply-to address of the acceptance', async () => {
    const own = await caller(here)
    const replyTo = await own.service.addReplyTo('one@example.org', true)
    await expect.poll(async () => (await own.accepted()).sender_id, { interval: 5 }).toBe(replyTo.id)
    const { id } = await own.accepted({ scheduled_for: inMinutes(60) })
    await own.service.addReplyTo('two@example.org', true)
    await bringForward(id)
    await delivered(own, id, 2)
    expect((await own.job(id)).sender_id).toBe(replyTo.id)
  })

  test('a scheduled job starts when it is due, not before; its messages are made then', async () => {
    const due = new Date(Math.ceil(Date.now() / 1000) * 1000 + 4_000)
    const { id } = await mine.accepted({ scheduled_for: due.toISOString() })
    expect((await mine.job(id)).job_status).toBe('pending')
    const job = await delivered(mine, id, 2)
    expect(Date.parse(job.processing_started)).toBeGreaterThanOrEqual(due.getTime())
    const [message] = await listed(mine.key)
    // Retries, timeouts and retention count from here.
    expect(Date.parse(message.created_at)).toBeGreaterThanOrEqual(due.getTime())
    expect(Date.parse(message.created_at)).toBeLessThanOrEqual(Date.parse(job.processing_finished))
    expect(await mine.key.delete(`${BULK}/${id}`)).toBeRefused(
      409,
      'JobCancellationNotAllowedError',
      'Job cannot be cancelled because it is already being sent or has already been sent',
    )
  })

  test('6.7 cancelled when the service is archived at its start; the allowance is given back', async () => {
    const own = await caller(here)
    const { id } = await own.accepted({ scheduled_for: inMinutes(48 * 60), rows: [HEAD, ...people(1_200)] })
    await own.service.change({ state: 'archived' })
    await bringForward(id)
    const row = async () => (await here.parts.db.sql<Json>`select * from jobs where id = ${id}`)[0]
    await expect.poll(async () => (await row()).status, { timeout: 10_000 }).toBe('cancelled')
    expect((await row()).processing_started).toBe(null)
    const used = await here.parts.db
      .sql<Json>`select sum(used)::integer as used from usage where service_id = ${own.service.id}`
    expect(used).toEqual([{ used: 0 }])
    expect(await here.parts.db.sql`select id from notifications where job_id = ${id}`).toEqual([])
  })

  test('6.6 messages ride in the lane of the job', async () => {
    const own = await caller(here)
    const high = await own.key.post('/v2/manage-template', {
      name: 'Code',
      template_type: 'email',
      subject: 's',
      content: '((name))',
      template_category_id: CATEGORY.authentication,
    })
    const lanes = async (id: string) =>
      (await here.parts.db.sql<Json>`select distinct lane from notifications where job_id = ${id} order by lane`).map(
        row => row.lane,
      )
    for (const [template_id, count, lane] of [
      [high.body.id, 200, 'email-low'],
      [high.body.id, 199, 'email-high'],
      [own.email, 199, 'email-medium'],
    ] as const) {
      const { id } = await own.accepted({ template_id, rows: [HEAD, ...people(count)] })
      await until(own, id, finished)
      expect(await lanes(id)).toEqual([lane])
    }
  })

  test('text messages: to numbers abroad they end sent', async () => {
    const own = await caller(here)
    const template_id = await smsTemplate(own.key)
    const rows = [
      ['phone number', 'name'],
      ['613 555 0123', 'A'],
      ['+44 7911 123456', 'B'],
    ]
    const { id } = await own.accepted({ template_id, rows })
    const job = await until(own, id, one => one.statistics.length === 2)
    expect(job.statistics).toEqual([
      { status: 'sent', count: 1 },
      { status: 'delivered', count: 1 },
    ])
    expect((await listed(own.key)).map(message => [message.phone_number, message.body])).toEqual([
      ['+44 7911 123456', 'Hi B'],
      ['613 555 0123', 'Hi A'],
    ])
  })

  test('6.7 a chunk that can never become messages: the job shows error, others continue, and it is retried later', async () => {
    const own = await caller(here)
    const bad = await own.accepted({ scheduled_for: inMinutes(60), rows: [HEAD, ...people(600)] })
    await here.parts.db.sql`
      update chunks set sealed = '\\x00' where id = (select id from chunks where job_id = ${bad.id} order by id limit 1)`
    await here.parts.db.sql`
      update tickets set takes = 5, attempts = 4 where id = (select id from chunks where job_id = ${bad.id} order by id limit 1)`
    await bringForward(bad.id)
    await until(own, bad.id, job => job.job_status === 'error')
    const job = await delivered(own, bad.id, 100)
    expect([job.processing_finished, job.notification_count]).toEqual([null, 600])
    const after = await own.accepted()
    await delivered(own, after.id, 2)
    const [later] = await here.parts.db.sql<{ minutes: number }>`
      select round(extract(epoch from due_at - now()) / 60)::integer as minutes
      from tickets
      where service_id = ${own.service.id} and lane = 'spread'`
    expect(later?.minutes).toBe(30)
  })

  test('5.4 statistics stay when the messages are gone', async () => {
    const own = await caller(here)
    const { id } = await own.accepted()
    const before = await delivered(own, id, 2)
    await here.parts.db.sql`delete from states where job_id = ${id}`
    await here.parts.db.sql`delete from notifications where job_id = ${id}`
    expect((await own.job(id)).statistics).toEqual(before.statistics)
  })
})
