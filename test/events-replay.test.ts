// The log in order gives the status of every message, whatever happened to it and however transactions overlapped.
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import { type Move, move } from '../src/notifications/sql/apply.ts'
import { cancel } from '../src/notifications/sql/cancel.ts'
import { giveUp } from '../src/notifications/sql/expire.ts'
import { markUncertain, record } from '../src/notifications/sql/record.ts'
import { captured, literal, type Run } from './support/explain.ts'
import { DELIVERED, logWriter, NOTHING } from './support/log-writer.ts'
import { RESULTS } from './support/status-model.ts'
import { OPERATOR, type World, world } from './support/world.ts'

let here: World
let writer: ReturnType<typeof logWriter>
beforeAll(async () => {
  here = await world()
  writer = logWriter(here)
})

const STATUS = /^notification\.(?!deferred|uncertain|receipt)(.*)$/

/** The statuses of each message, as the log has them. */
async function replayed(service: Id): Promise<Map<Id, string[]>> {
  const statuses = new Map<Id, string[]>()
  for (const { type, subjects } of await writer.eventsOf(service)) {
    const status = STATUS.exec(type)?.[1]
    if (status) for (const id of subjects) statuses.set(id, [...(statuses.get(id) ?? []), status])
  }
  return statuses
}

const SENDING = { ...NOTHING, provider: 'ses', status: 'sending' as const, moves: ['sending'] }

/** What may happen to some of the messages. */
const STEPS: Record<string, (service: Id, ids: Id[], n: number) => Promise<unknown>> = {
  sent: (service, ids) => writer.results(ids, service, () => SENDING),
  delivered: (service, ids) => writer.results(ids, service, () => ({ ...DELIVERED, provider: 'ses' })),
  bounced: (service, ids) =>
    writer.results(ids, service, id => ({
      ...SENDING,
      ...{
        status: 'permanent-failure',
        moves: ['sending', 'permanent-failure'],
        reply: `550 no <${id}>`,
        detail: 'hard',
      },
    })),
  deferred: (service, ids, n) =>
    writer.results(ids, service, () => ({ ...NOTHING, detail: '451', reply: '451', delay: n })),
  uncertain: (service, ids) => writer.results(ids, service, () => ({ ...NOTHING, uncertain: true, delay: 1 })),
  crashed: (service, ids) => writer.crashed(ids, service),
  expired: (_service, ids) => giveUp(writer.sql, 'sending', ids),
  cancelled: (service, ids) => cancel(writer.sql, service, ids[0] as Id, OPERATOR),
  receipts: (service, ids, n) =>
    writer.receipts(
      service,
      ids.map((id, at) => writer.receipt(id, RESULTS[(n + at) % RESULTS.length] ?? 'delivered', 1 + ((n * 7) % 5))),
    ),
  'two receipts': (service, ids, n) =>
    writer.receipts(
      service,
      ids.flatMap(id =>
        [n, n + 1].map(k => writer.receipt(id, RESULTS[k % RESULTS.length] ?? 'delivered', 1 + (k % 5))),
      ),
    ),
}

const MESSAGES = 4
const step = fc.record({
  name: fc.constantFrom(...Object.keys(STEPS)),
  of: fc.uniqueArray(fc.integer({ min: 0, max: MESSAGES - 1 }), { minLength: 1 }),
  n: fc.integer({ min: 0, max: 20 }),
})

test('sends, receipts, cancels and expiry in any order, also concurrently', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 6 }),
      async rounds => {
        const { service, ids } = await writer.messages(MESSAGES, { isScheduled: true })
        for (const together of rounds) {
          // Long ago, so that a message that is sent may expire.
          await writer.sql`update states set sent_at = now() - interval '73 hours' where service_id = ${service} and sent_at is not null`
          await Promise.all(
            together.map(({ name, of, n }) =>
              STEPS[name]?.(
                service,
                of.map(at => ids[at] as Id),
                n,
              ),
            ),
          )
        }
        const statuses = await replayed(service)
        for (const id of ids) {
          const state = await writer.statusOf(id)
          const logged = statuses.get(id) ?? []
          expect(logged.at(-1) ?? 'created').toBe(state?.status)
          expect(logged.filter((one, at) => one === logged[at - 1])).toEqual([])
          expect(isWithin(logged, state?.moves ?? [])).toBe(true)
          expect(state?.moves.at(-1)).toBe(state?.status)
        }
      },
    ),
    { numRuns: 30 },
  )
}, 120_000)

/** Whether the list contains these in order. A message that changes twice in one statement has one event. */
function isWithin(few: readonly string[], list: readonly string[]): boolean {
  let at = 0
  for (const one of list) if (one === few[at]) at++
  return at === few.length
}

