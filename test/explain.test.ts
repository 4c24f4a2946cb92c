// The cost of a page depends on what it shows, not on what is stored (issue 4): the statements of notifications/sql/read.ts are
// explained with few and with many messages stored, and must read about the same number of buffers. Buffers are counted, not
// milliseconds: they are the same on any machine.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { channelNames } from '../src/channels/index.ts'
import { createClock, fromMicros } from '../src/core/clock.ts'
import { floorOf, type Id, microsOf } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import { BEGINNING, type Position } from '../src/events/event.ts'
import { makeEventPartitions } from '../src/events/partitions.ts'
import { lastGroup, newGroups, placeAt, type Reading, read } from '../src/events/sql.ts'
import { makePartitions } from '../src/notifications/partitions.ts'
import { type Browsing, browse } from '../src/notifications/sql/browse.ts'
import { type DigestedRecipient, toRecipient, withReference } from '../src/notifications/sql/find.ts'
import { readLines } from '../src/notifications/sql/lines.ts'
import { paceOfJobs } from '../src/notifications/sql/pace.ts'
import { find, type Page, page, story } from '../src/notifications/sql/read.ts'
import { keysThatUsed } from '../src/notifications/sql/template-use.ts'
import { FAILURES, FILTERS, type Status, statusesOf } from '../src/notifications/status.ts'
import { explained, type Measured, type Run } from './support/explain.ts'
import { type World, world } from './support/world.ts'

const FEW = 10_000
/** A million gives the same figures and takes minutes to create. */
const MANY = Number(process.env.HERALD_TEST_MESSAGES ?? 200_000)
const DAYS = 7
const DAY_MS = 86_400_000
const SERVICE = '00000000-0000-4000-8000-000000000001' as Id
const FIRST = '00000000-0000-0000-0000-000000000000' as Id
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id
const OTHER = '00000000-0000-4000-8000-000000000002' as Id

let here: World

beforeAll(async () => {
  here = await world()
  await here.parts.db.sql`
    insert into services (id, name, mailbox) values (${SERVICE}, 'Service', 'service'), (${OTHER}, 'Other', 'other')`
  await here.parts.db.sql`
    insert into templates (id, service_id, type, version, created_by, created_at)
    select id, ${SERVICE}, 'email', 1, 'tests', now()
    from unnest(${[SERVICE, OTHER, LAST]}::uuid[]) as t (id)`
  for (let day = DAYS; day >= 0; day--)
    await makePartitions(
      here.parts.db,
      createClock(() => Date.now() - day * DAY_MS),
    )
}, 60_000)

type Scene = {
  columns: string
  many: number
  /** Whether the planner has fresh statistics: it may not, just after a burst. */
  analysed: boolean
}

/**
 * Half belong to jobs, most are delivered; the rare ones are among the first thousand. Common ones fill a page even with few
 * stored.
 */
const mixed = `
  case when n % 10 = 9 then '${OTHER}'::uuid else '${SERVICE}'::uuid end as service_id,
  case when n % 10 = 7 then 'team' when n % 10 = 8 then 'test' else 'normal' end as key_type,
  case when n % 5 = 1 then 'sms' else 'email' end as channel,
  n % 2 = 0 as in_job,
  case when n < 1000
       then (array['created', 'sent', 'pending', 'temporary-failure', 'technical-failure', 'pending-virus-check',
                   'virus-scan-failed', 'cancelled', 'delivered', 'delivered'])[1 + n / 10 % 10]
       when n % 20 = 3 then 'permanent-failure' when n % 7 = 5 then 'sending' else 'delivered' end as status,
  case when n < 1000 and n % 100 = 41 then 'rare' when n % 3 = 0 then 'common' when n % 3 = 1 then 'ref-' || n end as reference`

/** A service that only sends e-mails: the planner assumes that every filter matches nearly everything. */
const alike = `
  '${SERVICE}'::uuid as service_id, 'normal' as key_type, 'email' as channel, false as in_job,
  case when n < 100 then 'permanent-failure' else 'delivered' end as status,
  case when n < 1000 and n % 100 = 41 then 'rare' else 'common' end as reference`

const SCENES: Record<string, Scene> = {
  mixed: { columns: mixed, many: MANY, analysed: true },
  'all alike': { columns: alike, many: MANY / 4, analysed: true },
  'all alike, not analysed yet': { columns: alike, many: MANY / 4, analysed: false },
}

