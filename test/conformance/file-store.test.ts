// One suite for every file store; S3 against a server that checks signatures. Below: a file from request to purge in a service
// whose store is S3.
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createRelay } from '../../faults/support/relay.ts'
import { createClock } from '../../src/core/clock.ts'
import { createIds } from '../../src/core/id.ts'
import { createS3, sign } from '../../src/files/s3.ts'
import { createPostgresStore, type FileStore } from '../../src/files/store.ts'
import { emptyFinishedFiles, purgeExpiredFiles, purgeOrphanedUploads } from '../../src/maintenance/files.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { EICAR } from '../support/documents.ts'
import { s3Server } from '../support/s3.ts'
import { EMAIL, emailTemplate, LIST, putState } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const ids = createIds(createClock())
const peer = await s3Server()
afterAll(() => peer.stop())
const settings = { ...peer, region: 'us-east-1', now: Date.now }

let here: World
let stores: Record<'postgres' | 's3', FileStore>
beforeAll(async () => {
  here = await world()
  stores = { postgres: createPostgresStore(here.parts.db.sql), s3: createS3(settings) }
})

describe.each(['postgres', 's3'] as const)('%s', name => {
  test('stored contents are read back, piece by piece', async () => {
    const content = ids.next()
    const [one, two] = [randomBytes(1_048_600), randomBytes(3)]
    await stores[name].put(here.parts.db.sql, content, 0, one)
    await stores[name].put(here.parts.db.sql, content, 1, two)
    expect((await stores[name].get(content, 0))?.equals(one)).toBe(true)
    expect((await stores[name].get(content, 1))?.equals(two)).toBe(true)
  })

  test('contents that never existed or are deleted are null', async () => {
    const content = ids.next()
    expect(await stores[name].get(content, 0)).toBe(null)
    await stores[name].put(here.parts.db.sql, content, 0, Buffer.from('x'))
    await stores[name].remove(here.parts.db.sql, [{ content, pieces: 1 }])
    expect(await stores[name].get(content, 0)).toBe(null)
  })

  test('removing contents that do not exist is no error', async () => {
    await stores[name].remove(here.parts.db.sql, [{ content: ids.next(), pieces: 3 }])
    await stores[name].remove(here.parts.db.sql, [])
  })
})

test('postgres: contents belong to the transaction', async () => {
  const content = ids.next()
  const work = here.parts.db.transaction(async sql => {
    await stores.postgres.put(sql, content, 0, Buffer.from('x'))
    throw new Error('no')
  })
  await expect(work).rejects.toThrow('no')
  expect(await stores.postgres.get(content, 0)).toBe(null)
})

test('s3: a wrong secret and an unreachable server are errors, not "not found"', async () => {
  await expect(createS3({ ...settings, secret: 'wrong' }).get(ids.next(), 0)).rejects.toThrow('answered 403')
  await expect(createS3({ ...settings, url: 'http://127.0.0.1:1' }).get(ids.next(), 0)).rejects.toThrow()
})

test("s3: the signature of Amazon's own example (GET, header-based, no query)", () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html has a range header that we never send, so the
  // parts that do not depend on it are compared: scope, names and the length of a digest.
  const headers = sign(
    { region: 'us-east-1', key: 'AKIAIOSFODNN7EXAMPLE', secret: 'x', now: () => Date.UTC(2013, 4, 24) },
    'GET',
    new URL('https://examplebucket.s3.amazonaws.com/test.txt'),
    Buffer.alloc(0),
  )
  expect(headers['x-amz-date']).toBe('20130524T000000Z')
  expect(headers['x-amz-content-sha256']).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
})

