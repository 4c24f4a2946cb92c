// herald/client as others import it: from the built package, compiled against its declarations, sending to a running Herald.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emailTemplate, LIST } from './support/sends.ts'
import { type World, world } from './support/world.ts'

type Library = typeof import('../src/client/index.ts')

spawnSync(process.execPath, ['scripts/build.mjs'])
const { createClient, HeraldError, verifyWebhook } = (await import(resolve('dist/client/index.js'))) as Library
const folder = mkdtempSync(join(tmpdir(), 'herald-client-'))
const servers: { close(): void }[] = []
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

test('our own code is at most 6 KB and imports nothing', () => {
  const text = readFileSync('dist/client/index.js', 'utf8')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6 * 1024)
  expect(text).not.toMatch(/^import|require\(/m)
})

describe('against a running Herald', () => {
  let here: World
  let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
  let client: ReturnType<typeof createClient>
  let template_id: string

  beforeAll(async () => {
    here = await world({}, { engine: true })
    key = await (await here.service({ rate_limit: 10_000 })).key({ type: 'test' })
    client = createClient({ url: `${here.address}/`, key: key.key })
    template_id = await emailTemplate(key, 'Hello ((name))', 'News')
  })
  const toAda = (more: object = {}) => ({
    body: { template_id, email_address: 'ada@example.org', personalisation: { name: 'Ada' }, ...more },
  })

  test('it sends, reads, lists by pages, and follows events', async () => {
    const sent = await client.post('/v2/notifications/email', toAda({ reference: 'by the client' }))
    const path = { notification_id: sent.id }
    expect((await client.get('/v2/notifications/{notification_id}', { path })).body).toBe('Hello Ada')
    for (let more = 0; more < 2; more++) await client.post('/v2/notifications/email', toAda())
    const found: string[] = []
    for await (const message of client.messages({ template_type: ['email'] })) found.push(message.id)
    expect(found).toHaveLength(3)
    expect(found.at(-1)).toBe(sent.id)
    for await (const { events } of client.events({ types: ['notification.delivered'] }))
      if (events.some(({ data }) => 'notification_id' in data && data.notification_id === sent.id)) break
  })

  test('a list in the query, a change, and an answer that is not JSON', async () => {
    const { notifications } = await client.get('/v2/notifications', { query: { status: ['failed', 'sending'] } })
    expect(notifications).toEqual([])
    const changed = await client.patch('/v2/manage-template/{template_id}', {
      ...{ path: { template_id }, body: { name: 'Renamed' } },
    })
    expect(changed.name).toBe('Renamed')
    const report = await client.get('/herald/v1/reports/messages', { query: { format: 'csv' } })
    expect((await report.text()).split('\n')[0]).toContain('"recipient"')
  })

  test('a refusal is an error with the sentences, the status and the id of the request', async () => {
    const refused = await client.post('/v2/notifications/email', toAda({ personalisation: {} })).catch(error => error)
    expect(refused).toBeInstanceOf(HeraldError)
    expect(refused).toMatchObject({
      status: 400,
      message: `Missing personalisation for template ID ${template_id}: name`,
      errors: [{ error: 'BadRequestError' }],
      requestId: expect.any(String),
      retryAfterSeconds: null,
    })
  })

  test('the same Idempotency-Key gets the same message', async () => {
    const send = () => client.post('/v2/notifications/email', { ...toAda(), idempotencyKey: 'once' })
    expect((await send()).id).toBe((await send()).id)
  })

  test('a send whose answers are lost is stored once', async () => {
    // A proxy that passes each send on and then closes the connection, twice.
    let lost = 0
    const proxy = await served(async (request, response) => {
      const { status, headers, text } = await passedOn(here.address, request)
      if (lost++ < 2) request.socket.destroy()
      else response.writeHead(status, headers).end(text)
    })
    const { id } = await createClient({ url: proxy, key: key.key }).post(
      '/v2/notifications/email',
      toAda({ reference: 'lost' }),
    )
    expect(lost).toBe(3)
    expect((await key.get(`${LIST}?reference=lost`)).body.notifications.map((one: { id: string }) => one.id)).toEqual([
      id,
    ])
  })
})