/** Messages spread evenly over the window. */
async function fill(from: number, to: number, { columns, analysed }: Scene) {
  const client = here.parts.db.client() // outside the pool: no timeout
  await client.connect()
  // A transaction for each, because events of other tests are not announced before it ends.
  await client.query('drop table if exists filling')
  await client.query(`
    create table filling as
    select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id, ${columns},
           decode(substr(md5(case when n < 1000 and n % 100 = 41 then 'rare' when n % 3 = 0 then 'common' else n::text end), 1, 14), 'hex') as digest,
           case when n < 1000 and n % 100 = 40 then '${OTHER}'::uuid else '${SERVICE}'::uuid end as template_id
    from (select n, md5(n::text) as hash,
                 (extract(epoch from now()) * 1000)::bigint - 60000
                   - (n::bigint * 7919 * 1013) % ${Math.floor((DAYS - 0.1) * DAY_MS)} as ms
          from generate_series(${from}, ${to - 1}) n) made`)
  await client.query(`
    insert into notifications (id, service_id, key_id, key_type, channel, in_job, job_id, template_id, template_version, lane,
                               reference, is_international, sealed, recipient_digest)
    select id, service_id, '${SERVICE}'::uuid, key_type, channel, in_job, case when in_job then '${SERVICE}'::uuid end, template_id, 1, 'email-medium', reference,
           false, decode(repeat('ab', 200), 'hex'), digest
    from filling`)
  await client.query(`
    insert into states (id, service_id, key_type, channel, in_job, job_id, template_id, status, completed_at)
    select id, service_id, key_type, channel, in_job, case when in_job then '${SERVICE}'::uuid end, template_id, status,
           case when status not in ('created', 'sending', 'pending', 'pending-virus-check') then now() end
    from filling`)
  const maintain = analysed || from === 0 ? 'vacuum (analyze)' : 'vacuum'
  await client.query(`${maintain} notifications`)
  await client.query(`${maintain} states`)
  await client.end()
}

/** The digests that `fill` writes, as those of both channels and services. */
const recipients = (name: string): DigestedRecipient[] =>
  [SERVICE, OTHER].flatMap(service_id =>
    channelNames.map(channel => ({
      service_id,
      channel,
      digest: createHash('md5').update(name).digest().subarray(0, 7),
    })),
  )

const measured = (run: Run, modes?: readonly string[]) => explained(here.parts.db, run, modes)

