// Contract 18 and 21.17: the Idempotency-Key header on single sends.
import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { createSeal } from '../../src/core/seal.ts'
import { start } from '../../src/main.ts'
import { createReplays } from '../../src/replays/replay.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate } from '../support/sends.ts'
import { callerWith, type Reply, type World, world } from '../support/world.ts'

const OTHER = [422, 'IdempotencyKeyReusedError', 'This Idempotency-Key was used with another request'] as const
const BUSY = [409, 'IdempotencyConflictError', 'A request with this Idempotency-Key is still being processed'] as const

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

const mail = (more: object = {}) => ({ email_address: 'maria@example.org', template_id: template, ...more })
const message = (more: object = {}) => ({ phone_number: '+16135550199', template_id: text, ...more })
const send = (name: string, body: object = mail(), path = EMAIL, by: Key = key) =>
  by.post(path, body, { 'idempotency-key': name })
const count = async (reference: string, by: Key = key) =>
  (await by.get(`${LIST}?reference=${reference}`)).body.notifications.length

describe('the same key with the same body', () => {
  test('returns that same status and body, says so, and sends nothing again', async () => {
    for (const [path, body] of [
      [EMAIL, mail],
      [SMS, message],
    ] as const) {
      const [name, reference] = [randomUUID(), randomUUID()]
      const asked = body({ reference, scheduled_for: inMinutes(60) })
      const first = await send(name, asked, path)
      expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
      for (let again = 0; again < 3; again++) {
        const replay = await send(name, asked, path)
        expect([replay.status, replay.text]).toEqual([201, first.text])
        expect(replay.headers.get('idempotent-replayed')).toBe('true')
        expect(replay.headers.get('content-type')).toMatch(/^application\/json/)
      }
      expect(await count(reference)).toBe(1)
    }
  })

  test('takes nothing from the daily limit a second time', async () => {
    const own = await here.service({ email_daily_limit: 1 })
    const itsKey = await own.key()
    const body = mail({ template_id: await emailTemplate(itsKey, 'Hello', 'News') })
    const first = await send('once', body, EMAIL, itsKey)
    expect(first.status).toBe(201)
    expect((await send('once', body, EMAIL, itsKey)).text).toBe(first.text)
    expect((await send('twice', body, EMAIL, itsKey)).status).toBe(429)
  })

  test('also when the template, the state of the service or the message has changed since', async () => {
    const own = await here.service()
    const itsKey = await own.key()
    const id = await emailTemplate(itsKey, 'Hello', 'News')
    const body = mail({ template_id: id, scheduled_for: inMinutes(60) })
    const first = await send('kept', body, EMAIL, itsKey)
    await itsKey.delete(`${LIST}/${first.body.id}`)
    await itsKey.delete(`/v2/manage-template/${id}`)
    expect((await send('kept', body, EMAIL, itsKey)).text).toBe(first.text)
  })

  test('of smoke-test recipients: the same id again', async () => {
    const body = mail({ email_address: 'simulate-delivered@herald.example' })
    const name = randomUUID()
    const first = await send(name, body)
    expect((await send(name, body)).text).toBe(first.text)
  })

  test('§22.12 scope: the service, the key type and the header value', async () => {
    const [name, body] = [randomUUID(), mail()]
    const ids = new Set<string>()
    for (const type of ['normal', 'team', 'test'] as const) {
      const first = await send(name, body, EMAIL, await service.key({ type }))
      expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
      ids.add(first.body.id)
      // A request with another key of the same type is a repetition; one with a key of another type is not.
      const again = await send(name, body, EMAIL, await service.key({ type }))
      expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
      expect(await send(name, mail({ reference: 'another' }), EMAIL, await service.key({ type }))).toBeRefused(...OTHER)
    }
    expect(ids.size).toBe(3)
  })

  test('§22.12 an answer stored before the key type counted is still replayed', async () => {
    const [name, body] = [randomUUID(), mail()]
    const first = await send(name, body)
    const { db, seal } = here.parts
    await db.sql`
      update replays
      set key_digest = ${seal.digest('idempotency key', name)}
      where service_id = ${service.id} and key_digest = ${seal.digest('idempotency key', `normal\n${name}`)}`
    const again = await send(name, body)
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
  })

  describe('the stored digest of a request', () => {
    const plain = (body: object) =>
      createHash('sha256')
        .update(`POST ${EMAIL}\n${JSON.stringify(body)}`)
        .digest()
    const storedBy = async (name: string) => {
      const [row] = await here.parts.db.sql<{ request_digest: Buffer }>`
        select request_digest
        from replays
        where key_digest = ${here.parts.seal.digest('idempotency key', `normal\n${name}`)}`
      return row?.request_digest
    }

    test('the digest of a request cannot be guessed without the secret', async () => {
      const [name, body] = [randomUUID(), mail()]
      await send(name, body)
      expect(await storedBy(name)).toHaveLength(32)
      expect(await storedBy(name)).not.toEqual(plain(body))
    })

    test('an answer that was stored with a digest without a key, or with an earlier secret, is still replayed', async () => {
      const [name, body] = [randomUUID(), mail()]
      const first = await send(name, body)
      await here.parts.db.sql`
        update replays
        set request_digest = ${plain(body)}
        where key_digest = ${here.parts.seal.digest('idempotency key', `normal\n${name}`)}`
      const again = await send(name, body)
      expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
      expect(await send(name, mail({ reference: 'another' }))).toBeRefused(...OTHER)

      const [scope, request] = [
        { service: service.id, keyType: 'normal' as const },
        { route: 'r', body: Buffer.from('b') },
      ]
      const { sql } = here.parts.db
      const before = createReplays({ sql, seal: createSeal(['the earlier secret of this installation']) })
      const after = createReplays({
        sql,
        seal: createSeal(['the new secret of this installation', 'the earlier secret of this installation']),
      })
      const answer = { status: 201, body: '{}' }
      await before.once(scope, name, request, async ({ keyDigest, requestDigest }) => {
        const sealed = createSeal(['the earlier secret of this installation']).seal('idempotency answer', answer.body)
        await sql`
          insert into replays (service_id, key_digest, request_digest, status, answer)
          values (${service.id}, ${keyDigest}, ${requestDigest}, 201, ${sealed})`
        return answer
      })
      const never = async () => expect.unreachable()
      expect(await after.once(scope, name, request, never)).toEqual({ ...answer, replayed: true })
    })
  })

  test('another service may use the same key', async () => {
    const other = await (await here.service()).key()
    const name = randomUUID()
    const first = await send(name)
    const theirs = await send(name, mail({ template_id: await emailTemplate(other, 'Hello', 'News') }), EMAIL, other)
    expect([theirs.status, theirs.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(theirs.body.id).not.toBe(first.body.id)
  })

  test('without the header, and with other values of it, every request is a message of its own', async () => {
    const reference = randomUUID()
    for (const name of ['a', 'A', 'a b', 'a  b'])
      expect((await send(name + reference, mail({ reference }))).status).toBe(201)
    await key.post(EMAIL, mail({ reference }))
    await key.post(EMAIL, mail({ reference }))
    expect(await count(reference)).toBe(6)
  })
})

describe('the same key with another request', () => {
  test('another body, even one that means the same: method, route and body bytes are compared', async () => {
    const [name, reference] = [randomUUID(), randomUUID()]
    const asked = mail({ reference })
    await send(name, asked)
    expect(await send(name, mail({ reference, email_address: 'ann@example.org' }))).toBeRefused(...OTHER)
    expect(await send(name, {})).toBeRefused(...OTHER)
    const spaced = await here.call('POST', EMAIL, {
      raw: `${JSON.stringify(asked)} `,
      headers: { authorization: `ApiKey-v1 ${key.key}`, 'idempotency-key': name },
    })
    expect(spaced).toBeRefused(...OTHER)
    expect(await count(reference)).toBe(1)
  })

  test('another route', async () => {
    const [name, body] = [randomUUID(), mail()]
    await send(name, body)
    expect(await send(name, body, SMS)).toBeRefused(...OTHER)
  })
})

describe('answers that are not remembered', () => {
  test('4xx: the request was not processed, the key is still free', async () => {
    const [name, reference] = [randomUUID(), randomUUID()]
    expect((await send(name, {})).status).toBe(400)
    expect((await send(name, mail({ template_id: randomUUID() }))).status).toBe(400)
    expect((await send(name, mail({ email_reply_to_id: randomUUID() }))).status).toBe(400)
    const accepted = await send(name, mail({ reference }))
    expect([accepted.status, accepted.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(await count(reference)).toBe(1)
  })

  test('429, of either limit', async () => {
    const slow = await here.service({ rate_limit: 0 })
    const full = await here.service({ email_daily_limit: 0 })
    for (const [own, change] of [
      [slow, { rate_limit: 10 }],
      [full, { email_daily_limit: 10 }],
    ] as const) {
      const itsKey = await own.key()
      const body = mail({ template_id: await emailTemplate(itsKey, 'Hello', 'News') })
      expect((await send('limited', body, EMAIL, itsKey)).status).toBe(429)
      await own.change(change)
      await expect.poll(async () => (await send('limited', body, EMAIL, itsKey)).status, { interval: 5 }).toBe(201)
    }
  })

  test('after 24 hours the key is free again, not before', async () => {
    const [name, reference] = [randomUUID(), randomUUID()]
    const body = mail({ reference })
    const first = await send(name, body)
    const made = (ago: string) => here.parts.db.sql`
      update replays set created_at = now() - ${ago}::interval where service_id = ${service.id}`
    await made('23 hours 59 minutes')
    expect((await send(name, body)).text).toBe(first.text)
    await made('24 hours 1 second')
    const again = await send(name, body)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(again.body.id).not.toBe(first.body.id)
    expect(await count(reference)).toBe(2)
    // The new answer is now the stored one, and another body is refused.
    expect((await send(name, body)).text).toBe(again.text)
    expect(await send(name, mail())).toBeRefused(...OTHER)
  })
})

describe('malformed header', () => {
  const refused = [400, 'ValidationError', 'Idempotency-Key is not valid'] as const

  test.each([
    ['empty', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a tab', 'a\tb'],
    ['a letter outside ASCII', 'clé'],
  ])('%s', async (_name, value) => {
    expect(await send(value)).toBeRefused(...refused)
  })

  test('1 and 255 printable characters are fine', async () => {
    expect((await send('k')).status).toBe(201)
    expect((await send('~'.repeat(255))).status).toBe(201)
    expect((await send(`!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~ 1`)).status).toBe(201)
  })

  test('authentication comes first', async () => {
    const reply = await here.call('POST', EMAIL, { body: mail(), headers: { 'idempotency-key': '' } })
    expect(reply.status).toBe(401)
  })

  test('other routes ignore it', async () => {
    expect((await key.get(LIST, undefined, { 'idempotency-key': 'k'.repeat(300) })).status).toBe(200)
  })
})

describe('at the same time', () => {
  test('409 while the first is still in progress; the first is not disturbed', async () => {
    const [name, body] = [randomUUID(), mail()]
    const first = await here.parts.db.transaction(async sql => {
      await sql`lock table replays in access exclusive mode`
      const underWay = send(name, body)
      await expect
        .poll(() => here.parts.db.sql`select pid from pg_locks where relation = 'replays'::regclass and not granted`, {
          interval: 5,
        })
        .not.toEqual([])
      for (const asked of [body, mail({ reference: 'other' })]) {
        const refused = await send(name, asked)
        expect(refused).toBeRefused(...BUSY)
        // §23.1 It says nothing about what is stored: callers repeat until they get the stored answer.
        expect(refused.headers.get('retry-after')).toBe('1')
      }
      return { underWay }
    })
    const answer = await first.underWay
    expect(answer.status).toBe(201)
    expect((await send(name, body)).text).toBe(answer.text)
  })

  test('§23.1 a request that another process finds refused by what the first one has used up gets its stored answer', async () => {
    const own = await here.service({ email_daily_limit: 2 })
    const itsKey = await own.key()
    const body = mail({ template_id: await emailTemplate(itsKey, 'Hello', 'News') })
    await itsKey.post(EMAIL, body)
    const other = await start(here.config, { say: () => {}, only: 'http' })
    const { sql, transaction } = here.parts.db
    const waiting = () => sql`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    try {
      // Neither finds an answer for the key, and both wait for the last message of the day.
      const name = randomUUID()
      const { sends } = await transaction(async within => {
        await within`select used from usage where service_id = ${own.id} for update`
        const sends: Promise<Reply>[] = []
        for (const at of [here.address, other.address]) {
          sends.push(callerWith(at, itsKey.key).post(EMAIL, body, { 'idempotency-key': name }))
          await expect.poll(waiting, { interval: 5, timeout: 10_000 }).toHaveLength(sends.length)
        }
        return { sends }
      })
      const [first, second] = await Promise.all(sends)
      expect([first?.status, second?.status]).toEqual([201, 201])
      expect(second?.text).toBe(first?.text)
    } finally {
      await other.stop()
    }
  })

  test('50 parallel posts with one key make one message', async () => {
    const [name, reference] = [randomUUID(), randomUUID()]
    const replies = await Promise.all(Array.from({ length: 50 }, () => send(name, mail({ reference }))))
    const answers = new Set(replies.filter(reply => reply.status === 201).map(reply => reply.text))
    expect(answers.size).toBe(1)
    for (const reply of replies.filter(reply => reply.status !== 201)) expect(reply).toBeRefused(...BUSY)
    expect(await count(reference)).toBe(1)
  })
})
