// The list of messages, a message, and what people do with them: over HTTP, as the browser asks.
import { beforeAll, describe, expect, test } from 'vitest'
import { type AuditEntry, entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { callerWith } from '../support/world.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let viewer: SignedInAs
let sender: SignedInAs
let at: string

beforeAll(async () => {
  here = await place()
  viewer = await here.signIn('viewer')
  sender = await here.signIn('sender')
  at = `/s/${here.planted.service.id}/messages`
}, 60_000)

const get = (path: string, who: SignedInAs = viewer) => here.request(who, path)
const post = (path: string, form: Record<string, string>, who: SignedInAs = viewer) => here.request(who, path, { form })
const shown = (text: string) =>
  [...text.matchAll(/<tr role="row" data-id="([0-9a-f-]{36})">/g)].map(([, id]) => id as string)
const message = (name: string) => here.planted.service.messages[name] as Id
const names = (ids: readonly string[]) => {
  const byId = new Map(Object.entries(here.planted.service.messages).map(([name, id]) => [id as string, name]))
  return ids.flatMap(id => byId.get(id) ?? []).sort()
}
const listed = async (query: string, who?: SignedInAs) => names(shown((await get(`${at}?${query}`, who)).text))
const search = async (q: string, more: Record<string, string> = {}) =>
  (await post(`${at}/search`, { q, ...more })).location
const audited = async (action: AuditEntry['action']) =>
  (await entries(here.parts.db.sql, here.planted.service.id, 1_000)).filter(one => one.action === action)

describe('the list', () => {
  test('has all messages of the service, newest first, with what a person looks for', async () => {
    const { status, text } = await get(at)
    expect(status).toBe(200)
    const ids = shown(text)
    expect(ids).toEqual([...ids].sort().reverse())
    expect(names(ids)).toEqual(Object.keys(here.planted.service.messages).sort())
    expect(text).toContain('k.lindgren@example.net')
    expect(text).toContain('Your permit ZC-20418 ends on 30 November 2026')
    expect(text).toContain('Kept for 7 days.')
    expect(text).toContain('Production')
    for (const id of Object.values(here.planted.other.messages)) expect(text).not.toContain(id)
  })

  test.each<[query: string, expected: string[]]>([
    [
      'status=failed',
      [
        'permanent-failure',
        'permanent-failure-sms',
        'technical-failure',
        'temporary-failure',
        'temporary-failure-sms',
        'virus-scan-failed',
      ],
    ],
    ['status=failed&kind=text', ['permanent-failure-sms', 'temporary-failure-sms']],
    ['status=delivered', ['delivered', 'delivered-sms', 'right-to-left', 'sent']],
    ['status=in-transit', ['pending-sms', 'pending-virus-check', 'scheduled', 'sending']],
    ['status=scheduled', ['scheduled']],
    ['status=cancelled', ['cancelled']],
    ['status=virus-scan-failed', ['virus-scan-failed']],
    ['key=team', []],
    ['q=delivered-2026', ['delivered']],
    ['q=delivered-2026&kind=text', []],
    ['since=yesterday', []],
  ])('%s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test('of a template, of one that failed, and of none', async () => {
    const { rightToLeft, sms, unused } = here.planted.service.templates
    expect(await listed(`template=${rightToLeft}`)).toEqual(['right-to-left'])
    expect(await listed(`template=${sms}&status=failed`)).toEqual(['permanent-failure-sms', 'temporary-failure-sms'])
    expect(await listed(`template=${sms}&status=delivered`)).toEqual(['delivered-sms', 'sent'])
    expect(await listed(`template=${unused}`)).toEqual([])
    expect(await listed(`template=${here.planted.other.templates.sms}`)).toEqual([])
  })

  test('what means nothing is ignored', async () => {
    const all = await listed('')
    for (const query of [
      'status=nonsense',
      'kind=%00',
      'template=x',
      'since=9999',
      'before=x',
      'key=admin',
      'recipient=zz',
    ])
      expect([query, await listed(query)]).toEqual([query, all])
  })

  test('filters that match nothing say so, and an empty service has its first step', async () => {
    expect((await get(`${at}?key=team`)).text).toContain('No message matches')
    const manager = await here.signIn('manager')
    expect((await get(`/s/${here.planted.empty}/messages`, manager)).text).toContain('No messages yet')
  })

  test('rows and filters from outside are text', async () => {
    const { text } = await get(`${at}?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('&lt;script>alert')
  })
})

describe('pages', () => {
  let ids: Id[] = []

  beforeAll(async () => {
    const { keys, templates } = here.planted.other
    const key = callerWith(here.address, String(keys[0]?.key))
    for (let n = 0; n < 120; n++)
      await key.post('/v2/notifications/sms', {
        phone_number: '+447911123462',
        template_id: templates.sms,
        reference: 'many',
        personalisation: { code: String(n), start: 'now', end: 'later', zone: 'A' },
      })
    const rows = await here.parts.db.sql<{ id: Id }>`
      select id from notifications where service_id = ${here.planted.other.id} order by id desc`
    ids = rows.map(row => row.id)
  }, 60_000)

  test.each(['', 'q=many&', 'kind=text&', 'status=in-transit&'])(
    'older and newer lead through all: ?%s',
    async query => {
      const manager = await here.signIn('stranger')
      const path = `/s/${here.planted.other.id}/messages`
      const link = (text: string, rel: string) =>
        new RegExp(`rel="${rel}" href="/console([^"]+)"`).exec(text)?.[1]?.replaceAll('&amp;', '&')
      const pages: string[][] = []
      let text = (await get(`${path}?${query}`, manager)).text
      for (;;) {
        pages.push(shown(text))
        const next = link(text, 'next')
        if (!next) break
        text = (await get(next, manager)).text
      }
      const all = pages.flat()
      expect(all).toEqual([...new Set(all)].sort().reverse())
      expect(pages.slice(0, -1).every(page => page.length === 50)).toBe(true)
      if (query === '') expect(all).toEqual(ids)
      expect(all.length).toBeGreaterThanOrEqual(120)
      const back: string[][] = [shown(text)]
      for (;;) {
        const previous = link(text, 'prev')
        if (!previous) break
        text = (await get(previous, manager)).text
        back.unshift(shown(text))
      }
      expect(back.flat().slice(-all.length)).toEqual(all)
    },
  )
})

