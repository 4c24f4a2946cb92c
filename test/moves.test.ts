// herald export and import: a whole installation moves in, from a file and from a database of the reference implementation.
import { createHmac, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import type { Id } from '../src/core/id.ts'
import { connect } from '../src/db/connect.ts'
import { verified } from '../src/moves/signed.ts'
import { databaseUrl, onServer, poolOptions } from './support/database.ts'
import { hooks, startSending } from './support/hooks.ts'
import { startReceiver } from './support/receiver.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { call, callerWith, type World, world } from './support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'herald-move-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function herald(at: World, ...argv: string[]) {
  let [out, err] = ['', '']
  const streams = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
  }
  const code = await run(argv, streams, () => at.config)
  return { code, out, err }
}
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
async function report(at: World, ...argv: string[]): Promise<any> {
  const { code, out, err } = await herald(at, 'import', ...argv, '--json')
  expect(err).toBe('')
  return { code, ...JSON.parse(out) }
}
const fileOf = (content: unknown) => {
  const file = join(folder, randomUUID())
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
async function exported(at: World) {
  const name = join(folder, randomUUID())
  const { code, err } = await herald(at, 'export', '--out', name, '--secrets-file', `${name}.secrets`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return { file: name, secrets: `${name}.secrets` }
}
const TOKEN = 'the-token-of-a-receiver'
const text = (file: string) => readFileSync(file, 'utf8')

let old: World
let next: World
beforeAll(async () => {
  old = await world({ HERALD_SECRET: 'a'.repeat(40) })
  next = await world({
    HERALD_SECRET: 'b'.repeat(40),
    HERALD_KEY_PREFIX: 'herald,gcntfy',
    HERALD_SIMULATED_RECIPIENTS: 'family',
    HERALD_WEBHOOK_ALLOW: '127.0.0.1',
    HERALD_WEBHOOK_PORTS: '443,1024-65535',
    HERALD_WEBHOOK_SCHEMES: 'https,http',
  })
})

describe('export, import, export', () => {
  let service: Awaited<ReturnType<World['service']>>
  let key: Awaited<ReturnType<typeof service.key>>
  let template: string
  let first: { file: string; secrets: string }

  beforeAll(async () => {
    service = await old.service({ email_daily_limit: 1234, home_country: 'FR' })
    await service.addReplyTo('permits@example.org', true)
    await service.addSender('PERMITS', true)
    await service.addToSafelist('ada@example.org')
    await service.addFolder('Letters')
    key = await service.key()
    template = await emailTemplate(key)
    expect((await key.patch(`/v2/manage-template/${template}`, { content: 'Bonjour « ((name)) »' })).status).toBe(200)
    const manager = await service.key({ name: 'webhooks', manageWebhooks: true })
    const add = async (body: object) => {
      const made = await manager.post('/herald/v1/webhooks', body)
      expect(made.status).toBe(201)
      return made.body.id as string
    }
    await add({
      url: 'https://permits.example.org/events?of=all',
      types: ['job.finished', 'notification.sent'],
      batch: 9,
    })
    await add({ url: 'https://permits.example.org/status', format: 'callback', token: TOKEN })
    const paused = await add({ url: 'https://permits.example.org/later', include_recipient: true })
    expect((await manager.patch(`/herald/v1/webhooks/${paused}`, { state: 'paused' })).status).toBe(200)
    const revoked = await service.key({ name: 'an old one', type: 'team' })
    await old.parts.db.sql`update keys set revoked_at = now() where id = ${revoked.id}`
    const other = await old.service({ name: 'Another one', mode: 'trial' })
    await old.parts.db.sql`
      insert into template_categories (id, position, name, lane, hidden)
      values (${randomUUID()}, 20, 'Of this installation', 'high', true)`
    await other.key({ type: 'test' })
    first = await exported(old)
  })

  test('a dry run reports everything and stores nothing', async () => {
    const dry = await report(next, first.file, '--secrets-file', first.secrets, '--dry-run')
    expect(dry).toMatchObject({ code: 0, dry_run: true, categories: 1 })
    expect(dry.services.map((one: { outcome: string }) => one.outcome)).toEqual(['added', 'added'])
    for (const table of ['services', 'keys', 'templates', 'folders'])
      expect(await next.parts.db.sql(rowsIn(table)), table).toEqual([])
    expect(await next.parts.db.sql`select from template_categories where name = 'Of this installation'`).toEqual([])
  })

  test('is the same bytes, with and without secrets', async () => {
    const done = await report(next, first.file, '--secrets-file', first.secrets)
    expect(done.services).toMatchObject([
      {
        name: service.name,
        outcome: 'added',
        notes: [],
        added: { templates: 1, versions: 2, keys: 3, secrets: 3, webhooks: 3 },
      },
      { name: 'Another one', outcome: 'added', notes: [] },
    ])
    const second = await exported(next)
    expect(text(second.file)).toBe(text(first.file))
    expect(text(second.secrets)).toBe(text(first.secrets))

    const without = await world({ HERALD_SECRET: 'c'.repeat(40) })
    const lacking = await report(without, first.file)
    expect(lacking.services[0].notes).toEqual([
      expect.stringContaining(`The key "a key" (${key.id}) has no secret here`),
      expect.stringContaining('The key "webhooks"'),
      ...Array.from({ length: 3 }, () =>
        expect.stringMatching(/^The webhook \S+ to permits\.example\.org was not taken over: give its secret/),
      ),
    ])
    const third = await exported(without)
    const rest = JSON.parse(text(first.file))
    rest.services[0].webhooks = []
    expect(JSON.parse(text(third.file))).toEqual(rest)
    expect(text(third.secrets)).toBe('{}\n')
    // The secrets can come later.
    const later = await report(without, first.file, '--secrets-file', first.secrets)
    expect(later.services[0]).toMatchObject({
      outcome: 'completed',
      notes: [],
      added: { keys: 0, secrets: 3, webhooks: 3 },
    })
    const fourth = await exported(without)
    expect(text(fourth.file)).toBe(text(first.file))
    expect(text(fourth.secrets)).toBe(text(first.secrets))
    expect((await callerWith(without.address, key.key).get('/v2/templates')).status).toBe(200)
  })

  test('secrets are only in the file for them, and both are readable by their owner only', () => {
    expect(text(first.file)).not.toContain(key.key.slice(-36))
    expect(text(first.secrets)).toContain(key.key.slice(-36))
    expect(text(first.file)).not.toMatch(/whsec_|the-token/)
    expect([...text(first.secrets).matchAll(/"(whsec_\S{44}|the-token-of-a-receiver)"/g)]).toHaveLength(3)
    for (const file of Object.values(first)) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('callers change the address only: key, token, template and its version', async () => {
    const body = { email_address: 'ada@example.org', template_id: template, personalisation: { name: 'Ada' } }
    const sent = await callerWith(next.address, key.key).post(EMAIL, body)
    expect([sent.status, sent.body.content?.body, sent.body.template?.version]).toEqual([201, 'Bonjour « Ada »', 2])
    const headers = { authorization: `Bearer ${token(key.key.slice(-36), service.id)}` }
    expect((await call(next.address, 'POST', EMAIL, { body, headers })).status).toBe(201)
    const older = await callerWith(next.address, key.key).get(`/v2/template/${template}/version/1`)
    expect(older.status).toBe(200)
  })

  test('a second import adds nothing; one of a later export adds what is new', async () => {
    const again = await report(next, first.file, '--secrets-file', first.secrets)
    expect(again.services).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'unchanged' }])
    expect((await key.patch(`/v2/manage-template/${template}`, { content: 'Third' })).status).toBe(200)
    await service.addToSafelist('ben@example.org')
    const new_one = await service.key({ name: 'a new one' })
    const later = await exported(old)
    const done = await report(next, later.file, '--secrets-file', later.secrets)
    expect(done.services[0]).toMatchObject({
      outcome: 'completed',
      notes: [],
      added: { versions: 1, keys: 1, safelist: 1 },
    })
    expect(text((await exported(next)).file)).toBe(text(later.file))
    const now = await callerWith(next.address, new_one.key).get(`/v2/template/${template}`)
    expect(now.body).toMatchObject({ version: 3, body: 'Third' })
    // A key that was revoked there is revoked here.
    await old.parts.db.sql`update keys set revoked_at = now() where id = ${new_one.id}`
    await report(next, (await exported(old)).file)
    expect((await callerWith(next.address, new_one.key).get('/v2/templates')).body.errors[0].message).toContain(
      'revoked',
    )
  })

  test('what was changed here stays, and is reported', async () => {
    await next.parts.db.sql`update services set email_daily_limit = 7 where id = ${service.id}`
    const later = await exported(old)
    await next.parts.db.sql`update webhooks set batch = 7 where service_id = ${service.id} and format = 'standard'`
    const secrets = fileOf(text(later.secrets).replace(TOKEN, 'another-token-of-a-receiver'))
    const done = await report(next, later.file, '--secrets-file', secrets)
    expect(done.services[0]).toMatchObject({
      outcome: 'unchanged',
      notes: [
        'The service exists here, and keeps its own email_daily_limit.',
        expect.stringMatching(/^The webhook \S+ to permits\.example\.org differs here \(batch\)/),
        expect.stringMatching(/^The webhook \S+ to permits\.example\.org differs here \(secret\)/),
        expect.stringMatching(/^The webhook \S+ to permits\.example\.org differs here \(batch\)/),
      ],
    })
    expect(JSON.stringify(done)).not.toMatch(/whsec_|token-of/)
  })

  test('a service that cannot be stored is refused as a whole, the others are stored', async () => {
    const crowded = await world()
    await crowded.service({ name: service.name })
    const done = await report(crowded, first.file)
    expect([done.code, ...done.services.map((one: { outcome: string }) => one.outcome)]).toEqual([
      1,
      'refused',
      'added',
    ])
    expect(done.services[0].notes[0]).toContain('There is already a service named')
    expect(await crowded.parts.db.sql`select from templates where id = ${template}`).toEqual([])
  })
})

test('the sample service of a first start is skipped where there is one: nothing is refused', async () => {
  const [from, to] = [await world(), await world()]
  await from.service({ name: 'Sample service' })
  await from.service({ name: 'Parking permits' })
  await to.service({ name: 'Sample service' })
  const done = await report(to, (await exported(from)).file)
  expect([done.code, ...done.services.map((one: { outcome: string }) => one.outcome).sort()]).toEqual([
    0,
    'added',
    'skipped',
  ])
  expect(done.services.find((one: { outcome: string }) => one.outcome === 'skipped').notes).toHaveLength(1)
})

describe('a file that somebody wrote', () => {
  const id = randomUUID()
  const small = (services: object[]) => ({ is: 'herald-installation', format: 1, services })

  test('needs ids and names only; a whole key with a foreign first word is its secret', async () => {
    const secret = randomUUID()
    const whole = `gcntfy-My.Key-2-${id}-${secret}`
    const version = {
      version: 4,
      name: 'Hi',
      content: 'Hello',
      subject: 'Hi',
      category_id: '7c16aa95-e2e1-4497-81d6-04c656520fe4',
    }
    const keys = [{ id: randomUUID(), name: 'My.Key-2', type: 'normal', secret: whole }]
    const templates = [{ id: randomUUID(), type: 'email', versions: [version] }]
    const move = small([
      { id, name: 'Small', mode: 'live', safelist: [{ recipient: '613-555-0100' }], keys, templates },
    ])
    expect((await report(next, fileOf(move))).services[0]).toMatchObject({ outcome: 'added', notes: [] })
    expect((await report(next, fileOf(move))).services[0]).toMatchObject({ outcome: 'unchanged', notes: [] })
    const body = { email_address: 'ada@example.org', template_id: templates[0]?.id }
    expect((await callerWith(next.address, whole).post(EMAIL, body)).status).toBe(201)
    // Smoke tests of the family go on; their messages are not stored.
    const smoke = { ...body, email_address: 'simulate-delivered-2@notification.canada.ca' }
    const sent = await callerWith(next.address, whole).post(EMAIL, smoke)
    expect(sent.status).toBe(201)
    expect((await callerWith(next.address, whole).get(`/v2/notifications/${sent.body.id}`)).status).toBe(404)
    // Where the word is not accepted, the import says so.
    const noted = await report(old, fileOf(move), '--dry-run')
    expect(noted.services[0].notes).toEqual([expect.stringContaining('add it to HERALD_KEY_PREFIX')])
    expect((await callerWith(old.address, whole).get('/v2/templates')).status).toBe(403)
  })

  test('is refused with every problem and its place', async () => {
    const wrong: [unknown, RegExp][] = [
      ['{"is": ', /is not JSON/],
      [{ is: 'else' }, /is not an installation of format 1/],
      [small([{ id: 'x', name: 'A' }]), /\/services\/0\/id: must match pattern/],
      [small([{ id, nam: 'A' }]), /there is no field nam\n {2}.*name is missing|name is missing\n {2}.*no field nam/],
      [
        small([
          { id, name: 'A' },
          { id, name: 'B' },
        ]),
        /\/services\/1: the id .* is also that of \/services\/0/,
      ],
      [
        small([{ id, name: 'A', folders: [{ id: randomUUID(), name: 'F', parent_id: randomUUID() }] }]),
        /folders\/0: the folder .* is not in this service/,
      ],
    ]
    for (const [content, sentence] of wrong) {
      const { code, err } = await herald(next, 'import', fileOf(content))
      expect([code, err]).toEqual([1, expect.stringMatching(sentence)])
    }
    expect((await herald(next, 'import')).code).toBe(2)
  })
})

describe('a database of the reference implementation', () => {
  let url: string
  const database = `family_${randomUUID().replaceAll('-', '')}`
  const secret = fileOf('second-signing-secret, first-signing-secret\n')

  beforeAll(async () => {
    const server = inject('server')
    await onServer(server, `create database ${database}`)
    url = databaseUrl(server, database)
    const family = connect({ url }, poolOptions)
    await family.script(readFileSync('test/fixtures/family-schema.sql', 'utf8'))
    await family.stop()
  })
  afterAll(() => onServer(inject('server'), `drop database if exists ${database} with (force)`))

  test('a signature is checked as the reference makes it', () => {
    const signing = { secrets: ['x', 'first-signing-secret'], salt: 'api_key' }
    const made = 'IjBmNmMzZjJhLThkNTUtNGQwZS05ZjBjLTNhM2YxZjBiN2ExMSI.PpnQPjrFTjJ7vxPBFwzSAze9xdY'
    expect(verified(made, 'key', signing)).toBe('0f6c3f2a-8d55-4d0e-9f0c-3a3f1f0b7a11')
    expect(verified(made, 'key', { ...signing, secrets: ['x'] })).toBe(null)
    expect(verified(made, 'key', { ...signing, salt: 'other' })).toBe(null)
    expect(verified(`J${made.slice(1)}`, 'key', signing)).toBe(null)
    // A long text is deflated; another kind of value is none; and so is a text without a signature.
    expect(verified('.eJxTShwmQAkAKU5MDQ.i8P7bBghg86ssMmqg9r5lzQlPvg', 'key', signing)).toBe('a'.repeat(200))
    expect(verified('eyJ4IjoxfQ.K6UxAEyIZPkZ7dxBdFWrLKN3nPw', 'key', signing)).toBe(null)
    for (const text of ['', '.', 'abc']) expect(verified(text, 'key', signing)).toBe(null)
  })

  test('is imported with its ids, versions and keys, and only read', async () => {
    const dry = await report(next, '--from-database', url, '--dry-run')
    expect(dry.notes).toContainEqual(expect.stringContaining('The secrets of keys were not taken over'))
    expect(dry.services[0].notes).toContainEqual(
      expect.stringMatching(
        /^The callback \(delivery_status\) to permits.* because --signing-secret-file was not given/,
      ),
    )
    const done = await report(next, '--from-database', url, '--signing-secret-file', secret)
    expect(done.services.map((one: { outcome: string }) => one.outcome)).toEqual(['added', 'added', 'added'])
    expect(done.services[0].added).toMatchObject({
      templates: 2,
      versions: 4,
      folders: 2,
      keys: 3,
      secrets: 2,
      members: 2,
      // For the keys of type normal and test; the one of type team is revoked.
      webhooks: 2,
    })
    const here = await exported(next)
    const [permits, library, pools] = JSON.parse(text(here.file)).services.filter((one: { id: string }) =>
      one.id.startsWith('b0000000'),
    )
    expect([permits, library, pools].map(one => [one.state, one.mode])).toEqual([
      ['active', 'live'],
      ['suspended', 'trial'],
      ['archived', 'trial'],
    ])
    expect(permits).toMatchObject({
      name: 'Parking permits',
      mailbox: 'parking.permits',
      ...{ may_send_files: true, may_send_international: false, sms_prefix: true },
      ...{ email_daily_limit: 10000, sms_daily_limit: 500, rate_limit: 900, email_retention_days: 30 },
      created_at: '2024-02-01T09:30:00.123456Z',
      team: [
        { email_address: 'ada@example.org', phone_number: '+16135550101', role: 'manager' },
        { email_address: 'ben@example.org', phone_number: null, role: 'sender' },
      ],
      reply_to_addresses: [{ is_default: true }, { is_default: false }],
      text_senders: [{ id: 'c0000000-0000-4000-8000-000000000003', sender: '+16135550199', is_default: true }],
      safelist: [{ recipient: 'zoe@example.org' }, { recipient: '+16135550123' }],
    })
    const common = { format: 'callback', include_recipient: true, batch: 1, created_at: '2024-02-08T00:00:00.000000Z' }
    const place = 'https://permits.example.org/notify/status'
    expect(permits.webhooks).toMatchObject([
      { key_type: 'test', state: 'active', url: place, ...common },
      { id: '80000000-0000-4000-8000-000000000001', key_type: 'normal', state: 'active', url: place, ...common },
    ])
    expect(library.webhooks).toMatchObject([{ id: '80000000-0000-4000-8000-000000000005', state: 'paused' }])
    const secrets = JSON.parse(text(here.secrets))
    for (const { id } of [...permits.webhooks, ...library.webhooks])
      expect(secrets[id]).toBe('the-token-of-permits-0001')
    expect(permits.templates).toMatchObject([
      {
        id: 'f0000000-0000-4000-8000-000000000001',
        version: 3,
        folder_id: 'e0000000-0000-4000-8000-000000000001',
        versions: [
          {
            version: 1,
            content: 'First, ((name))',
            created_by: 'ada@example.org',
            category_id: 'f75d6706-21b7-437e-b93a-2c0ab771e28e',
          },
          { version: 2, made_at: '2024-03-02T08:00:00.000000Z' },
          { version: 3, subject: 'Your permit', category_id: 'd0000000-0000-4000-8000-000000000001' },
        ],
      },
      { type: 'sms', versions: [{ subject: null, category_id: '0dda24c2-982a-4f44-9749-0e38b2607e89' }] },
    ])
  })

  test('its callers go on with their key', async () => {
    const key = 'gcntfy-Web.site-b0000000-0000-4000-8000-000000000001-0f6c3f2a-8d55-4d0e-9f0c-3a3f1f0b7a11'
    const body = { email_address: 'ada@example.org', template_id: 'f0000000-0000-4000-8000-000000000001' }
    const sent = await callerWith(next.address, key).post(EMAIL, { ...body, personalisation: { name: 'Ada' } })
    expect([sent.status, sent.body.content?.body]).toEqual([201, 'Third, Ada'])
    const revoked = 'gcntfy-old-b0000000-0000-4000-8000-000000000001-5b1d7c3e-2f4a-4c8b-8f77-6c2f9f1d2e33'
    expect((await callerWith(next.address, revoked).get('/v2/templates')).body.errors[0].message).toContain('revoked')
    const forged = 'gcntfy-forged-b0000000-0000-4000-8000-000000000001-0f6c3f2a-8d55-4d0e-9f0c-3a3f1f0b7a12'
    expect((await callerWith(next.address, forged).get('/v2/templates')).body.errors[0].message).toContain('not found')
  })

  test('a second import reports the same, and adds nothing', async () => {
    const again = await report(next, '--from-database', url, '--signing-secret-file', secret)
    expect(again.services.map((one: { outcome: string }) => one.outcome)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ])
    const said = again.services[0].notes.join('\n')
    for (const part of [
      'The callback (complaint) to permits.example.org was not taken over: there are only callbacks about the status',
      '"On paper" (f0000000-0000-4000-8000-000000000003) is a letter',
      '1 members of the team are not active there',
      'The member a0000000-0000-4000-8000-000000000002 was sender and author, and is sender here',
      'Entry 3 of the safelist is neither an address nor a number',
      'c0000000-0000-4000-8000-000000000002 is a second default one',
      'The secret of the key "Forged"',
      'The key "Forged" (90000000-0000-4000-8000-000000000003) has no secret here',
      '1 files that are attached to its templates',
      'Its e-mails came from permits.example.org',
    ])
      expect(said).toContain(part)
    expect(again.services[2].notes.join()).toContain('is no mailbox here')
    const ofLibrary = again.services[1].notes.join()
    expect(ofLibrary).toContain('The webhook 80000000-0000-4000-8000-000000000003 to 10.1.2.3 was not taken over: ')
    expect(ofLibrary).toContain(
      'library.example.org was not taken over, because its token was not signed with the secret',
    )
    expect(again.notes.join()).toMatch(
      /1 people were administrators.*category d0000000.* had the lanes low .* and high/,
    )
  })

  test('a callback that moved in is sent with its token', async () => {
    const receiver = await startReceiver()
    const family = connect({ url }, poolOptions)
    const [id, service] = [randomUUID(), 'b0000000-0000-4000-8000-000000000001']
    await family.sql`
      insert into service_callback_api (id, service_id, url, bearer_token, created_at, updated_by_id, version)
      select ${id}, service_id, ${receiver.url}, bearer_token, now(), updated_by_id, 1
      from service_callback_api
      where id = '80000000-0000-4000-8000-000000000001'`
    await family.stop()
    const done = await report(next, '--from-database', url, '--signing-secret-file', secret)
    expect(done.services[0]).toMatchObject({ outcome: 'completed', added: { webhooks: 2 } })
    const key = `gcntfy-Web.site-${service}-0f6c3f2a-8d55-4d0e-9f0c-3a3f1f0b7a11`
    const sent = await callerWith(next.address, key).post(EMAIL, {
      ...{ email_address: 'ada@example.org', template_id: 'f0000000-0000-4000-8000-000000000001' },
      ...{ personalisation: { name: 'Ada' }, reference: 'moved' },
    })
    // Only this endpoint: the other one has an address that does not exist.
    await next.parts.db.sql`update webhooks set state = 'paused' where service_id = ${service} and id <> ${id}`
    const place = await hooks(next)
    const sending = startSending(place)
    await place.log('notification.delivered', [sent.body.id], { of: service as Id })
    await expect.poll(() => receiver.hooks.length, { timeout: 10_000 }).toBe(1)
    expect(receiver.hooks[0]?.headers.authorization).toBe('Bearer the-token-of-permits-0001')
    expect(JSON.parse(receiver.hooks[0]?.body ?? '')).toMatchObject({
      id: sent.body.id,
      to: 'ada@example.org',
      reference: 'moved',
    })
    await sending.stop()
    await receiver.stop()
  })

  test('its rows pass the checks of a file: a service with one that does not is refused, with a sentence for each', async () => {
    const family = connect({ url }, poolOptions)
    await family.script(HOSTILE_ROWS)
    await family.stop()
    const before = text((await exported(next)).file)
    const done = await report(next, '--from-database', url)
    expect(done.code).toBe(1)
    const [lines, limits, values, versions] = done.services.slice(-4)
    const refused = (...notes: unknown[]) => ({ outcome: 'refused', added: { keys: 0, templates: 0 }, notes })
    expect(lines).toMatchObject(
      refused('It cannot be stored here: /: The name must be one line without control characters.'),
    )
    expect(limits).toMatchObject(
      refused(
        'It cannot be stored here: /rate_limit: must be >= 0.',
        'It cannot be stored here: /email_retention_days: must be <= 365.',
      ),
    )
    const place = 'It cannot be stored here: '
    expect(values).toMatchObject(
      refused(
        `${place}/folders: There is already a folder named "Twice" in this place.`,
        `${place}/folders/e1000000-0000-4000-8000-000000000001: The name of the folder must be one line without control characters.`,
        `${place}/keys/91000000-0000-4000-8000-000000000001: The name of the key must be one line without control characters.`,
        `${place}/team/0: The name must be one line without control characters.`,
        expect.stringMatching(
          /^It.* \/templates\/f1000000-0000-4000-8000-000000000001\/versions\/2: Content has a character count greater/,
        ),
      ),
    )
    // What came before the present version cannot be corrected there.
    expect(versions).toMatchObject({ outcome: 'added', added: { templates: 1, versions: 1 } })
    expect(versions.notes).toEqual([
      expect.stringMatching(/^Version 1 of the template f1\S+02 was left out: Content has a character count greater/),
    ])
    const after = JSON.parse(text((await exported(next)).file))
    after.services = after.services.filter((one: { id: string }) => one.id !== versions.id)
    expect(after).toEqual(JSON.parse(before))
    const { out } = await herald(next, 'import', '--from-database', url)
    expect(out).toContain('refused    "Two lines" (b1000000-0000-4000-8000-000000000001)')
  })

  test('a database without its tables is refused', async () => {
    const { code, err } = await herald(next, 'import', '--from-database', databaseUrl(inject('server'), 'postgres'))
    expect([code, err]).toEqual([1, expect.stringContaining('has no tables of the interface family')])
  })
})

