// Jobs in the console, over HTTP: the list, one job, its stream, its files, cancelling and sending again.
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { type RowOutcome, settleRows, spreadJob } from '../support/jobs.ts'
import { callerWith } from '../support/world.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'

let here: ConsolePlace
let viewer: SignedInAs
let sender: SignedInAs
let at: string

beforeAll(async () => {
  here = await place()
  viewer = await here.signIn('viewer')
  sender = await here.signIn('sender')
  at = `/s/${here.planted.service.id}/jobs`
  // In its first minute a job is measured by the seconds since it began.
  await here.parts.db.sql`update jobs set processing_started = processing_started - interval '10 minutes'`
}, 60_000)

const get = (path: string, who: SignedInAs = sender) => here.request(who, path)
const post = (path: string, form: Record<string, string> = {}, who = sender) => here.request(who, path, { form })
const shown = (text: string) => [...text.matchAll(/data-id="([0-9a-f-]{36})"/g)].map(([, id]) => id as string)
const plain = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

async function job(
  many: number,
  outcomeOf: ((row: number) => RowOutcome | null) | null,
  more: object = {},
): Promise<Id> {
  const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
  const rows = Array.from({ length: many }, (_, row) => [`=cmd.${row + 1}@example.org`, '=1+1', `@ref-${row + 1}`])
  const reply = await key.post('/v2/notifications/bulk', {
    ...{ name: 'A file.csv', template_id: here.planted.service.templates.rightToLeft },
    rows: [['email address', 'Name', 'reference'], ...rows],
    ...more,
  })
  if (reply.status !== 201) throw new Error(reply.text)
  const { id } = reply.body.data
  if (outcomeOf === null) return id
  await spreadJob(here.parts, id)
  await settleRows(here.parts, id, outcomeOf)
  return id
}
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)

describe('the list', () => {
  test('has the jobs of the service, newest first, with status, progress, maker and numbers', async () => {
    const { jobs } = here.planted.service
    const { text } = await get(at, viewer)
    expect(shown(text)).toEqual([jobs.cancelled, jobs.scheduled, jobs.finished, jobs.mixed])
    const words = plain(text)
    expect(words).toContain('Nothing was sent')
    expect(words).toContain('Key “Production”')
    expect(text).toContain('aria-label="55 % delivered, 10 % in transit, 20 % failed"')
    expect(words).toMatch(/renewals-october-late\.csv Permit renewal reminder Sending .* 20 4/)
    expect(text).toContain('curl &quot;')
    for (const id of Object.values(here.planted.other.jobs)) expect(text).not.toContain(id)
  })

  test.each([
    ['status=scheduled', ['scheduled']],
    ['status=waiting', ['finished']],
    ['status=sending', ['mixed']],
    ['status=finished', []],
    ['status=cancelled&since=1', ['cancelled']],
    ['status=nonsense', ['cancelled', 'scheduled', 'finished', 'mixed']],
  ] as const)('%s', async (query, names) => {
    const { jobs } = here.planted.service
    expect(shown((await get(`${at}?${query}`)).text)).toEqual(names.map(name => jobs[name]))
  })

  test('by template, and pages by cursor', async () => {
    const { templates, jobs } = here.planted.service
    expect(shown((await get(`${at}?template=${templates.sms}`)).text)).toEqual([])
    expect(shown((await get(`${at}?template=${templates.email}&before=${jobs.scheduled}`)).text)).toEqual([
      ...[jobs.finished, jobs.mixed],
    ])
    const { text } = await get(`${at}?after=${jobs.finished}`)
    expect(shown(text)).toEqual([jobs.cancelled, jobs.scheduled])
    expect(text).toContain(`before=${jobs.scheduled}`)
  })
})