describe('search', () => {
  test('a recipient leads to an address with a keyed digest, never with the recipient', async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const template_id = here.planted.service.templates.rightToLeft
    const sent = await key.post('/v2/notifications/email', {
      email_address: 'Ana.Petrov@example.org',
      template_id,
      personalisation: { name: 'A' },
    })
    const location = String(await search('ana.petrov@EXAMPLE.org'))
    expect(location).toMatch(/^\/console\/s\/[0-9a-f-]{36}\/messages\?recipient=[0-9a-f]{14}(\.[0-9a-f]{14}){3}$/)
    expect(shown((await get(location.slice('/console'.length))).text)).toEqual([sent.body.id, message('delivered')])
    const filtered = String(await search('ana.petrov@example.org', { status: 'delivered', kind: 'email' }))
    expect(filtered).toContain('status=delivered')
    expect(names(shown((await get(filtered.slice('/console'.length))).text))).toEqual(['delivered'])
  })

  test.each<[string, () => string, string]>([
    ['the only message of a recipient', () => 'k.lindgren@example.net', 'permanent-failure'],
    ['a number as people of the country write it', () => '07911 123118', 'temporary-failure-sms'],
    ['an id', () => message('sending'), 'sending'],
    ['an id without hyphens', () => message('sending').replaceAll('-', '').toUpperCase(), 'sending'],
    ['a reference', () => 'sending-2026', 'sending'],
  ])('opens %s', async (_name, text, expected) => {
    expect(await search(`  ${text()} `)).toBe(`/console${at}/${message(expected)}`)
  })

  test.each([
    'nobody@example.org',
    'k.lindgren@example,net',
    'k.lindgren@',
    '+44 7911 000000 99',
    'x'.repeat(5_000),
    '\0',
  ])('what matches nothing does not stand in the address: %#', async text => {
    const location = String(await search(text))
    expect(location).toMatch(/\/messages\?(found=nothing|recipient=[0-9a-f.]+)$/)
    expect((await get(location.slice('/console'.length))).text).toContain('No message matches')
  })

  test('messages of other services are not found', async () => {
    expect(await search(String(here.planted.other.messages.sending))).toContain('found=nothing')
    const own = await search('k.lindgren@example.net')
    expect(own).toContain(message('permanent-failure'))
  })

  test('nothing typed is the list with its filters', async () => {
    expect(await search('', { status: 'failed', kind: '' })).toBe(`/console${at}?status=failed`)
  })
})

