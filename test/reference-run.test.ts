// The examples of the reference, run as they stand on the page against a running Herald: curl, Node and Python, and the other languages
// where they are installed.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LANGUAGES, type Language } from '../src/reference/languages.ts'
import { callOf, operationsOf, type Shown } from '../src/reference/operations.ts'
import { openApi } from '../src/routes.ts'
import { CATEGORY, type Caller, type World, world } from './support/world.ts'

const COMMANDS: Readonly<Record<string, (file: string) => readonly [command: string, ...rest: string[]]>> = {
  curl: file => ['bash', file],
  node: file => [process.execPath, file],
  python: file => ['python3', file],
  php: file => ['php', file],
  ruby: file => ['ruby', file],
  java: file => ['java', file],
}
const PROBES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['curl', '--version'],
  node: [process.execPath, '--version'],
  python: ['python3', '--version'],
  php: ['php', '--version'],
  ruby: ['ruby', '--version'],
  java: ['javac', '--version'],
}
const isThere = ({ key }: Language) => {
  const [command, ...rest] = PROBES[key] ?? []
  return command !== undefined && spawnSync(command, rest).status === 0
}
const installed = LANGUAGES.filter(isThere)
const missing = LANGUAGES.filter(one => !installed.includes(one)).map(({ name }) => name)
if (missing.length > 0)
  console.warn(`Examples that are not run here, because the language is missing: ${missing.join(', ')}.`)

/** A start of Java takes a second: it runs some. */
const SOME = ['sendEmail', 'listTemplates', 'deleteCapturedMessages', 'createTemplate']

/** It takes away what others read, so it comes last. */
const EMPTIES = 'deleteCapturedMessages'

const operations = operationsOf(openApi())
let here: World
let key: Caller
let folder: string
let ids: Record<string, string>

beforeAll(async () => {
  here = await world({ HERALD_WEBHOOK_ALLOW: '127.0.0.1' }, { engine: true })
  folder = mkdtempSync(join(tmpdir(), 'herald-reference-'))
  const service = await here.service({ rate_limit: 10_000 })
  key = await service.key({ type: 'test', manageWebhooks: true })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the paths of operations name. */
async function makeThings(): Promise<Record<string, string>> {
  const template = async (type: 'email' | 'sms', more: object): Promise<string> =>
    (
      await key.post('/v2/manage-template', {
        ...{ name: `A ${type}`, template_type: type, content: 'Dear ((name))', ...more },
        template_category_id: CATEGORY.general,
      })
    ).body.id
  const email = await template('email', { subject: 'Hello' })
  const to = { email_address: 'ada@example.org', template_id: email, personalisation: { name: 'Ada' } }
  const send = async (more: object = {}): Promise<string> =>
    (await key.post('/v2/notifications/email', { ...to, ...more })).body.id
  const hook = async (): Promise<string> =>
    (await key.post('/herald/v1/webhooks', { url: 'https://example.org/hook' })).body.id
  const scheduled_for = new Date(Date.now() + 3_600_000).toISOString()
  const csv = 'email address,name\nada@example.org,Ada'
  const bulk = { name: 'A job', template_id: email, csv, scheduled_for }
  const things = {
    email,
    sms: await template('sms', {}),
    doomedTemplate: await template('email', { subject: 'Bye' }),
    webhook: await hook(),
    doomedWebhook: await hook(),
    message: await send(),
    doomedMessage: await send(),
    scheduled: await send({ scheduled_for }),
    job: (await key.post('/v2/notifications/bulk', bulk)).body.data.id,
  }
  for (const id of [things.message, things.doomedMessage])
    await vi.waitFor(async () => expect((await key.get(`/herald/v1/inbox/${id}`)).status).toBe(200), {
      ...{ timeout: 20_000, interval: 50 },
    })
  return things
}

/** An operation that takes something away has its own. */
const valuesOf = ({ method }: Shown): Record<string, string> => ({
  notification_id: (method === 'DELETE' ? ids.scheduled : ids.message) ?? '',
  message_id: (method === 'DELETE' ? ids.doomedMessage : ids.message) ?? '',
  template_id: (method === 'DELETE' ? ids.doomedTemplate : ids.email) ?? '',
  id: ids.email ?? '',
  webhook_id: (method === 'DELETE' ? ids.doomedWebhook : ids.webhook) ?? '',
  job_id: ids.job ?? '',
  version: '1',
})

describe.each(installed)(
  '$name',
  language => {
    beforeAll(async () => {
      ids = await makeThings()
    }, 60_000)
    const chosen = [
      ...operations.filter(({ id }) => id !== EMPTIES),
      ...operations.filter(({ id }) => id === EMPTIES),
    ].filter(({ id }) => language.key !== 'java' || SOME.includes(id))
    test.each(chosen)(`$method $path`, async operation => {
      const { status, text } = await run(language, operation)
      // Ids in an example body are invented, so a refusal by our own sentence shows as well that the request was understood.
      if (operation.body === null) return expect(status, text).toBeOneOf([200, 201, 202])
      expect(status, text).toBeOneOf([200, 201, 202, 400, 404])
      expect(text).not.toMatch(/JSON|is a required property|Additional properties|unexpected/)
    })
  },
  300_000,
)

async function run(language: Language, operation: Shown): Promise<{ status: number; text: string }> {
  const call = callOf(operation, here.address, valuesOf(operation))
  // Templates of the example are replaced by one that is there.
  const text = language
    .write(call)
    .replaceAll(TEMPLATE, operation.path.includes('sms') ? (ids.sms ?? '') : (ids.email ?? ''))
  const file = join(folder, language.file)
  writeFileSync(file, text)
  const [command = '', ...rest] = COMMANDS[language.key]?.(file) ?? []
  const child = spawn(command, rest, { env: { ...process.env, HERALD_KEY: key.key } })
  let out = ''
  let err = ''
  child.stdout.on('data', piece => {
    out += piece
  })
  child.stderr.on('data', piece => {
    err += piece
  })
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  return resultOf(language.key, out, err, code)
}

/** The template of the examples in openapi.json. */
const TEMPLATE = '0199f4b0-1111-7222-8333-444455556666'

/** curl prints the answer alone, and Python throws for a refusal. */
function resultOf(language: string, out: string, err: string, code: number | null) {
  if (language === 'curl') {
    const refused = /"status_code": ?(\d+)/.exec(out)?.[1]
    return { status: code === 0 ? 200 : Number(refused ?? 0), text: out || err }
  }
  const status = /^(\d{3}) /.exec(out)?.[1] ?? /HTTP Error (\d{3})/.exec(err)?.[1] ?? '0'
  const text = out.slice(4)
  return { status: Number(status), text: text || (status === '0' ? err : '{"errors":[{"message":"-"}]}') }
}
