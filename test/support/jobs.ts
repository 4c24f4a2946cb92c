// Jobs without an engine: their rows become messages with the work of the engine, and get the outcomes that a test wants. Used by tests
// and by scripts/shots.ts, so nothing of vitest.
import { spread, writeChunks } from '../../src/bulk/spread.ts'
import type { Id } from '../../src/core/id.ts'
import { type Result, record } from '../../src/notifications/sql/record.ts'
import type { Parts } from '../../src/parts.ts'
import type { Ticket } from '../../src/queue/port.ts'
import { createRecall } from '../../src/runtime/recall.ts'

/** Turns chunks of a job into messages: all, or so many of them. */
export async function spreadJob(parts: Parts, job: Id, chunks = 1_000): Promise<void> {
  const { sql } = parts.db
  const owner = parts.ids.next()
  const app = { ...parts, sql, owner, wake: () => {}, onFault: rethrow }
  const tickets = await leased(parts, owner, chunkIds(parts, job, chunks))
  const work = spread(app)
  for (const ticket of await tickets) {
    for (const [id, chunk] of await work.load([ticket])) {
      const handled = await work.handle(chunk, ticket, createRecall())
      if (handled.kind !== 'done') throw new Error('the chunk was not handled')
      await writeChunks(app)([{ ticket, id, result: handled.result, settle: [] }])
    }
  }
}

const rethrow = (error: unknown) => {
  throw error
}

const chunkIds = async ({ db }: Parts, job: Id, most: number) =>
  (await db.sql<{ id: Id }>`select id from chunks where job_id = ${job} order by id limit ${most}`).map(({ id }) => id)

async function leased({ db }: Parts, owner: Id, subjects: Promise<Id[]>): Promise<Ticket[]> {
  return db.sql<Ticket>`
    update tickets
    set owner = ${owner}, takes = takes + 1, leased_until = now() + interval '1 hour'
    where subjects && ${await subjects}::uuid[]
    returning id, lane, service_id, subjects, attempts, takes`
}

export type RowOutcome = Pick<Result, 'status'> &
  Partial<Omit<Result, 'id' | 'ticket' | 'takes' | 'diagnosis'>> & { reply?: string }

/** Records what a provider answered to rows of a job, as the engine does; null: the row still waits. */
export async function settleRows(parts: Parts, job: Id, outcomeOf: (row: number) => RowOutcome | null): Promise<void> {
  const { sql } = parts.db
  const owner = parts.ids.next()
  const messages = await sql<{ id: Id; job_row: number }>`
    select id, job_row from notifications where job_id = ${job} order by id`
  const rows = new Map(messages.map(({ id, job_row }) => [id, job_row]))
  const tickets = await leased(parts, owner, Promise.resolve([...rows.keys()]))
  for (const ticket of tickets) {
    const results = ticket.subjects.flatMap((id): Result[] => {
      const outcome = outcomeOf(rows.get(id) ?? 0)
      if (!outcome) return []
      const { reply, ...rest } = outcome
      return [
        {
          ...{ moves: [String(outcome.status)], provider: 'relay', ref: null, response: null, detail: null },
          ...{
            uncertain: false,
            took: 40,
            parts: null,
            delay: null,
            ...rest,
            id,
            ticket: ticket.id,
            takes: ticket.takes,
          },
          diagnosis: reply === undefined ? null : parts.seal.seal('provider reply', reply),
        },
      ]
    })
    await record(sql, owner, [ticket], results, results.length === ticket.subjects.length ? [ticket.id] : [], [])
  }
}