describe('a message', () => {
  const page = async (name: string, who?: SignedInAs, more = '') =>
    (await get(`${at}/${message(name)}${more}`, who)).text

  test.each<[string, RegExp[]]>([
    [
      'delivered',
      [/Delivered at \d\d:\d\d/, /nothing to do/, /Attempt 1: handed over/, /Receipt: delivered/, /250 2\.0\.0 queued/],
    ],
    ['permanent-failure', [/No such address/, /What to do:/, /550 5\.1\.1 user unknown/, /callout bad/]],
    ['scheduled', [/Leaves at/, /Nothing was sent yet/, /Waits for/, /badge plan/]],
    ['cancelled', [/Cancelled by the key/, /It was not sent/]],
    ['pending-virus-check', [/virus scanner/]],
    ['delivered-sms', [/class="bubble"/, /your visitor code is 4471/, /\d parts?, \d+ of \d+/, /EASTMERE/]],
  ])('%s', async (name, words) => {
    const text = await page(name)
    for (const one of words) expect(text).toMatch(one)
  })

  test('has its facts', async () => {
    const text = await page('delivered')
    for (const one of [
      message('delivered'),
      'delivered-2026',
      'Permit renewal reminder',
      'version 3',
      'Production',
      'relay',
    ])
      expect(text).toContain(one)
  })

  test('the e-mail is a document of its own without scripts', async () => {
    expect(await page('delivered')).toMatch(/<iframe sandbox(="")? src="[^"]+\/rendered"/)
    const { headers, text, status } = await get(`${at}/${message('delivered')}/rendered`)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
    expect(text).toContain('Dear Kim, your permit')
    expect((await get(`${at}/${message('delivered-sms')}/rendered`)).status).toBe(404)
  })

  test('other views of the content', async () => {
    expect(await page('delivered', viewer, '?view=text')).toContain('Dear Kim, your permit')
    expect(await page('delivered', viewer, '?view=source')).toContain('&lt;!DOCTYPE html')
    expect(await page('delivered', viewer, '?view=headers')).toContain(`&lt;${message('delivered')}@`)
    expect(await page('delivered', viewer, '?view=nonsense')).toContain('<iframe')
  })

  test('of another service, or that never was, there is none', async () => {
    const other = here.planted.other.messages.delivered as Id
    for (const id of [other, 'x', '00000000-0000-4000-8000-000000000000', other.replace(/.$/, '0')])
      for (const path of ['', '/rendered']) expect((await get(`${at}/${id}${path}`)).status).toBe(404)
    expect((await post(`${at}/${other}/cancel`, {}, sender)).status).toBe(404)
    expect((await post(`${at}/${other}/copy`, {}, sender)).status).toBe(404)
  })

  test('operators who are no members see none of it', async () => {
    const operator = await here.signIn('operator')
    for (const path of ['', '/export', `/${message('delivered')}`, `/${message('delivered')}/rendered`]) {
      const { status, text } = await get(at + path, operator)
      expect([path, status]).toEqual([path, 403])
      expect(text).not.toContain('example.org')
    }
  })
})

