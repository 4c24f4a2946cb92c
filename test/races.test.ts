// Promises that must hold with any number of processes (reliability A1, A2, O6, U5, D1): several real Herald processes on one
// database, with concurrent requests.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, createClient, type Process, processes } from './support/processes.ts'
import { CATEGORY, type World, world } from './support/world.ts'

const SECRET = 'the secret that all processes of this test share'
const UNLIMITED = 10_000_000

let here: World
let all: Process[]
const send = createClient()

beforeAll(async () => {
  here = await world({ HERALD_SECRET: SECRET, HERALD_DATABASE_CONNECTIONS: '8' })
  all = await processes(4, { databaseUrl: here.config.databaseUrl ?? '', secret: SECRET })
}, 120_000)

/** The n-th of the processes, round robin. */
const at = (n: number) => (all[n % all.length] as Process).address

async function sender(limits: { email_daily_limit?: number; rate_limit?: number } = {}) {
  const service = await here.service({ email_daily_limit: UNLIMITED, rate_limit: UNLIMITED, ...limits })
  const key = await service.key()
  const template = await key.post('/v2/manage-template', {
    name: 'Race',
    template_type: 'email',
    subject: 'Race',
    content: 'On your marks, ((name)).',
    template_category_id: CATEGORY.general,
  })
  const body = { email_address: 'runner@example.org', template_id: template.body.id, personalisation: { name: 'Ada' } }
  return { service, key: key.key, body }
}

