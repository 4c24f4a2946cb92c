// openapi.json as its users need it: a linter, and the service's real responses. The typed client made from it has test/client.test.ts.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { JOB_STATUSES } from '../src/bulk/job.ts'
import { type Operation, resolved } from '../src/http/openapi.ts'
import type { JsonSchema } from '../src/http/validation.ts'
import { STATUSES } from '../src/notifications/status.ts'
import { FIELDS } from '../src/reference/fields.ts'
import { openApi } from '../src/routes.ts'
import { EMAIL, inMinutes, LIST, SMS } from './support/sends.ts'
import { CATEGORY, type Reply, type World, world } from './support/world.ts'

const api = openApi()
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)
const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
const contentsOf = ({ requestBody, responses }: Operation) => [
  ...(requestBody ? [requestBody.content[JSON_TYPE]] : []),
  ...Object.values(responses).map(response => replyOf(resolved(api, response))),
]

/** A streamed response has lines of JSON. */
const replyOf = ({ content }: { content: Readonly<Record<string, { schema: JsonSchema; example: unknown }>> }) =>
  content[JSON_TYPE] ?? content[LINES_TYPE]

// Stricter than the document: a field that it does not name is an error.
const ajv = new Ajv2020({ allErrors: true, strict: false })
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|\+00:00)$/)
ajv.addFormat('email', /^[^@\s]+@[^@\s]+$/)
ajv.addFormat('phone', /^\+\d+$/)
ajv.addSchema(closed(api) as object, 'api')

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]))
  const isClosed = 'properties' in inner && 'required' in inner && !('additionalProperties' in inner)
  return isClosed && inner.type !== undefined ? { ...inner, additionalProperties: false } : inner
}

