// A person sends the rows of a job that failed for a time again, and takes its file back.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PersonActor } from '../src/audit/actor.ts'
import { MAY, type Role } from '../src/audit/role.ts'
import { entries } from '../src/audit/sql.ts'
import { jobFile } from '../src/bulk/file.ts'
import { repeatable, sendAgain } from '../src/bulk/send-again.ts'
import { find, type ShownJob } from '../src/bulk/sql/read.ts'
import type { Id } from '../src/core/id.ts'
import { Refusal } from '../src/core/refusal.ts'
import { settleRows, spreadJob } from './support/jobs.ts'
import { emailTemplate, inMinutes, type Key, smsTemplate } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
  template = await emailTemplate(key, 'Hello ((first name))', 'Hello')
})

const person = (role: Role = 'sender'): PersonActor => ({
  ...{ kind: 'person', id: randomUUID() as Id, service_id: service.id },
  ...{ email_address: 'ada@example.org', name: 'Ada Park', permissions: MAY[role] },
})

const ROWS = [
  ['Email Address', 'unused', ' First_name ', 'Reference'],
  ...[1, 2, 3, 4, 5].map(at => [`p${at}@example.org`, 'left out', `=N${at}`, at === 2 ? '' : `ref-${at}`]),
]

async function made(body: object = {}): Promise<Id> {
  const reply = await key.post(BULK, { name: 'People.csv', template_id: template, rows: ROWS, ...body })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.data.id
}

const shown = async (id: Id): Promise<ShownJob> => {
  const job = await find(here.parts.db.sql, service.id, id)
  if (!job) throw new Error('there is no such job')
  return job
}

/** Rows 2 and 4 failed for a time, 3 for good. */
async function failed(body: object = {}): Promise<ShownJob> {
  const id = await made(body)
  await spreadJob(here.parts, id)
  await settleRows(here.parts, id, row =>
    row === 3
      ? { status: 'permanent-failure' }
      : { status: row % 2 === 0 ? 'temporary-failure' : 'delivered', moves: ['sending'] },
  )
  return shown(id)
}

const again = (job: ShownJob, messages = 2, actor = person()) => sendAgain(here.parts, actor, service, job, messages)
const left = (job: ShownJob) => repeatable(here.parts, person(), service, job)
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof Refusal ? error.messages.join(' ') : Promise.reject(error)),
  )
const rows = async (id: Id) =>
  (await key.get(`/herald/v1/jobs/${id}/report?format=ndjson`)).text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

