// POST /herald/v1/check/…: the bodies of the three sends, and answers that say everything that is wrong.
import { beforeAll, describe, expect, test } from 'vitest'
import { emailTemplate, type Key } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const CHECK = '/herald/v1/check'
let here: World
let key: Key
let email: string
let service: Awaited<ReturnType<World['service']>>

beforeAll(async () => {
  here = await world()
  service = await here.service({ may_send_files: false })
  key = await service.key()
  email = await emailTemplate(key)
})

const file = (rows: string[]) => ({ name: 'Job', template_id: email, csv: ['email address,name', ...rows].join('\n') })

describe('one message', () => {
  test('every problem in the order of the contract, with status 200', async () => {
    const limited = await here.service({ mode: 'trial', email_daily_limit: 0, may_send_files: false })
    const own = await limited.key()
    const template_id = await emailTemplate(own, 'Hello ((name)) ((paper))')
    const reply = await own.post(`${CHECK}/email`, {
      email_address: 'stranger@example.org',
      template_id,
      personalisation: {
        extra: { file: Buffer.from('hi').toString('base64'), filename: 'a.txt', sending_method: 'link' },
        tool: { file: Buffer.from('MZ\u0090').toString('base64'), filename: 'a.exe', sending_method: 'attach' },
      },
      email_reply_to_id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b',
    })
    expect(reply.status).toBe(200)
    expect(reply.body.ok).toBe(false)
    expect(reply.body.problems).toEqual([
      { error: 'BadRequestError', message: `Missing personalisation for template ID ${template_id}: name, paper` },
      { error: 'BadRequestError', message: 'Template has no placeholder for file link: extra' },
      { error: 'TooManyRequestsError', message: 'Exceeded send limits (0) for today' },
      {
        error: 'BadRequestError',
        message: `email_reply_to_id 01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b does not exist in database for service id ${limited.id}`,
      },
      { error: 'BadRequestError', message: "Can't send to this recipient when service is in trial mode" },
      { error: 'BadRequestError', message: 'Service is not allowed to send documents' },
      { error: 'BadRequestError', message: expect.stringMatching(/^Unsupported file type/) },
    ])
    expect(reply.body.recipient).toMatchObject({ is_allowed: false, reason: 'trial' })
    expect(reply.body.files).toMatchObject([{ name: 'a.txt', bytes: 2, method: 'link', is_scanned: true }])
    expect(reply.body.daily).toMatchObject({ limit: 0, used: 0, remaining: 0 })
  })

  test('a suspended service is checked to the end', async () => {
    const other = await here.service()
    const own = await other.key()
    const template_id = await emailTemplate(own)
    await other.change({ state: 'suspended' })
    here.parts.services.clear()
    const { status, body } = await own.post(`${CHECK}/email`, { email_address: 'a@example.org', template_id })
    expect([status, body.problems]).toEqual([
      200,
      [
        { error: 'BadRequestError', message: 'Service is suspended' },
        { error: 'BadRequestError', message: `Missing personalisation for template ID ${template_id}: name` },
      ],
    ])
  })

  test('a body that is not JSON, no body and no key are refused as by a send', async () => {
    for (const kind of ['email', 'sms', 'bulk'] as const) {
      const headers = { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'application/json' }
      for (const raw of ['{', '', '[1,']) {
        const [checked, sent] = await Promise.all(
          [`${CHECK}/${kind}`, `/v2/notifications/${kind}`].map(path => here.call('POST', path, { raw, headers })),
        )
        expect([checked?.status, checked?.text]).toEqual([sent?.status, sent?.text])
      }
      expect((await here.call('POST', `${CHECK}/${kind}`, { body: {} })).status).toBe(401)
    }
  })

  test('it counts against the request rate of the key type, with the same headers', async () => {
    const other = await here.service({ rate_limit: 3 })
    const own = await other.key()
    const template_id = await emailTemplate(own)
    const body = { email_address: 'a@example.org', template_id, personalisation: { name: 'A' } }
    const first = await own.post(`${CHECK}/email`, body)
    expect(first.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=60')
    expect(first.headers.get('ratelimit')).toMatch(/^"requests";r=2;/)
    expect((await own.post('/v2/notifications/email', body)).headers.get('ratelimit')).toMatch(/;r=1;/)
    expect((await own.post(`${CHECK}/bulk`, {})).headers.get('ratelimit')).toMatch(/;r=0;/)
    const fourth = await own.post(`${CHECK}/sms`, {})
    expect([fourth.status, fourth.body.errors[0].error]).toEqual([429, 'RateLimitError'])
    expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('a bulk file', () => {
  const accept = (type: string) => ({ accept: type })

  test('all errors as lines of JSON', async () => {
    const rows = Array.from({ length: 3_000 }, () => 'bad,')
    const { status, text, headers } = await key.post(`${CHECK}/bulk`, file(rows), accept('application/x-ndjson'))
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(headers.get('ratelimit')).toMatch(/^"requests"/)
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(6_000)
    expect(JSON.parse(lines[5_999] ?? '')).toEqual({
      row: 3_000,
      column: 'name',
      problem: 'missing',
      message: 'Missing',
    })
  })

  test('all errors as CSV, in which no cell is a formula; problems of the whole file first', async () => {
    const body = { name: 'Job', template_id: email, csv: '=Name,Name,name,town\nA,,,bad' }
    const { text, headers } = await key.post(`${CHECK}/bulk`, body, accept('text/csv'))
    expect(headers.get('content-type')).toMatch(/^text\/csv/)
    expect(text.split('\n')).toEqual([
      '"row","column","problem","message"',
      '"","","file","Missing column headers: email address"',
      '"","","file","Duplicate column headers: Name, name"',
      '"1","name","missing","Missing"',
      '',
    ])
    const formula = await smsLikeFormula()
    expect(formula).toContain('"\'=cmd"')
  })

  /** A placeholder whose column begins like a formula. */
  async function smsLikeFormula() {
    const template_id = await emailTemplate(key, 'Hello ((=cmd))', 'S')
    const body = { name: 'Job', template_id, csv: 'email address,=cmd\na@example.org,' }
    return (await key.post(`${CHECK}/bulk`, body, accept('text/csv'))).text
  }

  test('a file without problems: no line, or only the header', async () => {
    const good = file(['a@example.org,A'])
    expect((await key.post(`${CHECK}/bulk`, good, accept('application/x-ndjson'))).text).toBe('')
    expect((await key.post(`${CHECK}/bulk`, good, accept('text/csv'))).text.trimEnd().split('\n')).toHaveLength(1)
    expect((await key.post(`${CHECK}/bulk`, good)).body).toMatchObject({ ok: true, rows: { total: 1 } })
  })

  test('too many rows are counted, not checked', async () => {
    const { body } = await key.post(`${CHECK}/bulk`, file(Array.from({ length: 50_001 }, () => 'bad,')))
    expect(body.problems).toEqual([
      { error: 'BadRequestError', message: 'Too many rows. Maximum number of rows allowed is 50000' },
    ])
    expect(body).toMatchObject({ rows: null, errors: [], skipped: ['rows', 'daily limit'] })
  })
})
