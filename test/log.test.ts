// The request log for an operator: what was created, why a request was refused, and never input of a caller.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { sentences as fields } from '../src/http/validation.ts'
import { loggable } from '../src/sentences.ts'
import { readable } from '../src/telemetry/readable.ts'
import { hasScript, programs } from './support/program.ts'
import { EMAIL, emailTemplate, SMS, smsTemplate } from './support/sends.ts'
import { callerWith } from './support/world.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const BULK = '/v2/notifications/bulk'
const { newDatabase, herald, start } = programs()
type Line = {
  msg: string
  pid: number
  process: string
  method: string
  route: string
  status: number
  id?: string
  error?: string
  reason?: string
}

test('a 201 line has the id of the new object, a 4xx line the error and our sentence, and no line contains input of the caller', async () => {
  const env = await newDatabase()
  const { keys } = JSON.parse((await herald(['sample', '--show-keys', '--json'], env)).out) as {
    keys: { live: string }
  }
  const program = await start({ ...env, HERALD_LOG_LEVEL: 'info', HERALD_PROCESS_NAME: 'web-1' })
  const key = callerWith(program.address, keys.live)
  const email = await emailTemplate(key)
  const sms = await smsTemplate(key)

  const WORD = 'canary'
  const mail = { email_address: 'ada@example.org', template_id: email, personalisation: { name: 'Ada' } }
  const idempotency = { 'idempotency-key': randomUUID() }
  const sent = (await key.post(EMAIL, mail, idempotency)).body.id
  expect((await key.post(EMAIL, mail, idempotency)).body.id).toBe(sent)
  const rows = [
    ['email address', 'name'],
    ['ada@example.org', 'Ada'],
  ]
  const job = (await key.post(BULK, { name: WORD, template_id: email, rows })).body.data.id

  // Each sentence that quotes a caller, and some that could be mistaken for another sentence.
  const refused: [body: unknown, error: string, reason: string | undefined][] = [
    [{ ...mail, email_address: `${WORD}@` }, 'ValidationError', 'email_address Not a valid email address'],
    [
      { ...mail, email_address: 7, [WORD]: 1 },
      'ValidationError',
      'email_address <value> is not of type <types>; Additional properties are not allowed (<names> was unexpected)',
    ],
    [{ ...mail, reference: WORD.repeat(300) }, 'ValidationError', 'reference <value> is too long'],
    [
      { ...mail, reference: `x ${WORD} is not of type string`.repeat(50) },
      'ValidationError',
      'reference <value> is too long',
    ],
    [{ ...mail, template_id: WORD }, 'ValidationError', 'template_id is not a valid UUID'],
    [
      { ...mail, scheduled_for: WORD },
      'ValidationError',
      'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format',
    ],
    [{ ...mail, personalisation: {} }, 'BadRequestError', 'Missing personalisation for template ID <id>: <names>'],
    [
      { ...mail, personalisation: { name: { file: 'e', filename: 'canary.txt', sending_method: WORD } } },
      'ValidationError',
      'personalisation <name> is not one of [attach, link]',
    ],
    [{ ...mail, template_id: randomUUID() }, 'BadRequestError', 'Template not found'],
    [{ ...mail, template_id: sms }, 'BadRequestError', '<type> template is not suitable for <type> notification'],
    [WORD, 'ValidationError', '<value> is not of type object'],
  ]
  for (const [body, error] of refused) {
    const reply = await key.post(EMAIL, body)
    expect([reply.status, reply.body.errors[0].error], reply.text).toEqual([400, error])
  }
  await key.post(SMS, { phone_number: `+1613555${WORD}`, template_id: sms, personalisation: { name: WORD } })
  await callerWith(program.address, `${WORD}-${randomUUID()}`).get('/v2/notifications')
  await key.get(`/v2/${WORD}`)

  const { err } = await program.end('SIGTERM')
  const lines = err
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
  const posts = lines.filter(line => line.method === 'POST' && line.route.startsWith('/v2/notifications'))
  expect(posts.filter(line => line.status === 201).map(line => line.id)).toEqual([sent, sent, job])
  expect(
    posts.filter(line => line.status === 400 && line.route === EMAIL).map(line => [line.error, line.reason]),
  ).toEqual(refused.map(([, error, reason]) => [error, reason]))
  expect(posts.find(line => line.route === SMS)?.reason).toMatch(/^phone_number Not/)
  expect(lines.find(line => line.status === 403)).toMatchObject({
    error: 'AuthError',
    reason: 'Invalid token: API key not found',
  })
  expect(lines.find(line => line.status === 404)).toMatchObject({ error: 'NotFound' })
  expect(lines.filter(line => line.pid !== program.pid || line.process !== 'web-1')).toEqual([])
  expect(err).not.toContain(WORD)
})

