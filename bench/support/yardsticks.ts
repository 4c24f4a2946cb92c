// What this machine can do at best, measured in the same minute, each in a process of its own:
//   insert   single rows, one durable commit each, over one prepared statement, into a table as wide as the messages'
//   groups   the same rows, 500 with each commit, one after the other
//   bare     a Fastify route that reads the same body and gives the same answer, and does nothing in between
//   memory   of a Node process that does nothing
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import Fastify from 'fastify'
import pg from 'pg'
import { createClock } from '../../src/core/clock.ts'
import { createIds } from '../../src/core/id.ts'
import { forkModule, keepChild, serveParent } from './child.ts'
import type { Environment } from './environment.ts'
import { percentile } from './load.ts'
import { cpuSeconds, memoryOf } from './process.ts'

type InsertJob = { database: Environment['database']; clients: number; seconds: number; group: number }
/** Rows per second, milliseconds of a commit, and CPU time of the database per row. */
export type Inserted = { perSecond: number; p50: number; databaseMicros: number }

const GROUP = 500
const ROW = `$2, $2, 'normal', 'email', false, $2, 1, 'email-medium', $3, false, $4`

const inserting = keepChild<InsertJob, Inserted>(import.meta.url)

export const insertYardstick = ({ database }: Environment, clients: number, seconds: number) =>
  inserting({ database, clients, seconds, group: 1 })

export const groupYardstick = ({ database }: Environment, seconds: number) =>
  inserting({ database, clients: 1, seconds, group: GROUP })

async function insert({
  database: { host, user, database, pid },
  clients,
  seconds,
  group,
}: InsertJob): Promise<Inserted> {
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
  const idsOf = (count: number) => Array.from({ length: count }, () => ids.next())
  const service = ids.next()
  const sealed = Buffer.alloc(180, 7)
  const lines = [first, ...(await Promise.all(Array.from({ length: clients - 1 }, open)))]
  const times: number[] = []
  let all = 0
  const before = cpuSeconds(pid, { family: true })
  const from = performance.now() + 500
  const until = from + seconds * 1000
  await Promise.all(
    lines.map(async client => {
      for (let began = performance.now(); began < until; began = performance.now()) {
        await client.query({
          name: 'insert',
          text: `insert into yardstick (id, service_id, key_id, key_type, channel, in_job, template_id, template_version, lane,
                                        reference, is_international, sealed)
                 ${group === 1 ? `values ($1, ${ROW})` : `select id, ${ROW} from unnest($1::uuid[]) as r (id)`}`,
          values: [group === 1 ? ids.next() : idsOf(group), service, `order-${all % 1000}`, sealed],
        })
        all += group
        const now = performance.now()
        if (now >= from && now <= until) times.push(now - began)
      }
    }),
  )
  const databaseMicros = ((cpuSeconds(pid, { family: true }) - before) * 1e6) / all
  await first.query('drop table yardstick')
  await Promise.all(lines.map(client => client.end()))
  return { perSecond: (times.length * group) / seconds, p50: percentile(times, 0.5), databaseMicros }
}

export type Bare = { address: string; pid: number; stop(): void }

/** Listens until it is stopped. */
export function startBare(answer: string): Promise<Bare> {
  const child = forkModule(import.meta.url)
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the bare route ended with ${code}`)))
    child.once('message', result => {
      const { address } = result as { address: string }
      resolve({ address, pid: child.pid ?? 0, stop: () => child.kill() })
    })
    child.send({ answer })
  })
}

async function bare(answer: string): Promise<never> {
  const app = Fastify({ bodyLimit: 20_000_000 })
  app.post('/v2/notifications/email', async (_request, reply) => reply.code(201).type('application/json').send(answer))
  process.on('disconnect', () => process.exit())
  process.send?.({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })
  return new Promise(() => {})
}

/** Megabytes of a Node process that does nothing. */
export async function nodeMemory(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log()'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const { now } = memoryOf(child.pid ?? 0)
  child.kill()
  return now
}

serveParent(import.meta.url, (job: InsertJob | { answer: string }) =>
  'answer' in job ? bare(job.answer) : insert(job),
)