async function cases(): Promise<[string, Run][]> {
  const floor = floorOf((Date.now() - DAYS * DAY_MS) * 1000)
  const deep = floorOf((Date.now() - 5.3 * DAY_MS) * 1000)
  const ask =
    (changes: Partial<Page>): Run =>
    sql =>
      page(sql, {
        service: SERVICE,
        keyType: 'normal',
        channels: [
          { channel: 'email', from: floor },
          { channel: 'sms', from: floor },
        ],
        inJob: [false],
        statuses: null,
        reference: null,
        olderThan: null,
        size: 250,
        bytes: 16 * 1024 * 1024,
        ...changes,
      })
  const look = (changes: Partial<Browsing>): Browsing => ({
    ...{ service: SERVICE, keyTypes: ['normal', 'team', 'test'] as const },
    channels: [
      { channel: 'email', from: floor },
      { channel: 'sms', from: floor },
    ],
    ...{ below: null, statuses: null, dueAfter: null, template: null, job: null, reference: null, digests: null },
    ...{ from: null, size: 51 },
    ...changes,
  })
  const seen =
    (changes: Partial<Browsing>): Run =>
    sql =>
      browse(sql, look(changes))
  // As many as even the small table has of each filter; a page of a report may have more.
  const reported =
    (changes: Partial<Browsing>): Run =>
    sql =>
      readLines(sql, look({ keyTypes: ['normal'], size: 100, ...changes }), 1_000_000)
  const digests = (name: string) => [createHash('md5').update(name).digest().subarray(0, 7)]
  const uses = (sql: Sql, template: Id) => keysThatUsed(sql, { service: SERVICE, template, since: floor }, 500)
  const jobs = { inJob: [false, true] }
  const sms = { channels: [{ channel: 'sms' as const, from: floor }] }
  const [one] = await here.parts.db.sql<{ id: Id }>`
    select n.id
    from notifications n
    join states s on s.id = n.id
    where n.service_id = ${SERVICE}
      and n.id < ${deep}
      and s.status = 'delivered'
    order by n.id desc
    limit 1`
  return [
    ['a page without filter', ask({})],
    ['include_jobs', ask(jobs)],
    ['template_type', ask(sms)],
    ['older_than, deep in the list', ask({ olderThan: deep })],
    ['older_than and include_jobs', ask({ ...jobs, olderThan: deep })],
    ['a key type with few messages', ask({ keyType: 'team' })],
    ['a common reference', ask({ reference: 'common' })],
    ['a common reference, deep', ask({ reference: 'common', olderThan: deep })],
    ['a rare reference', ask({ reference: 'rare', ...jobs })],
    ['a reference nobody gave', ask({ reference: 'nobody', ...jobs })],
    ['reference and status', ask({ reference: 'common', statuses: ['delivered'] as Status[] })],
    ...FILTERS.map((filter): [string, Run] => [`status ${filter}`, ask({ statuses: statusesOf([filter]), ...jobs })]),
    ['several statuses, deep', ask({ statuses: statusesOf(['failed', 'delivered']), olderThan: deep, ...jobs })],
    ['messages to a recipient', sql => toRecipient(sql, recipients('common'), 50)],
    ['messages to a rare recipient', sql => toRecipient(sql, recipients('rare'), 50)],
    ['messages to nobody', sql => toRecipient(sql, recipients('nobody'), 50)],
    ['messages with a reference, of all services', sql => withReference(sql, [SERVICE, OTHER], 'common', 50)],
    ['messages with a rare reference', sql => withReference(sql, [SERVICE, OTHER], 'rare', 50)],
    ['people look: all', seen({})],
    ['people look: newer ones, deep', seen({ from: { newer: deep } })],
    ['people look: older ones, deep', seen({ from: { older: deep } })],
    ['people look: in transit', seen({ statuses: ['created', 'pending-virus-check', 'sending', 'pending'] })],
    ['people look: failed', seen({ statuses: FAILURES })],
    ['people look: failed, newer, deep', seen({ statuses: FAILURES, from: { newer: deep } })],
    ['people look: a rare template', seen({ template: OTHER })],
    ['people look: a common template', seen({ template: SERVICE })],
    ['people look: a template nobody uses', seen({ template: LAST })],
    ['people look: failed of a rare template', seen({ template: OTHER, statuses: FAILURES })],
    ['people look: failed of a common template', seen({ template: SERVICE, statuses: FAILURES })],
    ['people look: in transit of a template', seen({ template: SERVICE, statuses: ['created', 'pending'] })],
    ['people look: a recipient', seen({ digests: digests('common') })],
    ['people look: a rare recipient', seen({ digests: digests('rare') })],
    ['people look: a recipient, newer, deep', seen({ digests: digests('common'), from: { newer: deep } })],
    ['people look: a recipient nobody wrote to', seen({ digests: digests('nobody') })],
    ['people look: a rare reference', seen({ reference: 'rare' })],
    ['people look: a reference nobody gave', seen({ reference: 'nobody' })],
    ['a page of a report', reported({})],
    ['a page of a report, deep', reported({ from: { older: deep } })],
    ['a page of a report: delivered of a template', reported({ template: SERVICE, statuses: ['delivered', 'sent'] })],
    ['a page of a report: failed', reported({ statuses: FAILURES })],
    ['the pace of jobs', sql => paceOfJobs(sql, SERVICE, 'email', floor, { most: 500, fewest: 20 })],
    ['the keys that used a common template', sql => uses(sql, SERVICE)],
    ['the keys that used a rare template', sql => uses(sql, OTHER)],
    ['the keys that used a template nobody sends', sql => uses(sql, LAST)],
    ['the timeline of a message', sql => story(sql, SERVICE, one?.id as Id, 200)],
    ['one message', sql => find(sql, SERVICE, one?.id as Id)],
  ]
}

describe.each(Object.entries(SCENES))(`a page costs the same with many messages as with ${FEW}: %s`, (_name, scene) => {
  const few = new Map<string, Measured>()
  const many = new Map<string, Measured>()

  beforeAll(async () => {
    await here.parts.db.script('truncate notifications, states')
    await fill(0, FEW, scene)
    for (const [name, run] of await cases()) few.set(name, await measured(run))
    await fill(FEW, scene.many, scene)
    for (const [name, run] of await cases()) many.set(name, await measured(run))
  }, 240_000)

  test('no table is scanned sequentially', () => {
    for (const [name, { scanned }] of many) expect([name, ...scanned]).toEqual([name])
  })

  test('the same number of buffers is read', () => {
    const table = [...many].map(([name, { buffers, rows }]) => ({
      name,
      rows,
      few: few.get(name)?.buffers ?? 0,
      many: buffers,
    }))
    if (process.env.HERALD_TEST_PLANS) console.table(table)
    for (const { name, few, many } of table)
      expect([name, many <= few * 1.5 + 64 ? 'as before' : `${few} → ${many}`]).toEqual([name, 'as before'])
  })

  test('the same number of messages is returned', () => {
    for (const [name, { rows }] of many)
      if (!name.includes('deep')) expect([name, few.get(name)?.rows]).toEqual([name, rows])
  })
})

