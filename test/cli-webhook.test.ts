// herald webhook: the operator manages endpoints of any service.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { logGroup, readable } from './support/events.ts'
import { type Got, type HttpPeer, startHttpPeer } from './support/http-peer.ts'
import { type World, world } from './support/world.ts'

let here: World
let peer: HttpPeer
let service: Awaited<ReturnType<World['service']>>
const folder = mkdtempSync(join(tmpdir(), 'herald-cli-webhook-'))

beforeAll(async () => {
  here = await world({
    HERALD_WEBHOOK_ALLOW: '127.0.0.1',
    HERALD_WEBHOOK_SCHEMES: 'https,http',
    HERALD_WEBHOOK_PORTS: '443,1024-65535',
  })
  peer = await startHttpPeer(() => ({ status: 200, body: 'taken' }))
  service = await here.service()
})
afterAll(async () => {
  await peer.stop()
  rmSync(folder, { recursive: true })
})

async function herald(...argv: string[]) {
  let [out, err] = ['', '']
  const streams = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
  }
  const code = await run(['webhook', ...argv], streams, () => here.config)
  return { code, out, err }
}

async function said(...argv: string[]): Promise<string> {
  const { code, out, err } = await herald(...argv)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

const json = async (...argv: string[]) => JSON.parse(await said(...argv, '--json'))

/** What is written to stderr, with the exit code. */
async function failed(...argv: string[]) {
  const { code, err } = await herald(...argv)
  return `${code} ${err}`
}

const received = (): Pick<Got, 'headers' | 'body'> => peer.requests.at(-1) ?? { headers: {}, body: '' }

test('add, list, show, set, pause, resume, remove', async () => {
  const shown = await said('add', service.name, 'https://permits.example.org/events', '--batch', '100')
  const secret = /whsec_\S+/.exec(shown)?.[0] ?? ''
  const id = /^id +(\S+)$/m.exec(shown)?.[1] ?? ''
  expect(shown).toMatch(/^Added a webhook to "Test service .*"\. Its secret cannot be shown again:\n/)
  expect(shown).toMatch(/^key type +live\ntypes +all\n/m)
  expect(shown).toContain(`Test it: herald webhook test ${id}\n`)

  const made = await json(
    'add',
    service.id,
    'https://permits.example.org/',
    '--types',
    'job.finished',
    '--key-type',
    'test',
  )
  expect(made).toMatchObject({ types: ['job.finished'], key_type: 'test', service_id: service.id, state: 'active' })
  expect(made.secret).toMatch(/^whsec_/)
  expect(await here.parts.db.sql`select key_type from webhooks where id = ${made.id}`).toEqual([{ key_type: 'test' }])

  const lists = [await said('list', service.id), await said('list', service.id, '--json'), await said('show', id)]
  for (const list of lists) {
    expect(list).toContain(id)
    for (const text of [secret, made.secret]) expect(list).not.toContain(text)
  }
  expect((await json('list', service.id)).webhooks).toHaveLength(2)

  const changed = await json(
    'set',
    id,
    '--types',
    'notification.delivered, notification.sent',
    '--recipient',
    'include',
  )
  expect(changed).toMatchObject({
    types: ['notification.sent', 'notification.delivered'],
    include_recipient: true,
    batch: 100,
  })
  expect(await json('set', id, '--all-types', '--batch', '5', '--url', 'https://example.org/')).toMatchObject({
    types: null,
    batch: 5,
    url: 'https://example.org/',
  })
  expect(await said('pause', id)).toBe(`The webhook is paused. To resume: herald webhook resume ${id}\n`)
  expect(await said('show', id)).toMatch(/^state +paused$/m)
  expect(await said('resume', id)).toMatch(/^The webhook is active\. Events to send: 0\. /)
  expect(await said('remove', id)).toBe(`The webhook ${id} is removed.\n`)
  expect(await failed('show', id)).toMatch(/^1 There is no webhook "/)
  await said('remove', made.id)
  expect(await said('list', service.id)).toMatch(/has no webhook yet\. Add one: herald webhook add /)
})

test('the token of a callback comes from a file, not from the arguments', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, 'a-token-of-the-receiver\n')
  const { id, secret } = await json('add', service.id, peer.url, '--format', 'callback', '--token-file', file)
  expect(secret).toBe(null)
  expect(await said('test', id)).toMatch(/^It answered 200, after \d+ ms\.\ntaken\n$/)
  expect(received().headers.authorization).toBe('Bearer a-token-of-the-receiver')
  expect(await said('show', id)).not.toContain('a-token')
  expect(await failed('add', service.id, peer.url, '--format', 'callback')).toBe(
    '1 token is a required property for the format callback\n',
  )
  expect(await failed('add', service.id, peer.url, '--token-file', join(folder, 'none'))).toMatch(
    /^2 The file .* does not exist\./,
  )
  expect(await failed('add', service.id, peer.url, '--token', 'secret-word')).toMatch(/^2 .*--token/)
  await said('remove', id)
})

