// A file store that lies: nothing is lost, nothing hangs, memory is bounded, and no one ever gets the content of another file.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import { createS3 } from '../src/files/s3.ts'
import type { FileStore } from '../src/files/store.ts'
import { member } from './console/support/plant.ts'
import { request as ask, signIn } from './console/support/session.ts'
import { EMAIL, emailTemplate, LIST } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const ids = createIds(createClock())
const objects = new Map<string, Buffer>()
const errorXml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`

type Lie = (request: IncomingMessage, response: ServerResponse, stored: Buffer) => void
let lie: Lie | null = null

/** S3 without checks; while there is a lie, it is the answer to every GET of a file. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const name = request.url ?? ''
  if (request.method === 'PUT') objects.set(name, Buffer.concat(chunks))
  if (request.method === 'DELETE') objects.delete(name)
  if (request.method !== 'GET') return response.end()
  const stored = objects.get(name)
  if (lie && !name.endsWith('herald-installation')) return lie(request, response, stored ?? Buffer.alloc(0))
  if (!stored) return response.writeHead(404).end(errorXml('NoSuchKey'))
  response.end(stored)
})

let settings: { url: string; bucket: string; region: string; key: string; secret: string; now(): number }
let store: FileStore
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  settings = { url, bucket: 'files', region: 'us-east-1', key: 'k', secret: 's', now: Date.now }
  store = createS3(settings)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

let written = 0
const endless: Lie = (_request, response) => {
  written = 0
  const chunk = Buffer.alloc(65_536)
  const pour = () => {
    while (!response.destroyed && response.write(chunk)) written += chunk.length
  }
  response.on('drain', pour)
  pour()
}

const LIES: readonly [string, Lie][] = [
  ['a body that ends early', (_request, response, stored) => response.end(stored.subarray(0, -1))],
  [
    'a shorter body than announced',
    (_request, response, stored) => {
      response.setHeader('content-length', stored.length)
      response.write(stored.subarray(0, 20), () => response.destroy())
    },
  ],
  ['a longer body', (_request, response, stored) => response.end(Buffer.concat([stored, stored]))],
  ['an empty body', (_request, response) => response.end()],
  ['an error with the status 200', (_request, response) => response.end(errorXml('SlowDown'))],
  ['changed bytes', (_request, response, stored) => response.end(Buffer.from(stored).reverse())],
  [
    'the bytes of another object',
    (request, response) => response.end([...objects].find(([name]) => name !== request.url && /\/0$/.test(name))?.[1]),
  ],
  ['a body without end', endless],
  ['a redirect', (request, response) => response.writeHead(307, { location: `${request.url}` }).end()],
  ['the status 500', (_request, response) => response.writeHead(500).end(errorXml('InternalError'))],
  ['a 404 of a proxy', (_request, response) => response.writeHead(404).end('<html>default backend</html>')],
  ['a bucket that is not there', (_request, response) => response.writeHead(404).end(errorXml('NoSuchBucket'))],
]

describe('the store', () => {
  test('a body without end is an error as soon as it is longer than a piece', async () => {
    lie = endless
    await expect(store.get(ids.next(), 0)).rejects.toThrow('more than an object has')
    lie = null
    // What was on its way in buffers of the system is not read.
    expect(written).toBeLessThan(64 * 1024 * 1024)
  })

  test('only NoSuchKey means that an object is not there', async () => {
    const content = ids.next()
    expect(await store.get(content, 0)).toBe(null)
    for (const code of ['NoSuchBucket', 'AccessDenied']) {
      lie = (_request, response) => response.writeHead(404).end(errorXml(code))
      await expect(store.get(content, 0)).rejects.toThrow(`answered 404 ${code} to GET`)
    }
    lie = (_request, response) => response.writeHead(404).end('not found')
    await expect(store.get(content, 0)).rejects.toThrow('answered 404 to GET')
    lie = null
  })

  test('an error document with the status 200 is no success of a PUT', async () => {
    const peer = createServer((request, response) => {
      request.resume().on('end', () => response.end(errorXml('InternalError')))
    })
    await new Promise<void>(resolve => peer.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`
      const put = createS3({ ...settings, url }).put(here.parts.db.sql, ids.next(), 0, randomBytes(10))
      await expect(put).rejects.toThrow('answered 200 InternalError to PUT')
    } finally {
      peer.close()
    }
  })
})

let here: World
beforeAll(async () => {
  here = await world(
    {
      HERALD_FILE_STORE: 's3',
      HERALD_S3_URL: settings.url,
      HERALD_S3_BUCKET: settings.bucket,
      HERALD_S3_KEY: settings.key,
      HERALD_S3_SECRET: settings.secret,
    },
    { engine: true },
  )
})

const fileOf = (text: string, sending_method: string) => ({
  ...{ file: Buffer.from(text).toString('base64'), filename: 'a.txt', sending_method },
})

