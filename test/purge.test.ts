// One bounded step of deleting the oldest rows (src/db/purge.ts), by the example of receipts.
import { expect, test } from 'vitest'
import type { Timestamp } from '../src/core/clock.ts'
import { purge } from '../src/receipts/sql.ts'
import { world } from './support/world.ts'

test('a step deletes the oldest rows only, at most as many as asked for, and the next one continues after them', async () => {
  const { sql } = (await world()).parts.db
  for (const hours of [50, 49, 48, 47, 1])
    await sql`
      insert into receipts (id, provider, event_id, ref, result, received_at)
      values (gen_random_uuid(), 'smtp', ${`${hours} h`}, 'ref', 'delivered', clock_timestamp() - make_interval(hours => ${hours}))`
  const left = async () =>
    (await sql<{ event_id: string }>`select event_id from receipts order by received_at`).map(row => row.event_id)
  let after: Timestamp | null = null
  const step = async (most: number) => {
    const { found, last } = await purge(sql, 24, after, most)
    after = last
    return found
  }

  expect(await step(3)).toBe(3)
  expect(await left()).toEqual(['47 h', '1 h'])
  expect(await step(3)).toBe(1)
  expect(await left()).toEqual(['1 h'])
  expect(await step(3)).toBe(0)
  expect(after).toBe(null)
})
