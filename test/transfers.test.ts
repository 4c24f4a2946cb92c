// herald service export and import: a service moves from one cell to another that has a database and a sealing secret of its own.
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { isUnknown } from '../src/keys/unknown-secret.ts'
import { keepSamples, readSamples } from '../src/templates/samples.ts'
import { FORMAT, open, seal } from '../src/transfers/file.ts'
import { create as createWebhook } from '../src/webhooks/create.ts'
import { openTarget } from '../src/webhooks/webhook.ts'
import { EMAIL, emailTemplate } from './support/sends.ts'
import { call, callerWith, OPERATOR, type World, world } from './support/world.ts'

const PASSPHRASE = 'three words and a number 7'
const folder = mkdtempSync(join(tmpdir(), 'herald-transfer-'))
const passphraseFile = join(folder, 'passphrase')
writeFileSync(passphraseFile, `${PASSPHRASE}\n`)

let old: World
let next: World
let service: Awaited<ReturnType<World['service']>>
let key: Awaited<ReturnType<typeof service.key>>
let template: string

const herald = (at: World, ...argv: string[]) => command(at, 'service', ...argv, '--passphrase-file', passphraseFile)

async function command(at: World, ...argv: string[]) {
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

const token = (secret: string, iss: string) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss, iat: Math.floor(Date.now() / 1000) })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

beforeAll(async () => {
  old = await world({ HERALD_SECRET: 'a'.repeat(40), HERALD_SENDING_DOMAIN: 'one.example.org' })
  next = await world({ HERALD_SECRET: 'b'.repeat(40), HERALD_SENDING_DOMAIN: 'two.example.org' })
  service = await old.service({ email_daily_limit: 1234, mode: 'trial', home_country: 'FR' })
  key = await service.key({ manageWebhooks: true })
  template = await emailTemplate(key)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Rows of a table that belong to the service, without what only one database has. */
async function rowsOf(at: World, table: string, of: string, without: readonly string[] = []) {
  const { db } = at.parts
  const key = table === 'services' ? 'id' : table === 'template_versions' ? 'template_id' : 'service_id'
  const select = Object.assign([`select to_jsonb(t) as row from ${table} t where ${key} = any (`, ') order by 1'], {
    raw: [],
  }) as unknown as TemplateStringsArray
  const ids = table === 'template_versions' ? await templatesOf(at, of) : [of]
  const rows = await db.sql<{ row: Record<string, unknown> }>(select, ids)
  return rows.map(({ row }) => Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name))))
}
const templatesOf = async (at: World, of: string) =>
  (await at.parts.db.sql<{ id: string }>`select id from templates where service_id = ${of} order by id`).map(t => t.id)

async function everythingOf(at: World, id: string) {
  return {
    services: await rowsOf(at, 'services', id),
    users: await rowsOf(at, 'users', id, ['person_id']),
    reply_tos: await rowsOf(at, 'reply_tos', id, ['link_digest', 'link_expires_at']),
    senders: await rowsOf(at, 'senders', id),
    safelist: await rowsOf(at, 'safelist', id),
    keys: await rowsOf(at, 'keys', id, ['secret_digest', 'secret_sealed', 'last_used_at']),
    folders: await rowsOf(at, 'folders', id),
    templates: await rowsOf(at, 'templates', id),
    versions: await rowsOf(at, 'template_versions', id),
    webhooks: await rowsOf(at, 'webhooks', id, ['sealed', 'stamp', 'seq', 'n', 'ticket']),
    live_requests: await rowsOf(at, 'live_requests', id, ['asked_by']),
  }
}

const exported = async (name: string) => {
  const out = join(folder, name)
  const { code, err } = await herald(old, 'export', service.id, '--out', out)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}
