// Lists of everything that is not a message cost the same with few and with many rows stored, as in explain.test.ts: the captured inbox,
// the request log, jobs, recipient files, counts for reports. Most rows belong to the service that asks.
import { beforeAll, describe, expect, test } from 'vitest'
import { page as jobsPage, newestNames, unfinished } from '../src/bulk/sql/read.ts'
import { floorOf, type Id } from '../src/core/id.ts'
import { ALL, arrived, pageOf, page as wholeInbox } from '../src/inbox/sql.ts'
import { type RequestFilter, page as requestsPage } from '../src/requests/sql.ts'
import { find as findSheet, listOf, rowsFrom } from '../src/sheets/sql.ts'
import { countsBetween, keyCountsBetween, templateCountsBetween } from '../src/statistics/sql/report.ts'
import { explained, type Measured, type Run } from './support/explain.ts'
import { type World, world } from './support/world.ts'

const SERVICE = '00000000-0000-4000-8000-000000000001' as Id
const OTHER = '00000000-0000-4000-8000-000000000002' as Id
const [FEW, MANY] = [1_500, 15_000]
const NOW = Date.now()
const DAY_MS = 86_400_000
const TODAY = Math.floor(NOW / DAY_MS)

let here: World

/** Row n: one second older than the one before. */
const id = `(lpad(to_hex(${NOW}::bigint - n * 1000), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid`
const service = `case when n % 10 = 9 then '${OTHER}'::uuid else '${SERVICE}'::uuid end`
/** As many hours and days as there are, whatever is stored: other services have the rest. */
const owner = `case when n < 1000 then '${SERVICE}'::uuid else md5('service' || n / 1000)::uuid end`

const TABLES = [
  'inbox',
  'requests',
  'jobs',
  'job_counts',
  'sheets',
  'sheet_chunks',
  'hourly_counts',
  'template_counts',
  'key_counts',
]

async function fill(from: number, to: number) {
  const client = here.parts.db.client()
  await client.connect()
  const rows = `from generate_series(${from}, ${to - 1}) n`
  await client.query(`
    insert into inbox (id, channel, service_id, key_type, recipient_digest)
    select ${id}, case n % 3 when 0 then 'sms' else 'email' end, ${service}, case n % 4 when 0 then 'test' else 'normal' end,
           decode(substr(md5((n % 20)::text), 1, 14), 'hex') ${rows};
    insert into requests (id, service_id, key_id, method, path, status)
    select ${id}, ${service}, case when n % 5 = 0 then '${OTHER}'::uuid else '${SERVICE}'::uuid end, 'POST', '/v2/notifications/email',
           case n % 20 when 3 then 400 when 7 then 503 else 201 end ${rows};
    insert into jobs (id, service_id, key_type, name, channel, template_id, template_version, notification_count, counted, day, lane, status, chunks_left)
    select ${id}, ${service}, 'normal', 'Job ' || n, 'email', '${SERVICE}', 1, 10, 0, current_date, 'email-low',
           case when n % 50 = 1 then 'in progress' else 'finished' end, 0 ${rows};
    insert into job_counts (job_id, status, messages) select ${id}, 'delivered', 10 ${rows};
    insert into sheets (id, service_id, person_id, template_id, state, origin, name)
    select ${id}, ${service}, case when n % 2 = 0 then '${SERVICE}'::uuid else '${OTHER}'::uuid end, '${SERVICE}',
           case when n % 8 = 4 then 'sent' else 'ready' end, 'file', '\\x00' ${rows};
    insert into sheet_chunks (sheet_id, part, position, lines, sealed) select ${id}, 'rows', 0, array[1], '\\x00' ${rows};
    insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages)
    select ${owner}, ${TODAY * 24} - n % 1000, 'email', 'normal', 'delivered', 1, 5 ${rows};
    insert into template_counts (service_id, day, template_id, key_type, status, messages)
    select ${owner}, ${TODAY} - n % 50, md5((n % 1000)::text)::uuid, 'normal', 'delivered', 5 ${rows};
    insert into key_counts (service_id, day, key_id, key_type, status, messages, parts, parted)
    select ${owner}, ${TODAY} - n % 50, md5((n % 1000)::text)::uuid, 'normal', 'delivered', 5, 0, 0 ${rows}`)
  for (const table of TABLES) await client.query(`vacuum (analyze) ${table}`)
  await client.end()
}

