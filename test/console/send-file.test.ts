// A file of recipients: over HTTP, as the browser asks.
import { beforeAll, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { change } from '../../src/services/change.ts'
import { LIMITS, MOST_SHEETS } from '../../src/sheets/sheet.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'

let here: ConsolePlace
let sender: SignedInAs
let at: string

beforeAll(async () => {
  here = await place()
  sender = await here.signIn('sender')
  at = `/s/${here.planted.service.id}/send/file`
}, 60_000)

const get = (path: string, who = sender) => here.request(who, path)
const post = (path: string, form: Record<string, string>) => here.request(sender, path, { form })
const HEADER = 'email address,first name,permit number,zone,end date,discount'
const good = (n: number) => `resident.${n}@example.org,Kim,ZC-${n},C,30 November,yes`

/** As a browser sends it. */
async function upload(
  content: string | Buffer,
  { name = 'people.csv', token = sender.formToken, by = '', template = here.planted.service.templates.email } = {},
) {
  const body = new FormData()
  body.append('form_token', token)
  body.append('template', template)
  if (by) body.append('by', by)
  body.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name)
  const response = await fetch(here.address + CONSOLE + at, {
    ...{ method: 'POST', redirect: 'manual', body },
    headers: {
      cookie: `${sender.cookie.name}=${sender.cookie.value}`,
      origin: here.address,
      'sec-fetch-site': 'same-origin',
    },
  })
  const text = await response.text()
  return { status: response.status, text, location: (response.headers.get('location') ?? '').slice(CONSOLE.length) }
}
async function uploaded(content: string | Buffer, name?: string, template?: Id) {
  const { location, status } = await upload(content, { ...(name && { name }), ...(template && { template }) })
  expect(status).toBe(303)
  await here.parts.sheets.idle()
  return location
}
const sheets = async () => {
  const [row] = await here.parts.db.sql<{ many: number }>`select count(*)::integer as many from sheets`
  return row?.many
}
const plain = (html: string) =>
  html
    .slice(html.indexOf('<main'), html.indexOf('</main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

describe('an upload', () => {
  test('is read, and its page says what was found', async () => {
    const path = await uploaded([HEADER, good(1), good(2)].join('\r\n'))
    const { status, text } = await get(path)
    expect(status).toBe(200)
    expect(plain(text)).toContain('2 rows for')
    expect(plain(text)).toContain('Read as CSV with commas, UTF-8.')
    expect(plain(text)).toContain('No row has errors.')
    expect(plain(text)).toContain('Go on with 2 messages')
  })

  test('with semicolons in Windows-1252 is read as such', async () => {
    const text = [HEADER, good(1)].join('\r\n').replaceAll(',', ';').replace('Kim', 'Zoë')
    const page = await get(await uploaded(Buffer.from(text, 'latin1')))
    expect(plain(page.text)).toContain('Read as CSV with semicolons, Windows-1252.')
    expect(page.text).toContain('Zoë')
  })

  test('without the token of the form stores nothing', async () => {
    const before = await sheets()
    const { status } = await upload(HEADER, { token: 'wrong' })
    expect([status, await sheets()]).toEqual([403, before])
  })

  test('that is too large is refused with a sentence, and nothing is stored', async () => {
    const before = await sheets()
    const { status, text } = await upload(Buffer.alloc(LIMITS.bytes + 200_000, 'x'))
    expect([status, await sheets()]).toEqual([413, before])
    expect(text).toContain('25 MB')
    const script = await upload(Buffer.alloc(LIMITS.bytes + 200_000, 'x'), { by: 'script' })
    expect(JSON.parse(script.text).error).toContain('25 MB')
    // Announced as larger than everything that is read: refused before the first byte.
    const early = await upload(Buffer.alloc(LIMITS.bytes + 2_000_000, 'x'))
    expect([early.status, await sheets()]).toEqual([413, before])
    expect(early.text).toContain('25 MB')
  })

  test('of nothing says to choose a file', async () => {
    const { status, text } = await upload('', { name: '' })
    expect(status).toBe(422)
    expect(text).toContain('Choose a file')
  })

  test('without a byte says that the file is empty', async () => {
    const before = await sheets()
    for (const by of ['', 'script']) {
      const { status, text } = await upload('', { by })
      expect(status).toBe(422)
      expect(text).toContain('The file is empty. Choose one with a heading and rows')
    }
    expect(await sheets()).toBe(before)
  })

  test('with a value that is neither yes nor no is flagged, once for each column', async () => {
    const row = (n: number, discount: string) => good(n).replace(/yes$/, discount)
    const rows = [row(1, 'yes'), row(2, 'Maybe'), row(3, 'NON'), row(4, '0'), row(5, 'later')]
    const unclear = plain((await get(await uploaded([HEADER, ...rows].join('\n')))).text)
    expect(unclear).toContain('Some values are neither yes nor no')
    expect(unclear).toMatch(/discount ?: ?2 rows, Row 3 ?: Maybe/)
    const clear = await get(await uploaded([HEADER, row(1, 'yes'), row(2, 'no')].join('\n')))
    expect(plain(clear.text)).not.toContain('neither yes nor no')
  })

  test('that cannot be read makes room before one that can, and the list says which it is', async () => {
    const unsent = async () => {
      const { text } = await get(`${at}?template=${here.planted.service.templates.email}`)
      return plain(text.slice(text.indexOf('id="unsent"') - 200).replace('id="unsent"', '><main'))
    }
    await here.parts.db.sql`delete from sheets`
    for (let n = 1; n <= MOST_SHEETS - 1; n++) await uploaded([HEADER, good(n)].join('\n'), `good-${n}.csv`)
    await uploaded(Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 1, 2]), 'bad.pdf')
    const full = await unsent()
    expect(full).toContain('bad.pdf It cannot be read')
    expect(full).toContain(`The last ${MOST_SHEETS} are kept`)
    await uploaded([HEADER, good(1)].join('\n'), 'further.csv')
    const after = await unsent()
    expect(after).toContain('further.csv')
    expect(after).toContain('good-1.csv')
    expect(after).not.toContain('bad.pdf')
  })

  test('of something else says what to do', async () => {
    const page = await get(await uploaded(Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 1, 2]), 'a.pdf'))
    expect(plain(page.text)).toContain('Save it as CSV, .xlsx or .ods.')
  })

  test('is another person’s only', async () => {
    const path = await uploaded([HEADER, good(1)].join('\n'))
    expect((await get(path, await here.signIn('manager'))).status).toBe(404)
  })

  test('can be pasted', async () => {
    const rows = [HEADER, good(1)].join('\n').replaceAll(',', '\t')
    const form = { template: here.planted.service.templates.email, from: 'rows', rows }
    const { location } = await here.request(sender, at, { form, multipart: true })
    await here.parts.sheets.idle()
    expect(plain((await get(String(location).slice(CONSOLE.length))).text)).toContain('1 row for')
  })
})