/** A file with these bytes. */
const fileOf = (bytes: Buffer) => {
  const file = join(folder, randomUUID())
  writeFileSync(file, bytes)
  return file
}
describe('a service with everything', () => {
  let file: string
  let webhook: { id: string; secret: string | null }

  beforeAll(async () => {
    await service.addReplyTo('permits@example.org', true)
    await service.addSender('PERMITS', true)
    await service.addToSafelist('ada@example.org')
    const parent = await service.addFolder('Letters')
    const { db } = old.parts
    const child = randomUUID()
    // Older than its parent: the order of the rows does not matter.
    await db.sql`insert into folders (id, service_id, name, parent_id, created_at)
                 values (${child}, ${service.id}, 'Reminders', ${parent.id}, now() - interval '1 hour')`
    await db.sql`update templates set folder_id = ${child} where id = ${template}`
    for (const content of ['Hello again ((name))', 'Bonjour « ((name)) » €'])
      expect((await key.patch(`/v2/manage-template/${template}`, { content })).status).toBe(200)
    const revoked = await service.key({ name: 'an old one' })
    await db.sql`update keys set revoked_at = now() where id = ${revoked.id}`
    const { webhook: made, secret } = await createWebhook(
      old.parts,
      OPERATOR,
      { service_id: service.id, key_type: 'normal' },
      { url: 'https://permits.example.org/events' },
    )
    webhook = { id: made.id, secret }
    const [maria] = await db.sql<{ person_id: string }>`select person_id from users where service_id = ${service.id}`
    const person = {
      kind: 'person' as const,
      id: maria?.person_id as typeof service.id,
      service_id: service.id,
      permissions: ['manage-templates'] as const,
      email_address: 'maria@example.org',
      name: 'Maria',
    }
    await keepSamples(old.parts, person, service.id, template as typeof service.id, { name: 'Ada' })
    await db.sql`insert into live_requests (id, service_id, purpose, asked_by)
                 values (${randomUUID()}, ${service.id}, 'Reminders for permits', ${person.id})`
    file = await exported('everything')
    const { code, out, err } = await herald(next, 'import', file)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('1 template with 3 versions, 2 keys, 1 webhook, 1 team member')
    expect(out).toContain('E-mails were sent from one.example.org, and are sent from two.example.org here.')
  })

  test('has the same rows and ids in the other database', async () => {
    const before = await everythingOf(old, service.id)
    for (const [table, rows] of Object.entries(before)) expect(rows.length, table).toBeGreaterThan(0)
    expect(await everythingOf(next, service.id)).toEqual(before)
  })

  test("the caller's key and a token signed with it work there", async () => {
    const body = { email_address: 'ada@example.org', template_id: template, personalisation: { name: 'Ada' } }
    const byKey = await callerWith(next.address, key.key).post(EMAIL, body)
    expect([byKey.status, byKey.body.content?.body]).toEqual([201, 'Bonjour « Ada » €'])
    const headers = { authorization: `Bearer ${token(key.key.slice(-36), service.id)}` }
    const byToken = await call(next.address, 'POST', EMAIL, { body, headers })
    expect(byToken.status).toBe(201)
    const wrong = { authorization: `Bearer ${token(randomUUID(), service.id)}` }
    expect((await call(next.address, 'POST', EMAIL, { body, headers: wrong })).status).toBe(403)
  })

  test('the webhook keeps its address and its secret, sealed with the secret of the other cell', async () => {
    const [row] = await next.parts.db.sql<{ sealed: Buffer }>`select sealed from webhooks where id = ${webhook.id}`
    expect(openTarget(next.parts.seal, row?.sealed ?? Buffer.alloc(0))).toEqual({
      url: 'https://permits.example.org/events',
      secrets: [{ secret: webhook.secret, until: null }],
      token: null,
    })
    expect(() => openTarget(old.parts.seal, row?.sealed ?? Buffer.alloc(0))).toThrow('not configured')
  })

  test('example values and the person who asked to go live are there', async () => {
    expect(await readSamples(next.parts, service.id, template as typeof service.id)).toEqual({ name: 'Ada' })
    const [request] = await next.parts.db.sql<{ asked: string }>`
      select p.email_address as asked
      from live_requests r join people p on p.id = r.asked_by
      where r.service_id = ${service.id}`
    expect(request?.asked).toBe('maria@example.org')
  })

  test('both audit logs have it, and nothing secret', async () => {
    for (const [at, action] of [
      [old, 'service exported'],
      [next, 'service imported'],
    ] as const) {
      const [entry] = await at.parts.db.sql<{ actor_kind: string; subject_id: string; detail: object }>`
        select actor_kind, subject_id, detail
        from audit
        where service_id = ${service.id} and action = ${action}
        order by id desc limit 1`
      expect(entry).toMatchObject({ actor_kind: 'operator', subject_id: service.id, detail: { keys: 2, templates: 1 } })
    }
  })

  test('a second import is refused and changes nothing', async () => {
    const before = await everythingOf(next, service.id)
    const { code, err } = await herald(next, 'import', file)
    expect(code).toBe(1)
    expect(err).toContain(`The service ${service.id} is in this database already`)
    expect(await everythingOf(next, service.id)).toEqual(before)
  })
})