describe('sending again', () => {
  test('makes a job of the rows that failed for a time, with their values, by the template as it is now', async () => {
    const job = await failed()
    await key.patch(`/v2/manage-template/${template}`, { content: 'Changed ((first name))' })
    expect(await left(job)).toEqual({ messages: 2, repeats: [] })
    const actor = person()
    const id = await again(job, 2, actor)
    expect(await shown(id)).toMatchObject({
      ...{ name: 'People.csv', notification_count: 2, template_version: 2, again_of: job.id, key_id: null },
      ...{ key_type: 'normal', status: 'pending' },
    })
    expect((await rows(id)).map(({ recipient, reference }) => [recipient, reference])).toEqual([
      ['p2@example.org', null],
      ['p4@example.org', 'ref-4'],
    ])
    await spreadJob(here.parts, id)
    const [first] = await rows(id)
    expect((await key.get(`/v2/notifications/${first.notification_id}`)).body.body).toBe('Changed =N2')
    const [entry] = await entries(here.parts.db.sql, service.id, 1)
    expect(entry).toMatchObject({
      ...{ action: 'job sent again', actor_kind: 'person', actor_id: actor.id, subject_id: id },
      detail: { again_of: job.id, messages: 2 },
    })
    expect(await left(job)).toEqual({ messages: 0, repeats: [{ id, name: 'People.csv', notification_count: 2 }] })
  })

  test('takes each row once, also of two who press the button at the same moment', async () => {
    const job = await failed()
    const both = await Promise.all([refusal(again(job)), refusal(again(job))])
    expect(both.sort()).toEqual(['No message of this job can be sent again', 'none'])
    expect(await refusal(again(job))).toBe('No message of this job can be sent again')
    expect((await left(job)).repeats).toHaveLength(1)
  })

  test('takes rows that failed later, and refuses when there are more than the person has seen', async () => {
    const id = await made()
    await spreadJob(here.parts, id)
    await settleRows(here.parts, id, row => (row === 1 ? { status: 'temporary-failure' } : null))
    await again(await shown(id), 1)
    await here.parts.db.sql`update tickets set owner = null where owner is not null`
    await settleRows(here.parts, id, row => (row > 3 ? { status: 'temporary-failure' } : null))
    const job = await shown(id)
    expect(await refusal(again(job, 1))).toBe('Meanwhile 2 messages can be sent again')
    const second = await again(job, 2)
    expect((await rows(second)).map(({ recipient }) => recipient)).toEqual(['p4@example.org', 'p5@example.org'])
  })

  test('is refused like any job, and then marks nothing', async () => {
    const other = await emailTemplate(key, 'Hello ((first name))', 'Hello')
    const job = await failed({ template_id: other })
    await key.patch(`/v2/manage-template/${other}`, { content: 'Hello ((first name)) of ((town))' })
    expect(await refusal(again(job))).toBe('Missing column headers: town')
    expect((await left(job)).messages).toBe(2)
    await key.delete(`/v2/manage-template/${other}`)
    expect(await refusal(again(job))).toMatch(/has been deleted/)
  })

  test('needs the permission to send', async () => {
    const job = await failed()
    for (const role of ['viewer', 'author', 'developer'] as const)
      expect(await refusal(again(job, 2, person(role)))).toContain('send-messages')
  })

  test('writes to the number that was meant, whatever the home country is now', async () => {
    const sms = await smsTemplate(key)
    const id = await made({
      template_id: sms,
      rows: [
        ['phone number', 'name'],
        ['(613) 555-0123', 'N'],
      ],
    })
    await spreadJob(here.parts, id)
    await settleRows(here.parts, id, () => ({ status: 'temporary-failure' }))
    const second = await again(await shown(id), 1)
    expect(await rows(second)).toMatchObject([{ recipient: '+16135550123' }])
  })
})

describe('the file', () => {
  const text = async (id: Id, actor = person()) => {
    let whole = ''
    for await (const piece of jobFile(here.parts, actor, service, await shown(id))) whole += piece
    return whole
  }
  const WHOLE = [
    '"Email Address","First_name","Reference"',
    ...[1, 2, 3, 4, 5].map(at => `"p${at}@example.org","'=N${at}","${at === 2 ? '' : `ref-${at}`}"`),
    '',
  ].join('\r\n')

  test('has the headers of the original and every row, before it is sent and after; formulas are text', async () => {
    const id = await made({ scheduled_for: inMinutes(60) })
    expect(await text(id)).toBe(WHOLE)
    await spreadJob(here.parts, id)
    expect(await text(id)).toBe(WHOLE)
    const [entry] = await entries(here.parts.db.sql, service.id, 1)
    expect(entry).toMatchObject({
      action: 'messages exported',
      subject_id: id,
      detail: { messages: 5, recipients: true },
    })
  })

  test('of a job of an earlier version has the names of the values', async () => {
    const id = await made()
    await here.parts.db.sql`update jobs set columns = null, rows_from = null where id = ${id}`
    await spreadJob(here.parts, id)
    expect((await text(id)).split('\r\n').slice(0, 2)).toEqual([
      '"email address","firstname","reference"',
      '"p1@example.org","\'=N1","ref-1"',
    ])
  })

  test('is only for those who may have recipients', async () => {
    const id = await made()
    for (const role of ['viewer', 'author', 'developer'] as const)
      expect(await refusal(text(id, person(role)))).toContain('export-recipients')
  })

  test('a header of any length is kept short', async () => {
    const id = await made({
      rows: [
        ['email address', `first${' '.repeat(5_000)}name`],
        ['p@example.org', 'N'],
      ],
    })
    expect(await text(id)).toBe('"email address","firstname"\r\n"p@example.org","N"\r\n')
  })
})
