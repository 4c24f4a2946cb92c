// A queue for a test of the engine: a database with tickets in it, without messages.
import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { createClock } from '../../src/core/clock.ts'
import { createIds, type Id } from '../../src/core/id.ts'
import { connect, type Database } from '../../src/db/connect.ts'
import { createPostgresTaker } from '../../src/queue/postgres.ts'
import type { TakerHouse } from '../conformance/taker.ts'
import { databaseUrl, onServer } from './database.ts'
import { atEnd } from './ends.ts'

export type Queue = TakerHouse & { db: Database; newOwner(): Id; left(): Promise<number> }

export async function ticketQueue(): Promise<Queue> {
  const server = inject('server')
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${name} template ${inject('template')}`)
  const db = connect(
    { url: databaseUrl(server, name) },
    { size: 4, name: 'herald-test', statementSeconds: 10, onIdleError: () => {} },
  )
  atEnd(async () => {
    await db.stop()
    await onServer(server, `drop database if exists ${name} with (force)`)
  })
  const ids = createIds(createClock())
  return {
    db,
    id: ids.next,
    newOwner: ids.next,
    taker: leaseSeconds => createPostgresTaker(db.sql, ids.next(), leaseSeconds),
    async put({ lane, service = ids.next(), subjects = 1, dueInMs = 0, takes = 0 }) {
      const id = ids.next()
      const all = Array.from({ length: subjects }, () => ids.next())
      await db.sql`
        insert into tickets (id, lane, service_id, subjects, due_at, takes)
        values (${id}, ${lane}, ${service}, ${all}::uuid[], clock_timestamp() + make_interval(secs => ${dueInMs / 1000}), ${takes})`
      return id
    },
    async putMany({ lane, service, count, dueInMs = 0, takes = 0 }) {
      const all = Array.from({ length: count }, () => ids.next())
      await db.sql`
        insert into tickets (id, lane, service_id, subjects, due_at, takes)
        select id, ${lane}, ${service}, array[id], clock_timestamp() + make_interval(secs => ${dueInMs / 1000}), ${takes}
        from unnest(${all}::uuid[]) as id`
    },
    async takesOf(id) {
      const [row] = await db.sql<{ takes: number }>`select takes from tickets where id = ${id}`
      return row?.takes ?? -1
    },
    async left() {
      const [row] = await db.sql<{ n: number }>`select count(*)::integer as n from tickets`
      return row?.n ?? -1
    },
  }
}