test('a key that was imported without its secret moves on with its id, and gets its secret later', async () => {
  const [id, keyId, secret] = [randomUUID(), randomUUID(), randomUUID()]
  const moveOf = (key: object) => {
    const keys = [{ id: keyId, name: 'Web site', type: 'normal', ...key }]
    const services = [{ id, name: 'Moved twice', mode: 'live', keys }]
    return fileOf(Buffer.from(JSON.stringify({ is: 'herald-installation', format: 1, services })))
  }
  expect(await command(old, 'import', moveOf({}))).toMatchObject({ code: 0, err: '' })
  const file = join(folder, 'moved-twice')
  expect(await herald(old, 'export', id, '--out', file)).toMatchObject({ code: 0, err: '' })
  expect(await herald(next, 'import', file)).toMatchObject({ code: 0, err: '' })

  // Nobody has seen the one that is stored.
  const content = (await open(readFileSync(file), PASSPHRASE)) as { keys: { secret: string }[] }
  const [row] = await next.parts.db.sql<{ sealed: Buffer }>`
    select secret_sealed as sealed from keys where id = ${keyId}`
  const stored = next.parts.seal.open('key secret', row?.sealed ?? Buffer.alloc(0)).toString('utf8')
  expect([isUnknown(stored), content.keys.map(one => one.secret === stored)]).toEqual([true, [false]])
  const get = (secret: string) =>
    call(next.address, 'GET', '/v2/templates', { headers: { authorization: `Bearer ${token(secret, id)}` } })
  expect((await get(content.keys[0]?.secret ?? '')).status).toBe(403)

  expect(await command(next, 'import', moveOf({ secret }))).toMatchObject({ code: 0, err: '' })
  expect((await get(secret)).status).toBe(200)
})