describe('one job', () => {
  test('says how far it is, why messages failed, who made it, and links to its messages', async () => {
    const { service } = here.planted
    const { text } = await get(`${at}/${service.jobs.mixed}`)
    const words = plain(text)
    expect(words).toContain('85 % handed over')
    expect(words).toContain('16 messages a minute')
    expect(text).toContain('aria-label="11 delivered, 2 in transit, 4 failed, 3 waiting"')
    expect(words).toContain('No such address There is no such address at the recipient')
    expect(words).toContain('Content or inbox issue Mailbox full at the recipient')
    expect(words).toContain('Send again later or use another channel.')
    expect(words).toContain('Send 2 messages again')
    expect(words).toContain('Made by Key “Production”')
    expect(text).toContain(`/messages?status=temporary-failure&amp;job=${service.jobs.mixed}`)
    expect(text).toContain(`/v2/notifications/bulk/${service.jobs.mixed}`)
  })

  test('says captured where nobody got its messages, and counts them apart from failures', async () => {
    const { mixed } = here.planted.service.jobs
    const { sql } = here.parts.db
    const legend = async () => plain((await get(`${at}/${mixed}`)).text)
    expect(await legend()).toContain('Delivered 11 In transit 2 Failed 4 Waiting 3')
    try {
      await sql`update states set provider = 'capture' where job_id = ${mixed} and status in ('delivered', 'sent')`
      const { text } = await get(`${at}/${mixed}`)
      expect(text).toContain('aria-label="11 captured, 2 in transit, 4 failed, 3 waiting"')
      expect(text).toMatch(/<rect class="fill idle"[^>]*data-bar="delivered"/)
      expect(await legend()).toContain('Captured 11 In transit 2 Failed 4 Waiting 3')
      expect(await legend()).toContain('These messages are captured, not delivered to anyone.')
    } finally {
      await sql`update states set provider = 'relay' where job_id = ${mixed} and status in ('delivered', 'sent')`
    }
  })

  test('that was cancelled waits for nothing', async () => {
    const words = plain((await get(`${at}/${here.planted.service.jobs.cancelled}`)).text)
    expect(words).toMatch(/Captured 0 In transit 0 Failed 0 Cancelled [1-9]\d*/)
    expect(words).not.toContain('Waiting')
  })

  test('a viewer gets no file, no sending again and no cancelling', async () => {
    const { jobs } = here.planted.service
    for (const id of [jobs.mixed, jobs.scheduled]) {
      const { text } = await get(`${at}/${id}`, viewer)
      for (const path of ['/file', '/again', '/cancel']) expect(text).not.toContain(`${id}${path}`)
      expect(text).toContain(`${id}/report`)
    }
  })

  test('of another service or of nobody is not found', async () => {
    for (const id of [here.planted.other.jobs.mixed, 'x', here.planted.service.messages.delivered])
      for (const path of ['', '/events', '/report', '/file', '/again'])
        expect([path, (await get(`${at}/${id}${path}`)).status]).toEqual([path, 404])
  })

  test('in French', async () => {
    const { text } = await here.request(viewer, `${at}/${here.planted.service.jobs.mixed}`, {
      headers: { 'accept-language': 'fr' },
    })
    expect(plain(text)).toContain('16 messages par minute')
  })
})

describe('files', () => {
  test('the report has the rows in order; recipients only for those who may have them; formulas are text', async () => {
    const id = await job(3, row =>
      row === 2 ? { status: 'temporary-failure', detail: 'mailbox-full' } : { status: 'sending' },
    )
    const { text, headers } = await get(`${at}/${id}/report`)
    expect(headers.get('content-disposition')).toContain('filename="A file report.csv"')
    const lines = text.split('\r\n')
    expect(lines[0]).toBe(
      '"row","recipient","reference","status","status_description","status_at","reason","notification_id"',
    )
    expect(lines[2]).toMatch(
      /^"2","'=cmd\.2@example\.org","'@ref-2","temporary-failure","Content or inbox issue","[^"]+","Mailbox full at the recipient's provider","[^"]+"$/,
    )
    const without = (await get(`${at}/${id}/report`, viewer)).text
    expect(without).not.toContain('example.org')
    expect(without.split('\r\n')[1]).toMatch(/^"1","'@ref-1","sending"/)
    const recorded = (await entries(here.parts.db.sql, here.planted.service.id, 2)).map(one => [one.action, one.detail])
    expect(recorded).toEqual([
      ['messages exported', { messages: 3, recipients: false }],
      ['messages exported', { messages: 3, recipients: true }],
    ])
  })

  test('the rows of the file, with its headers', async () => {
    const id = await job(2, null)
    const { text, headers } = await get(`${at}/${id}/file`)
    expect(headers.get('content-disposition')).toContain('filename="A file.csv"')
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      '"email address","Name","reference"',
      `"'=cmd.1@example.org","'=1+1","'@ref-1"`,
    ])
    expect((await get(`${at}/${id}/file`, viewer)).status).toBe(403)
  })
})

describe('cancelling', () => {
  test('a scheduled job, once; it says who did it', async () => {
    const id = await job(2, null, { scheduled_for: inHours(3) })
    const page = await get(`${at}/${id}`)
    expect(page.text).toContain('Keep it')
    const { location } = await post(`${at}/${id}/cancel`)
    expect(location).toBe(`${CONSOLE}${at}/${id}?done=cancelled`)
    expect(plain((await get(`${at}/${id}?done=cancelled`)).text)).toContain('The job is cancelled. Nothing was sent.')
    const [entry] = await entries(here.parts.db.sql, here.planted.service.id, 1)
    expect(entry).toMatchObject({
      action: 'job cancelled',
      actor_kind: 'person',
      actor_id: here.planted.people.sender.id,
    })
    const again = await post(`${at}/${id}/cancel`)
    expect(again.status).toBe(422)
    expect(again.text).toContain('Job has already been cancelled')
  })

  test('a job that has begun goes on', async () => {
    const id = await job(2, () => ({ status: 'sending' }))
    const { status, text } = await post(`${at}/${id}/cancel`)
    expect([status, text.includes('Job cannot be cancelled because it is already being sent')]).toEqual([422, true])
  })
})

