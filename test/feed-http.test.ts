// GET /herald/v1/events: pages, cursors, filters, refusals, and requests that wait.
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createIds, floorOf, type Id } from '../src/core/id.ts'
import { readTime } from '../src/core/read-time.ts'
import { EVENT_TYPES, type Scope } from '../src/events/event.ts'
import { readCursor, writeCursor } from '../src/feed/cursor.ts'
import { MOST_OF_SERVICE } from '../src/feed/waits.ts'
import { revoke } from '../src/keys/revoke.ts'
import { type Group, logGroup, readable } from './support/events.ts'
import { OPERATOR, type World, world } from './support/world.ts'

const EVENTS = '/herald/v1/events'
let here: World

beforeAll(async () => {
  here = await world()
})

async function aService(options: Parameters<World['service']>[0] = {}) {
  const service = await here.service(options)
  const key = await service.key()
  const scope: Scope = { service_id: service.id, key_type: 'normal' }
  const { next } = createIds(here.parts.clock)
  return {
    service,
    key,
    scope,
    /** Logs one group and hints at it, as the program does after a commit. */
    async log(messages: number, group: Group = {}) {
      const subjects = Array.from({ length: messages }, next)
      await logGroup(here.parts.db.sql, scope, subjects, group)
      here.parts.hints.announce([service.id])
      await readable(here.parts.db.sql)
      return subjects
    },
    get: (query = '') => key.get(`${EVENTS}${query}`),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into
const subjectsOf = (body: any): Id[] => body.events.map((event: any) => event.data.notification_id)

describe('pages', () => {
  test('follow each other by `next`, without gaps and repeats', async () => {
    const one = await aService()
    const all = [...(await one.log(3)), ...(await one.log(1)), ...(await one.log(4))]
    const seen: Id[] = []
    let after = ''
    for (;;) {
      const { status, body } = await one.get(`?limit=3${after}`)
      expect(status).toBe(200)
      seen.push(...subjectsOf(body))
      after = `&after=${body.next}`
      if (!body.has_more) break
    }
    expect(seen).toEqual(all)
    expect((await one.get(`?${after}`)).body).toEqual({ events: [], next: after.slice(7), has_more: false })
    const late = await one.log(2)
    expect(subjectsOf((await one.get(`?${after}`)).body)).toEqual(late)
  })

  test('have the fields of the schema, and no recipient', async () => {
    const one = await aService()
    const [message] = await one.log(1, { type: 'notification.permanent-failure', detail: 'blocked', provider: 'relay' })
    expect((await one.get()).body.events).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'notification.permanent-failure',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        data: {
          notification_id: message,
          reference: null,
          notification_type: 'email',
          status: 'permanent-failure',
          status_description: 'Blocked',
          template: null,
          job_id: null,
          cause: 'attempt',
          provider: 'relay',
          reason: 'blocked',
          uncertain: false,
          next_attempt_at: null,
        },
      },
    ])
  })

  test('hold the types that are asked for, repeated or separated by commas', async () => {
    const one = await aService()
    const [sent, delivered, failed] = [
      await one.log(2, { type: 'notification.sending' }),
      await one.log(1),
      await one.log(1, { type: 'notification.temporary-failure' }),
    ]
    const of = async (query: string) => subjectsOf((await one.get(query)).body)
    expect(await of('?types=notification.sending')).toEqual(sent)
    expect(await of('?types=notification.delivered,notification.temporary-failure')).toEqual([...delivered, ...failed])
    expect(await of('?types=notification.delivered&types=notification.sending')).toEqual([...sent, ...delivered])
    expect(await of('?types=job.finished')).toEqual([])
  })

  test('are of the service and the type of the key', async () => {
    const one = await aService()
    await one.log(1)
    const team = await one.service.key({ type: 'team' })
    expect((await team.get(EVENTS)).body.events).toEqual([])
    expect((await (await aService()).get()).body.events).toEqual([])
    const { next } = createIds(here.parts.clock)
    const own = [next()]
    await logGroup(here.parts.db.sql, { ...one.scope, key_type: 'team' }, own)
    await readable(here.parts.db.sql)
    expect(subjectsOf((await team.get(EVENTS)).body)).toEqual(own)
  })

  test('begin at a time, or now', async () => {
    const one = await aService()
    await one.log(1)
    await sleep(20)
    const now = new Date().toISOString()
    await sleep(20)
    const late = await one.log(2)
    expect(subjectsOf((await one.get(`?after=${now}`)).body)).toEqual(late)
    const { body } = await one.get('?after=now')
    expect(body).toEqual({ events: [], next: expect.any(String), has_more: false })
    const later = await one.log(1)
    expect(subjectsOf((await one.get(`?after=${body.next}`)).body)).toEqual(later)
  })

  test('leave out messages that are older than the retention period of their channel', async () => {
    const one = await aService({ email_retention_days: 3, sms_retention_days: 7 })
    const old = floorOf((Date.now() - 4 * 86_400_000) * 1000)
    await logGroup(here.parts.db.sql, one.scope, [old])
    await logGroup(here.parts.db.sql, one.scope, [old], { channel: 'sms' })
    const recent = await one.log(1)
    const { body } = await one.get('?limit=1')
    expect(body).toMatchObject({ events: [{ data: { notification_type: 'sms' } }], has_more: true })
    expect(subjectsOf((await one.get(`?after=${body.next}`)).body)).toEqual(recent)
  })
})

