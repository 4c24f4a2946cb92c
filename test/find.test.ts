// Recipients are found by a keyed digest (herald message find).
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, inject, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { floorOf, type Id } from '../src/core/id.ts'
import { createSeal } from '../src/core/seal.ts'
import { connect } from '../src/db/connect.ts'
import { migrate, migrations } from '../src/db/migrate.ts'
import { recipientDigest } from '../src/notifications/notification.ts'
import { buildIndexes, makePartitions } from '../src/notifications/partitions.ts'
import { toRecipient } from '../src/notifications/sql/find.ts'
import { runSteps } from '../src/runtime/steps.ts'
import { messagesTo } from '../src/timeline/find.ts'
import { databaseUrl, onServer, poolOptions } from './support/database.ts'
import { CATEGORY, type Caller, type World, world } from './support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
type Json = any

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Caller & { id: Id }
let email: string
let text: string

beforeAll(async () => {
  here = await world({}, { engine: true })
  service = await here.service({ name: 'Parking permits' })
  key = await service.key()
  email = await template(key, 'email', 'Receipt')
  text = await template(key, 'sms', 'Reminder')
})

async function template(caller: Caller, type: 'email' | 'sms', name: string): Promise<string> {
  const body = {
    name,
    template_type: type,
    content: 'Hello',
    template_category_id: CATEGORY.general,
    ...(type === 'email' && { subject: 'Hi' }),
  }
  const made = await caller.post('/v2/manage-template', body)
  expect(made.status).toBe(201)
  return made.body.id
}

async function send(to: string, more: object = {}, caller: Caller = key): Promise<Id> {
  const isEmail = to.includes('@')
  const answer = await caller.post(`/v2/notifications/${isEmail ? 'email' : 'sms'}`, {
    template_id: isEmail ? email : text,
    ...(isEmail ? { email_address: to } : { phone_number: to }),
    ...more,
  })
  expect(answer.body.errors).toBeUndefined()
  return answer.body.id
}

async function herald(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const streams = {
    out(words: string) {
      said.out += words
    },
    err(words: string) {
      said.err += words
    },
  }
  return { code: Number(await run(argv, streams, () => here.config)), ...said }
}

async function found(...argv: string[]): Promise<Json[]> {
  const { code, out, err } = await herald('message', 'find', ...argv, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out).messages
}
const ids = async (...argv: string[]) => (await found(...argv)).map(one => one.id)

test('messages of a recipient are found in any spelling, newest first', async () => {
  const [first, second] = [await send('Ada@Example.org'), await send('ada@example.org')]
  await send('ada.other@example.org')
  expect(await ids('--to', ' ADA@example.ORG')).toEqual([second, first])
  const [one] = await found('--to', 'ada@example.org', '--limit', '1')
  expect(one).toMatchObject({ id: second, service_id: service.id, channel: 'email', template_name: 'Receipt' })
  expect(JSON.stringify(one)).not.toMatch(/ada@|ada%40/i)

  const call = await send('(613) 555-0123')
  expect(await ids('--to', '+1 613 555 0123')).toEqual([call])
  expect(await ids('--to', '6135550123', '--service', 'Parking permits')).toEqual([call])
  expect(await found('--to', 'nobody@example.org')).toEqual([])
})

test('rows of a bulk job are found', async () => {
  const answer = await key.post('/v2/notifications/bulk', {
    name: 'a job',
    template_id: email,
    rows: [['email address'], ['Row.One@example.org'], ['row.two@example.org']],
  })
  expect(answer.status).toBe(201)
  await expect.poll(() => ids('--to', 'row.one@example.org'), { timeout: 10_000 }).toHaveLength(1)
  expect(await ids('--to', 'row.two@example.org')).toHaveLength(1)
})

test('messages are found by their reference, and with --service only in that service', async () => {
  const other = await here.service({ name: 'Library' })
  const otherKey = await other.key({ type: 'test' })
  const theirs = await send(
    'eve@example.org',
    { reference: 'order 7', template_id: await template(otherKey, 'email', 'T') },
    otherKey,
  )
  const ours = await send('eve@example.org', { reference: 'order 7' })
  expect(await ids('--reference', 'order 7')).toEqual([ours, theirs])
  expect(await ids('--reference', 'order 7', '--service', 'Library')).toEqual([theirs])
  expect(await ids('--to', 'eve@example.org')).toEqual([ours, theirs])
  expect(await ids('--to', 'eve@example.org', '--service', 'Library')).toEqual([theirs])
  expect(await ids('--reference', 'order')).toEqual([])
})