describe('sending again', () => {
  test('asks with the number, makes one job for two clicks, and both jobs say it', async () => {
    const id = await job(4, row => ({ status: row % 2 ? 'delivered' : 'temporary-failure', moves: ['sending'] }))
    const asked = await get(`${at}/${id}/again`)
    expect(plain(asked.text)).toContain('Send 2 messages again')
    const [one, two] = await Promise.all([1, 2].map(() => post(`${at}/${id}/again`, { messages: '2' })))
    const made = /jobs\/([0-9a-f-]{36})\?done=again/.exec(one?.location ?? '')?.[1]
    expect(two?.location).toBe(one?.location)
    expect((await post(`${at}/${id}/again`, { messages: '2' })).location).toBe(one?.location)
    const page = plain((await get(`${at}/${made}?done=again`)).text)
    expect(page).toContain('These messages are sent again.')
    expect(page).toContain('It repeats rows of A file.csv that failed temporarily.')
    expect(page).toContain(`Made by ${here.planted.people.sender.name}`)
    const original = await get(`${at}/${id}`)
    expect(plain(original.text)).toContain('2 messages were sent again on')
    expect(original.text).toContain(`${at}/${made}`)
    expect(original.text).not.toContain(`${id}/again`)
    await spreadJob(here.parts, made as Id)
    const [message] = await here.parts.db.sql<{
      id: Id
    }>`select id from notifications where job_id = ${made ?? null} limit 1`
    const { text } = await get(`/s/${here.planted.service.id}/messages/${message?.id}`)
    expect(plain(text)).toContain(`Sent by ${here.planted.people.sender.name}`)
    expect(text).toContain(`${at}/${made}`)
  })

  test('another number than the person has seen sends nothing', async () => {
    const id = await job(2, () => ({ status: 'temporary-failure' }))
    const { status, text } = await post(`${at}/${id}/again`, { messages: '1' })
    expect(status).toBe(422)
    expect(plain(text)).toContain('Meanwhile 2 messages can be sent again.')
  })
})

describe('the stream', () => {
  async function* events(path: string, signal = AbortSignal.timeout(20_000)) {
    const response = await fetch(`${here.address}${CONSOLE}${path}`, {
      headers: { cookie: `${sender.cookie.name}=${sender.cookie.value}` },
      signal,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let rest = ''
    for await (const chunk of response.body ?? []) {
      rest += Buffer.from(chunk).toString('utf8')
      const parts = rest.split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) if (part.startsWith('data: ')) yield JSON.parse(part.slice(6))
    }
  }

  test('follows the job and ends when nothing will change any more', async () => {
    const id = await job(4, row => (row === 1 ? { status: 'sending' } : null))
    const seen: { title: string; counts: Record<string, string>; isOver: boolean }[] = []
    let isSettled = false
    for await (const live of events(`${at}/${id}/events`)) {
      seen.push(live)
      if (isSettled) continue
      isSettled = true
      await here.parts.db.sql`update tickets set owner = null where owner is not null`
      await settleRows(here.parts, id, row =>
        row === 1 ? null : { status: row === 2 ? 'permanent-failure' : 'delivered' },
      )
      await here.parts.db.sql`
        update job_counts set messages = case status when 'sending' then 0 else messages + 1 end
        where job_id = ${id} and status in ('sending', 'delivered')`
    }
    expect(seen[0]).toMatchObject({
      title: '25 % handed over',
      counts: { inTransit: '1', waiting: '3' },
      isOver: false,
    })
    expect(seen.at(-1)).toMatchObject({
      title: 'All 4 messages have their outcome',
      counts: { delivered: '3', failed: '1', waiting: '0' },
      isOver: true,
    })
  })

  test('of a job that is over has one event', async () => {
    const seen: unknown[] = []
    for await (const live of events(`${at}/${here.planted.service.jobs.cancelled}/events`)) seen.push(live)
    expect(seen).toMatchObject([{ isOver: true, title: 'Cancelled' }])
  })

  test('a stop of the service ends it at once', async () => {
    const other = await place()
    const who = await other.signIn('viewer')
    const response = await fetch(
      `${other.address}${CONSOLE}/s/${other.planted.service.id}/jobs/${other.planted.service.jobs.mixed}/events`,
      { headers: { cookie: `${who.cookie.name}=${who.cookie.value}` } },
    )
    const ended = response.text().then(text => text.includes('85 % handed over'))
    await wait(300)
    const since = performance.now()
    await other.running.stop()
    expect(await ended).toBe(true)
    expect(performance.now() - since).toBeLessThan(8_000)
  }, 60_000)
})
