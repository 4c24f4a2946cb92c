// The verbs behind `POST /herald/v1/check/…`, called by a person and by a key: what they find, and that they leave nothing behind.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PersonActor } from '../src/audit/actor.ts'
import { MAY, type Role } from '../src/audit/role.ts'
import { type BulkChecker, checkBulk } from '../src/bulk/check-file.ts'
import type { Id } from '../src/core/id.ts'
import { checkOneAs } from '../src/notifications/check.ts'
import type { HandSent } from '../src/notifications/send-as.ts'
import { emailTemplate, type Key, smsTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let email: Id
let text: Id
const BASE = 'https://herald.example'

beforeAll(async () => {
  here = await world()
  service = await here.service({ sms_prefix: false })
  key = await service.key()
  email = (await emailTemplate(key, 'Hello ((name))')) as Id
  text = (await smsTemplate(key, 'Code ((code))')) as Id
})

const person = (service_id: Id, role: Role = 'sender'): PersonActor => ({
  kind: 'person',
  id: randomUUID() as Id,
  service_id,
  email_address: 'ada@example.org',
  name: 'Ada Park',
  permissions: MAY[role],
})

const one = (changes: Partial<HandSent> = {}) =>
  checkOneAs(
    here.parts,
    person(service.id),
    service.id,
    { channel: 'email', to: 'jo@example.net', template_id: email, personalisation: { name: 'Jo' }, ...changes },
    { base: BASE },
  )

async function bulk(body: object, changes: Partial<BulkChecker> = {}) {
  const loaded = await here.parts.services.get(service.id)
  if (!loaded) throw new Error('no service')
  const caller: BulkChecker = { service: loaded, actor: person(service.id), key_type: 'normal', ...changes }
  return checkBulk(here.parts, caller, Buffer.from(JSON.stringify({ name: 'Job', template_id: email, ...body })))
}

const people = (...rows: string[][]) => ({ rows: [['email address', 'name'], ...rows] })

describe('one message', () => {
  test('that would be sent: its content, its size, its lane, the daily limit, its recipient', async () => {
    const report = await one()
    expect(report).toMatchObject({
      ok: true,
      problems: [],
      skipped: [],
      template: { id: email, version: 1 },
      content: { subject: 'Dear Jo', body: 'Hello Jo' },
      parts: null,
      alphabet: null,
      files: [],
      lane: 'email-low',
      daily: { limit: 10_000, used: 0, remaining: 10_000 },
      recipient: { address: 'jo@example.net', is_allowed: true, reason: null, is_smoke_test: false },
    })
    expect(report.content?.html).toContain('Hello Jo')
    expect(report.bytes).toBe(Buffer.byteLength('Dear JoHello Jo'))
  })

  test('a text message: parts and alphabet', async () => {
    const sms = (code: string) =>
      one({ channel: 'sms', to: '6135550123', template_id: text, personalisation: { code } })
    expect(await sms('4471')).toMatchObject({ ok: true, parts: 1, alphabet: 'GSM-7', bytes: null })
    expect(await sms(`ê${'x'.repeat(80)}`)).toMatchObject({ ok: true, parts: 2, alphabet: 'UCS-2' })
  })

  test('everything that is wrong, not only the first thing', async () => {
    const report = await one({
      to: 'nobody',
      personalisation: {},
      scheduled_for: '2001-01-01',
      sender_id: randomUUID() as Id,
    })
    expect(report.ok).toBe(false)
    expect(report.problems.map(({ message }) => message)).toEqual([
      'email_address Not a valid email address',
      'scheduled_for datetime cannot be in the past',
      `Missing personalisation for template ID ${email}: name`,
      expect.stringMatching(/^email_reply_to_id .* does not exist/),
    ])
    expect(report.skipped).toEqual(['daily limit', 'recipient'])
    expect(report.recipient).toBe(null)
  })

  test('needs the permission to send', async () => {
    const given: HandSent = { channel: 'email', to: 'jo@example.net', template_id: email, personalisation: {} }
    await expect(
      checkOneAs(here.parts, person(service.id, 'viewer'), service.id, given, { base: BASE }),
    ).rejects.toMatchObject({ kind: 'ForbiddenError' })
    await expect(
      checkOneAs(here.parts, person(randomUUID() as Id), service.id, given, { base: BASE }),
    ).rejects.toMatchObject({ kind: 'ForbiddenError' })
  })
})

describe('a bulk file', () => {
  test('that would be sent: columns, duplicates, the first rows', async () => {
    const { report } = await bulk(
      people(
        ['a@example.org', 'Ann'],
        ['b@example.org', "O'Brien"],
        ['A@Example.org', '李'],
        ['c@example.org', 'Анна'],
      ),
    )
    expect(report).toMatchObject({
      ok: true,
      problems: [],
      rows: { total: 4, ok: 4, bad: 0, not_allowed: 0, simulated: 0 },
      error_count: 0,
      errors: [],
      duplicates: { rows: 1, recipients: 1, first: [{ count: 2, rows: [1, 3] }] },
      columns: { recipient: 'email address', used: ['email address', 'name'], unused: [], missing: [], duplicate: [] },
      parts: null,
      lane: 'email-medium',
      daily: { limit: 10_000, used: 0, remaining: 10_000, needed: 4 },
      estimated_seconds: null,
    })
    expect(report.examples).toEqual([
      { row: 1, to: 'a@example.org', subject: 'Dear Ann', body: 'Hello Ann', parts: null },
      { row: 2, to: 'b@example.org', subject: "Dear O'Brien", body: "Hello O'Brien", parts: null },
      { row: 3, to: 'A@Example.org', subject: 'Dear 李', body: 'Hello 李', parts: null },
    ])
  })

  test('all row errors, and the sentence of the interface', async () => {
    const bad = Array.from({ length: 1_100 }, (_, at) => [at % 2 ? 'bad' : 'a@example.org', ''])
    const { report, errors } = await bulk(people(...bad))
    expect(report.rows).toMatchObject({ total: 1_100, ok: 0, bad: 1_100 })
    expect(report.error_count).toBe(1_650)
    expect(report.errors).toHaveLength(1_000)
    expect(report.errors.slice(0, 3)).toEqual([
      { row: 1, column: 'name', problem: 'missing', message: 'Missing' },
      { row: 2, column: 'email address', problem: 'recipient', message: 'Not a valid email address' },
      { row: 2, column: 'name', problem: 'missing', message: 'Missing' },
    ])
    expect([...errors()]).toHaveLength(1_650)
    expect(report.problems).toHaveLength(1)
    expect(report.problems[0]?.message).toMatch(/^Some rows have errors\. Row 1 - name: Missing\. Row 2 - /)
  })

  test('with missing and unknown columns the rows are checked as far as possible', async () => {
    const { report } = await bulk({ csv: 'Email-Address,town,reference\nbad,Paris,r1\na@example.org,Rome,r2\n' })
    expect(report.problems.map(one => one.message)).toEqual([
      'Missing column headers: name',
      'Some rows have errors. Row 1 - Email-Address: invalid recipient.',
    ])
    expect(report.columns).toEqual({
      recipient: 'Email-Address',
      used: ['Email-Address'],
      unused: ['town'],
      missing: ['name'],
      duplicate: [],
    })
    const none = await bulk({ csv: 'name\nAnn\n' })
    expect(none.report.skipped).toEqual(['recipients'])
    expect(none.report.problems.map(one => one.message)).toEqual(['Missing column headers: email address'])
  })

  test('text messages: parts in total, by alphabet', async () => {
    const rows = [
      ['phone number', 'code'],
      ['6135550123', '4471'],
      ['6135550124', 'x'.repeat(200)],
      ['6135550125', 'ê'],
      ['6135550126', 'x'.repeat(700)],
    ]
    const { report } = await bulk({ template_id: text, rows })
    expect(report).toMatchObject({ parts: 4, alphabets: { 'GSM-7': 3, 'UCS-2': 1 }, rows: { ok: 3, bad: 1 } })
    expect(report.errors).toEqual([{ row: 4, column: null, problem: 'too-long', message: 'more than 612 characters' }])
    expect(report.examples.map(one => one.parts)).toEqual([1, 2, 1])
  })

  test('the time it takes, at the pace of the last jobs', async () => {
    const { db, ids } = here.parts
    const job = ids.next()
    const made = Array.from({ length: 30 }, () => ids.next())
    await db.sql`
      insert into states (id, service_id, key_type, channel, in_job, job_id, status, sent_at, completed_at)
      select id, ${service.id}, 'normal', 'email', true, ${job}, 'delivered', now() + ord * interval '2 seconds', now()
      from unnest(${made}::uuid[]) with ordinality as made (id, ord)`
    const rows = Array.from({ length: 100 }, (_, at) => [`p${at}@example.org`, 'P'])
    const { report } = await bulk(people(...rows))
    await db.sql`delete from states where job_id = ${job}`
    // 30 messages in 58 seconds.
    expect(report.estimated_seconds).toBe(193)
    expect((await bulk({ template_id: text, csv: 'phone number,code\n6135550123,1' })).report.estimated_seconds).toBe(
      null,
    )
  })

  test('what cannot be checked is said', async () => {
    const unknown = await bulk({ template_id: randomUUID(), ...people(['a@example.org', 'A']) })
    expect(unknown.report).toMatchObject({
      ok: false,
      rows: null,
      columns: null,
      skipped: ['sender', 'rows', 'daily limit'],
    })
    const wrong = await bulk({ rows: 'no list', scheduled_for: 'soon', colour: 'red' })
    expect(wrong.report.problems.map(one => one.message)).toEqual([
      'scheduled_for datetime format is invalid. It must be a valid ISO8601 date time format',
      'rows no list is not of type array',
      'Additional properties are not allowed (colour was unexpected)',
    ])
    expect(wrong.report.skipped).toEqual(['rows', 'daily limit'])
  })

  test('a team key and the daily limit', async () => {
    const rows = [['maria@example.org', 'M'], ...Array.from({ length: 3 }, (_, at) => [`p${at}@example.org`, 'P'])]
    await service.change({ email_daily_limit: 2 })
    here.parts.services.clear()
    const { report } = await bulk(people(...rows), { key_type: 'team' })
    await service.change({ email_daily_limit: null })
    here.parts.services.clear()
    expect(report.rows).toMatchObject({ total: 4, ok: 1, bad: 3, not_allowed: 3 })
    expect(report.daily).toMatchObject({ limit: 2, remaining: 2, needed: 4 })
    expect(report.problems.map(one => one.message)).toEqual([
      "You only have 2 remaining messages before you reach your daily limit. You've tried to send 4 messages.",
      'You cannot send to these recipients because you used a team and safelist API key.',
    ])
    expect(report.errors[0]).toEqual({
      row: 2,
      column: 'email address',
      problem: 'not-allowed',
      message: 'not in the team or on the safelist',
    })
  })
})

test('nothing is stored, sent, reserved or recorded', async () => {
  const { sql } = here.parts.db
  const counts = () => sql`
    select (select count(*) from notifications) as notifications, (select count(*) from states) as states,
           (select count(*) from jobs) as jobs, (select count(*) from chunks) as chunks, (select count(*) from usage) as usage,
           (select count(*) from tickets) as tickets, (select count(*) from audit) as audit,
           (select count(*) from events) as events, (select count(*) from hourly_changes) as changes`
  const before = await counts()
  await one()
  await bulk(people(['a@example.org', 'Ann']))
  expect(await counts()).toEqual(before)
  expect(before[0]).toMatchObject({ notifications: 0, jobs: 0, usage: 0 })
})
