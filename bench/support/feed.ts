// One reader of the feed, a process of its own, that follows cursors from the beginning to the end and parses every page; and its
// yardstick: the rows of the same messages, in pages of the same size, read from the database directly.
import http from 'node:http'
import pg from 'pg'
import { keepChild, serveParent } from './child.ts'
import type { Environment, Running } from './environment.ts'

type Job =
  | { address: string; key: string; page: number }
  | { database: Environment['database']; service: string; page: number }

/** What was read, and the body of one page. */
export type Read = { perSecond: number; count: number; page: string }

const reading = keepChild<Job, Read>(import.meta.url)

export const readFeed = ({ key }: Pick<Environment, 'key'>, { address }: Pick<Running, 'address'>, page: number) =>
  reading({ address, key, page })

export const selectYardstick = ({ database, service }: Pick<Environment, 'database' | 'service'>, page: number) =>
  reading({ database, service, page })

const run = (job: Job) => ('key' in job ? follow(job) : select(job))

async function follow({ address, key, page }: Extract<Job, { key: string }>): Promise<Read> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { authorization: `ApiKey-v1 ${key}` }
  const get = (path: string) =>
    new Promise<string>((resolve, reject) => {
      const request = http.get(address + path, { agent, headers }, response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(text)
          else reject(new Error(`${path}: ${response.statusCode} ${text.slice(0, 300)}`))
        })
      })
      request.on('error', reject)
    })
  let count = 0
  let cursor = ''
  let first = ''
  const began = performance.now()
  for (;;) {
    const text = await get(`/herald/v1/events?limit=${page}${cursor && `&after=${cursor}`}`)
    const { events, next } = JSON.parse(text) as { events: unknown[]; next: string }
    count += events.length
    first ||= text
    if (events.length === 0) break
    cursor = next
  }
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  return { perSecond: count / seconds, count, page: first }
}

async function select({ database, service, page }: Extract<Job, { service: string }>): Promise<Read> {
  const { host, user, database: name } = database
  const client = new pg.Client({ host, user, database: name, port: 5432 })
  await client.connect()
  let count = 0
  let after = '00000000-0000-0000-0000-000000000000'
  const began = performance.now()
  for (;;) {
    const { rows } = await client.query<{ id: string }>({
      name: 'page',
      text: `select n.id, n.reference, n.channel, n.template_id, n.template_version, n.job_id, s.status, s.completed_at
             from notifications n
             join states s on s.id = n.id
             where n.service_id = $1 and n.id > $2
             order by n.id
             limit $3`,
      values: [service, after, page],
    })
    count += rows.length
    const last = rows.at(-1)
    if (!last) break
    after = last.id
  }
  const seconds = (performance.now() - began) / 1000
  await client.end()
  return { perSecond: count / seconds, count, page: '' }
}

serveParent(import.meta.url, run)