/** Four services that the reference could have: a name of two lines, limits, values of its lists, and an earlier version. */
const HOSTILE_ROWS = `
  insert into users (id, name, email_address, created_at, _password, password_changed_at, failed_login_count, state, platform_admin)
  values ('a1000000-0000-4000-8000-000000000001', E'Eve\\r\\nBcc: x@example.org', 'eve@example.org', now(), 'x', now(), 0, 'active', false);

  insert into services (id, name, created_at, active, message_limit, restricted, email_from, created_by_id, version, research_mode, prefix_sms, rate_limit, sms_daily_limit)
  select ('b1000000-0000-4000-8000-00000000000' || n)::uuid, name, now() + n * interval '1 second', true, 50, true, 'x',
         'a1000000-0000-4000-8000-000000000001', 1, false, false, limits, 50
  from (values (1, E'Two\\r\\nlines', 1000), (2, 'Of limits', -1), (3, 'Of values', 1000), (4, 'Of versions', 1000)) s (n, name, limits);

  insert into service_data_retention (id, service_id, notification_type, days_of_retention, created_at)
  values (gen_random_uuid(), 'b1000000-0000-4000-8000-000000000002', 'email', 400, now());

  insert into user_to_service (user_id, service_id)
  values ('a1000000-0000-4000-8000-000000000001', 'b1000000-0000-4000-8000-000000000003');

  insert into api_keys (id, name, secret, service_id, created_at, created_by_id, version, key_type)
  values ('91000000-0000-4000-8000-000000000001', E'Web\\nsite', 'x', 'b1000000-0000-4000-8000-000000000003', now(), 'a1000000-0000-4000-8000-000000000001', 1, 'normal');

  insert into template_folder (id, service_id, name)
  values
    ('e1000000-0000-4000-8000-000000000001', 'b1000000-0000-4000-8000-000000000003', E'Two\\nlines'),
    ('e1000000-0000-4000-8000-000000000002', 'b1000000-0000-4000-8000-000000000003', 'Twice'),
    ('e1000000-0000-4000-8000-000000000003', 'b1000000-0000-4000-8000-000000000003', 'Twice');

  insert into templates (id, name, template_type, created_at, content, service_id, subject, created_by_id, version, archived, hidden)
  values
    ('f1000000-0000-4000-8000-000000000001', 'Long', 'email', now(), repeat('x', 2000000), 'b1000000-0000-4000-8000-000000000003', '', 'a1000000-0000-4000-8000-000000000001', 2, false, false),
    ('f1000000-0000-4000-8000-000000000002', 'Long', 'email', now(), 'Short', 'b1000000-0000-4000-8000-000000000004', '', 'a1000000-0000-4000-8000-000000000001', 2, false, false);

  insert into templates_history (id, name, template_type, created_at, content, service_id, subject, created_by_id, version, archived, hidden)
  values ('f1000000-0000-4000-8000-000000000002', 'Long', 'email', now(), repeat('x', 2000000), 'b1000000-0000-4000-8000-000000000004', '', 'a1000000-0000-4000-8000-000000000001', 1, false, false);`

const rowsIn = (table: string) =>
  Object.assign([`select from ${table}`], { raw: [] }) as unknown as TemplateStringsArray

const token = (secret: string, iss: string) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss, iat: Math.floor(Date.now() / 1000) })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