describe('the check', () => {
  const BAD = [
    'no-at-sign,Ana,ZC-1,C,x,yes',
    'two@@example.org,Ana,ZC-1,C,x,yes',
    'no-dot@example,Ana,ZC-1,C,x,yes',
    ',Ana,ZC-1,C,x,yes',
    'ana@example.org,,ZC-1,C,,yes',
  ]

  test('lists every problem with its row, column and value, and any row can be seen', async () => {
    const path = await uploaded([HEADER, good(1), ...BAD, good(1)].join('\n'))
    const { text } = await get(path)
    const shown = plain(text)
    expect(shown).toContain('5 rows have errors')
    for (const found of [
      'It has no @ sign',
      'Two @ signs',
      'The part after @ has no dot',
      'Every row needs a recipient',
    ])
      expect(shown).toContain(found)
    expect(shown.match(/The template needs it/g)).toHaveLength(2)
    expect(shown).toContain('1 recipient is in the file more than once')
    expect(shown).toContain('2, 8')
    expect((await get(`${path}?row=7`)).text).toContain('>ana@example.org<')
    expect((await get(`${path}/rendered?row=2`)).text).toContain('Dear Kim')
    expect(plain((await get(`${path}?row=99`)).text)).toContain('The file has no such row')
  })

  test('the bad rows can be downloaded, and are read again when they are corrected', async () => {
    const path = await uploaded([HEADER, good(1), ...BAD, '=1+1@example,Ana,ZC-1,C,x,yes'].join('\n'))
    const { text } = await get(`${path}/bad-rows`)
    const lines = text.trim().split('\r\n')
    expect(lines).toHaveLength(7)
    expect(lines[0]).toContain('"Problem"')
    expect(lines[6]).toContain(`"'=1+1@example"`)
    const again = await get(await uploaded(text.replace('=1+1@example', '-one@example.org')))
    expect(plain(again.text)).toContain('5 rows have errors')
  })

  test('columns can be matched by hand', async () => {
    const path = await uploaded([HEADER.replace('zone', 'area'), good(1)].join('\n'))
    const before = plain((await get(path)).text)
    expect(before).toContain('No column has: zone')
    // No row is ready yet.
    expect(before).not.toContain('Ready')
    const twice = await post(path, { act: 'match', 'column-1': 'value:zone', 'column-3': 'value:zone' })
    expect(twice.status).toBe(422)
    const { location } = await post(path, { act: 'match', 'column-3': 'value:zone' })
    const after = plain((await get(String(location).slice(CONSOLE.length))).text)
    expect(after).toContain('No row has errors.')
  })

  test('goes on without the bad rows only after a question, then sends once', async () => {
    const path = await uploaded([HEADER, good(1), ...BAD, good(2)].join('\n'))
    expect((await post(path, { act: 'confirm' })).status).toBe(422)
    const question = await post(path, { act: 'ask' })
    expect(plain(question.text)).toContain('Leave out 5 rows?')
    expect(plain(question.text)).toContain('2 messages remain.')
    await post(path, { act: 'leave-out' })
    expect(plain((await get(path)).text)).toContain('No row has errors.')
    await post(path, { act: 'take-in' })
    expect(plain((await get(path)).text)).toContain('5 rows have errors')
    await post(path, { act: 'leave-out' })

    const confirm = await post(path, { act: 'confirm', name: 'Autumn' })
    expect(plain(confirm.text)).toContain('Send 2 messages?')
    expect(plain(confirm.text)).toContain('Rows left out 5')
    const sent = await Promise.all([1, 2, 3].map(() => post(path, { act: 'send', name: 'Autumn' })))
    expect(new Set(sent.map(({ location }) => location)).size).toBe(1)
    const [jobs] = await here.parts.db.sql<{ many: number; rows: number }>`
      select count(*)::integer as many, max(notification_count) as rows from jobs where name = 'Autumn'`
    expect(jobs).toEqual({ many: 1, rows: 2 })
    const audited = await entries(here.parts.db.sql, here.planted.service.id, 50)
    expect(audited.filter(({ action }) => action === 'job sent')).toHaveLength(1)
    // The page of the file leads to the job.
    expect((await get(path)).status).toBe(303)
  })

  test('a time is chosen by the person’s clock', async () => {
    const path = await uploaded([HEADER, good(1)].join('\n'))
    const due = new Date(Date.now() + 26 * 3_600_000).toISOString()
    const form = { when: 'later', day: due.slice(0, 10), time: due.slice(11, 16), name: 'Timed' }
    expect((await post(path, { ...form, act: 'confirm', day: '2020-01-01' })).status).toBe(422)
    expect(plain((await post(path, { ...form, act: 'confirm' })).text)).toContain('Schedule 1 message?')
    await post(path, { ...form, act: 'send' })
    const [job] = await here.parts.db.sql<{ at: string }>`select scheduled_for as at from jobs where name = 'Timed'`
    expect(new Date(String(job?.at)).toISOString().slice(0, 16)).toBe(due.slice(0, 16))
  })

  test('more than the daily limit cannot be sent, and the page says so', async () => {
    const path = await uploaded([HEADER, ...Array.from({ length: 10_001 }, (_, n) => good(n))].join('\n'))
    const { text } = await get(path)
    expect(plain(text)).toContain('The daily limit does not suffice')
    expect(plain(text)).toContain('are more than the service may send in a day')
    // No day is long enough, so there is nothing to go on with.
    expect(plain(text)).not.toContain('Go on with')
    expect((await post(path, { act: 'confirm' })).status).toBe(422)
  })

  test('rows that are too long are named, and can be left out', async () => {
    const { templates } = here.planted.service
    const rows = ['+447911123456,1234', `+447911123457,${'x'.repeat(620)}`, '+447911123458,5678'].map(
      row => `${row},9:00,17:00,C`,
    )
    const path = await uploaded(['phone number,code,start,end,zone', ...rows].join('\n'), 'texts.csv', templates.sms)
    const shown = plain((await get(path)).text)
    expect(shown).toContain('1 row has errors')
    expect(shown).toContain('Too long The text message would have more than 612 characters')
    expect(shown).toContain('Row 3')
    expect((await get(`${path}/bad-rows`)).text).toContain('+447911123457')
    await post(path, { act: 'leave-out' })
    expect(plain((await get(path)).text)).toContain('No row has errors.')
    expect(plain((await post(path, { act: 'confirm' })).text)).toContain('Send 2 messages?')
  })

  test('in trial mode rows of others than the team and the safelist are named', async () => {
    const operator = { kind: 'operator', name: 'tests' } as const
    const { id } = here.planted.service
    const own = here.planted.people.sender.email_address
    await change(here.parts, operator, id, { mode: 'trial' })
    try {
      const path = await uploaded([HEADER, good(1).replace(/^[^,]+/, own), good(2), good(3)].join('\n'))
      const shown = plain((await get(path)).text)
      expect(shown).toContain('This service is in trial mode')
      expect(shown).toContain('2 rows have errors')
      expect(shown.match(/Not in the team or allowed The service is in trial mode/g)).toHaveLength(2)
      await post(path, { act: 'leave-out' })
      expect(plain((await post(path, { act: 'confirm' })).text)).toContain('Send 1 message?')
      // Live meanwhile: the rows that were left out stay out until they are taken in again.
      await change(here.parts, operator, id, { mode: 'live' })
      await post(path, { act: 'take-in' })
      expect(plain((await get(path)).text)).toContain('Go on with 3 messages')
    } finally {
      await change(here.parts, operator, id, { mode: 'live' })
    }
  })

  test('of more than 50,000 rows is refused before it can be checked', async () => {
    const { text } = await get(await uploaded(`email address\n${'a@example.org\n'.repeat(50_001)}`))
    expect(plain(text)).toContain('The file has more than 50,000 rows. Split it into several files.')
  })

  test('has pages of 100 errors', async () => {
    const path = await uploaded(
      [HEADER, good(1), ...Array.from({ length: 250 }, (_, n) => `x${n},A,B,C,D,yes`)].join('\n'),
    )
    const first = await get(path)
    expect(first.text.match(/It has no @ sign/g)).toHaveLength(100)
    expect(plain(first.text)).toContain('1 to 100 of 250')
    const last = await get(`${path}?from=200`)
    expect(last.text.match(/It has no @ sign/g)).toHaveLength(50)
    expect(last.text).toContain('x249')
  })

  test('a file can be deleted', async () => {
    const path = await uploaded([HEADER, good(1)].join('\n'))
    expect((await post(path, { act: 'remove' })).location).toContain('/send/file?template=')
    expect((await get(path)).status).toBe(404)
  })
})