/** Groups of events, oldest first; the service's own are one in two. Their stamps are below every horizon from now on. */
async function fillLog(groups: number) {
  const client = here.parts.db.client()
  await client.connect()
  await client.query(`
    truncate events;
    update event_clock set shift = 1000000000;
    insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause)
    select (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 11) || '0000')::uuid, n,
           case when n % 2 = 0 then '${OTHER}'::uuid else '${SERVICE}'::uuid end,
           case when n % 20 = 3 then 'test' else 'normal' end, 'email',
           case when n % 1000 = 501 then 'notification.technical-failure' else 'notification.delivered' end,
           array(select (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(m), 3, '0') || '8' || substr(hash, 4, 15))::uuid
                 from generate_series(1, case when n % 10 = 5 then 50 else 1 end) m), 'attempt'
    from (select n, md5(n::text) as hash,
                 (extract(epoch from now()) * 1000)::bigint - 60000
                   - ${Math.floor((LOG_DAYS - 1.1) * DAY_MS)} / ${groups} * (${groups} - n) as ms
          from generate_series(1, ${groups}) n) made`)
  await client.query('vacuum (analyze) events')
  await client.end()
}

const LOG_DAYS = 10
const LOGGED = { few: 20_000, many: 200_000 }

describe(`a page of the log costs the same with ${LOGGED.many} groups as with ${LOGGED.few}, in ${LOG_DAYS} partitions`, () => {
  const scope = { service_id: SERVICE, key_type: 'normal' } as const
  const costs: Record<string, Record<keyof typeof LOGGED, Measured>> = {}

  const logCases = (groups: number): [string, Run][] => {
    const at = (stamp: number): Position => ({ stamp: String(Math.floor(stamp)), seq: '0', n: -1 })
    const page =
      (after: Position, changes: Partial<Reading> = {}): Run =>
      sql =>
        read(sql, scope, after, {
          ...{ types: null, most: 1000, groups: 1002, until: null, from: FIRST, first: FIRST, last: LAST },
          ...changes,
        })
    const week = floorOf(Math.floor(Date.now() / DAY_MS - 6) * DAY_MS * 1000)
    return [
      ['a page from the beginning', page(BEGINNING)],
      ['a page far behind', page(at(groups / 3))],
      ['a page at the end', page(at(groups - 2_500))],
      ['a page of ten', page(at(groups / 3), { most: 10, groups: 12 })],
      ['a page of a rare type', page(at(groups / 3), { types: ['notification.technical-failure'] })],
      ['a page within the retention period', page(BEGINNING, { from: week })],
      [
        'the place of a time',
        sql => placeAt(sql, scope, { at: fromMicros(microsOf(week)), before: floorOf(microsOf(week) - 120_000_000) }),
      ],
      ['the end', sql => lastGroup(sql, scope)],
      ['what is new', sql => newGroups(sql, [{ ...scope, stamp: String(groups - 50), seq: '0' }])],
    ]
  }

  beforeAll(async () => {
    for (let day = LOG_DAYS; day >= 0; day--)
      await makeEventPartitions(
        here.parts.db,
        createClock(() => Date.now() - day * DAY_MS),
      )
    for (const [size, groups] of Object.entries(LOGGED)) {
      await fillLog(groups)
      for (const [name, run] of logCases(groups))
        costs[name] = { ...costs[name], [size]: await measured(run, ['force_generic_plan']) } as never
    }
    if (process.env.HERALD_TEST_PLANS)
      console.table(
        Object.entries(costs).map(([name, { few, many }]) => ({
          name,
          rows: many.rows,
          few: few.buffers,
          many: many.buffers,
        })),
      )
  }, 240_000)

  test('without a sequential scan and without sorting a partition', () => {
    for (const [name, { many }] of Object.entries(costs)) {
      expect([name, ...many.scanned]).toEqual([name])
      expect([name, many.rows > 0]).toEqual([name, true])
      expect([name, many.sorted <= 1_002]).toEqual([name, true])
    }
  })

  test('with the same number of buffers, a few for each group', () => {
    for (const [name, { few, many }] of Object.entries(costs)) {
      expect([name, many.buffers <= few.buffers * 1.5 + 64 ? 'as before' : `${few.buffers} → ${many.buffers}`]).toEqual(
        [name, 'as before'],
      )
      expect([name, many.buffers < 5_000]).toEqual([name, true])
    }
  })
})

test('every filter was measured on existing messages', async () => {
  await here.parts.db.script('truncate notifications, states')
  await fill(0, FEW, SCENES.mixed as Scene)
  for (const [name, run] of await cases())
    expect([name, (await measured(run)).rows > 0]).toEqual([name, !name.includes('nobody')])
}, 60_000)