const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** `{ '201': 1000, '429 TooManyRequestsError': 2000 }` */
function tally(answers: readonly Answer[]): Partial<Record<string, number>> {
  const counts: Partial<Record<string, number>> = {}
  for (const { status, body } of answers) {
    const kind = status < 300 ? String(status) : `${status} ${body.errors[0].error}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

test('A1 3,000 concurrent sends against a daily limit of 1,000: exactly 1,000 are accepted', async () => {
  const { service, key, body } = await sender({ email_daily_limit: 1_000 })

  const answers = await many(3_000, n => send(at(n), 'POST', '/v2/notifications/email', { key, body }))

  expect(tally(answers)).toEqual({ '201': 1_000, '429 TooManyRequestsError': 2_000 })
  expect(await usedOf(service.id)).toBe(1_000)
  expect(await storedOf(service.id)).toBe(1_000)
  const ids = new Set(answers.filter(answer => answer.status === 201).map(answer => answer.body.id))
  expect(ids.size).toBe(1_000)
})

test('A1 what cancellations return can be used again, and no more than that', async () => {
  const { service, key, body } = await sender({ email_daily_limit: 100 })
  const scheduled = { ...body, scheduled_for: inTwoHours() }
  const first = await many(150, n => send(at(n), 'POST', '/v2/notifications/email', { key, body: scheduled }))
  const ids = first.filter(answer => answer.status === 201).map(answer => answer.body.id as string)
  expect(ids).toHaveLength(100)

  // Concurrent cancellations and sends; every cancellation is sent to two processes at once.
  const cancelled: Answer[] = []
  const again: Answer[] = []
  await many(300, async n => {
    const id = ids[Math.floor(n / 2) % 50]
    if (n < 100) cancelled.push(await send(at(n), 'DELETE', `/v2/notifications/${id}`, { key }))
    else again.push(await send(at(n), 'POST', '/v2/notifications/email', { key, body: scheduled }))
  })
  again.push(...(await many(100, n => send(at(n), 'POST', '/v2/notifications/email', { key, body: scheduled }))))

  const counts = tally(cancelled)
  expect(counts['200']).toBe(50)
  expect((counts['400 BadRequestError'] ?? 0) + (counts['404 NoResultFound'] ?? 0)).toBe(50)
  expect(tally(again)['201']).toBe(50)
  expect(await usedOf(service.id)).toBe(100)
})

describe('A2 the rate limit is exact across processes', () => {
  test('a burst of 300 against 100: exactly 100 pass; refused ones prolong the block; other key types are separate', async () => {
    const { service, key, body } = await sender({ rate_limit: 100 })
    const burst = (count: number) => many(count, n => send(at(n), 'POST', '/v2/notifications/email', { key, body }))

    const first = await burst(300)
    expect(tally(first)).toEqual({ '201': 100, '429 RateLimitError': 200 })
    for (const { status, headers } of first.filter(answer => answer.status === 429)) {
      const wait = Number(headers['retry-after'])
      expect([status, wait >= 1 && wait <= 60]).toEqual([429, true])
    }

    // Fifty seconds later, still under load: all refused, all counted.
    await later(service.id, 50)
    expect(tally(await burst(150))).toEqual({ '429 RateLimitError': 150 })
    // The first burst has left the window. If the refused requests were not counted, this would pass.
    await later(service.id, 15)
    expect(tally(await burst(1))).toEqual({ '429 RateLimitError': 1 })

    const test = await service.key({ type: 'test' })
    const other = await many(20, n => send(at(n), 'POST', '/v2/notifications/email', { key: test.key, body }))
    expect(tally(other)).toEqual({ '201': 20 })

    await later(service.id, 60)
    expect(tally(await burst(150))).toEqual({ '201': 100, '429 RateLimitError': 50 })
  })

  // The database uses its own clock, which a test cannot move: the hits are moved instead.
  const later = (service: string, seconds: number) => here.parts.db.sql`
    update rate_hits
    set at = at - make_interval(secs => ${seconds})
    where service_id = ${service}`
})

test('O6 500 times cancel versus due: exactly one wins', async () => {
  const { service, key, body } = await sender()
  const scheduled = { ...body, scheduled_for: inTwoHours() }
  const accepted = await many(500, n => send(at(n), 'POST', '/v2/notifications/email', { key, body: scheduled }))
  expect(tally(accepted)).toEqual({ '201': 500 })
  const ids = accepted.map(answer => answer.body.id as string)
  await here.parts.db.sql`update tickets set due_at = now() where id = any (${ids})`

  // The engine's start is shifted after every race towards a draw, so that most races are close on any machine.
  let headStart = 2
  const taken = new Map<string, number>()
  const answers = new Map<string, Answer>()
  const lane = async (first: number) => {
    for (let n = first; n < ids.length; n += 4) {
      const id = ids[n] as string
      const engine = sleep(Math.max(0, headStart)).then(() => take(id))
      const [answer, won] = await Promise.all([send(at(n), 'DELETE', `/v2/notifications/${id}`, { key }), engine])
      headStart += answer.status === 200 ? -0.2 : 0.2
      answers.set(id, answer)
      taken.set(id, won)
    }
  }
  await many(4, lane)
  // The remaining messages are due: the engine runs again.
  for (const id of ids) taken.set(id, (taken.get(id) ?? 0) + (await take(id)))

  const cancelled = ids.filter(id => answers.get(id)?.status === 200)
  for (const id of ids) {
    const answer = answers.get(id) as Answer
    if (answer.status !== 200)
      expect(answer.body).toEqual({
        errors: [{ error: 'BadRequestError', message: 'Notification has already been sent and cannot be deleted' }],
        status_code: 400,
      })
    expect([id, taken.get(id)]).toEqual([id, answer.status === 200 ? 0 : 1])
    const read = await send(at(1), 'GET', `/v2/notifications/${id}`, { key })
    expect([id, read.status]).toEqual([id, answer.status === 200 ? 404 : 200])
  }
  expect(await usedOf(service.id)).toBe(500 - cancelled.length)
  // A race that the same side always wins tests nothing.
  expect(cancelled.length).toBeGreaterThan(25)
  expect(cancelled.length).toBeLessThan(475)
})

/** Takes one due ticket as an engine does; returns how many it got. */
async function take(id: string): Promise<number> {
  const rows = await here.parts.db.sql`
    update tickets
    set owner = ${randomUUID()},
        leased_until = now() + interval '1 minute',
        attempts = attempts + 1
    where id in (
      select id
      from tickets
      where id = ${id}
        and owner is null
        and due_at <= now()
      for update skip locked
    )
    returning id`
  return rows.length
}

describe('U5 Idempotency-Key', () => {
  test('50 parallel posts with one key over four processes: one message, the same answer or 409', async () => {
    const { service, key, body } = await sender()
    const headers = { 'idempotency-key': randomUUID() }

    const answers = await many(50, n => send(at(n), 'POST', '/v2/notifications/email', { key, body, headers }))

    const counts = tally(answers)
    expect((counts['201'] ?? 0) + (counts['409 IdempotencyConflictError'] ?? 0)).toBe(50)
    expect(new Set(answers.filter(one => one.status === 201).map(one => JSON.stringify(one.body))).size).toBe(1)
    expect(await storedOf(service.id)).toBe(1)
    expect(await usedOf(service.id)).toBe(1)
  })

  test('200 keys, each sent five times at once with others in between: 200 messages', async () => {
    const { service, key, body } = await sender()
    const keys = Array.from({ length: 200 }, () => randomUUID())
    const post = async (name: string, n: number): Promise<string> => {
      const answer = await send(at(n), 'POST', '/v2/notifications/email', {
        key,
        body: { ...body, reference: name },
        headers: { 'idempotency-key': name },
      })
      // A caller who is answered that the first request is still in progress retries.
      if (answer.status === 409) return sleep(20).then(() => post(name, n))
      expect([answer.status, answer.body.reference]).toEqual([201, name])
      return answer.body.id
    }
    const ids = await many(1_000, n => post(keys[n % 200] as string, Math.floor(n / 200)))

    for (let n = 200; n < 1_000; n++) expect(ids[n]).toBe(ids[n % 200])
    expect(new Set(ids).size).toBe(200)
    expect(await storedOf(service.id)).toBe(200)
    expect(await usedOf(service.id)).toBe(200)
  })
})

describe('U5 other processes store answers for several keys of one batch, one after the other', () => {
  test('the batch is checked again each time: no key is answered with an error', async () => {
    const { service, key, body } = await sender()
    const { seal, db } = here.parts
    const names = [randomUUID(), randomUUID(), randomUUID()]
    const others = await Promise.all(
      names.map(async name => {
        const client = db.client()
        await client.connect()
        await client.query('begin')
        await client.query(
          `insert into replays (service_id, key_digest, request_digest, status, answer) values ($1, $2, $3, 201, $4)`,
          [
            service.id,
            seal.digest('idempotency key', `normal\n${name}`),
            Buffer.alloc(32),
            seal.seal('idempotency answer', '{}'),
          ],
        )
        return client
      }),
    )
    // Requests to one process that arrive while two batches wait for a lock form the third.
    await send(at(0), 'POST', '/v2/notifications/email', { key, body })
    const holder = db.client()
    await holder.connect()
    await holder.query('begin')
    await holder.query('select in_window from rates where service_id = $1 for update', [service.id])
    const first = [send(at(0), 'POST', '/v2/notifications/email', { key, body })]
    await sleep(100)
    first.push(send(at(0), 'POST', '/v2/notifications/email', { key, body }))
    await sleep(100)
    const answers = names.map(name =>
      send(at(0), 'POST', '/v2/notifications/email', { key, body, headers: { 'idempotency-key': name } }),
    )
    await sleep(300)
    await holder.query('commit')
    for (const other of others) {
      await sleep(200)
      await other.query('commit')
    }
    expect(tally(await Promise.all(first))).toEqual({ '201': 2 })
    expect(tally(await Promise.all(answers))).toEqual({ '422 IdempotencyKeyReusedError': 3 })
    for (const client of [holder, ...others]) await client.end()
  })
})

// Runs last: it leaves one process fewer.
test('D1 kill -9 of a process under load: every 201 that a caller received can be read through another', async () => {
  const { service, key, body } = await sender()
  const seen: string[] = []
  let lost = 0
  const victim = all.pop() as Process
  const caller = async (address: string) => {
    for (let n = 0; n < 60; n++)
      try {
        const answer = await send(address, 'POST', '/v2/notifications/email', { key, body })
        expect(answer.status).toBe(201)
        seen.push(answer.body.id)
        if (seen.length === 300) void victim.kill()
      } catch (error) {
        if (address !== victim.address) throw error
        lost++
      }
  }
  await many(32, n => caller(n % 2 === 0 ? victim.address : at(n)))
  await victim.kill()

  expect(lost).toBeGreaterThan(0)
  const replies = await many(seen.length, n => send(at(n), 'GET', `/v2/notifications/${seen[n]}`, { key }))
  expect(tally(replies)).toEqual({ '200': seen.length })
  // The counter is never below what is stored; here it is equal, because both are one statement.
  expect(await usedOf(service.id)).toBe(await storedOf(service.id))
  expect(await storedOf(service.id)).toBeGreaterThanOrEqual(seen.length)
})

const inTwoHours = () => new Date(Date.now() + 2 * 3_600_000).toISOString()

async function usedOf(service: string): Promise<number> {
  const [row] = await here.parts.db.sql<{ used: number }>`
    select coalesce(sum(used), 0)::integer as used
    from usage
    where service_id = ${service}`
  return row?.used ?? 0
}

async function storedOf(service: string): Promise<number> {
  const [row] = await here.parts.db.sql<{ stored: number }>`
    select count(*)::integer as stored
    from notifications
    where service_id = ${service}`
  return row?.stored ?? 0
}