test('the list fits a terminal, and mistakes are explained', async () => {
  const { out } = await herald('message', 'find', '--to', 'ada@example.org')
  expect(out).toMatch(/^ID +WHEN \(UTC\) +TYPE +STATUS +TEMPLATE\n/)
  expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
  expect((await herald('message', 'find', '--to', 'nobody@example.org')).out).toBe('There is no such message.\n')
  expect((await herald('message', 'find')).err).toContain('Give either --to or --reference.')
  expect((await herald('message', 'find', '--to', 'a@b.ca', '--reference', 'x')).code).toBe(2)
  expect((await herald('message', 'find', '--to', 'a@b.ca', '--limit', '0')).err).toContain(
    '--limit must be from 1 to 1000.',
  )
  expect((await herald('message', 'find', '--to', 'no recipient')).err).toContain(
    '"no recipient" is neither an e-mail address nor a phone number.',
  )
})

test('after the sealing secret was changed, recipients are found by the earlier one', async () => {
  const sent = await send('before@example.org')
  const { parts } = here
  const app = { db: parts.db, config: parts.config }
  const changed = { ...app, seal: createSeal(['a new secret', ...parts.secrets]) }
  expect((await messagesTo(changed, [service], 'before@example.org', 10)).map(one => one.id)).toEqual([sent])
  const stranger = { ...app, seal: createSeal(['a new secret']) }
  expect(await messagesTo(stranger, [service], 'before@example.org', 10)).toEqual([])
})

test('a digest is different in every service, and without the secret it says nothing', async () => {
  const { seal, db } = here.parts
  const of = (id: Id, with_ = seal) => recipientDigest(with_, id, 'email', 'ada@example.org').toString('hex')
  expect(of(service.id)).toHaveLength(14)
  const known = [of(randomUUID() as Id), of(service.id, createSeal(['guess']))]
  expect(known).not.toContain(of(service.id))
  const stored = await db.sql<{ digest: Buffer }>`select recipient_digest as digest from notifications`
  expect(stored.length).toBeGreaterThan(0)
  expect(stored.every(row => row.digest.length === 7)).toBe(true)
})

test('an installation with messages gets the index without reading them, and new partitions have it', async () => {
  const server = inject('server')
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${name}`)
  const db = connect({ url: databaseUrl(server, name) }, poolOptions)
  try {
    const old = migrations().filter(one => one.name < '0016')
    await migrate(db, old)
    await makePartitions(db, here.parts.clock)
    const id = floorOf(here.parts.clock.micros())
    await db.sql`
      insert into notifications (id, service_id, key_type, channel, in_job, template_id, template_version, lane, is_international, sealed)
      values (${id}, ${service.id}, 'normal', 'email', false, ${id}, 1, 'email-medium', false, 'x')`
    await migrate(db)
    const later = { micros: () => here.parts.clock.micros() + 5 * 86_400_000_000 }
    const made = await makePartitions(db, later)
    const indexed = await db.sql<{ name: string }>`
      select tablename as name from pg_indexes where indexdef ~ 'recipient_digest' and tablename ~ '^notifications'`
    const tables = indexed.map(row => row.name)
    const fresh = made.filter(table => table.startsWith('notifications_'))
    expect(fresh.length).toBeGreaterThan(0)
    expect(tables.filter(table => table !== 'notifications').sort()).toEqual(fresh.sort())
    // The message has no digest, and is not found; a message of this version is, in a partition with or without an index.
    const digest = Buffer.from('abcdefg')
    const wanted = [{ service_id: service.id, channel: 'email' as const, digest }]
    expect(await toRecipient(db.sql, wanted, 10)).toEqual([])
    await db.sql`update notifications set recipient_digest = ${digest} where id = ${id}`
    await db.sql`
      insert into states (id, service_id, key_type, channel, in_job, status)
      values (${id}, ${service.id}, 'normal', 'email', false, 'created')`
    expect(await toRecipient(db.sql, wanted, 10)).toMatchObject([{ id }])
    // Maintenance builds the rest.
    await runSteps(buildIndexes(db))
    const [whole] = await db.sql<{ valid: boolean }>`
      select indisvalid as valid from pg_index where indexrelid = 'notifications_by_recipient'::regclass`
    expect(whole).toEqual({ valid: true })
    expect(await toRecipient(db.sql, wanted, 10)).toMatchObject([{ id }])
  } finally {
    await db.stop()
    await onServer(server, `drop database if exists ${name} with (force)`)
  }
})
