// Files for `herald service import` and `herald import` that someone made by hand: each is imported or refused with a sentence, never
// with an error of the database, and nothing outside of the file's service changes. TEST_SEED repeats a run.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import type { Id } from '../src/core/id.ts'
import { Refusal } from '../src/core/refusal.ts'
import { importMove } from '../src/moves/import.ts'
import { readMove } from '../src/moves/read.ts'
import { keepSamples } from '../src/templates/samples.ts'
import { exportTo } from '../src/transfers/export.ts'
import { open, seal } from '../src/transfers/file.ts'
import { importContent } from '../src/transfers/import.ts'
import { create as createWebhook } from '../src/webhooks/create.ts'
import { mutated, mutations, renewed } from './support/mutations.ts'
import { SEED } from './support/seeds.ts'
import { emailTemplate, smsTemplate } from './support/sends.ts'
import { CATEGORY, OPERATOR, type World, world } from './support/world.ts'

const RUNS = Number(process.env.HERALD_TEST_FUZZ ?? 60)
const PASSPHRASE = 'three words and a number 7'
const NAME = 'NAME OF THE SERVICE'
const categories = new Set<string>(Object.values(CATEGORY))
const folder = mkdtempSync(join(tmpdir(), 'herald-hostile-'))
afterAll(() => rmSync(folder, { recursive: true }))

// biome-ignore lint/suspicious/noExplicitAny: a test changes whatever is in the file
type Content = any
let here: World
let victim: { id: Id; key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>; template: Id; folder: Id }
/** The content of a file of each command, of a service with one object of every kind. */
let transfer: Content
let move: Content
/** Ids of objects of others, and of services that are here. */
let foreign: string[]
let services: Set<string>

beforeAll(async () => {
  console.log(`seed ${SEED}`)
  here = await world()
  const { sql } = here.parts.db
  const made = await inhabited('The victim')
  victim = { ...made, template: made.templates[0] as Id }
  const rows = await sql<{ id: string }>`
    select id from templates union all select id from folders union all select id from keys union all select id from users
    union all select id from webhooks union all select id from reply_tos union all select id from services`
  foreign = rows.map(({ id }) => id)
  services = new Set((await sql<{ id: string }>`select id from services`).map(({ id }) => id))
  const source = await inhabited(NAME)
  const { file } = await exportTo(here.parts, OPERATOR, source.id, PASSPHRASE, '0.0.0')
  transfer = await open(file, PASSPHRASE)
  const out = join(folder, 'move.json')
  expect((await herald('export', '--service', NAME, '--out', out, '--secrets-file', `${out}.secrets`)).err).toBe('')
  move = readMove(out, readFileSync(out, 'utf8'))
  await sql`update services set name = 'The source' where id = ${source.id}`
}, 60_000)

async function inhabited(name: string) {
  const service = await here.service({ name, mode: 'trial' })
  const key = await service.key({ manageWebhooks: true })
  const templates = [await emailTemplate(key), await smsTemplate(key, 'Hello')] as Id[]
  await key.patch(`/v2/manage-template/${templates[0]}`, { content: 'A second version' })
  await service.addReplyTo('answers@example.org', true)
  await service.addSender('PERMITS', true)
  await service.addToSafelist('ada@example.org')
  const outer = await service.addFolder('Letters')
  const { db } = here.parts
  await db.sql`insert into folders (id, service_id, name, parent_id) values (${randomUUID()}, ${service.id}, 'Inner', ${outer.id})`
  await db.sql`update templates set folder_id = ${outer.id} where id = ${templates[0]}`
  const scope = { service_id: service.id, key_type: 'normal' as const }
  await createWebhook(here.parts, OPERATOR, scope, { url: 'https://permits.example.org/events' })
  const [maria] = await db.sql<{ person_id: Id }>`select person_id from users where service_id = ${service.id}`
  const person = {
    ...{ kind: 'person' as const, id: maria?.person_id as Id, service_id: service.id },
    ...{ permissions: ['manage-templates'] as const, email_address: 'maria@example.org', name: 'Maria' },
  }
  await keepSamples(here.parts, person, service.id, templates[0] as Id, { name: 'Ada', list: ['one', 'two'] })
  await db.sql`insert into live_requests (id, service_id, purpose) values (${randomUUID()}, ${service.id}, 'Reminders')`
  return { id: service.id, key, templates, folder: outer.id }
}