describe('refusals', () => {
  const cases: [query: string, sentence: RegExp][] = [
    ['limit=0', /^limit 0 is not a whole number from 1 to 1000$/],
    ['limit=1001', /^limit 1001 is not a whole number/],
    ['limit=many', /^limit many is not a whole number/],
    ['limit=', /^limit {2}is not a whole number/],
    ['wait=26', /^wait 26 is not a whole number from 0 to 25$/],
    ['wait=-1', /^wait -1 is not a whole number/],
    ['wait=1.5', /^wait 1.5 is not a whole number/],
    ['types=notification.read', /^types notification.read is not one of \[notification.created, .*, job.failed\]$/],
    ['after=yesterday', /^after yesterday is not a cursor of this feed, a time such as/],
    ['after=', /^after {2}is not a cursor/],
    ['after=2026-13-01', /^after 2026-13-01 is not a cursor/],
    ['after=zzzzzzzzzzzzz.1.1', /is not a cursor/],
    ['after=1.1.zzzz', /is not a cursor/],
    ['after=0.%00.1', /is not a cursor|not allowed/],
    ['after=fffffffffff.1.1', /^after fffffffffff.1.1 is ahead of the log, as when a backup was restored/],
    ['before=1', /^Additional properties are not allowed \(before was unexpected\)$/],
  ]
  for (const [query, sentence] of cases)
    test(query, async () => {
      const one = await aService()
      const { status, body } = await one.get(`?${query}`)
      expect(body).toEqual({
        errors: [{ error: 'ValidationError', message: expect.stringMatching(sentence) }],
        status_code: 400,
      })
      expect(status).toBe(400)
      if (query.startsWith('types')) for (const type of EVENT_TYPES) expect(body.errors[0].message).toContain(type)
    })

  test('without a key', async () => {
    expect((await here.call('GET', EVENTS)).status).toBe(401)
    expect((await here.call('POST', EVENTS)).status).toBe(405)
  })
})

describe('cursors', () => {
  test('are short, safe in an address, and read back', () => {
    const position = { stamp: '9223372036854775807', seq: '81029384756', n: 65535 }
    expect(writeCursor(position)).toMatch(/^[0-9a-z.]{1,40}$/)
    expect(readCursor(writeCursor(position))).toEqual(position)
    expect(readCursor(writeCursor({ stamp: '0', seq: '0', n: -1 }))).toEqual({ stamp: '0', seq: '0', n: -1 })
  })

  test('times keep their microseconds and zones', () => {
    expect(readTime('2026-06-15T12:30:00.123456Z')).toBe(Date.parse('2026-06-15T12:30:00.123Z') * 1000 + 456)
    expect(readTime('2026-06-15T14:30:00+02:00')).toBe(Date.parse('2026-06-15T12:30:00Z') * 1000)
    // A plus sign in an address is a space.
    expect(readTime('2026-06-15T14:30:00 0200')).toBe(Date.parse('2026-06-15T12:30:00Z') * 1000)
    expect(readTime('2026-06-15')).toBe(Date.parse('2026-06-15T00:00:00Z') * 1000)
    expect(readTime('15.6.2026')).toBe(null)
  })
})

