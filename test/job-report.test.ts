// The report of a bulk job: every row of the file in order, whatever has become of it.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { type RowOutcome, settleRows, spreadJob } from './support/jobs.ts'
import { emailTemplate, inMinutes, type Key, smsTemplate, ZULU } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key
let template: Id

beforeAll(async () => {
  here = await world()
  service = await here.service({ email_daily_limit: 100_000 })
  key = await service.key()
  template = await emailTemplate(key)
})

const rowsOf = (count: number) => [
  ['Email Address', 'Name', 'reference'],
  ...Array.from({ length: count }, (_, at) => [`person${at + 1}@example.org`, `N${at + 1}`, `ref-${at + 1}`]),
]

async function job(rows: unknown[][], more: object = {}): Promise<Id> {
  const reply = await key.post(BULK, { name: 'A job', template_id: template, rows, ...more })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.data.id
}

const report = async (id: Id, format = 'ndjson') => {
  const reply = await key.get(`/herald/v1/jobs/${id}/report?format=${format}`)
  expect(reply.status).toBe(200)
  return reply
}
const lines = async (id: Id): Promise<Record<string, unknown>[]> =>
  (await report(id)).text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

const OUTCOMES: Record<number, RowOutcome> = {
  1: { status: 'delivered' },
  2: { status: 'sending' },
  3: { status: 'temporary-failure', detail: 'mailbox-full', reply: '452 4.2.2 Mailbox full' },
  4: { status: 'permanent-failure', detail: 'no-email', reply: '550 5.1.1 user unknown' },
  5: { status: 'technical-failure', response: '421 no provider is up' },
}

describe('GET /herald/v1/jobs/:job_id/report', () => {
  test('has every row in the order of the file, with its status, the time of it and why it failed', async () => {
    const id = await job(rowsOf(6))
    await spreadJob(here.parts, id)
    await settleRows(here.parts, id, row => OUTCOMES[row] ?? null)
    const found = await lines(id)
    expect(found.map(({ row }) => row)).toEqual([1, 2, 3, 4, 5, 6])
    expect(found.map(({ status }) => status)).toEqual([
      ...['delivered', 'sending', 'temporary-failure', 'permanent-failure', 'technical-failure', 'created'],
    ])
    expect(found.map(({ reason }) => reason)).toEqual([
      ...[null, null, "Mailbox full at the recipient's provider"],
      ...["There is no such address at the recipient's provider", 'No provider of this channel answers', null],
    ])
    expect(found[3]).toEqual({
      row: 4,
      recipient: 'person4@example.org',
      reference: 'ref-4',
      status: 'permanent-failure',
      status_description: 'No such address',
      status_at: expect.stringMatching(ZULU),
      reason: "There is no such address at the recipient's provider",
      notification_id: expect.any(String),
    })
    const { body } = await key.get(`/v2/notifications/${found[3]?.notification_id}`)
    expect(body).toMatchObject({ status: 'permanent-failure', completed_at: found[3]?.status_at })
  })

  test('rows that wait in chunks are there before, during and after the job, each once', async () => {
    const id = await job(rowsOf(1_203))
    const numbers = Array.from({ length: 1_203 }, (_, at) => at + 1)
    const seen = async () => (await lines(id)).map(({ row, recipient }) => `${row} ${recipient}`)
    const wanted = numbers.map(row => `${row} person${row}@example.org`)
    expect(await seen()).toEqual(wanted)
    await spreadJob(here.parts, id, 1)
    expect(await seen()).toEqual(wanted)
    await spreadJob(here.parts, id)
    expect(await seen()).toEqual(wanted)
  })

  test('shows rows of this job only, although those of others have ids among them', async () => {
    const due = { scheduled_for: inMinutes(60) }
    const [one, two] = [await job(rowsOf(700), due), await job(rowsOf(30), due)]
    for (const id of [one, two]) await spreadJob(here.parts, id)
    expect((await lines(one)).length).toBe(700)
    expect((await lines(two)).map(({ reference }) => reference)).toEqual(
      rowsOf(30)
        .slice(1)
        .map(row => row[2]),
    )
  })

  test('of a cancelled job there is nothing but the header', async () => {
    const id = await job(rowsOf(2), { scheduled_for: inMinutes(60) })
    await key.delete(`${BULK}/${id}`)
    expect(await lines(id)).toEqual([])
    const { text, headers } = await report(id, 'csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(text).toBe(
      '"row","recipient","reference","status","status_description","status_at","reason","notification_id"\r\n',
    )
  })

  test('cells that a spreadsheet would run are text', async () => {
    const rows = [
      ['email address', 'name', 'reference'],
      ...['=cmd()', '+1+1', '-2', '@SUM(A1)', '\t=1', 'a "quote", and\nline'].map(text => [
        '=a@example.org',
        'N',
        text,
      ]),
    ]
    const id = await job(rows)
    const { text } = await report(id, 'csv')
    const references = text
      .split('\r\n')
      .slice(1, -1)
      .map(line => line.split('","')[2])
    expect(references).toEqual(["'=cmd()", "'+1+1", "'-2", "'@SUM(A1)", "'=1", 'a ""quote"", and\nline'])
    expect(text).toContain(`"1","'=a@example.org"`)
  })

  test('CSV is the default; another format and an unknown job are refused', async () => {
    const id = await job(rowsOf(1))
    expect((await key.get(`/herald/v1/jobs/${id}/report`)).headers.get('content-type')).toContain('text/csv')
    const refused = await key.get(`/herald/v1/jobs/${id}/report?format=xml`)
    expect([refused.status, refused.body.errors[0].error]).toEqual([400, 'ValidationError'])
    const other = await (await here.service()).key()
    expect((await other.get(`/herald/v1/jobs/${id}/report`)).status).toBe(404)
  })

  test('text messages have their number as it was written', async () => {
    const sms = await smsTemplate(key)
    const reply = await key.post(BULK, {
      ...{ name: 'Texts', template_id: sms },
      rows: [
        ['phone number', 'name'],
        ['(613) 555-0123', 'N'],
      ],
    })
    await spreadJob(here.parts, reply.body.data.id)
    expect(await lines(reply.body.data.id)).toMatchObject([{ recipient: '(613) 555-0123', status: 'created' }])
  })

  test('messages that are past their retention are not shown', async () => {
    const id = await job(rowsOf(3))
    await spreadJob(here.parts, id)
    here.moveClock(8 * 86_400_000)
    try {
      expect(await lines(id)).toEqual([])
    } finally {
      here.moveClock(-8 * 86_400_000)
    }
  })
})