describe('bulk sends that are cut while they are stored', () => {
  test('3 of 3 are reported as stored, and stored once, although repetitions get 409 more often than there are retries', async () => {
    const here = await world()
    const key = await (await here.service({ rate_limit: 10_000 })).key()
    const template_id = await emailTemplate(key, 'Hello ((name))', 'News')
    const { sql, transaction } = here.parts.db
    const waiting = () => sql`
      select pid from pg_locks where relation = 'chunks'::regclass and not granted`
    for (const name of ['one', 'two', 'three']) {
      const statuses: number[] = []
      // A proxy that passes the first request on, cuts its connection while Herald stores the rows, and passes all others on.
      let isFirst = true
      const proxy = await served(async (request, response) => {
        const answer = passedOn(here.address, request)
        if (isFirst) {
          isFirst = false
          answer.catch(() => {})
          await expect.poll(waiting, { interval: 5, timeout: 60_000 }).not.toEqual([])
          return void request.socket.destroy()
        }
        const { status, headers, text } = await answer
        statuses.push(status)
        response.writeHead(status, headers).end(text)
      })
      const client = createClient({ url: proxy, key: key.key, retries: 1 })
      const { sent } = await transaction(async within => {
        await within`set local idle_in_transaction_session_timeout = 0`
        await within`lock table chunks in access exclusive mode`
        const rows = [['email address', 'name'], ...Array.from({ length: 600 }, (_, n) => [`a${n}@example.org`, 'Ada'])]
        const sent = client.post('/v2/notifications/bulk', { body: { name, template_id, rows } })
        const isRepeated = expect
          .poll(() => statuses.length, { interval: 5, timeout: 60_000 })
          .toBeGreaterThanOrEqual(2)
        await Promise.race([sent, isRepeated])
        return { sent }
      })
      const { data } = await sent
      expect(statuses.slice(0, 2)).toEqual([409, 409])
      expect(statuses.at(-1)).toBe(201)
      const stored = await sql<{ id: string }>`select id from jobs where name = ${name}`
      expect(stored.map(job => job.id)).toEqual([data.id])
    }
  }, 240_000)
})

