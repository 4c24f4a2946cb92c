// News is written without a lock (receipts/sql.ts): what stands elsewhere than where it was found is left alone.
import { expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { type Move, move, standing } from '../src/receipts/sql.ts'
import { EMAIL, emailTemplate, putState } from './support/sends.ts'
import { world } from './support/world.ts'

test('a message that has moved meanwhile keeps its status, and the ticket of the news stays', async () => {
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
  const [found] = await standing(sql, [id])
  if (!found) throw new Error('no state')
  const news: Move = {
    ...{ id, from: found, status: 'delivered', at: 1_700_000_000_123.25, isFinal: true },
    ...{ response: null, detail: null, moves: ['delivered'] },
  }
  const write = (one: Move) => move(sql, owner, [{ id: ticket, takes: 1 }], [one], [ticket], [])
  const tickets = async () => (await sql`select id from tickets where id = ${ticket}`).length

  await putState(here, id, { status: 'pending' })
  expect(await write(news)).toBe(false)
  expect(await standing(sql, [id])).toMatchObject([{ status: 'pending' }])
  expect(await tickets()).toBe(1)

  const [now] = await standing(sql, [id])
  expect(await write({ ...news, from: now ?? found })).toBe(true)
  const [after] = await standing(sql, [id])
  expect(after).toMatchObject({ status: 'delivered', receipt_at: news.at })
  expect(await tickets()).toBe(0)
  // The provider's time, read back, is what the next news is compared with.
  if (after) expect(await write({ ...news, from: after, at: 1_700_000_000_500 })).toBe(true)
})
