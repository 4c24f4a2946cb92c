// Commands for bulk jobs and the inbox, beside a running Herald on the same database.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { hasScript } from './support/program.ts'
import { emailTemplate, inMinutes, type Key, smsTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const SECRET = 'the secret that the service and the commands share'
const BULK = '/v2/notifications/bulk'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let email: Id
let text: Id
let env: Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'herald-cli-job-'))

beforeAll(async () => {
  here = await world({ HERALD_SECRET: SECRET }, { engine: true })
  service = await here.service({ name: 'Parking permits' })
  key = await service.key()
  email = await emailTemplate(key)
  text = await smsTemplate(key)
  env = {
    DATABASE_URL: here.config.databaseUrl ?? '',
    HERALD_SECRET: SECRET,
    HERALD_DATA: folder,
    HERALD_LOG_LEVEL: 'silent',
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function herald(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const streams = {
    out(said: string) {
      out += said
    },
    err(said: string) {
      err += said
    },
  }
  const code = await run(argv, streams, () => readConfig(env))
  return { code, out, err }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
async function json(...argv: string[]): Promise<any> {
  const { code, out, err } = await herald(...argv, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

let files = 0
function file(content: string): string {
  const path = join(folder, `people-${files++}.csv`)
  writeFileSync(path, content)
  return path
}

const GOOD = 'email address,name\nann@example.org,Ann\nbob@example.org,Bob\n'

describe('job send', () => {
  test('sends for the service of the template and waits until the last message is final', async () => {
    const csv = file(GOOD)
    const job = await json('job', 'send', '--yes', '--template', email, '--csv', csv, '--name', 'Spring')
    expect(job).toMatchObject({
      original_file_name: 'Spring',
      notification_count: 2,
      service: service.id,
      api_key: null,
      job_status: 'finished',
      statistics: [{ status: 'delivered', count: 2 }],
    })
    expect((await key.get(`${BULK}/${job.id}`)).body.data).toEqual(job)
    const sent = (await key.get('/v2/notifications?include_jobs=true')).body.notifications
    // biome-ignore lint/suspicious/noExplicitAny: as above
    expect(sent.map((one: any) => one.body).sort()).toEqual(['Hello Ann', 'Hello Bob'])
  })

  test('human-readable output; the default name is that of the file', async () => {
    const csv = file(GOOD)
    const { code, out, err } = await herald('job', 'send', '--yes', '--template', email, '--csv', csv)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^name +people-\d+\.csv$/m)
    expect(out).toMatch(/^ {2}delivered +2$/m)
    expect(out).toMatch(/^status +finished$/m)
  })

  test('--no-wait, --scheduled-for, --reply-to and --key-type', async () => {
    const csv = file(GOOD)
    const replyTo = await service.addReplyTo('desk@example.org')
    const when = inMinutes(60)
    const job = await json(
      ...['job', 'send', '--template', email, '--csv', csv],
      ...['--scheduled-for', when, '--reply-to', replyTo.id, '--key-type', 'test'],
    )
    expect(job).toMatchObject({ job_status: 'pending', sender_id: replyTo.id, scheduled_for: `${when}.000000+00:00` })
    const now = await json('job', 'send', '--template', email, '--csv', csv, '--key-type', 'test', '--no-wait')
    expect(now.notification_count).toBe(2)
    await expect
      .poll(async () => (await key.get(`${BULK}/${now.id}`)).body.data.statistics, { timeout: 5_000 })
      .toEqual([{ status: 'delivered', count: 2 }])
  })

  test('refusals of the interface apply, with their text and a hint', async () => {
    const { code, out, err } = await herald(
      ...['job', 'send', '--yes', '--template', email, '--csv', file('email address,name\nbad,A\n')],
    )
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(
      'Some rows have errors. Row 1 - email address: invalid recipient.\nTo see all of them, run herald job errors with the same --template and --csv\n',
    )
    const unknown = await herald('job', 'send', '--yes', '--template', service.id, '--csv', file(GOOD))
    expect([unknown.code, unknown.err]).toEqual([1, 'Template not found\n'])
    const trial = await here.service({ mode: 'trial' })
    const template = await emailTemplate(await trial.key())
    expect((await herald('job', 'send', '--yes', '--template', template, '--csv', file(GOOD))).err).toMatch(
      /trial mode/,
    )
  })

  test('wrong calls', async () => {
    const missing = await herald('job', 'send', '--yes', '--template', email, '--csv', join(folder, 'nowhere.csv'))
    expect([missing.code, missing.err.split('\n')[0]]).toEqual([
      2,
      `The file ${join(folder, 'nowhere.csv')} does not exist.`,
    ])
    const folded = await herald('job', 'send', '--yes', '--template', email, '--csv', folder)
    expect(folded.err).toMatch(/is a folder\./)
    const bad = await herald('job', 'send', '--yes', '--template', 'x', '--csv', file(GOOD))
    expect([bad.code, bad.err.split('\n')[0]]).toEqual([
      2,
      '--template takes the id of a template or its first characters (at least 8), not "x".',
    ])
  })

  test('as a process, from standard input, with progress lines while it waits', async () => {
    const argv = ['bin/herald.js', 'job', 'send', '--yes', '--template', email, '--csv', '-', '--json']
    const child = spawn(process.execPath, argv, { env: { PATH: process.env.PATH, ...env } })
    let out = ''
    child.stdout.on('data', said => {
      out += String(said)
    })
    child.stdin.end(GOOD)
    expect(await new Promise(resolve => child.once('close', resolve))).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ original_file_name: 'standard input', job_status: 'finished' })
  })
})

describe('confirmation before real recipients are written to', () => {
  test('without a terminal: --yes, or nothing is sent; a test key needs none', async () => {
    const before = (await json('job', 'list', 'Parking permits')).jobs.length
    for (const type of [[], ['--key-type', 'live'], ['--key-type', 'team']]) {
      const { code, err } = await herald('job', 'send', '--template', email, '--csv', file(GOOD), ...type)
      expect([code, err.split('\n')[0]]).toEqual([
        2,
        'This would send to real people, and there is no terminal to ask on. Add --yes to send.',
      ])
    }
    expect((await json('job', 'list', 'Parking permits')).jobs).toHaveLength(before)
    await json('job', 'send', '--template', email, '--csv', file(GOOD), '--key-type', 'test', '--no-wait')
  })

  test.skipIf(!hasScript)(
    'on a terminal: count, template, first message; only yes sends',
    async () => {
      const jobs = async () => (await json('job', 'list', 'Parking permits')).jobs.length
      const before = await jobs()
      for (const [answer, code] of [
        ['no\r', 1],
        ['\r', 1],
        ['\u0003', 1],
        ['\u0004', 1],
        ['yes\r', 0],
      ] as const) {
        const asked = await atTerminal(['job', 'send', '--template', email, '--csv', file(GOOD)], answer)
        expect(asked.out).toContain('2 e-mails of the template "A template" (version 1) for "Parking permits".')
        expect(asked.out).toContain('E-mails are captured, not sent')
        expect(asked.out).toMatch(/^ {2}to +ann@example\.org\r?$/m)
        expect(asked.out).toMatch(/^ {2}subject +Dear Ann\r?$/m)
        expect(asked.out).toMatch(/^ {2}Hello Ann\r?$/m)
        expect([answer, asked.code]).toEqual([answer, code])
        expect([answer, asked.out.includes('Nothing was sent.')]).toEqual([answer, code === 1])
        expect([answer, await jobs()]).toEqual([answer, before + (code === 0 ? 1 : 0)])
      }
      const people = 'phone number,name\n6135550123,Ann\n'
      const sms = await atTerminal(['job', 'send', '--template', text, '--csv', file(people)], 'n\r')
      expect(sms.out).toContain('1 text message of the template')
      expect(sms.out).toMatch(/^ {2}Parking permits: Hi Ann\r?$/m)
      // Refusals of the interface come before the confirmation.
      const wrong = await atTerminal(
        ['job', 'send', '--template', email, '--csv', file('email address,name\nbad,A\n')],
        '',
      )
      expect([wrong.code, wrong.out.includes('Type yes')]).toEqual([1, false])
    },
    120_000,
  )
})

/** `herald` on a pseudo-terminal; the answer is typed when the question is printed. */
function atTerminal(argv: readonly string[], answer: string): Promise<{ code: number; out: string }> {
  const command = ['exec', process.execPath, 'bin/herald.js', ...argv].join(' ')
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { PATH: process.env.PATH, ...env, NO_COLOR: '1' },
  })
  let out = ''
  let isAnswered = false
  child.stdout.on('data', said => {
    out += String(said)
    if (isAnswered || !out.includes('Type yes: ')) return
    isAnswered = true
    child.stdin.write(answer)
  })
  return new Promise(resolve => child.once('close', code => resolve({ code: code ?? -1, out })))
}

describe('job list, show and cancel', () => {
  test('jobs of the interface and of the operator, newest first', async () => {
    const body = {
      name: 'By\u001b[31m API\n',
      template_id: email,
      rows: [
        ['email address', 'name'],
        ['a@b.example', 'A'],
      ],
    }
    const made = (await key.post(BULK, { ...body, scheduled_for: inMinutes(60) })).body.data
    const { jobs } = await json('job', 'list', 'Parking permits')
    expect(jobs[0]).toEqual(made)
    expect((await key.get(BULK)).body.bulk_jobs).toEqual(jobs)
    const { out } = await herald('jobs', 'ls', service.id)
    expect(out.split('\n')[0]).toMatch(/^ID +NAME +TYPE +STATUS +MESSAGES +FINAL +CREATED +SCHEDULED FOR$/)
    expect(out.split('\n')[1]).toContain('By [31m API ')
    const empty = await here.service()
    expect((await herald('job', 'list', empty.id)).out).toBe(`"${empty.name}" has no job yet.\n`)
  })

  test('show by the beginning of the id; cancel once', async () => {
    const body = {
      name: 'Later',
      template_id: email,
      rows: [
        ['email address', 'name'],
        ['a@b.example', 'A'],
      ],
    }
    const made = (await key.post(BULK, { ...body, scheduled_for: inMinutes(60) })).body.data
    expect(await json('job', 'show', made.id)).toEqual(made)
    expect(await json('job', 'show', made.id.replaceAll('-', '').slice(0, 28))).toEqual(made)
    const cancelled = await json('job', 'cancel', made.id)
    expect(cancelled).toMatchObject({ id: made.id, job_status: 'cancelled' })
    expect(Object.keys(cancelled)).toHaveLength(11)
    const again = await herald('job', 'cancel', made.id)
    expect([again.code, again.err]).toEqual([1, 'Job has already been cancelled\n'])
    const unknown = await herald('job', 'show', 'ffffffff-0000')
    expect([unknown.code, unknown.err]).toEqual([1, 'Job not found in database\n'])
    expect((await herald('job', 'show', 'Spring')).code).toBe(2)
    const several = await herald('job', 'show', made.id.slice(0, 8))
    expect([several.code, several.err]).toEqual([2, expect.stringMatching(/^Several ids begin with/)])
  })
})

describe('check', () => {
  test('a file without problems, as text and as JSON', async () => {
    const { code, out, err } = await herald('check', file(GOOD), '--template', email)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^people-\d+\.csv: nothing is wrong\. Nothing was sent\.$/m)
    expect(out).toMatch(/^ {2}without errors +2$/m)
    expect(out).toMatch(/^Row 1, to ann@example\.org:$/m)
    expect(out).toMatch(/^ {2}Hello Ann$/m)
    expect(await json('check', file(GOOD), '--template', email)).toMatchObject({ ok: true, rows: { total: 2, ok: 2 } })
  })

  test('everything that is wrong; exit code 1', async () => {
    const csv = file(`email address,town\n${'bad,\n'.repeat(30)}`)
    const { code, out } = await herald('check', csv, '--template', email, '--scheduled-for', 'soon')
    expect(code).toBe(1)
    expect(out).toContain('it would be refused')
    expect(out).toContain('  scheduled_for datetime format is invalid')
    expect(out).toContain('  Missing column headers: name')
    expect(out).toContain('The first 20 of 30 row errors:')
    expect(out).toMatch(/^columns not used +town$/m)
    expect(out).toMatch(/^ *1 +email address +Not a valid email address$/m)
    const told = await herald('check', csv, '--template', email, '--json')
    expect(JSON.parse(told.out)).toMatchObject({
      ok: false,
      problems: [{ error: 'BadRequestError', message: 'Missing column headers: name' }, { error: 'BadRequestError' }],
      error_count: 30,
    })
  })
})

