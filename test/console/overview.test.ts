// The overview of a service, as a person's browser gets it.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { part } from '../../src/db/connect.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { member } from './support/plant.ts'

let here: ConsolePlace
beforeAll(async () => {
  here = await place()
})

/** The strip: label, number, note and link of each. */
function stripOf(text: string) {
  const strip = /<div class="stats"[^>]*>(.*?)<\/div>/s.exec(text)?.[1] ?? ''
  return [...strip.matchAll(/<a[^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, href = '', inner = '']) => {
    const words = (name: string) =>
      new RegExp(`<span class="${name}">(.*?)</span>(?=<span class="stat|$)`, 's')
        .exec(inner)?.[1]
        ?.replaceAll(/<[^>]*>/g, '') ?? ''
    return { label: words('stat-label'), value: words('stat-value'), note: words('stat-note'), href }
  })
}

describe('a service with messages', () => {
  test('shows the numbers of its messages of today, each with a link to its list', async () => {
    const who = await here.signIn('viewer')
    const { id } = here.planted.service
    const { status, text } = await here.request(who, `/s/${id}`)
    expect(status).toBe(200)
    const midnight = new Date().toISOString().slice(0, 10)
    const rows = await here.parts.db.sql<{ status: string; messages: number }>`
      select case when status = 'created' and scheduled_for is not null then 'scheduled' else status end as status,
             count(*)::integer as messages
      from states
      where service_id = ${id} and key_type <> 'test' and uuid_time(id) >= ${midnight}::timestamptz
      group by 1`
    const of = (...statuses: string[]) =>
      rows.filter(row => statuses.includes(row.status)).reduce((sum, row) => sum + row.messages, 0)
    expect(of('cancelled')).toBeGreaterThan(0)
    const strip = stripOf(text)
    expect(Object.fromEntries(strip.map(({ label, value }) => [label, value]))).toEqual({
      Accepted: String(rows.reduce((sum, row) => sum + row.messages, 0) - of('cancelled')),
      'In transit': String(of('created', 'sending', 'pending', 'pending-virus-check')),
      Delivered: String(of('delivered', 'sent')),
      Failed: String(of('permanent-failure', 'temporary-failure', 'technical-failure', 'virus-scan-failed')),
      Scheduled: String(of('scheduled')),
    })
    expect(strip.find(one => one.label === 'Failed')?.href).toBe(
      `/console/s/${id}/messages?status=failed&amp;since=today`,
    )
    for (const words of ['Last 7 days', 'Limits today', 'Time to delivery', 'Failing templates', 'Why messages failed'])
      expect(text).toContain(`>${words}</h2>`)
    expect(text.match(/<rect class="fill good"/g)?.length).toBeGreaterThanOrEqual(7)
  })

  test('messages that nobody got are called captured, in words and colours, and only those', async () => {
    const { sql } = here.parts.db
    const who = await here.signIn('viewer')
    const { id } = here.planted.service
    const page = async () => (await here.request(who, `/s/${id}`)).text
    const labels = (text: string) => stripOf(text).map(one => one.label)
    const ended = part`service_id = ${id} and status in ('delivered', 'sent') and key_type <> 'test'`
    const before = await page()
    expect(before).toContain('Messages are captured, not delivered to anyone')
    expect(before).toContain('The API calls them delivered.')
    expect(labels(before)).toContain('Delivered')
    const planted = await sql<{ id: Id; provider: string | null }>`select id, provider from states where ${ended}`
    try {
      await sql`update states set provider = 'capture' where ${ended}`
      const captured = await page()
      expect(labels(captured)).toContain('Captured')
      expect(labels(captured)).not.toContain('Delivered')
      expect(captured).not.toContain('<rect class="fill good"')
      expect(captured).toMatch(/<th[^>]*>Captured<\/th>/)
      await sql`update states set provider = 'relay' where ${ended} and id = (select id from states where ${ended} order by id desc limit 1)`
      expect(labels(await page())).toContain('Delivered or captured')
    } finally {
      await sql`
        update states set provider = p.provider
        from unnest(${planted.map(one => one.id)}::uuid[], ${planted.map(one => one.provider)}::text[]) as p (id, provider)
        where states.id = p.id`
    }
  })

  test('the script is given the strip alone, with the same numbers', async () => {
    const who = await here.signIn('viewer')
    const path = `/s/${here.planted.service.id}`
    const [page, part] = await Promise.all([here.request(who, path), here.request(who, `${path}/counts`)])
    expect(part.text).not.toContain('<html')
    expect(stripOf(part.text)).toEqual(stripOf(page.text))
    expect(stripOf(part.text)).toHaveLength(5)
  })

  test('counts as files: every link of the page is a table whose sum is that of all months', async () => {
    const who = await here.signIn('viewer')
    const path = `/s/${here.planted.service.id}`
    const links = [...(await here.request(who, path)).text.matchAll(/href="\/console(\/s\/[^"]*\/statistics[^"]*)"/g)]
    expect(links.map(([, link = '']) => link.replace(/.*=/, ''))).toEqual(['month', 'day', 'template', 'key'])
    const sums: number[] = []
    for (const [, link = ''] of links) {
      const { text, headers } = await here.request(who, link)
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
      const [head = '', ...rows] = text.trimEnd().split('\r\n')
      const at = head.split(',').indexOf('"messages"')
      sums.push(rows.reduce((sum, row) => sum + Number(row.split('","')[at]), 0))
    }
    expect(sums[0]).toBeGreaterThan(0)
    expect(new Set(sums).size).toBe(1)
  })

  test('an operator who is no member sees numbers, and no names of jobs', async () => {
    const path = `/s/${here.planted.service.id}`
    const member = await here.request(await here.signIn('viewer'), path)
    const operator = await here.request(await here.signIn('operator'), path)
    expect(operator.status).toBe(200)
    expect(member.text).toContain('Jobs in progress')
    expect(operator.text).not.toContain('Jobs in progress')
    expect(stripOf(operator.text).map(one => one.value)).toEqual(stripOf(member.text).map(one => one.value))
  })

  test('a person in another time zone has days of their own', async () => {
    const { db } = here.parts
    const { viewer } = here.planted.people
    await db.sql`update people set time_zone = 'Pacific/Kiritimati' where id = ${viewer.id}`
    const { status, text } = await here.request(await here.signIn('viewer'), `/s/${here.planted.service.id}`)
    await db.sql`update people set time_zone = null where id = ${viewer.id}`
    expect(status).toBe(200)
    expect(text).toContain('Days are those of Pacific/Kiritimati')
  })
})

test('a service without messages shows first steps', async () => {
  const maker = await member(here.parts, here.planted.empty, 'Key Maker', 'developer')
  const { status, text } = await here.request(await here.signIn(maker), `/s/${here.planted.empty}`)
  expect(status).toBe(200)
  expect(text).toContain('Welcome to <bdi>Library reminders</bdi>')
  expect(text).toContain('No messages yet')
  expect(text).toContain(`href="/console/s/${here.planted.empty}/keys/new"`)
  expect(text).not.toContain('herald key create')
})

test('after an upgrade the page says since when it counts', async () => {
  const { sql } = here.parts.db
  const { id } = here.planted.service
  const page = async () => (await here.request(await here.signIn('viewer'), `/s/${id}`)).text
  expect(await page()).not.toContain('Counts begin')
  await sql`update services set created_at = now() - interval '90 days' where id = ${id}`
  expect(await page()).toContain('Counts begin')
  await sql`update migrations set applied_at = now() - interval '30 days' where name = '0018_statistics.sql'`
  expect(await page()).not.toContain('Counts begin')
})