describe('retries', () => {
  /** Answers with these statuses in turn, and counts the requests. */
  async function answering(statuses: readonly number[], headers: Record<string, string> = {}) {
    const keys: unknown[] = []
    const url = await served((request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.writeHead(statuses[keys.length - 1] ?? 200, { 'content-type': 'application/json', ...headers })
      response.end('{"notifications":[],"errors":[{"error":"E","message":"no"}]}')
    })
    return { keys, client: createClient({ url, key: 'k' }) }
  }
  const body = { template_id: 'x', phone_number: 'y' }

  test('429 of any call after Retry-After; not if it is longer than a minute', async () => {
    const soon = await answering([429, 429], { 'retry-after': '0' })
    await soon.client.delete('/herald/v1/inbox')
    expect(soon.keys).toHaveLength(3)
    const tomorrow = await answering([429], { 'retry-after': '3600' })
    await expect(tomorrow.client.get('/v2/notifications')).rejects.toMatchObject({ retryAfterSeconds: 3600 })
    expect(tomorrow.keys).toHaveLength(1)
  })

  test('5xx of a send with the same key, and of a read; of nothing else', async () => {
    const send = await answering([500, 503])
    await send.client.post('/v2/notifications/sms', { body })
    expect(send.keys).toHaveLength(3)
    expect(new Set(send.keys).size).toBe(1)
    expect(send.keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    const change = await answering([500])
    await expect(change.client.delete('/herald/v1/inbox')).rejects.toMatchObject({ status: 500, message: 'no' })
    expect(change.keys).toEqual([undefined])
    const down = await answering([500, 500, 500, 500, 500])
    await expect(down.client.get('/v2/notifications')).rejects.toThrow('no')
    expect(down.keys).toHaveLength(4)
  })

  test('409 of a send is repeated until the stored answer comes, however often; of nothing else', async () => {
    const running = await answering([409, 409, 409, 409, 409], { 'retry-after': '0' })
    await running.client.post('/v2/notifications/sms', { body })
    expect(running.keys).toHaveLength(6)
    expect(new Set(running.keys).size).toBe(1)
    const change = await answering([409], { 'retry-after': '0' })
    await expect(change.client.delete('/herald/v1/inbox')).rejects.toMatchObject({ status: 409, idempotencyKey: null })
  })

  test('the Idempotency-Key of a send is on its error, also when no answer came', async () => {
    const down = await answering([500, 500, 500, 500])
    const failed = await down.client.post('/v2/notifications/sms', { body }).catch(error => error)
    expect(failed.idempotencyKey).toBe(down.keys[0])
    const refused = await answering([400])
    const sent = refused.client.post('/v2/notifications/sms', { body, idempotencyKey: 'mine' })
    await expect(sent).rejects.toMatchObject({ status: 400, idempotencyKey: 'mine' })
    const cut: unknown[] = []
    const url = await served(request => {
      cut.push(request.headers['idempotency-key'])
      request.socket.destroy()
    })
    const client = createClient({ url, key: 'k', retries: 1 })
    const lost = await client.post('/v2/notifications/sms', { body }).catch(error => error)
    expect(lost).toBeInstanceOf(TypeError)
    expect(cut).toEqual([lost.idempotencyKey, lost.idempotencyKey])
    expect(lost.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a signal ends a send and its wait for the next try; the errors have the key of their send', async () => {
    const [never, later] = [new AbortController(), new AbortController()]
    const keys: unknown[] = []
    const silent = await served(request => {
      keys.push(request.headers['idempotency-key'])
      never.abort()
    })
    const lost = createClient({ url: silent, key: 'k' }).post('/v2/notifications/sms', { body, signal: never.signal })
    const again = createClient({ url: silent, key: 'k' }).post('/v2/notifications/sms', { body, signal: never.signal })
    const [one, other] = await Promise.all([lost, again].map(sent => sent.catch(error => error)))
    expect(one).toMatchObject({ name: 'AbortError', cause: never.signal.reason })
    expect(keys).toContain(one.idempotencyKey)
    expect(other.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
    expect(other.idempotencyKey).not.toBe(one.idempotencyKey)

    const busy: unknown[] = []
    const running = await served((request, response) => {
      busy.push(request.headers['idempotency-key'])
      response.writeHead(409, { 'retry-after': '59' }).end('{}', () => setImmediate(() => later.abort()))
    })
    const waited = await createClient({ url: running, key: 'k' })
      .post('/v2/notifications/sms', { body, signal: later.signal })
      .catch(error => error)
    expect(waited).toMatchObject({ name: 'AbortError', idempotencyKey: busy[0] })
    expect(busy).toHaveLength(1)
  })
})

describe('verifyWebhook', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const event = { id: 'e', type: 'notification.delivered', timestamp: 't', data: {} }
  function signed(body: string, at = new Date()): Headers {
    const stamp = String(Math.floor(at.getTime() / 1000))
    const signature = new Webhook(secret).sign('m', at, body)
    return new Headers({ 'webhook-id': 'm', 'webhook-timestamp': stamp, 'webhook-signature': `v1,AAAA ${signature}` })
  }

  test('returns the events of one, and of a batch', async () => {
    const [one, batch] = [JSON.stringify(event), JSON.stringify({ events: [event, event] })]
    expect(await verifyWebhook(secret, signed(one), one)).toEqual([event])
    expect(await verifyWebhook(secret, signed(batch), batch)).toEqual([event, event])
  })

  test('returns null for another body, another secret, an old request, and no signature', async () => {
    const body = JSON.stringify(event)
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect(await verifyWebhook(secret, signed(body), `${body} `)).toBe(null)
    expect(await verifyWebhook(other, signed(body), body)).toBe(null)
    expect(await verifyWebhook(secret, signed(body, new Date(Date.now() - 301_000)), body)).toBe(null)
    expect(await verifyWebhook(secret, new Headers(), body)).toBe(null)
  })
})

describe('compiled against the declarations of the package', () => {
  /** What a compiler says about a program that imports `herald/client`. */
  function compiled(compiler: string, program: string): string {
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    rmSync(join(folder, 'node_modules/herald'), { force: true })
    symlinkSync(resolve('.'), join(folder, 'node_modules/herald'))
    const options = {
      strict: true,
      target: 'es2023',
      lib: ['es2023', 'dom'],
      module: 'nodenext',
      types: [],
      noEmit: true,
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
    writeFileSync(
      join(folder, 'program.ts'),
      `import { createClient } from 'herald/client'\nconst herald = createClient({ url: 'x', key: 'y' })\n${program}`,
    )
    const bin = resolve('node_modules', compiler, 'bin/tsc')
    return spawnSync(process.execPath, [bin, '-p', '.'], { cwd: folder, encoding: 'utf8' }).stdout
  }
  const path = `'/v2/notifications/email'`
  const body = `template_id: 't', email_address: 'ada@example.org'`

  test.each(['typescript', 'typescript-5'])('%s: what is right compiles', compiler => {
    const program = `
const sent = await herald.post(${path}, { body: { ${body}, personalisation: { name: 'Ada' } } })
export const id: string = sent.id
export const names: string[] = (await herald.get('/v2/templates')).templates.map(one => one.name)
export const csv: string = await (await herald.get('/herald/v1/reports/jobs')).text()
for await (const message of herald.messages({ status: ['failed'] })) console.log(message.status === 'sent')`
    expect(compiled(compiler, program)).toBe('')
  })

  test('what is wrong does not', () => {
    const wrong = [
      `herald.post(${path}, { body: { email_address: 'a' } })`, // a field is missing
      `herald.post(${path})`, // no body
      `herald.get('/v2/templates').then(answer => answer.nothing)`, // no answer has it
      `herald.get('/v2/nothing')`, // an unknown path
      `herald.get('/v2/template/{id}')`, // a path without its id
      `herald.patch('/v2/templates', {})`, // a method that the path has not
      `herald.messages({ status: ['lost'] })`, // an unknown status
    ]
    const said = compiled('typescript', wrong.join('\n'))
    const lines = [...said.matchAll(/^program\.ts\((\d+),/gm)].map(([, line]) => Number(line) - 3)
    expect([...new Set(lines)]).toEqual(wrong.map((_, at) => at))
    expect(said).toContain("'template_id' is missing")
  })
})

/** Sends a request to Herald as it came, and returns the whole answer. */
async function passedOn(address: string, request: IncomingMessage) {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const answer = await fetch(address + String(request.url), {
    method: 'POST',
    headers: request.headers as Record<string, string>,
    body: Buffer.concat(pieces),
  })
  const named = ['content-type', 'retry-after'].flatMap(name => {
    const value = answer.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return { status: answer.status, headers: Object.fromEntries(named), text: await answer.text() }
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise(resume => server.once('listening', resume))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