describe('a service whose store lies', () => {
  test.each(LIES)('%s: a download fails, and has the right content afterwards', async (name, how) => {
    const key = await (await here.service({ may_send_files: true })).key({ type: 'test' })
    const template_id = await emailTemplate(key, '((link_to_file))', 'A file')
    const send = async (text: string) =>
      (
        await key.post(EMAIL, {
          ...{ email_address: 'ann@example.net', template_id },
          personalisation: { link_to_file: fileOf(text, 'link') },
        })
      ).body.content.body as string
    await send(`other ${name}`)
    const link = await send(`mine ${name}`)
    lie = how
    try {
      const answer = await fetch(link)
      const text = await answer.text().catch(() => '')
      expect({ status: answer.status, hasContent: /mine|other/.test(text) }).toEqual({ status: 500, hasContent: false })
    } finally {
      lie = null
    }
    expect(await (await fetch(link)).text()).toBe(`mine ${name}`)
  })

  test('a message with an attachment is sent when the store tells the truth again', async () => {
    const key = await (await here.service({ may_send_files: true })).key()
    const template_id = await emailTemplate(key, 'Hello', 'News')
    let asked = 0
    lie = (_request, response) => {
      asked++
      response.writeHead(404).end('<html>default backend</html>')
    }
    const { body } = await key.post(EMAIL, {
      ...{ email_address: 'ann@example.net', template_id },
      personalisation: { doc: fileOf('the right content', 'attach') },
    })
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0), { timeout: 20_000, interval: 20 })
    expect((await key.get(`/v2/notifications/${body.id}`)).body.status).not.toMatch(/failure/)
    lie = null
    await vi.waitFor(
      async () => expect((await key.get(`/v2/notifications/${body.id}`)).body.status).toMatch(/^(sent|delivered)$/),
      { timeout: 60_000, interval: 200 },
    )
  })
})

describe('a store that hangs delays no read of the database', () => {
  const CONTENT = 'the right content'
  const BASE64 = Buffer.from(CONTENT).toString('base64')
  const INBOX = '/herald/v1/inbox'
  const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

  const held = new Set<ServerResponse>()
  const hang: Lie = (_request, response) => {
    held.add(response)
    response.on('close', () => held.delete(response))
  }
  const release = () => {
    lie = null
    for (const response of held) response.destroy()
  }
  afterEach(release)

  /** A service with two messages in its inbox, one of them with an attachment. */
  async function mailbox() {
    const { id, key: keyOf } = await here.service({ may_send_files: true })
    const key = await keyOf({ type: 'test' })
    const template_id = await emailTemplate(key, 'Hello', 'News')
    const send = async (personalisation: object): Promise<string> => {
      const { body } = await key.post(EMAIL, { email_address: 'ann@example.net', template_id, personalisation })
      await soon(async () => expect((await key.get(`${INBOX}/${body.id}`)).status).toBe(200))
      return body.id
    }
    return { id, key, withFile: await send({ doc: fileOf(CONTENT, 'attach') }), plain: await send({}) }
  }
  type Mailbox = Awaited<ReturnType<typeof mailbox>>

  async function managerOf({ id }: Mailbox, name: string) {
    const session = await signIn(here.parts, await member(here.parts, id, name, 'manager'))
    return (path: string, form?: Record<string, string>) => ask(here.address, session, `/s/${id}${path}`, { form })
  }

  /** The answers to other requests, which must all be there before the store gives up. */
  const meanwhile = (waiting: readonly Promise<unknown>[], requests: readonly Promise<{ status: number }>[]) =>
    Promise.race([
      Promise.all(requests).then(answers => answers.map(({ status }) => status)),
      Promise.race(waiting).then(() => 'the store has given up before'),
    ])

  test('messages of the inbox that wait for their attachments', async () => {
    const [one, two, other] = await Promise.all([mailbox(), mailbox(), mailbox()])
    const get = ({ key, withFile }: Mailbox) => key.get(`${INBOX}/${withFile}`)
    lie = hang
    const waiting = [one, two].flatMap(at => Array.from({ length: 6 }, () => get(at)))
    // As many as there are turns of the database.
    await soon(() => expect(held.size).toBeGreaterThanOrEqual(3))
    const others = [other.key.get(LIST), other.key.get(`${INBOX}/${other.plain}`), one.key.get(`${INBOX}/${one.plain}`)]
    expect(await meanwhile(waiting, others)).toEqual([200, 200, 200])
    // Four of a service read, and two wait.
    const { reading } = here.parts.files
    await soon(() => expect([reading.running(), reading.waiting()]).toEqual([8, 4]))
    release()
    await Promise.all(waiting)
    for (const at of [one, two]) expect((await get(at)).body.source).toContain(BASE64)
  })

  test.each<[what: string, path: (id: string) => string, form: Record<string, string> | undefined, answer: string]>([
    ['pages of the console', id => `/inbox/${id}?view=source`, undefined, BASE64],
    ['e-mails that are saved from the console', id => `/inbox/${id}/source`, undefined, BASE64],
    ['copies', id => `/messages/${id}/copy`, {}, '?done=copied'],
  ])('%s that wait for attachments', async (_what, pathOf, form, answer) => {
    const [one, two, other] = await Promise.all([mailbox(), mailbox(), mailbox()])
    const [ann, ben] = await Promise.all([managerOf(one, 'Ann Lee'), managerOf(two, 'Ben Roy')])
    lie = hang
    const asked = [ann(pathOf(one.withFile), form), ann(pathOf(one.withFile), form), ben(pathOf(two.withFile), form)]
    await soon(() => expect(held.size).toBe(3))
    const others = [other.key.get(LIST), ann('/inbox'), ben(`/inbox/${two.plain}`)]
    expect(await meanwhile(asked, others)).toEqual([200, 200, 200])
    release()
    await Promise.all(asked)
    const { text, location } = await ann(pathOf(one.withFile), form)
    expect(location ?? text).toContain(answer)
  })

  test('an attachment that is saved from the console: a report of another service goes on', async () => {
    const [one, other] = await Promise.all([mailbox(), mailbox()])
    const ann = await managerOf(one, 'Cyd Fox')
    const save = () => ann(`/inbox/${one.withFile}/files/0`)
    lie = hang
    // It fails after the head of its answer was sent.
    const waiting = [save().catch(() => null)]
    await soon(() => expect(held.size).toBe(1))
    const reports = [other.key.get('/herald/v1/reports/messages'), one.key.get('/herald/v1/reports/messages')]
    expect(await meanwhile(waiting, reports)).toEqual([200, 200])
    release()
    await Promise.all(waiting)
    expect((await save()).text).toBe(CONTENT)
  })
})