test('test and rotate-secret: the answer, and the exit code', async () => {
  const { id, secret: first } = await json('add', service.id, peer.url)
  const verify = (secret: string) =>
    new Webhook(secret).verify(received().body, received().headers as Record<string, string>)
  expect(await json('test', id)).toMatchObject({ success: true, status_code: 200, error: null, answer: 'taken' })
  expect(verify(first)).toMatchObject({ type: 'webhook.test' })

  const shown = await said('rotate-secret', id)
  expect(shown).toMatch(/signature of the previous secret too, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n$/)
  const second = /whsec_\S+/.exec(shown)?.[0] ?? ''
  await said('test', id)
  for (const secret of [first, second]) expect(verify(secret)).toMatchObject({ type: 'webhook.test' })
  const { secret: third } = await json('rotate-secret', id, '--overlap-hours', '0')
  await said('test', id)
  expect(verify(third)).toMatchObject({ type: 'webhook.test' })
  expect(() => verify(second)).toThrow()

  peer.answer(() => ({ status: 500, body: 'out of order' }))
  const { code, out } = await herald('test', id)
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^It answered 500, after \d+ ms\.\nout of order\nThe answer must be /),
  ])
  peer.answer(() => ({ status: 200, body: 'taken' }))
  await said('remove', id)
})

test('replay and attempts', async () => {
  const { id } = await json('add', service.id, peer.url)
  const { sql } = here.parts.db
  await logGroup(sql, { service_id: service.id, key_type: 'normal' }, [here.parts.ids.next()])
  await readable(sql)
  const [event] = await sql<{ id: string }>`select id from events where service_id = ${service.id}`
  expect(await said('replay', id, '--from', '2026-01-15T08:00Z', '--to', '2026-01-15T09:00Z')).toMatch(
    /^Events from 2026-01-15 08:00 UTC to 2026-01-15 09:00 UTC will be sent again\. /,
  )
  expect(await json('replay', id, '--event', event?.id ?? '')).toMatchObject({ events: 1 })
  expect(await json('replay', id, '--failed')).toMatchObject({ events: 1 })
  expect(await failed('replay', id)).toMatch(/^2 Give --from, --event or --failed\.\nUsage: /)
  expect(await failed('replay', id, '--from', 'noon')).toMatch(/^1 from must be a time like /)

  expect(await said('attempts', id)).toBe('Nothing was sent in the last 7 days.\n')
  for (const [status, error] of [
    [200, null],
    [503, null],
    [null, 'connection refused'],
  ])
    await sql`
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error, answer)
      values (${here.parts.ids.next()}, ${id}, now(), ${[event?.id]}, 1, '{12}', ${status}, ${error},
              ${status && here.parts.seal.seal('webhook answer', 'An answer')})`
  expect(await said('attempts', id)).toMatch(
    / connection refused +12 +1\n.* 503 +12 +1 +An answer\n.* 200 +12 +1 +An answer\n$/,
  )
  expect((await json('attempts', id, '--failed')).attempts).toHaveLength(2)
  expect((await json('attempts', id, '--most', '1')).attempts).toHaveLength(1)
  await said('remove', id)
})

test('values that are refused', async () => {
  const add = (...more: string[]) => failed('add', service.id, ...more)
  expect(await add('https://example.org/', '--types', 'job.lost')).toMatch(
    /^2 There is no type of event "job\.lost"\. Types: /,
  )
  expect(await add('https://example.org/', '--batch', '0')).toBe('1 batch must be a number from 1 to 100\n')
  expect(await add('https://example.org/', '--batch', 'many')).toMatch(/^2 --batch takes a whole number/)
  expect(await add('ftp://example.org/')).toMatch(/^1 url must begin with /)
  expect(await failed('show', 'abc')).toMatch(/^1 There is no webhook "abc"\. Give its id/)
  expect(await failed('show', here.parts.ids.next())).toMatch(/^1 There is no webhook /)
  const { id } = await json('add', service.id, 'https://example.org/')
  expect(await failed('set', id)).toMatch(/^2 Give at least one option to change\./)
  expect(await failed('set', id, '--all-types', '--types', 'job.finished')).toMatch(/^2 Give --types or --all-types/)
  expect(await failed('rotate-secret', id, '--overlap-hours', '169')).toBe(
    '1 overlap_hours must be a number from 0 to 168\n',
  )
})

test('what the operator does is in the audit table', async () => {
  const { id } = await json('add', service.id, 'https://example.org/')
  await said('pause', id)
  await said('resume', id)
  await said('rotate-secret', id)
  await said('remove', id)
  const rows = await here.parts.db.sql<{ action: string }>`
    select action from audit where subject_id = ${id} and actor_kind = 'operator' order by id`
  expect(rows.map(row => row.action)).toEqual([
    'webhook created',
    'webhook changed',
    'webhook resumed',
    'webhook secret rotated',
    'webhook removed',
  ])
})