describe('a service whose files are in a bucket', () => {
  const folder = () =>
    readdirSync(peer.folder, { recursive: true, encoding: 'utf8' }).filter(name => /\/\d+\._S3rver_object$/.test(name))
  let cloud: World
  let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
  let template: string

  beforeAll(async () => {
    cloud = await world({
      HERALD_FILE_STORE: 's3',
      HERALD_S3_URL: peer.url,
      HERALD_S3_BUCKET: peer.bucket,
      HERALD_S3_KEY: peer.key,
      HERALD_S3_SECRET: peer.secret,
    })
    key = await (await cloud.service({ may_send_files: true, email_daily_limit: 2 })).key()
    template = await emailTemplate(key, '((link_to_file))', 'A file')
  })

  const send = (content: string) =>
    key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: {
        link_to_file: { file: Buffer.from(content).toString('base64'), filename: 'a.txt', sending_method: 'link' },
        attached: { file: Buffer.from(`${content}!`).toString('base64'), filename: 'b.txt', sending_method: 'attach' },
      },
    })

  test('sent, downloaded, emptied, purged; a refused request leaves nothing', async () => {
    const before = folder().length
    const reply = await send('in the cloud')
    expect(reply.status).toBe(201)
    expect(folder().length - before).toBe(2)
    expect((await cloud.parts.db.sql`select content from file_pieces`).length).toBe(0)
    expect(await (await fetch(reply.body.content.body)).text()).toBe('in the cloud')

    await putState(cloud, reply.body.id, { status: 'delivered' })
    await runSteps(emptyFinishedFiles(cloud.parts))
    expect(folder().length - before).toBe(1)

    expect((await send(EICAR)).status).toBe(400)
    expect((await send('second')).status).toBe(201)
    const full = folder().length
    expect((await send('third')).status).toBe(429)
    expect(folder().length).toBe(full)

    // Only this clock is moved: the server would refuse signatures of another week.
    const { clock } = cloud.parts
    await runSteps(
      purgeExpiredFiles({ ...cloud.parts, clock: { ...clock, micros: () => clock.micros() + 9 * 86_400_000_000 } }),
    )
    expect(folder().length).toBe(before)
    expect((await fetch(reply.body.content.body)).status).toBe(404)
  })

  test('3.8 no transaction is open while contents are uploaded', async () => {
    const other = await s3Server('other-files') // each installation has a bucket of its own
    const relay = await createRelay({ port: Number(new URL(other.url).port) })
    try {
      const slow = await world({
        HERALD_FILE_STORE: 's3',
        HERALD_S3_URL: `http://127.0.0.1:${relay.port}`,
        HERALD_S3_BUCKET: other.bucket,
        HERALD_S3_KEY: other.key,
        HERALD_S3_SECRET: other.secret,
      })
      const caller = await (await slow.service({ may_send_files: true })).key()
      const template_id = await emailTemplate(caller, 'Hello', 'News')
      relay.set({ isSilent: true })
      const asked = caller.post(EMAIL, {
        email_address: 'ann@example.net',
        template_id,
        personalisation: { a: { file: 'eA==', filename: 'a.txt', sending_method: 'attach' } },
      })
      await vi.waitUntil(async () => (await slow.parts.db.sql`select content from uploads`).length > 0, 10_000)
      await vi.waitUntil(() => relay.open() > 0, 10_000)
      const [row] = await slow.parts.db.sql<{ open: number }>`
        select count(*)::integer as open
        from pg_stat_activity
        where datname = current_database()
          and pid <> pg_backend_pid()
          and state like 'idle in transaction%'`
      relay.set({ isSilent: false })
      expect(row?.open).toBe(0)
      expect((await asked).status).toBe(201)
      expect((await slow.parts.db.sql`select content from uploads`).length).toBe(0)
    } finally {
      await relay.stop()
      await other.stop()
    }
  })

  test('3.8 uploads without a message are purged, uploads in progress are not', async () => {
    const { db, files } = cloud.parts
    const before = folder().length
    const [orphan, fresh] = [ids.next(), ids.next()]
    for (const content of [orphan, fresh]) await files.store.put(db.sql, content, 0, Buffer.from('sealed'))
    await db.sql`
      insert into uploads (content, pieces, begun_at)
      values (${orphan}, 1, now() - interval '2 hours'), (${fresh}, 1, now())`
    await runSteps(purgeOrphanedUploads(cloud.parts))
    expect(folder().length).toBe(before + 1)
    expect(await db.sql`select content from uploads`).toEqual([{ content: fresh }])
  })

  test('an unreachable bucket: 500, nothing stored, and none of its text in the answer', async () => {
    const lost = await world({
      HERALD_FILE_STORE: 's3',
      HERALD_S3_URL: 'http://127.0.0.1:1',
      HERALD_S3_BUCKET: 'x1',
      HERALD_S3_KEY: randomUUID(),
      HERALD_S3_SECRET: randomUUID(),
    })
    const caller = await (await lost.service({ may_send_files: true })).key()
    const id = await emailTemplate(caller, 'Hello', 'News')
    const reply = await caller.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: id,
      personalisation: { a: { file: 'eA==', filename: 'a.txt', sending_method: 'attach' } },
    })
    expect(reply).toBeRefused(500, 'Exception', 'Internal server error')
    expect((await caller.get(LIST)).body.notifications).toEqual([])
    expect((await lost.parts.db.sql`select id from files`).length).toBe(0)
  })
})