const scope = { service_id: SERVICE, key_types: ['normal', 'test'] as const }
const digests = [Buffer.from('c4ca4238a0b923', 'hex')] // md5 of 1
const person = { service_id: SERVICE, person_id: SERVICE }
const deep = floorOf((NOW - 1_000 * 1_000) * 1000)
const anyTime = floorOf((NOW - 30 * DAY_MS) * 1000)

const inbox =
  (filter: Partial<typeof ALL>): Run =>
  sql =>
    pageOf(sql, scope, { ...ALL, ...filter }, 50, 1_000_000)
const requests =
  (filter: Partial<RequestFilter>, olderThan: Id | null = null): Run =>
  sql =>
    requestsPage(sql, SERVICE, { status: null, key: null, ...filter }, { since: anyTime, olderThan, most: 50 })

const CASES: readonly [string, Run][] = [
  ['inbox: all services', sql => wholeInbox(sql, null, 50, 1_000_000)],
  ['inbox: a service', inbox({})],
  ['inbox: one channel, older', inbox({ channels: ['sms'], before: deep })],
  ['inbox: a recipient', inbox({ digests })],
  ['inbox: what a request waits for', sql => arrived(sql, [{ scope, filter: { ...ALL, digests, after: deep } }])],
  ['requests', requests({})],
  ['requests: older', requests({}, deep)],
  ['requests: refused', requests({ status: 400 })],
  ['requests: failed', requests({ status: 500 })],
  ['requests: of a key', requests({ key: OTHER })],
  ['jobs', sql => jobsPage(sql, SERVICE, null, 50)],
  ['jobs: older', sql => jobsPage(sql, SERVICE, deep, 50)],
  ['jobs: names', sql => newestNames(sql, SERVICE, 50)],
  ['jobs: unfinished', sql => unfinished(sql, SERVICE, deep, 10)],
  ['files: of a person', sql => listOf(sql, person, 20)],
  ['files: one', sql => findSheet(sql, person, deep)],
  ['files: rows', sql => rowsFrom(sql, deep, 0, 10)],
  ['counts: by day', sql => countsBetween(sql, SERVICE, ['normal', 'team'], TODAY * 24 - 1000, TODAY * 24 + 24)],
  ['counts: by template', sql => templateCountsBetween(sql, SERVICE, ['normal'], TODAY - 60, TODAY + 1, 50_000)],
  ['counts: by key', sql => keyCountsBetween(sql, SERVICE, ['normal'], TODAY - 60, TODAY + 1, 50_000)],
]

describe(`a list costs the same with ${MANY} rows as with ${FEW}`, () => {
  const few = new Map<string, Measured>()
  const many = new Map<string, Measured>()

  beforeAll(async () => {
    here = await world()
    // The table of changes that are not added up yet is read as a whole: it has a few seconds of them.
    await here.parts.db.sql`
      insert into services (id, name, mailbox) values (${SERVICE}, 'Service', 'service'), (${OTHER}, 'Other', 'other')`
    await fill(0, FEW)
    for (const [name, run] of CASES) few.set(name, await explained(here.parts.db, run))
    await fill(FEW, MANY)
    for (const [name, run] of CASES) many.set(name, await explained(here.parts.db, run))
  }, 120_000)

  test('no table is scanned sequentially', () => {
    // Counts are all rows of a period: a bitmap of them is as good.
    for (const [name, { scanned }] of many) if (!name.startsWith('counts')) expect([name, ...scanned]).toEqual([name])
  })

  test('the same number of buffers is read, and the same rows are returned', () => {
    const table = [...many].map(([name, { buffers, rows }]) => ({
      name,
      rows,
      few: few.get(name)?.buffers ?? 0,
      many: buffers,
    }))
    if (process.env.HERALD_TEST_PLANS) console.table(table)
    for (const { name, rows, few: before, many } of table) {
      expect([name, many <= before * 1.5 + 64 ? 'as before' : `${before} → ${many}`]).toEqual([name, 'as before'])
      expect([name, rows]).toEqual([name, few.get(name)?.rows])
    }
  })
})