test('probes and scrapes are debug lines; a refused scrape is an info line', async () => {
  const env = await newDatabase()
  const linesAt = async (level: string) => {
    const program = await start({ ...env, HERALD_LOG_LEVEL: level })
    const statuses = []
    for (const path of ['/health/live', '/health/ready', '/metrics'])
      statuses.push((await fetch(program.address + path)).status)
    const elsewhere = await fetch(`${program.address}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
    expect([...statuses, elsewhere.status]).toEqual([200, 200, 200, 404])
    const { err } = await program.end('SIGTERM')
    const lines = err
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line & { level: number })
    return lines.filter(({ msg }) => msg === 'answered').map(({ level, route, status }) => [level, route, status])
  }
  expect(await linesAt('info')).toEqual([[30, '/metrics', 404]])
  expect(await linesAt('debug')).toEqual([
    [20, '/health/live', 200],
    [20, '/health/ready', 200],
    [20, '/metrics', 200],
    [30, '/metrics', 404],
  ])
})

test('only our own sentences are logged, whatever a message quotes', () => {
  expect(loggable(['canary'])).toBe(null)
  expect(loggable([])).toBe(null)
  expect(loggable(['canary is a required property'])).toBe(null)
  expect(loggable(['Missing column headers: canary', 'canary'])).toBe('Missing column headers: <names>')
  // Overlapping sentences: nothing that they quote is logged.
  const hostile = ['Missing personalisation: ', 'email_address ', 'Additional properties are not allowed (', 'Row ']
  for (const start of hostile)
    for (const end of [' is too long', ' is not of type object', ' was unexpected)', ' : Incorrect padding'])
      expect(loggable([`${start}canary "\u001b[31m\n${end}`]) ?? '').not.toMatch(/canary|\u001b|\n/)
  for (const sentence of fields.filter(text => !text.startsWith('<field>'))) expect(loggable([sentence])).toBe(sentence)
})

test('on a terminal a line is human-readable; field values cannot contain control sequences', () => {
  const line = {
    level: 30,
    time: '2026-06-15T12:30:01.123Z',
    pid: 7,
    request: 'trace.42',
    method: 'POST',
    route: EMAIL,
    status: 400,
    ms: 1.5,
    error: 'ValidationError',
    reason: 'reference <value> is too long',
    msg: 'answered',
  }
  expect(readable(JSON.stringify(line))).toBe(
    '12:30:01.123 INFO  POST /v2/notifications/email 400 request=trace.42 ms=1.5 error=ValidationError reason="reference <value> is too long"\n',
  )
  const fault = {
    level: 50,
    time: line.time,
    error: { name: 'Error', stack: '    at x\n    at y' },
    msg: 'maintenance task failed',
  }
  expect(readable(JSON.stringify(fault))).toBe(
    '12:30:01.123 ERROR maintenance task failed error=(name=Error)\n    at x\n    at y\n',
  )
  expect(readable(JSON.stringify({ level: 40, time: line.time, msg: '\u001b[2J\u0007' }))).not.toMatch(/[\u001b\u0007]/)
  expect(readable('no JSON')).toBe('no JSON')
})

test.skipIf(!hasScript)(
  'herald start on a terminal logs human-readable lines and prints the link of the inbox',
  async () => {
    const { name: _, ...env } = await newDatabase()
    const argv = ['-qefc', `exec ${process.execPath} bin/herald.js start`, '/dev/null']
    const child = spawn('script', argv, {
      env: { PATH: process.env.PATH ?? '', HERALD_PORT: '0', HERALD_PROCESSES: '1', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', text => {
      out += String(text)
    })
    await vi.waitFor(() => expect(out).toMatch(/Herald listens on \S+/), { timeout: 60_000, interval: 50 })
    const address = /Herald listens on (\S+)/.exec(out)?.[1] ?? ''
    const link = /(http:\/\/127\.0\.0\.1:\d+\/inbox\?token=[a-z\d]+\.[\w-]{43})/.exec(out)?.[1] ?? ''
    expect((await fetch(link)).status).toBe(200)
    await fetch(`${address}/v2/unknown`)
    await vi.waitFor(
      () =>
        expect(out).toMatch(
          /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET unknown 404 request=\S+ ms=[\d.]+ error=NotFound .*\r?$/m,
        ),
      { timeout: 20_000, interval: 50 },
    )
    expect(out).not.toMatch(/^\{"level"/m)
    child.stdin.write('\u0003') // Ctrl-C, as the terminal would give it
    expect(await new Promise(resolve => child.once('close', resolve))).toBe(0)
  },
)