async function herald(...argv: string[]) {
  let [out, err] = ['', '']
  const code = await run(
    argv,
    {
      out: (text: string) => {
        out += text
      },
      err: (text: string) => {
        err += text
      },
    },
    () => here.config,
  )
  return { code, out, err }
}

/** A digest of all rows that do not belong to these services, people apart: an import may add some. */
async function others(than: readonly unknown[]): Promise<string> {
  const { sql } = here.parts.db
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and column_name = 'service_id' and table_type = 'BASE TABLE'
      and table_name not like '%\\_20%' and table_name <> 'requests'
    order by 1`
  const own = than.map(id => `'${String(id).replaceAll("'", "''")}'`).join(',') || `''`
  const parts = tables.map(
    ({ name }) =>
      `select '${name}' || coalesce(md5(string_agg(to_jsonb(t)::text, ',' order by to_jsonb(t)::text)), '')
       from ${name} t where coalesce(service_id::text, '') not in (${own})`,
  )
  const versions = `select 'versions' || coalesce(md5(string_agg(to_jsonb(v)::text, ',' order by v.template_id, v.version)), '')
    from template_versions v join templates t on t.id = template_id where t.service_id::text not in (${own})`
  const text = [`select string_agg(x, ' ') as all from (${[...parts, versions].join(' union all ')}) r (x)`]
  const [row] = await sql<{ all: string }>(Object.assign(text, { raw: text }))
  return row?.all ?? ''
}

/** No other text can be the ID of a service; one may hold a NUL, which a statement cannot. */
const isUuid = (id: unknown): id is string =>
  typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)

/** Nothing of the words of PostgreSQL or of its driver. */
const isSentence = (text: string) =>
  text.length < 20_000 &&
  !/violates|invalid input|syntax|relation|duplicate key|null value|constraint|SQLSTATE|undefined/i.test(text)

async function imported(content: Content): Promise<'imported' | string> {
  try {
    await importContent(here.parts, OPERATOR, content)
    return 'imported'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(isSentence(error.message), error.message).toBe(true)
    return error.message
  }
}

