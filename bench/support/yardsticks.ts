// What this machine can do at best, measured in the same minute, each in a process of its own:
//   insert   single rows, one durable commit each, over one prepared statement, into a table as wide as the messages'
//   bare     a Fastify route that reads the same body and gives the same answer, and does nothing in between
import Fastify from 'fastify'
import pg from 'pg'
import { createClock } from '../../src/core/clock.ts'
import { createIds } from '../../src/core/id.ts'
import { cpuSeconds } from './cpu.ts'

export type InsertJob = { host: string; user: string; database: string; pid: number; clients: number; seconds: number }

type Inserted = { value: number; databaseMicros: number }

async function insert({ host, user, database, pid, clients, seconds }: InsertJob): Promise<Inserted> {
  const open = async () => {
    const client = new pg.Client({ host, user, database, port: 5432 })
    await client.connect()
    return client
  }
  const first = await open()
  await first.query(
    'drop table if exists yardstick; create table yardstick (like notifications including defaults including indexes)',
  )
  const ids = createIds(createClock())
  const service = ids.next()
  const sealed = Buffer.alloc(180, 7)
  const digest = Buffer.alloc(32, 9)
  const lines = [first, ...(await Promise.all(Array.from({ length: clients - 1 }, open)))]
  let stored = 0
  let all = 0
  const before = cpuSeconds(pid, { family: true })
  const from = performance.now() + 500
  const until = from + seconds * 1000
  await Promise.all(
    lines.map(async client => {
      while (performance.now() < until) {
        await client.query({
          name: 'insert',
          text: `insert into yardstick (id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane,
                                        reference, is_international, sealed, recipient_digest)
                 values ($1, $2, $2, 'normal', 'email', false, $2, 1, 'email-medium', $3, false, $4, $5)`,
          values: [ids.next(), service, `order-${stored % 1000}`, sealed, digest],
        })
        all++
        if (performance.now() >= from && performance.now() <= until) stored++
      }
    }),
  )
  const databaseMicros = ((cpuSeconds(pid, { family: true }) - before) * 1e6) / all
  await first.query('drop table yardstick')
  await Promise.all(lines.map(client => client.end()))
  return { value: stored / seconds, databaseMicros }
}

async function bare({ answer }: { answer: string }): Promise<{ address: string }> {
  const app = Fastify()
  app.post('/v2/notifications/email', async (_request, reply) => reply.code(201).type('application/json').send(answer))
  return { address: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

process.once('message', given => {
  const work = process.argv[2] === 'insert' ? insert(given as InsertJob) : bare(given as { answer: string })
  work.then(
    told => process.send?.(told, () => process.argv[2] === 'insert' && process.exit(0)),
    error => {
      console.error(error)
      process.exit(1)
    },
  )
})
