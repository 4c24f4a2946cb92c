// Every statement that changes a status ends in the same tail (src/notifications/sql/moved.ts), which counts the messages of jobs.
import { expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import type { Sql } from '../src/db/connect.ts'
import { currentStates, move } from '../src/notifications/sql/apply.ts'
import { giveUp } from '../src/notifications/sql/expire.ts'
import { record } from '../src/notifications/sql/record.ts'
import { world } from './support/world.ts'

const RESULT = {
  provider: 'smtp',
  ref: null,
  response: null,
  detail: null,
  diagnosis: null,
  uncertain: false,
  took: null,
  parts: null,
  delay: null,
}

async function countsOf(sql: Sql, job: Id) {
  const rows = await sql<{ status: string; messages: number }>`
    select status, messages from job_counts where job_id = ${job} and messages <> 0 order by status`
  return Object.fromEntries(rows.map(row => [row.status, row.messages]))
}

test('the counts of a job follow its messages, whichever statement changes their status', async () => {
  const { parts } = await world()
  const { ids } = parts
  const { sql } = parts.db
  const [job, service, owner, ticket] = [ids.next(), ids.next(), ids.next(), ids.next()]
  const messages = Array.from({ length: 4 }, () => ids.next())
  const [first, second, third] = messages as [Id, Id, Id, Id]
  await sql`
    insert into states (id, service_id, key_type, channel, in_job, job_id, status)
    select id, ${service}, 'normal', 'email', true, ${job}::uuid, 'created' from unnest(${messages}::uuid[]) as m (id)`
  await sql`insert into job_counts (job_id, status, messages) values (${job}, 'created', ${messages.length})`
  const lease = async () => {
    await sql`
      insert into tickets (id, lane, service_id, subjects, due_at, takes, owner, leased_until)
      values (${ticket}, 'email-low', ${service}, ${messages}::uuid[], now(), 1, ${owner}, now() + interval '1 minute')
      on conflict do nothing`
    return [{ id: ticket, takes: 1 }]
  }

  const results = [first, second, third].map(id => ({
    ...{ id, ticket, takes: 1, status: 'sending' as const, moves: ['sending'] },
    ...RESULT,
  }))
  await record(sql, owner, await lease(), results, [ticket], [])
  expect(await countsOf(sql, job)).toEqual({ created: 1, sending: 3 })

  const states = await currentStates(sql, [second])
  const moves = states.map(from => ({
    ...{ id: from.id, from, status: 'delivered' as const, at: 1_700_000_000_000, isFinal: true },
    ...{ response: null, detail: null, diagnosis: null, moves: ['delivered'] },
    ...{ changes: true, provider: 'smtp', decidedAt: 1_700_000_000_000 },
  }))
  expect(await move(sql, owner, await lease(), moves, [], [ticket], [])).toMatchObject({ allMoved: true })
  expect(await countsOf(sql, job)).toEqual({ created: 1, sending: 2, delivered: 1 })

  await sql`update states set sent_at = now() - interval '73 hours' where id = ${third}`
  await giveUp(sql, 'sending', messages)
  expect(await countsOf(sql, job)).toEqual({ created: 1, sending: 1, delivered: 1, 'temporary-failure': 1 })
})