describe('herald service import', () => {
  const fresh = () => renewed(transfer, categories)

  test('the file itself is imported', async () => {
    expect(await imported(fresh())).toBe('imported')
  })

  test.each<[string, (content: Content) => void, RegExp]>([
    [
      'a version of a template of another service',
      c => c.versions.push({ ...c.versions[0], template_id: victim.template, version: 9 }),
      /\/versions\/\d+: its template is not in the file/,
    ],
    [
      'example values of one',
      c => {
        c.samples[0].template_id = victim.template
      },
      /\/samples\/0: its template is not in the file/,
    ],
    [
      'a folder inside one of another service',
      c => {
        c.folders[0].parent_id = victim.folder
      },
      /\/folders: This service has no folder/,
    ],
    [
      'the id of a template of another service',
      c => {
        const [{ id }] = c.templates
        for (const one of [...c.templates, ...c.versions, ...c.samples])
          for (const name of ['id', 'template_id']) if (one[name] === id) one[name] = victim.template
      },
      /The id .* \(templates\) belongs to another service here/,
    ],
    [
      'a mailbox of two lines',
      c => {
        c.service.mailbox = 'x\r\nBcc: someone@example.org'
      },
      /\/service: "x\s+Bcc: someone@example.org" is not a mailbox/,
    ],
    [
      'a template of 50 MB',
      c => {
        c.versions[0].content = 'x'.repeat(50_000_000)
      },
      /\/versions\/0: Content has a character count greater than the limit/,
    ],
    [
      'a NUL character',
      c => {
        c.versions[0].name = 'a\0b'
      },
      /\/versions\/0\/name: must be text without NUL/,
    ],
    [
      'half of a surrogate pair',
      c => {
        c.service.name = '\ud800'
      },
      /\/service\/name: must be text without NUL characters and half/,
    ],
    [
      'a day that does not exist',
      c => {
        c.keys[0].created_at = '2026-02-30T00:00:00Z'
      },
      /\/keys\/0\/created_at: is no time that exists/,
    ],
    [
      'a webhook inside the network',
      c => {
        c.webhooks[0].target.url = 'https://127.0.0.1/x'
      },
      /\/webhooks\/0: .*url/,
    ],
    [
      'folders in a circle',
      c => {
        c.folders[0].parent_id = c.folders[1].id
        c.folders[1].parent_id = c.folders[0].id
      },
      /\/folders: At most 5 folders can be inside each other/,
    ],
    [
      'a category that is not here',
      c => {
        c.versions[0].category_id = randomUUID()
      },
      /the category .* is not in this installation/,
    ],
    [
      'an unknown field',
      c => {
        c.service.is_operator = true
      },
      /\/service: there is no field is_operator/,
    ],
    [
      'a key with the secret of another service',
      c => {
        c.keys[0].secret = victim.key.key.slice(-36)
      },
      /A key has the secret of another key here/,
    ],
    [
      'a key with a secret of no known form',
      c => {
        c.keys[0].secret = `unknown:${'x'.repeat(42)}`
      },
      /\/keys\/0\/secret: must match pattern/,
    ],
    [
      'a webhook without a secret to sign with',
      c => {
        c.webhooks[0].target.secrets = []
      },
      /\/webhooks\/0: it has no secret to sign its requests with/,
    ],
    [
      'a webhook whose only secret has ended',
      c => {
        c.webhooks[0].target.secrets[0].until = 1
      },
      /\/webhooks\/0: it has no secret to sign its requests with/,
    ],
  ])('%s is refused in one sentence, and nothing changes', async (_name, change, sentence) => {
    const content = fresh()
    change(content)
    const before = await others([])
    expect(await imported(content)).toMatch(sentence)
    expect(await others([])).toBe(before)
  })

  test('a sealed file is refused on the command line in the same words; so is one that contains something else', async () => {
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, PASSPHRASE)
    const content = fresh()
    content.versions.push({ ...content.versions[0], template_id: victim.template, version: 9 })
    for (const [inside, sentence] of [
      [content, /its template is not in the file/],
      [null, /\/: must be object/],
    ] as const) {
      const file = join(folder, randomUUID())
      writeFileSync(file, await seal(inside, PASSPHRASE))
      const { code, err } = await herald('service', 'import', file, '--passphrase-file', passphrase)
      expect([code, err]).toEqual([1, expect.stringMatching(sentence)])
    }
    expect((await victim.key.patch(`/v2/manage-template/${victim.template}`, { name: 'Changed' })).status).toBe(200)
  }, 60_000)

  test(`${RUNS} changed files: imported or refused, and nothing of others changes`, async () => {
    const outcomes = { imported: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(mutations, async changes => {
        const content = mutated(fresh(), changes, foreign) as Content
        const own = [content?.service?.id].filter(id => isUuid(id) && !services.has(id))
        const before = await others(own)
        outcomes[(await imported(content)) === 'imported' ? 'imported' : 'refused']++
        expect(await others(own)).toBe(before)
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    )
    expect(outcomes.imported).toBeGreaterThan(0)
    expect(outcomes.refused).toBeGreaterThan(outcomes.imported)
    expect((await victim.key.patch(`/v2/manage-template/${victim.template}`, { name: 'Changed' })).status).toBe(200)
  }, 240_000)
})

describe('herald import', () => {
  const fresh = () => renewed(move, categories)

  async function moved(text: string): Promise<string> {
    try {
      const { services } = await importMove(here.parts, OPERATOR, readMove('file', text), { dryRun: false })
      for (const { notes } of services) for (const note of notes) expect(isSentence(note), note).toBe(true)
      return services.map(({ outcome, notes }) => (outcome === 'refused' ? notes[0] : outcome)).join(' ')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      expect(isSentence(error.message), error.message).toBe(true)
      return error.message
    }
  }

  test('the file itself is imported', async () => {
    expect(await moved(JSON.stringify(fresh()))).toBe('added')
  })

  test.each<[string, (content: Content) => void, RegExp]>([
    [
      'a template of another service',
      c => {
        c.services[0].templates[0].id = victim.template
      },
      /The id .* \(templates\) belongs to another service here/,
    ],
    [
      'a folder of another service',
      c => {
        c.services[0].templates[0].folder_id = victim.folder
      },
      /the folder .* is not in this service/,
    ],
    [
      'a template of 50 MB',
      c => {
        c.services[0].templates[0].versions[0].content = 'x'.repeat(50_000_000)
      },
      /versions\/0: Content has a character count greater than the limit/,
    ],
    [
      'a NUL character',
      c => {
        c.services[0].name = 'a\0b'
      },
      /\/services\/0\/name: must be text without NUL/,
    ],
    [
      'half of a surrogate pair',
      c => {
        c.services[0].keys[0].name = '\udc00'
      },
      /must be text without NUL characters and half/,
    ],
    [
      'a day that does not exist',
      c => {
        c.services[0].created_at = '2026-13-01T00:00:00Z'
      },
      /is no time that exists/,
    ],
    [
      'a name of two lines',
      c => {
        c.services[0].name = 'x\r\nBcc: y'
      },
      /\/services\/0: The name must be one line/,
    ],
    [
      'the same key twice',
      c => {
        c.services[0].keys.push(c.services[0].keys[0])
      },
      /is also that of/,
    ],
    [
      'a wrong type',
      c => {
        c.services[0].templates = {}
      },
      /\/services\/0\/templates: must be array/,
    ],
    [
      '100,000 folders in one another',
      c => {
        const ids = Array.from({ length: 100_000 }, () => randomUUID())
        c.services[0].folders = ids.map((id, at) => ({ id, name: 'x', parent_id: ids[at + 1] ?? null }))
        c.services[0].templates = []
      },
      /at most 1000 folders/i,
    ],
  ])('%s is refused in one sentence, and nothing changes', async (_name, change, sentence) => {
    const content = fresh()
    change(content)
    const before = await others([])
    expect(await moved(JSON.stringify(content))).toMatch(sentence)
    expect(await others([])).toBe(before)
  })

  test('names of the prototype, depth, size and bytes that are not UTF-8 are refused', async () => {
    const text = JSON.stringify(fresh())
    expect(await moved(text.replace('"services":[{', '"services":[{"__proto__":{"id":"x"},'))).toMatch(
      /there is no field __proto__/,
    )
    expect(await moved(text.replace('"services":[{', '"services":[{"constructor":1,'))).toMatch(
      /there is no field constructor/,
    )
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
    expect(await moved(deep)).toMatch(/is not JSON|is not an installation/)
    expect(await moved(text.replace('"services":[{', `"services":[{"tea":${deep},`))).toMatch(/problems|is not JSON/)
    const many = `[${'{},'.repeat(500_000)}{}]`
    expect(await moved(text.replace('"services":[', `"services":${many},"more":[`))).toMatch(/problems/)
    // The last of two equal names counts, as for every reader of JSON.
    expect(await moved(text.replace('{"is"', '{"services":1,"is"'))).toBe('added')
    const file = join(folder, 'latin.json')
    writeFileSync(file, Buffer.from(text.replace('Letters', 'L\u00e9ttres'), 'latin1'))
    expect(await herald('import', file)).toMatchObject({ code: 2, err: expect.stringContaining('is not UTF-8 text') })
    expect(({} as Record<string, unknown>).id).toBe(undefined)
  })

  test(`${RUNS} changed files: imported or refused, and nothing of others changes`, async () => {
    const outcomes = { added: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(mutations, async changes => {
        const content = mutated(fresh(), changes, foreign) as Content
        // A service that is here already gets what is missing: that of the file, not another one.
        const given = Array.isArray(content?.services) ? content.services : []
        const own = given.map((one: Content) => one?.id).filter((id: unknown) => typeof id === 'string')
        const before = await others(own)
        outcomes[/^(added|completed)/.test(await moved(JSON.stringify(content))) ? 'added' : 'refused']++
        expect(await others(own)).toBe(before)
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    )
    expect(outcomes.added).toBeGreaterThan(0)
    expect(outcomes.refused).toBeGreaterThan(0)
  }, 240_000)
})
