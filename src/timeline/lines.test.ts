import { expect, test } from 'vitest'
import { fromMicros, zulu } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import { type Id, microsOf } from '../core/id.ts'
import { createSeal } from '../core/seal.ts'
import { sealPersonal } from '../notifications/notification.ts'
import { MESSAGE_COLUMNS, type MessageLines, reportMessageLines } from './lines.ts'

const seal = createSeal(['a secret that is long enough for a test'])
const TEMPLATE = '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b'
const JOB = '01937e5b-2a4c-7b6d-8e0f-1a2b3c4d5e70'
const idOf = (n: number) => `01937e5b-2a4c-7b6d-8e0f-0000000000${String(n).padStart(2, '0')}` as Id

const HOSTILE = [
  'a\tb',
  'a\nb\r\n',
  '=1+1',
  '"',
  '\\',
  '\u2028',
  "O'Brien",
  'Анна',
  '李',
  '💌',
  '',
  'null',
  '\\"x',
  '+16135550123',
]

const lineOf = (id: Id, to: string, reference: string | null, job = '') =>
  [
    ...[id, 'sms', TEMPLATE, 3, job, '', reference === null ? '' : JSON.stringify(reference)],
    sealPersonal(seal, { to, values: { name: to } }).toString('hex'),
  ].join('\t')
const stateOf = (id: Id) => [id, 'delivered', '', '2026-11-16 17:40:01.5+00', '2026-11-16 17:40:02+00', '2'].join('\t')

const pageOf = (format: MessageLines['format'], more: Partial<MessageLines> = {}): MessageLines => ({
  messages: '',
  states: '',
  from: null,
  templateNames: new Map([[`${TEMPLATE}/3`, '=A "template"\n']]),
  jobNames: new Map([[JOB, '-job']]),
  format,
  ...more,
})

const written = (page: MessageLines) => Buffer.from(reportMessageLines(seal, page)).toString('utf8')

test('every recipient, reference and name comes out as it went in, in both formats', () => {
  const rows = HOSTILE.map((text, n) => ({
    id: idOf(99 - n),
    to: text,
    reference: n === 3 ? null : text,
    job: n % 2 ? JOB : '',
  }))
  const given = {
    messages: rows.map(row => lineOf(row.id, row.to, row.reference, row.job)).join('\n'),
    states: rows.map(row => stateOf(row.id)).join('\n'),
  }
  const expected = rows.map(row => ({
    id: row.id,
    recipient: row.to,
    type: 'sms',
    status: 'delivered',
    status_description: 'Delivered',
    reference: row.reference,
    template_id: TEMPLATE,
    template_version: 3,
    template_name: '=A "template"\n',
    job_id: row.job || null,
    job_name: row.job ? '-job' : null,
    text_parts: 2,
    created_at: zulu(fromMicros(microsOf(row.id))),
    scheduled_for: null,
    sent_at: '2026-11-16T17:40:01.500000Z',
    completed_at: '2026-11-16T17:40:02.000000Z',
  }))
  const json = written(pageOf('ndjson', given))
  expect(
    json
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toEqual(expected)
  expect(Object.keys(JSON.parse(json.split('\n', 1)[0] ?? ''))).toEqual(MESSAGE_COLUMNS)
  expect(written(pageOf('csv', given))).toBe(
    expected.map(row => `${csvRow(MESSAGE_COLUMNS.map(name => row[name]))}\r\n`).join(''),
  )
})

test('messages are matched with their states; those below the limit or without a state are left out', () => {
  const ids = [9, 8, 7, 6, 5].map(idOf)
  const page = pageOf('csv', {
    messages: ids.map(id => lineOf(id, 'a@example.org', null)).join('\n'),
    states: [9, 7, 6, 5].map(n => stateOf(idOf(n))).join('\n'),
    from: idOf(6),
  })
  expect([...written(page).matchAll(/^"([0-9a-f-]{36})",/gm)].map(([, id]) => id)).toEqual([9, 7, 6].map(idOf))
  expect(written(pageOf('csv'))).toBe('')
})
