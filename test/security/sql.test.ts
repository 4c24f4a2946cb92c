// S-37: no statement is ever concatenated from input.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map(file => ({ file, text: readFileSync(join('src', file), 'utf8') }))

describe('S-37 in the sources', () => {
  // Statements that cannot have parameters: partitions, migrations, channels, a backup. Their names are our own.
  const WITHOUT_TAG = /^(db\/|engine\/leader\.ts$)/

  test('statements are written with the tag, which passes values only as parameters', () => {
    const bare = files.filter(({ file, text }) => !WITHOUT_TAG.test(file) && /\.(query|script)\(/.test(text))
    expect(bare.map(({ file }) => file)).toEqual([])
  })

  test('the tag and its fragments are never called as functions, with a text built elsewhere', () => {
    const knowing = files.filter(({ text }) => /from '[./]*(db\/)?connect\.ts'/.test(text))
    const called = knowing.filter(({ text }) => /(?<![.\w])(sql|part)(<[^`(]*>)?\(/.test(text))
    expect(knowing.length).toBeGreaterThan(10)
    expect(called.map(({ file }) => file)).toEqual([])
    // patience.ts passes the template of its caller on. The first one is of the words of the console, where no statement is written.
    const tags = files.filter(({ text }) => /TemplateStringsArray/.test(text)).map(({ file }) => file)
    expect(tags.sort()).toEqual(['console/words/index.ts', 'db/connect.ts', 'db/patience.ts'])
  })

  test('raw statements with a name in them are these, and the names are our own', () => {
    const made = files.filter(({ text }) => /\.(query|script)\(\s*`[^`]*\$\{/.test(text)).map(({ file }) => file)
    expect(made.sort()).toEqual(['db/indexes.ts', 'db/listen.ts', 'db/migrate.ts', 'db/partitions.ts', 'db/upgrade.ts'])
  })
})

const PAYLOADS = [
  "'",
  "''",
  `"`,
  "' or '1'='1",
  "'; drop table services; --",
  '1); delete from keys; --',
  '$1',
  '$$; drop table keys; $$',
  "\\'; select pg_sleep(10); --",
  "%' or 1=1 --",
  '{1,2}',
  "E'\\x27",
  '/*',
  'ʼ; --',
]

describe('S-37 over HTTP', () => {
  let here: World
  let key: Key
  let template: string

  beforeAll(async () => {
    here = await world()
    key = await (await here.service()).key()
    template = await emailTemplate(key)
  })

  const counts = async () =>
    (
      await here.parts.db.sql<Record<string, number>>`
        select (select count(*)::integer from services) as services, (select count(*)::integer from keys) as keys,
               (select count(*)::integer from templates where archived) as archived`
    )[0]

  test('quotes and statements in ids, filters, headers and bodies are refused, find nothing, or are stored literally', async () => {
    const before = await counts()
    for (const payload of PAYLOADS) {
      const text = encodeURIComponent(payload)
      for (const path of [
        `${LIST}?reference=${text}`,
        `${LIST}?status=${text}`,
        `${LIST}?template_type=${text}`,
        `${LIST}?older_than=${text}`,
        `${LIST}?include_jobs=${text}`,
        `/v2/templates?type=${text}`,
        `/v2/notifications/bulk?older_than=${text}`,
        `${LIST}/${text}`,
        `/v2/notifications/bulk/${text}`,
        `/v2/template/${text}`,
        `/v2/template/${template}/version/${text}`,
        `/download/${text}`,
      ]) {
        const { status } = await key.get(path)
        expect([200, 400, 404], `${path} answered ${status}`).toContain(status)
      }
      const kept = { reference: `${payload} ${payload}`, personalisation: { name: payload, [payload]: payload } }
      const sent = await key.post(
        EMAIL,
        { email_address: 'ada@example.net', template_id: template, scheduled_for: inMinutes(30), ...kept },
        { 'idempotency-key': payload.replaceAll(/[^\x20-\x7e]/g, '-') },
      )
      expect(sent.status, sent.text).toBe(201)
      const found = await key.get(`${LIST}?reference=${encodeURIComponent(kept.reference)}`)
      expect(found.body.notifications.map((one: { id: string }) => one.id)).toEqual([sent.body.id])
      expect((await key.get(`${LIST}/${sent.body.id}`)).body.reference).toBe(kept.reference)
      expect((await key.patch(`/v2/manage-template/${template}`, { name: payload })).body.name).toBe(payload)
      for (const authorization of [`ApiKey-v1 ${payload}`, `Bearer ${payload}`])
        expect((await here.call('GET', LIST, { headers: { authorization: ascii(authorization) } })).status).toBe(403)
    }
    expect(await counts()).toEqual(before)
  })
})

const ascii = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '-')