describe('job errors', () => {
  const errors = (csv: string, ...more: string[]) =>
    herald('job', 'errors', '--template', email, '--csv', file(csv), ...more)

  test('all of them, not only twenty, as CSV and as JSON; exit code 1', async () => {
    const csv = `name,email address\n${',bad\n'.repeat(30)}`
    const { code, out, err } = await errors(csv)
    expect({ code, err }).toEqual({ code: 1, err: '' })
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(61)
    expect(lines.slice(0, 3)).toEqual([
      '"row","column","problem","value"',
      '"1","name","Missing",""',
      '"1","email address","invalid recipient","bad"',
    ])
    const told = await errors(csv, '--json')
    expect(JSON.parse(told.out).errors[60 - 1]).toEqual({
      row: 30,
      column: 'email address',
      problem: 'invalid recipient',
      value: 'bad',
    })
  })

  test('S-14 no cell is a formula to a spreadsheet', async () => {
    const payloads = ['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("http://x")', "=cmd|' /C calc'!A0"]
    const quoted = payloads.map(one => `"${one.replaceAll('"', '""')}",A`)
    const { out } = await errors(`email address,name\n${quoted.join('\n')}`)
    for (const line of out.trimEnd().split('\n').slice(1))
      expect(line).toMatch(/^"\d","email address","invalid recipient","'[=+@-]/)
    expect(out).toContain('"\'=HYPERLINK(""http://x"")"')
    const header = await errors('email address,=name\na@b.example,A')
    expect(header.out.split('\n')[1]).toBe('"","name","Missing column header",""')
  })

  test('no errors: only the header, and exit code 0', async () => {
    expect(await errors(GOOD)).toEqual({ code: 0, out: '"row","column","problem","value"\n', err: '' })
    expect(JSON.parse((await errors(GOOD, '--json')).out)).toEqual({ errors: [] })
  })

  test('headers, counts, lengths, recipients that are not allowed', async () => {
    expect(JSON.parse((await errors('email address,name', '--json')).out).errors).toEqual([
      { row: null, column: null, problem: 'Not enough rows', value: null },
    ])
    const twice = JSON.parse((await errors('Name,NAME\na,b', '--json')).out).errors
    expect(twice.map((one: { column: string; problem: string }) => [one.column, one.problem])).toEqual([
      ['email address', 'Missing column header'],
      ['NAME', 'Duplicate column header'],
      ['Name', 'Duplicate column header'],
    ])
    const team = JSON.parse((await errors('email address,name\nann@example.org,A', '--key-type', 'team', '--json')).out)
    expect(team.errors).toEqual([
      { row: 1, column: 'email address', problem: 'not in the team or on the safelist', value: 'ann@example.org' },
    ])
    const long = await herald(
      ...['job', 'errors', '--template', text, '--csv'],
      file(`phone number,name,reference\n6135550123,${'x'.repeat(700)},${'r'.repeat(1_001)}`),
    )
    expect(long.out.split('\n')[1]).toBe('"1","","more than 612 characters",""')
    expect(long.out.split('\n')[2]).toMatch(/^"1","reference","is too long","rrr/)
  })
})

describe('inbox', () => {
  test('captured messages, newest first; one in full', async () => {
    await json('job', 'send', '--yes', '--template', email, '--csv', file(GOOD))
    const { messages } = await json('inbox', '--most', '2')
    expect(messages).toHaveLength(2)
    expect(messages[0]).toMatchObject({ type: 'email', to: 'bob@example.org', subject: 'Dear Bob' })
    expect(messages[0].id > messages[1].id).toBe(true)
    const { out } = await herald('inbox')
    expect(out).toMatch(/^ID +WHEN \(UTC\) +TYPE +KIND +TO +WHAT\n/)
    expect(out.split('\n')[1]).toMatch(/ email +captured +bob@example\.org +Dear Bob$/)
    expect(out).toContain('\nE-mails are captured, not sent: the inbox keeps them.\n')
    const one = await herald('inbox', '--message', messages[0].id)
    expect(one.out).toMatch(/^subject +Dear Bob$/m)
    expect(one.out).toContain('Hello Bob')
    expect(await json('inbox', '--message', messages[0].id)).toEqual(messages[0])
    expect((await herald('inbox', '--message', service.id)).code).toBe(2)
  })

  test('messages of test keys are listed too, and marked', async () => {
    const job = await json('job', 'send', '--template', email, '--csv', file(GOOD), '--key-type', 'test')
    expect(job.statistics).toEqual([{ status: 'delivered', count: 2 }])
    const { messages } = await json('inbox', '--most', '3')
    expect(messages.map((one: { test: boolean }) => one.test)).toEqual([true, true, false])
    expect((await herald('inbox')).out.split('\n')[1]).toMatch(/ email +test +bob@example\.org +Dear Bob$/)
    expect((await herald('inbox', '--message', messages[0].id)).out).toMatch(/^sent +no: a test message$/m)
  })

  test('--link prints the link of the page, which opens it', async () => {
    env.HERALD_PORT = String(here.port)
    const { code, out } = await herald('inbox', '--link')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/inbox\?token=[a-z\d]+\.[\w-]{43}\n$/),
    ])
    expect((await fetch(out.trim())).status).toBe(200)
    env.HERALD_HOST = '192.0.2.1'
    expect([(await herald('inbox', '--link')).code, (await herald('inbox', '--link')).err]).toEqual([
      2,
      expect.stringContaining('only on the machine itself'),
    ])
    delete env.HERALD_HOST
  })
})