describe('cancel', () => {
  const scheduled = async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const { body } = await key.post('/v2/notifications/email', {
      email_address: 'later@example.org',
      template_id: here.planted.service.templates.rightToLeft,
      personalisation: { name: 'L' },
      scheduled_for: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19),
    })
    return body.id as Id
  }

  test('a scheduled message, once', async () => {
    const id = await scheduled()
    expect((await get(`${at}/${id}`, sender)).text).toContain('Cancel the message')
    const { status, location } = await post(`${at}/${id}/cancel`, {}, sender)
    expect([status, location]).toEqual([303, `/console${at}/${id}?done=cancelled`])
    const { text } = await get(`${at}/${id}?done=cancelled`, sender)
    expect(text).toContain('The message is cancelled. It was not sent.')
    expect(text).toContain('Jo Lind')
    expect((await post(`${at}/${id}/cancel`, {}, sender)).status).toBe(404)
    expect((await audited('message cancelled')).filter(one => one.subject_id === id)).toMatchObject([
      { actor_kind: 'person', actor_id: here.planted.people.sender.id },
    ])
  })

  test('not what was sent, with a page that says why', async () => {
    const { status, text } = await post(`${at}/${message('delivered')}/cancel`, {}, sender)
    expect(status).toBe(422)
    expect(text).toContain('Not cancelled')
    expect(text).toMatch(/<title>Error: /)
  })

  test('not by everybody', async () => {
    const id = await scheduled()
    expect((await get(`${at}/${id}`)).text).not.toContain('Cancel the message')
    expect((await post(`${at}/${id}/cancel`, {})).status).toBe(403)
  })
})

describe('a copy', () => {
  test('is a new message with the same values', async () => {
    const { status, location } = await post(`${at}/${message('permanent-failure')}/copy`, {}, sender)
    expect(status).toBe(303)
    const id = /messages\/([0-9a-f-]{36})\?done=copied$/.exec(String(location))?.[1]
    expect(id).not.toBe(message('permanent-failure'))
    const { text } = await get(String(location).slice('/console'.length), sender)
    expect(text).toContain('This is the copy.')
    expect(text).toContain('k.lindgren@example.net')
    expect(text).toContain('Your permit ZC-20418 ends on 30 November 2026')
    expect(text).toContain('Jo Lind')
    expect((await audited('message sent again'))[0]).toMatchObject({
      subject_id: id,
      actor_id: here.planted.people.sender.id,
      detail: { copy_of: message('permanent-failure') },
    })
  })

  test('goes through the same checks', async () => {
    const { archived } = here.planted.service.templates
    expect(archived).toBeTruthy()
    await here.parts.db.sql`update templates set archived = true where id = ${here.planted.service.templates.sms}`
    here.parts.templates.clear()
    try {
      const { status, text } = await post(`${at}/${message('delivered-sms')}/copy`, {}, sender)
      expect(status).toBe(422)
      expect(text).toContain('Template has been deleted')
    } finally {
      await here.parts.db.sql`update templates set archived = false where id = ${here.planted.service.templates.sms}`
      here.parts.templates.clear()
    }
  })

  test('with an attachment while it is stored, and not after', async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const { body } = await key.post('/v2/notifications/email', {
      email_address: 'files@example.org',
      template_id: here.planted.service.templates.rightToLeft,
      personalisation: {
        name: 'F',
        letter: { file: Buffer.from('a letter').toString('base64'), filename: 'letter.txt', sending_method: 'attach' },
      },
    })
    const { sql } = here.parts.db
    await sql`update files set verdict = 'clean' where notification_id = ${body.id}`
    const { location } = await post(`${at}/${body.id}/copy`, {}, sender)
    const { text } = await get(String(location).slice('/console'.length), sender)
    expect(text).toContain('letter.txt')
    await sql`update files set emptied = true where notification_id = ${body.id}`
    const again = await post(`${at}/${body.id}/copy`, {}, sender)
    expect([again.status, again.text.includes('not stored any more')]).toEqual([422, true])
    expect((await get(`${at}/${body.id}`, sender)).text).not.toContain('Send a copy')
  })

  test('not by everybody', async () => {
    for (const who of ['viewer', 'author', 'developer'] as const) {
      const person = await here.signIn(who)
      expect((await get(`${at}/${message('delivered')}`, person)).text).not.toContain('Send a copy')
      expect((await post(`${at}/${message('delivered')}/copy`, {}, person)).status).toBe(403)
    }
  })
})