describe('waiting', () => {
  const { waits, reads } = { waits: () => here.parts.waits.waiting(), reads: () => here.parts.reads.running() }

  test('ends soon after an event that is hinted at, and without a hint in some seconds', async () => {
    const one = await aService()
    const began = performance.now()
    const answer = one.get('?after=now&wait=20')
    await vi.waitFor(() => expect(waits()).toBe(1))
    expect(reads()).toBe(0)
    await vi.waitFor(() => expect(here.parts.db.load()).toMatchObject({ idle: here.parts.db.load().total, waiting: 0 }))
    const hinted = await one.log(2)
    const { body } = await answer
    expect(subjectsOf(body)).toEqual(hinted)
    expect(performance.now() - began).toBeLessThan(15_000)

    const unhinted = one.get(`?after=${body.next}&wait=20`)
    await vi.waitFor(() => expect(waits()).toBe(1))
    await sleep(300)
    const { next } = createIds(here.parts.clock)
    const message = next()
    await logGroup(here.parts.db.sql, one.scope, [message])
    expect(subjectsOf((await unhinted).body)).toEqual([message])
    expect(waits()).toBe(0)
  })

  test('ends with an empty page after the time, and not at all for events that are there', async () => {
    const one = await aService()
    const began = performance.now()
    expect((await one.get('?wait=1')).body).toMatchObject({ events: [], has_more: false })
    expect(performance.now() - began).toBeGreaterThan(900)
    await one.log(1)
    const later = performance.now()
    expect((await one.get('?wait=20')).body.events).toHaveLength(1)
    expect(performance.now() - later).toBeLessThan(15_000)
  })

  test('goes on while events of other types, key types and services come', async () => {
    const [one, other] = [await aService(), await aService()]
    let isAnswered = false
    const answer = one.get('?wait=20&types=notification.delivered').then(reply => {
      isAnswered = true
      return reply
    })
    await vi.waitFor(() => expect(waits()).toBe(1))
    await one.log(3, { type: 'notification.sending' })
    await other.log(1)
    const { next } = createIds(here.parts.clock)
    await logGroup(here.parts.db.sql, { ...one.scope, key_type: 'test' }, [next()])
    here.parts.hints.announce([one.service.id])
    await sleep(400)
    expect(isAnswered).toBe(false)
    const delivered = await one.log(1)
    expect(subjectsOf((await answer).body)).toEqual(delivered)
  })

  test('ends when the caller disconnects', async () => {
    const one = await aService()
    const leaving = new AbortController()
    const answer = fetch(`${here.address}${EVENTS}?wait=20`, {
      headers: { authorization: `ApiKey-v1 ${one.key.key}` },
      signal: leaving.signal,
    }).catch(() => 'gone')
    await vi.waitFor(() => expect(waits()).toBe(1))
    leaving.abort()
    expect(await answer).toBe('gone')
    await vi.waitFor(() => expect(waits()).toBe(0))
  })

  test('is refused to a key that was revoked meanwhile', async () => {
    const one = await aService()
    const answer = one.get('?wait=20')
    await vi.waitFor(() => expect(waits()).toBe(1))
    await revoke(here.parts, OPERATOR, one.key.key)
    await expect.poll(async () => (await one.get()).status).toBe(403)
    await one.log(1)
    expect((await answer).status).toBe(403)
  })

  test(`${MOST_OF_SERVICE} requests of a service wait at the same time, with one statement for all; more are refused`, async () => {
    const [one, other] = [await aService(), await aService()]
    const answers = Array.from({ length: MOST_OF_SERVICE }, () => one.get('?wait=20'))
    await vi.waitFor(() => expect(waits()).toBe(MOST_OF_SERVICE))
    const { status, body, headers } = await one.get('?wait=20')
    expect({ status, message: body.errors[0].message, again: headers.get('retry-after') }).toEqual({
      status: 429,
      message: `Exceeded ${MOST_OF_SERVICE} requests that wait for events at the same time`,
      again: '1',
    })
    expect((await one.get()).status).toBe(200)
    const another = other.get('?wait=20')
    await vi.waitFor(() => expect(waits()).toBe(MOST_OF_SERVICE + 1))
    expect(reads()).toBe(0)
    const events = [await one.log(1), await other.log(1)]
    for (const answer of answers) expect(subjectsOf((await answer).body)).toEqual(events[0])
    expect(subjectsOf((await another).body)).toEqual(events[1])
    expect(waits()).toBe(0)
  })

  test('ends when the program stops, and is not counted as slow', async () => {
    const there = await world()
    const service = await there.service()
    const key = await service.key()
    const answer = key.get(`${EVENTS}?wait=25`)
    await vi.waitFor(() => expect(there.parts.waits.waiting()).toBe(1))
    await sleep(1_100)
    const began = performance.now()
    const stopped = there.running.stop()
    expect((await answer).body).toMatchObject({ events: [], has_more: false })
    expect(performance.now() - began).toBeLessThan(20_000)
    await stopped
    const { values } = await there.parts.metrics.requests.get()
    const fast = values.find(({ labels }) => labels.route === EVENTS && (labels as { le?: number }).le === 1)
    expect(fast?.value).toBe(1)
  })
})