describe('a file', () => {
  let bytes: Buffer
  let other: World
  beforeAll(async () => {
    other = await world({ HERALD_SECRET: 'c'.repeat(40) })
    bytes = readFileSync(await exported('one'))
  })
  const refused = async (file: string) => {
    const { code, err } = await herald(other, 'import', file)
    expect(code).toBe(1)
    expect(await other.parts.db.sql`select from services where id = ${service.id}`).toEqual([])
    return err.trim()
  }
  const headerEnd = () => bytes.indexOf('\n') + 1

  test('is readable by its owner only, shows nothing of the service, and is never overwritten', async () => {
    const file = join(folder, 'one')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const secret of [key.key.slice(-36), service.name, 'maria@example.org', 'PERMITS'])
      expect(bytes.includes(secret)).toBe(false)
    const { code, err } = await herald(old, 'export', service.id, '--out', file)
    expect([code, err.split('\n')[0]]).toEqual([2, `The file ${file} exists already. Give another name.`])
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('of which one bit was changed is refused', async () => {
    for (const at of [headerEnd(), headerEnd() + 40, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(await refused(fileOf(changed))).toMatch(/changed or damaged after the export/)
    }
  })

  test('that was changed together with its checksum is refused by its seal', async () => {
    const content = Buffer.from(bytes.subarray(headerEnd()))
    content[50] = (content[50] ?? 0) ^ 1
    const header = JSON.parse(bytes.subarray(0, headerEnd()).toString())
    header.sha256 = createHash('sha256').update(content).digest('hex')
    const forged = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content])
    expect(await refused(fileOf(forged))).toMatch(/somebody has changed the file/)
  })

  test('that is cut off is refused with its sizes', async () => {
    const wanted = bytes.length - headerEnd()
    expect(await refused(fileOf(bytes.subarray(0, bytes.length - 7)))).toContain(`${wanted - 7} of ${wanted} bytes`)
    expect(await refused(fileOf(bytes.subarray(0, 20)))).toMatch(/not an export of a service/)
    expect(await refused(fileOf(Buffer.alloc(0)))).toMatch(/not an export of a service/)
  })

  test('of a newer format is refused before the passphrase is tried', async () => {
    const header = JSON.stringify({ is: 'herald-service-export', format: FORMAT + 1, seal: 'of the future' })
    expect(await refused(fileOf(Buffer.from(`${header}\nabc`)))).toMatch(
      /has format 2, and this Herald reads formats up to 1/,
    )
  })

  test('is not opened by another passphrase, nor sealed with a short one', async () => {
    writeFileSync(passphraseFile, 'another passphrase')
    expect(await refused(join(folder, 'one'))).toMatch(/This passphrase does not open the file/)
    writeFileSync(passphraseFile, 'short')
    const { code, err } = await herald(old, 'export', service.id, '--out', join(folder, 'weak'))
    expect(code).toBe(1)
    expect(err).toContain('at least 12 characters')
    expect(existsSync(join(folder, 'weak'))).toBe(false)
    writeFileSync(passphraseFile, `${PASSPHRASE}\n`)
  })

  test('of a cell with another key prefix is refused', async () => {
    const renamed = await world({ HERALD_KEY_PREFIX: 'acme' })
    const { code, err } = await herald(renamed, 'import', join(folder, 'one'))
    expect([code, err]).toEqual([1, expect.stringContaining('Set HERALD_KEY_PREFIX=acme,herald here')])
  })

  test('whose last part cannot be stored leaves nothing behind', async () => {
    const content = (await open(bytes, PASSPHRASE)) as { webhooks: object[] }
    const neighbour = await other.service()
    const { webhook: taken } = await createWebhook(
      other.parts,
      OPERATOR,
      { service_id: neighbour.id, key_type: 'normal' },
      { url: 'https://neighbour.example.org/events' },
    )
    const broken = { ...content, webhooks: [{ ...content.webhooks[0], id: taken.id }] }
    const file = fileOf(await seal(broken, PASSPHRASE))
    expect(await herald(other, 'import', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`The id ${taken.id} (webhooks) belongs to another service here.`),
    })
    for (const table of ['services', 'users', 'keys', 'templates', 'folders'])
      expect(await rowsOf(other, table, service.id), table).toEqual([])
    expect(await other.parts.db.sql`select from audit where action = 'service imported'`).toEqual([])
    // The same file without the fault is taken.
    expect((await herald(other, 'import', fileOf(bytes))).code).toBe(0)
    expect((await rowsOf(other, 'keys', service.id)).length).toBeGreaterThan(0)
  }, 60_000)

  test('of a service whose name another one has here is refused', async () => {
    const crowded = await world()
    await crowded.service({ name: service.name })
    const { code, err } = await herald(crowded, 'import', join(folder, 'one'))
    expect([code, err]).toEqual([1, expect.stringContaining(`There is already a service named "${service.name}"`)])
  })
})
