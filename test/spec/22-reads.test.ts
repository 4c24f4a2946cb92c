// Contract 22.21: reads are scheduled fairly by service and never delay sends; an operator may set a limit for reads.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { Sql } from '../../src/db/connect.ts'
import { createServer } from '../../src/http/server.ts'
import { addPlain, addRoutes } from '../../src/routes.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST } from '../support/sends.ts'
import { type Reply, type World, world } from '../support/world.ts'

const BULK = `${LIST}/bulk`
const TEMPLATES = '/v2/templates'

const many = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work))
const statuses = (replies: readonly Reply[]) => [...new Set(replies.map(reply => reply.status))]

describe('without a limit', () => {
  let here: World
  let reader: Key
  let other: Key
  let template: Id

  beforeAll(async () => {
    here = await world()
    reader = await (await here.service()).key()
    other = await (await here.service()).key()
    template = await emailTemplate(other)
  })

  test('§22.21 none refuses by default', async () => {
    expect(statuses(await many(300, () => reader.get(LIST)))).toEqual([200])
  })

  test('§22.21 reads that hang in the database delay neither sends nor the reads of another service', async () => {
    const blocker = here.parts.db.client()
    await blocker.connect()
    try {
      await blocker.query('begin; lock table jobs in access exclusive mode')
      const hanging = many(50, () => reader.get(BULK))
      const asked = async () => {
        const { rows } = await blocker.query(
          `select count(*)::integer as n from pg_locks where relation = 'jobs'::regclass and not granted`,
        )
        return rows[0].n
      }
      await expect.poll(asked).toBeGreaterThan(0)

      // Answered while the others hang: the table is unlocked afterwards.
      const mail = { email_address: 'ann@example.net', template_id: template, personalisation: { name: 'Ann' } }
      const sent = await many(20, () => other.post(EMAIL, mail))
      const read = await many(5, () => other.get(TEMPLATES))
      expect([statuses(sent), statuses(read)]).toEqual([[201], [200]])
      await blocker.query('rollback')
      expect(statuses(await hanging)).toEqual([200])
    } finally {
      await blocker.end()
    }
  })
})

describe('with one turn for all reads', () => {
  const COUNT = 60

  test('§22.21 lists of many large templates: each statement has a turn, up to the last page', async () => {
    const here = await world({ HERALD_DATABASE_CONNECTIONS: '3' })
    const { parts, config } = here
    const key = await (await here.service()).key()
    // The answer begins with the first 2 MB, which are less than the first page of 50.
    const content = 'x'.repeat(50_000)
    await many(COUNT, () => emailTemplate(key, content))
    let running = 0
    const seen: { statements: number; turns: number }[] = []
    const sql: Sql = async (strings, ...values) => {
      seen.push({ statements: ++running, turns: parts.reads.running() })
      try {
        return await parts.db.sql(strings, ...values)
      } finally {
        running--
      }
    }
    const { app } = createServer({ ...config, log: parts.log, answered: () => {}, ownerOf: () => undefined })
    const counted = { ...parts, db: { ...parts.db, sql } }
    addRoutes(app, counted)
    addPlain(app, counted, '/docs')
    const lists = await many(3, () =>
      app.inject({ url: TEMPLATES, headers: { authorization: `ApiKey-v1 ${key.key}` } }),
    )
    await app.close()
    expect(lists.map(list => list.json().templates.length)).toEqual(Array(3).fill(COUNT))
    // The first page, the ids of the others, and the second page.
    expect(seen).toEqual(Array(3 * 3).fill({ statements: 1, turns: 1 }))
  })
})

describe('with a limit of 5', () => {
  let here: World

  beforeAll(async () => {
    here = await world({ HERALD_READ_LIMIT: '5' })
  })

  test('§22.21 429 RateLimitError, Retry-After as for sends; sends, changes and other services go on', async () => {
    const service = await here.service()
    const key = await service.key()
    const template = await emailTemplate(key)
    const mail = { email_address: 'ann@example.net', template_id: template, personalisation: { name: 'Ann' } }
    const { id } = (await key.post(EMAIL, { ...mail, scheduled_for: inMinutes(60) })).body
    // Keys of all types share it: the limit is per service.
    const readers = [key, await service.key({ type: 'team' }), await service.key({ type: 'test' })]
    for (const path of [LIST, `${LIST}/${id}`, BULK, TEMPLATES, `/v2/template/${template}`])
      expect((await (readers.shift() ?? key).get(path)).status).toBe(200)

    for (const path of [LIST, `${LIST}/${id}`, BULK, TEMPLATES, '/v2/manage-template/template-categories']) {
      const refused = await key.get(path)
      expect(refused).toBeRefused(429, 'RateLimitError', 'Exceeded rate limit for reading of 5 requests per 60 seconds')
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThanOrEqual(1)
      expect(wait).toBeLessThanOrEqual(60)
    }

    expect((await key.post(EMAIL, mail)).status).toBe(201)
    expect((await key.delete(`${LIST}/${id}`)).status).toBe(200)
    expect((await key.post(`/v2/template/${template}/preview`, { personalisation: { name: 'Ann' } })).status).toBe(200)
    expect((await (await (await here.service()).key()).get(LIST)).status).toBe(200)
  })
})