function problems(schema: JsonSchema, value: unknown): unknown[] {
  const validate = ajv.compile(JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', '"api#/')))
  return validate(value) ? [] : (validate.errors ?? [])
}

test('the linter reports nothing under its recommended rules', () => {
  const cli = createRequire(import.meta.url)
    .resolve('@redocly/cli/package.json')
    .replace('package.json', 'bin/cli.js')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [cli, 'lint', 'openapi.json', '--extends=recommended', '--format=json'],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  expect(status, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
}, 60_000)

describe('the document', () => {
  test('every operation has a described tag, and every request and response a valid example', () => {
    const tags = api.tags.map(tag => tag.name)
    for (const { name, operation } of operations) {
      for (const tag of operation.tags) expect(tags, name).toContain(tag)
      for (const content of contentsOf(operation)) {
        expect(content?.example, name).toBeDefined()
        expect(problems(content?.schema ?? {}, content?.example), name).toEqual([])
      }
    }
  })

  test('every response is a named component whose fields are required, except the link to the next page', () => {
    for (const { name, operation } of operations)
      for (const response of Object.values(operation.responses))
        expect(replyOf(resolved(api, response))?.schema.$ref, name).toMatch(/^#\/components\/schemas\/\w+$/)
    const requests = operations.flatMap(({ operation }) => operation.requestBody?.content[JSON_TYPE]?.schema.$ref ?? [])
    expect(requests).toHaveLength(13)
    const optional = Object.entries(api.components.schemas)
      .filter(([name]) => !requests.includes(`#/components/schemas/${name}`))
      .flatMap(([name, schema]) => optionalIn(schema, name))
    expect(optional).toEqual(['JobList.links.next', 'MessageList.links.next'])
  })

  function optionalIn(schema: JsonSchema, place: string): string[] {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    const required = (schema.required ?? []) as string[]
    return [
      ...properties.filter(([name]) => !required.includes(name)).map(([name]) => `${place}.${name}`),
      ...properties.flatMap(([name, field]) => optionalIn(field, `${place}.${name}`)),
      ...(schema.items ? optionalIn(schema.items as JsonSchema, `${place}[]`) : []),
    ]
  }

  test('every field and parameter has a description, and no row of the table of fields is unused', () => {
    const used = new Set<string>()
    const without: string[] = []
    const look = (place: string, name: string, { description }: { description?: unknown }) => {
      if (typeof description !== 'string' || description.length < 5) without.push(`${place}.${name}`)
      for (const row of [`${place}.${name}`, name]) if (FIELDS[row] === description) used.add(row)
    }
    function lookInto(schema: JsonSchema, place: string): void {
      for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
        look(place, name, field)
        lookInto(field, `${place}.${name}`)
      }
      for (const inner of [schema.items, schema.additionalProperties, ...((schema.oneOf ?? []) as JsonSchema[])])
        if (typeof inner === 'object' && inner !== null) lookInto(inner as JsonSchema, place)
    }
    for (const [title, schema] of Object.entries(api.components.schemas)) lookInto(schema, title)
    for (const { operation } of operations)
      for (const one of operation.parameters) {
        const parameter = resolved(api, one)
        look(operation.operationId, parameter.name, parameter)
      }
    expect(without).toEqual([])
    expect(Object.keys(FIELDS).filter(row => !used.has(row))).toEqual([])
  })

  test('times that are refused in the future are described so', () => {
    for (const [schema, names] of Object.entries({ ReplayWebhook: ['from', 'to'], ChangeWebhook: ['from'] }))
      for (const name of names)
        expect(api.components.schemas[schema]).toHaveProperty(
          `properties.${name}.description`,
          expect.stringContaining('not in the future'),
        )
  })

  test('operation ids are a verb and what it is about, each once', () => {
    const verbs = 'send|list|get|create|change|cancel|archive|remove|delete|preview|check|rotate|test|replay'
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(ids.filter(id => !new RegExp(`^(?:${verbs})(?:[A-Z][a-z]+)+$`).test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    // Herald and the version are in the path.
    expect(ids.filter(id => /Herald|V\d|ById/.test(id))).toEqual([])
  })

  test('answers in other formats are declared: statistics as CSV, the errors of a bulk file as lines of JSON or CSV', () => {
    const typesOf = (id: string) => {
      const found = operations.find(({ operation }) => operation.operationId === id)?.operation
      return Object.keys(found ? resolved(api, found.responses['200'] as { content: object }).content : {})
    }
    expect(typesOf('getStatistics')).toEqual([JSON_TYPE, 'text/csv'])
    expect(typesOf('checkBulk')).toEqual([JSON_TYPE, LINES_TYPE, 'text/csv'])
    for (const id of ['getMessageReport', 'getJobReport', 'getBulkJobReport'])
      expect(typesOf(id)).toEqual(['text/csv', LINES_TYPE])
  })

  test('statuses are enumerated, personalisation is open, sends take an Idempotency-Key, and there is a server', () => {
    const { schemas } = api.components
    expect(schemas.MessageStatus).toEqual({ type: 'string', enum: STATUSES })
    expect(schemas.JobStatus).toEqual({ type: 'string', enum: JOB_STATUSES })
    for (const name of ['SendEmail', 'SendTextMessage', 'PreviewTemplate'])
      expect(schemas[name]).toHaveProperty('properties.personalisation.additionalProperties', true)
    const sends = operations.filter(({ operation }) =>
      operation.parameters.some(one => resolved(api, one).name === 'Idempotency-Key'),
    )
    expect(sends.map(({ name }) => name)).toEqual([`POST ${EMAIL}`, `POST ${SMS}`, `POST ${LIST}/bulk`])
    expect(api.servers).toHaveLength(1)
  })

  test('a cancelled job is described with the fields it has', () => {
    expect(operations.find(({ name }) => name === `DELETE ${LIST}/bulk/{job_id}`)?.operation.responses).toHaveProperty(
      '200.content.application/json.schema.$ref',
      '#/components/schemas/CancelledJobReply',
    )
    const fields = Object.keys((api.components.schemas.CancelledJob?.properties ?? {}) as object)
    expect(fields).not.toContain('service')
    expect(fields).not.toContain('api_key')
  })
})

describe('the service itself', () => {
  let here: World
  let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
  const template = { name: 'Permit', template_category_id: CATEGORY.general, content: 'Dear ((name))' }
  const seen = new Map<string, Reply[]>()
  /** Stores the response under the name of its operation. */
  async function see(name: string, answer: Promise<Reply>): Promise<Reply> {
    const reply = await answer
    seen.set(name, [...(seen.get(name) ?? []), reply])
    return reply
  }

  beforeAll(async () => {
    here = await world(
      { HERALD_WEBHOOK_ALLOW: '127.0.0.1', HERALD_WEBHOOK_SCHEMES: 'http,https', HERALD_WEBHOOK_PORTS: '443,1024' },
      { engine: true },
    )
    const service = await here.service({ name: 'Parking permits' })
    await service.addSender('PERMITS')
    key = await service.key({ manageWebhooks: true })
    const make = (type: string) =>
      see(
        'POST /v2/manage-template',
        key.post('/v2/manage-template', { ...template, template_type: type, subject: 'Hi' }),
      )
    const [email, sms, old] = [(await make('email')).body.id, (await make('sms')).body.id, (await make('sms')).body.id]
    const personalisation = { name: 'Ada', other: ['a', 'b'] }
    const toEmail = { email_address: 'ada@example.org', template_id: email, personalisation }
    const toPhone = { phone_number: '+16135550123', template_id: sms, personalisation }
    const sent = await see(`POST ${EMAIL}`, key.post(EMAIL, toEmail))
    const scheduled = { ...toPhone, reference: 'later', scheduled_for: inMinutes(60) }
    const later = await see(`POST ${SMS}`, key.post(SMS, scheduled))
    await see(`POST ${SMS}`, key.post(SMS, toPhone))
    const bulk = (more: object) =>
      see(
        `POST ${LIST}/bulk`,
        key.post(`${LIST}/bulk`, {
          name: 'All',
          template_id: sms,
          rows: [
            ['phone number', 'name'],
            ['+16135550123', 'A'],
          ],
          ...more,
        }),
      )
    const checks = '/herald/v1/check'
    const rows = [['phone number', 'name', 'town'], ['+16135550123', 'A'], ['no number'], ['+16135550123', 'B']]
    for (const template_id of [email, sms, here.parts.ids.next()]) {
      await see(`POST ${checks}/email`, key.post(`${checks}/email`, { ...toEmail, template_id }))
      await see(`POST ${checks}/sms`, key.post(`${checks}/sms`, { ...toPhone, template_id }))
      await see(`POST ${checks}/bulk`, key.post(`${checks}/bulk`, { name: 'All', template_id, rows }))
    }
    for (const kind of ['email', 'sms', 'bulk']) await see(`POST ${checks}/${kind}`, key.post(`${checks}/${kind}`, {}))
    const done = await bulk({})
    const job = await bulk({ scheduled_for: inMinutes(60) })
    const jobPath = (one: Reply) => `${LIST}/bulk/${one.body.data.id}`
    const wait = { timeout: 20_000, interval: 50 }
    await vi.waitFor(async () => expect((await key.get(jobPath(done))).body.data.job_status).toBe('finished'), wait)
    await vi.waitFor(async () => expect((await key.get(`${LIST}/${sent.body.id}`)).body.status).toBe('delivered'), wait)
    for (const one of [done, job]) await see(`GET ${LIST}/bulk/{job_id}`, key.get(jobPath(one)))
    const reports = '/herald/v1/jobs/{job_id}/report'
    await see(`GET ${reports}`, key.get(`${reports.replace('{job_id}', done.body.data.id)}?format=ndjson`))
    for (const what of ['messages', 'jobs'])
      await see(`GET /herald/v1/reports/${what}`, key.get(`/herald/v1/reports/${what}?format=ndjson`))
    for (const by of ['day', 'month', 'template'])
      await see('GET /herald/v1/statistics', key.get(`/herald/v1/statistics?by=${by}`))
    await see(`GET ${LIST}/bulk`, key.get(`${LIST}/bulk`))
    await see(`DELETE ${LIST}/bulk/{job_id}`, key.delete(jobPath(job)))
    for (const one of [sent, later]) await see(`GET ${LIST}/{notification_id}`, key.get(`${LIST}/${one.body.id}`))
    for (const query of ['', '?include_jobs=true', '?reference=none']) await see(`GET ${LIST}`, key.get(LIST + query))
    await see(`DELETE ${LIST}/{notification_id}`, key.delete(`${LIST}/${later.body.id}`))
    const timeline = (id: string) => `/herald/v1/notifications/${id}/timeline`
    for (const one of [sent, later]) await see(`GET ${timeline('{notification_id}')}`, key.get(timeline(one.body.id)))
    await see('GET /v2/manage-template/template-categories', key.get('/v2/manage-template/template-categories'))
    const change = { content: 'Dear ((name)), hello' }
    await see('PATCH /v2/manage-template/{template_id}', key.patch(`/v2/manage-template/${email}`, change))
    await see('GET /v2/manage-template/{template_id}', key.get(`/v2/manage-template/${email}`))
    await see('DELETE /v2/manage-template/{template_id}', key.delete(`/v2/manage-template/${old}`))
    for (const id of [email, sms]) {
      await see('GET /v2/template/{id}', key.get(`/v2/template/${id}`))
      await see('GET /v2/template/{id}/{version}', key.get(`/v2/template/${id}/1`))
      await see('GET /v2/template/{id}/version/{version}', key.get(`/v2/template/${id}/version/1`))
      await see('POST /v2/template/{id}/preview', key.post(`/v2/template/${id}/preview`, { personalisation }))
    }
    await see('GET /v2/templates', key.get('/v2/templates'))
    await see('GET /herald/v1/events', key.get('/herald/v1/events'))
    const inbox = '/herald/v1/inbox'
    await see(`GET ${inbox}`, key.get(inbox))
    await see(`GET ${inbox}/{message_id}`, key.get(`${inbox}/${sent.body.id}`))
    await see(`DELETE ${inbox}/{message_id}`, key.delete(`${inbox}/${sent.body.id}`))
    await see(`DELETE ${inbox}`, key.delete(inbox))
    await here.parts.requests.flush()
    await see('GET /herald/v1/requests', key.get('/herald/v1/requests'))
    await seeWebhooks()
  }, 120_000)

  async function seeWebhooks() {
    const hooks = '/herald/v1/webhooks'
    const create = (body: object) => see(`POST ${hooks}`, key.post(hooks, { url: 'http://127.0.0.1:1024/', ...body }))
    const { id } = (await create({ types: ['job.finished'], batch: 10 })).body
    await create({ format: 'callback', token: 'a-token-of-ours' })
    const [at, one] = [`${hooks}/${id}`, `${hooks}/{webhook_id}`]
    await see(`GET ${hooks}`, key.get(hooks))
    await see(`GET ${one}`, key.get(at))
    await see(`PATCH ${one}`, key.patch(at, { types: null, state: 'paused' }))
    await see(`POST ${one}/rotate-secret`, key.post(`${at}/rotate-secret`))
    await see(`POST ${one}/test`, key.post(`${at}/test`))
    for (const body of [{ from: '2026-01-15T08:00:00Z' }, { failed: true }])
      await see(`POST ${one}/replay`, key.post(`${at}/replay`, body))
    const { sql } = here.parts.db
    const [event, attempt] = [here.parts.ids.next(), here.parts.ids.next()]
    await sql`
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status)
      values (${attempt}, ${id}, now(), ${[event]}, 1, '{12}', 503)`
    await sql`
      insert into webhook_retries (webhook_id, event, stamp, seq, subject, next_at) values (${id}, ${event}, 1, 1, ${event}, now())`
    for (const list of ['attempts', 'failed']) await see(`GET ${one}/${list}`, key.get(`${at}/${list}`))
    await see(`DELETE ${one}`, key.delete(at))
  }

  for (const { name, operation } of operations)
    test(`answers ${name} as described`, () => {
      const [status = '', response] = Object.entries(operation.responses)[0] ?? []
      const content = response && resolved(api, response).content
      const schema = (content && replyOf({ content })?.schema) ?? {}
      const answers = seen.get(name) ?? []
      expect(answers.length).toBeGreaterThan(0)
      for (const answer of answers) {
        expect(String(answer.status)).toBe(status)
        const lines = content?.[LINES_TYPE]
          ? answer.text
              .trim()
              .split('\n')
              .map(line => JSON.parse(line))
          : [answer.body]
        for (const line of lines) expect(problems(schema, line), answer.text).toEqual([])
      }
    })

  test('accepts the shape of every request that the document calls valid', async () => {
    for (const { name, operation } of operations.filter(({ operation }) => operation.requestBody)) {
      const [method = '', path = ''] = name.split(' ')
      const headers = { authorization: `ApiKey-v1 ${key.key}` }
      const body = operation.requestBody?.content[JSON_TYPE]?.example
      const later = Object.hasOwn(body as object, 'scheduled_for') && { scheduled_for: inMinutes(60) }
      const place = path.replace(/\{\w+\}/, '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b')
      const reply = await here.call(method, place, { body: { ...(body as object), ...later }, headers })
      expect([200, 201, 400, 404]).toContain(reply.status)
      // The template of the example does not exist; nothing else may be wrong with it.
      const message = (reply.body.errors ?? reply.body.problems)?.[0]?.message ?? 'created'
      expect(['created', 'Template not found', 'No result found'], name).toContain(message)
    }
  })

  test('refuses as described', async () => {
    for (const reply of [await key.post(EMAIL, {}), await here.call('GET', LIST), await key.get(`${LIST}/nothing`)])
      expect(problems({ $ref: '#/components/schemas/Errors' }, reply.body), reply.text).toEqual([])
  })
})