describe('one message', () => {
  const send = (...argv: string[]) => json('send', '--template', email, '--to', 'ann@example.org', ...argv)

  test('check shows what is wrong and what the recipient would get', async () => {
    const check = ['check', '--template', email, '--to', 'ann@example.org']
    const good = await json(...check, '--value', 'name=Ann')
    expect(good).toMatchObject({ ok: true, problems: [], content: { body: 'Hello Ann' } })
    const wrong = await herald(...check, '--value', 'other=x')
    expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/it would be refused.*\n\nProblems:\n.*name/s) })
    expect(await herald(...check, file(GOOD))).toMatchObject({ code: 2 })
    expect(await herald('check', '--template', email)).toMatchObject({ code: 2 })
  })

  test('send and resend deliver, need --yes without a terminal, and are recorded with the operator', async () => {
    const values = join(folder, 'values.json')
    writeFileSync(values, '{"name": "Ann"}')
    const { id } = await send('--values', values, '--reference', 'by hand', '--yes')
    await expect.poll(async () => (await key.get(`/v2/notifications/${id}`)).body.status).toBe('delivered')
    const copy = await json('message', 'resend', id, '--yes')
    expect(copy).toEqual({ id: expect.any(String), copy_of: id })
    expect((await key.get(`/v2/notifications/${copy.id}`)).body).toMatchObject({
      body: 'Hello Ann',
      reference: 'by hand',
    })
    const { audit } = await json('audit', '--service', service.id)
    // biome-ignore lint/suspicious/noExplicitAny: as above
    expect(audit.filter((one: any) => [id, copy.id].includes(one.subject_id))).toMatchObject([
      { action: 'message sent again', actor_kind: 'operator', detail: { copy_of: id } },
      { action: 'message sent', actor_kind: 'operator', actor_name: expect.any(String) },
    ])
    const asks = { code: 2, err: expect.stringMatching(/no terminal to ask on/) }
    expect(await herald('message', 'resend', id)).toMatchObject(asks)
    expect(await herald('send', '--template', email, '--to', 'a@example.org', '--value', 'name=A')).toMatchObject(asks)
    expect(await herald('send', '--template', email, '--to', 'x', '--value', 'name', '--yes')).toMatchObject({
      code: 2,
    })
    expect(await herald('send', '--template', email, '--to', 'no address', '--value', 'name=A', '--yes')).toMatchObject(
      {
        code: 1,
        err: expect.stringMatching(/email_address/),
      },
    )
  })
})