test('a transaction that got its number first and the lock of the message later comes later in the log', async () => {
  const { service, ids } = await writer.messages(1)
  const [id] = ids as [Id]
  await overlapping(
    () => writer.results(ids, service, () => SENDING),
    sql => writer.receipts(service, [writer.receipt(id, 'delivered', 1_000)], 0, sql),
  )
  expect((await replayed(service)).get(id)).toEqual(['sending', 'delivered'])
})

test('a statement that waits for the lock of another one comes later in the log', async () => {
  const { service, ids } = await writer.messages(1, { status: 'sending', provider: 'ses' })
  const [id] = ids as [Id]
  let waiting: Promise<unknown> = Promise.resolve()
  await here.parts.db.transaction(async sql => {
    await sql`select pg_current_xact_id()`
    // Begins before this transaction ends, with a snapshot in which the message is being sent.
    await writer.receipts(service, [writer.receipt(id, 'pending', 1_000)], 0, sql)
    waiting = giveUp(writer.sql, 'sending', ids)
    await expect.poll(() => isWaiting()).toBe(true)
  })
  await waiting
  expect((await replayed(service)).get(id)).toEqual(['pending', 'temporary-failure'])
})

/** `early` gets its transaction number first; `first` begins and commits before it does anything else. */
const overlapping = (first: () => Promise<unknown>, early: (sql: Sql) => Promise<unknown>) =>
  here.parts.db.transaction(async sql => {
    await sql`select pg_current_xact_id()`
    await first()
    await early(sql)
  })

async function isWaiting(): Promise<boolean> {
  const rows = await writer.sql`
    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return rows.length > 0
}

test('the statements that log read the messages of their day by index, and nothing else', async () => {
  const { service, ids } = await writer.messages(200)
  const { ticket, app } = await writer.lease(ids, service)
  const take = [{ id: ticket.id, takes: 1 }]
  const result = { ...NOTHING, ...{ ticket: ticket.id, takes: 1, diagnosis: null, took: 1 } }
  const states = ids.map(id => ({ status: 'created' as const, receipt_at: null, id }))
  const runs: Record<string, Run> = {
    record: sql =>
      record(
        sql,
        app.owner,
        take,
        ids.map(id => ({ ...result, id, delay: 1 })),
        [],
        [],
      ),
    receipts: sql =>
      move(
        sql,
        app.owner,
        take,
        states.map(from => moveOf(from)),
        [],
        [],
        [],
      ),
    crash: sql => markUncertain(sql, app.owner, take, ids),
    expiry: sql => giveUp(sql, 'sending', ids),
  }
  for (const [name, run] of Object.entries(runs)) {
    const { text, values } = await captured(run)
    const client = here.parts.db.client()
    await client.connect()
    await client.query(`prepare asked as ${text}`)
    const bytes = (value: unknown) =>
      Buffer.isBuffer(value) ? `'{${'null,'.repeat(ids.length - 1)}null}'` : literal(client, value)
    const list = values.map(value => bytes(value)).join(', ')
    await client.query('begin')
    const answer = await client.query(`explain (analyze, timing off, format json) execute asked(${list})`)
    await client.query('rollback')
    await client.end()
    const scans = scansOf(answer.rows[0]['QUERY PLAN'][0].Plan as PlanNode).filter(one =>
      /^(states|events)/.test(one.table),
    )
    expect([name, ...scans]).toEqual([
      name,
      { kind: 'Index Scan', table: expect.stringMatching(/^states_\d{8}$/), loops: 1 },
    ])
  }
})

const moveOf = (from: { id: Id; status: 'created'; receipt_at: null }): Move => ({
  ...{
    id: from.id,
    from,
    status: 'delivered',
    at: 1_000,
    isFinal: true,
    changes: true,
    provider: 'ses',
    decidedAt: 1_000,
  },
  ...{ response: null, detail: null, diagnosis: null, moves: ['delivered'] },
})

type PlanNode = { 'Node Type': string; 'Relation Name'?: string; 'Actual Loops': number; Plans?: PlanNode[] }

/** What was read of tables. A partition that is planned and never read has no loops. */
const scansOf = (node: PlanNode): { kind: string; table: string; loops: number }[] => [
  ...(/Scan$/.test(node['Node Type']) && node['Relation Name'] && node['Actual Loops'] > 0
    ? [{ kind: node['Node Type'], table: node['Relation Name'], loops: node['Actual Loops'] }]
    : []),
  ...(node.Plans ?? []).flatMap(scansOf),
]
