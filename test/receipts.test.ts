// Receipts are applied with optimistic concurrency (notifications/sql/apply.ts): a message whose status changed since it was read
// is left alone.
import { expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { currentStates, type Move, move } from '../src/notifications/sql/apply.ts'
import type { Receipt } from '../src/providers/port.ts'
import { createAcceptReceipts } from '../src/receipts/accept.ts'
import { EMAIL, emailTemplate, putState } from './support/sends.ts'
import { world } from './support/world.ts'

test('a message whose status changed meanwhile keeps it, and the ticket of the receipt stays', async () => {
  const here = await world()
  const { sql } = here.parts.db
  const key = await (await here.service()).key()
  const template_id = await emailTemplate(key, 'Hello', 'Hello')
  const sent = await key.post(EMAIL, { template_id, email_address: 'a@example.org' })
  const id = (sent.body as { id: Id }).id
  const owner = here.parts.ids.next()
  const ticket = here.parts.ids.next()
  await sql`
    insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
    values (${ticket}, 'receipt', ${ticket}, ${[ticket]}::uuid[], now(), 1, ${owner}, now() + interval '1 minute')`
  await putState(here, id, { status: 'sending' })
  const [found] = await currentStates(sql, [id])
  if (!found) throw new Error('no state')
  const news: Move = {
    ...{ id, from: found, status: 'delivered', at: 1_700_000_000_123.25, isFinal: true },
    ...{ response: null, detail: null, diagnosis: null, moves: ['delivered'] },
    ...{ changes: true, provider: 'smtp', decidedAt: 1_700_000_000_123.25 },
  }
  const write = async (one: Move) =>
    (await move(sql, owner, [{ id: ticket, takes: 1 }], [one], [], [ticket], [])).allMoved
  const tickets = async () => (await sql`select id from tickets where id = ${ticket}`).length

  await putState(here, id, { status: 'pending' })
  expect(await write(news)).toBe(false)
  expect(await currentStates(sql, [id])).toMatchObject([{ status: 'pending' }])
  expect(await tickets()).toBe(1)

  const [now] = await currentStates(sql, [id])
  expect(await write({ ...news, from: now ?? found })).toBe(true)
  const [after] = await currentStates(sql, [id])
  expect(after).toMatchObject({ status: 'delivered', receipt_at: news.at })
  expect(await tickets()).toBe(0)
  // The provider's time, read back, is compared with that of the next receipt.
  if (after) expect(await write({ ...news, from: after, at: 1_700_000_000_500 })).toBe(true)
})

test('14.3.5 a receipt that the database rejects does not fail its batch: it is set aside, the others are stored', async () => {
  const here = await world()
  const { db, ids } = here.parts
  await db.sql`alter table receipts add check (event_id <> 'refused')`
  const faults: string[] = []
  const accept = createAcceptReceipts({
    sql: db.sql,
    ids,
    seal: here.parts.seal,
    dispatcher: () => ({ initialLease: () => null, hand: () => {} }),
    onFault: (_error, sentence) => faults.push(sentence),
  })
  const receipt = (eventId: string): Receipt => ({
    ...{ ref: `ref of ${eventId}`, eventId, at: null, result: 'delivered', detail: null, response: null },
  })
  const calls = [
    ['a', 'b', 'refused', 'c'],
    ['d'],
    ['e\u0000', 'f\ud800'],
    Array.from({ length: 200 }, (_, at) => `g${at}`),
  ]
  await Promise.all(calls.map(call => accept('smpp', call.map(receipt))))

  const stored = await db.sql<{ event_id: string }>`select event_id from receipts order by event_id`
  expect(stored.map(row => row.event_id)).toEqual(
    calls
      .flat()
      .filter(one => one !== 'refused')
      .map(one => one.replace(/[^a-z0-9]/g, ''))
      .sort(),
  )
  const [named] = await db.sql<{ n: number }>`select sum(cardinality(subjects))::integer as n from tickets`
  expect(named?.n).toBe(stored.length)
  expect(faults).toEqual(['a receipt was refused by the database; it is set aside'])
})