describe('export', () => {
  const PAYLOADS = [
    '=1+1',
    '=cmd|calc',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '\t=1+1',
    '\r=1+1',
    '=HYPERLINK("http://x")',
    '"=1+1',
    'a,"b"',
    '-2+3+cmd|',
    '@import',
  ]
  const rowsOf = (csv: string) => csv.split('\r\n').slice(1, -1)

  beforeAll(async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    for (const reference of PAYLOADS)
      await key.post('/v2/notifications/email', {
        email_address: 'formula@example.org',
        template_id: here.planted.service.templates.rightToLeft,
        personalisation: { name: 'F' },
        reference,
      })
  })

  test('has every message, quoted, and no formula', async () => {
    const { status, text, headers } = await get(`${at}/export`, sender)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="Parking permits messages \d{4}-\d\d-\d\d\.csv"/,
    )
    const [count] = await here.parts.db.sql<{ n: number }>`
      select count(*)::integer as n from notifications where service_id = ${here.planted.service.id}`
    const cells = [...text.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) => cell as string)
    expect(text.replace(/"(?:[^"]|"")*"/g, '').replace(/[,\r\n]/g, '')).toBe('')
    expect(cells.length).toBe(16 * (Number(count?.n) + 1))
    for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    for (const payload of PAYLOADS)
      expect(cells).toContain((/^[=+\-@\t\r]/.test(payload) ? `'${payload}` : payload).replaceAll('"', '""'))
    expect((await audited('messages exported'))[0]).toMatchObject({
      actor_id: here.planted.people.sender.id,
      detail: { messages: count?.n, recipients: true },
    })
  })

  test('has the filters of the list', async () => {
    const { text } = await get(`${at}/export?status=failed&kind=text`, sender)
    expect(names(rowsOf(text).map(row => row.slice(1, 37)))).toEqual(['permanent-failure-sms', 'temporary-failure-sms'])
  })

  test.each(['viewer', 'author', 'developer', 'sender', 'manager'] as const)('recipients for %s', async who => {
    const { text } = await get(`${at}/export`, await here.signIn(who))
    const mayHave = who === 'sender' || who === 'manager'
    expect(text.includes('k.lindgren@example.net')).toBe(mayHave)
    expect(text.split('\r\n')[0]?.includes('"to"')).toBe(mayHave)
  })
})

test('new messages are counted for the script', async () => {
  const [newest] = shown((await get(at)).text)
  const count = async (query = '') => JSON.parse((await get(`${at}/newer?than=${newest}${query}`)).text)
  expect(await count()).toEqual({ count: 0, words: '' })
  const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
  for (let n = 0; n < 2; n++)
    await key.post('/v2/notifications/email', {
      email_address: 'new@example.org',
      template_id: here.planted.service.templates.rightToLeft,
      personalisation: { name: 'N' },
    })
  expect(await count()).toEqual({ count: 2, words: '2 new messages' })
  expect(await count('&kind=text')).toEqual({ count: 0, words: '' })
})

test('after the retention there is neither a row nor a page, but the page says when it went', async () => {
  const named = await listed('')
  expect(named.length).toBeGreaterThan(10)
  here.moveClock(7 * 86_400_000 - 3_600_000)
  const later = await here.signIn('viewer')
  expect(await listed('', later)).toEqual(named)
  here.moveClock(3_600_000 + 60_000)
  const after = await here.signIn('viewer')
  expect(shown((await get(at, after)).text)).toEqual([])
  const { status, text } = await get(`${at}/${message('delivered')}`, after)
  expect(status).toBe(404)
  expect(text).toContain('Its content went on')
  expect(text).not.toContain('ana.petrov')
  expect((await get(`${at}/${message('delivered')}/rendered`, after)).status).toBe(404)
  expect((await get(`${at}/export`, after)).text.split('\r\n').length).toBe(2)
})
