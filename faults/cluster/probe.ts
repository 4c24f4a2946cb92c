// An independent probe: it inserts on every node directly, every 20 ms, and knows nothing of Herald. What it measures is the
// database's own outage.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Node } from './node.ts'

const EVERY_MS = 20
const PATIENCE_MS = 1_500

export type Written = { node: string; begunAt: number; doneAt: number }

export type Probe = {
  /** Inserts that were answered with success. */
  written: readonly Written[]
  /** When the first insert was answered that began after this moment, on any node; null: none yet. */
  firstAfter(at: number): Written | null
  /** Waits for it; throws where it takes longer. */
  returned(at: number, withinSeconds: number): Promise<Written>
  /** The longest time between two answered inserts, in seconds, among those after this moment. */
  longestGap(since: number): number
  stop(): Promise<void>
}

export function createProbe(nodes: readonly Node[]): Probe {
  const written: Written[] = []
  let isOver = false
  const running = nodes.map(node => follow(node))

  async function follow(node: Node) {
    let client: pg.Client | null = null
    while (!isOver) {
      const begunAt = Date.now()
      try {
        client ??= await open(node)
        await client.query('insert into probe (node) values ($1)', [node.name])
        written.push({ node: node.name, begunAt, doneAt: Date.now() })
      } catch (error) {
        // A standby says so, and the session is kept; after anything else a new one is opened.
        if ((error as { code?: string }).code !== '25006') {
          drop(client)
          client = null
        }
      }
      await sleep(Math.max(1, begunAt + EVERY_MS - Date.now()))
    }
    drop(client)
  }

  const firstAfter = (at: number) =>
    written.filter(one => one.begunAt >= at).reduce<Written | null>((a, b) => (a && a.doneAt <= b.doneAt ? a : b), null)
  return {
    written,
    firstAfter,
    async returned(at, withinSeconds) {
      for (const until = Date.now() + withinSeconds * 1000; Date.now() < until; await sleep(10)) {
        const first = firstAfter(at)
        if (first) return first
      }
      throw new Error(`no node took a write within ${withinSeconds} s`)
    },
    longestGap: since => longestGap(written.map(one => one.doneAt).filter(at => at >= since)),
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** In seconds. */
export function longestGap(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.max(0, ...sorted.slice(1).map((at, before) => at - (sorted[before] as number))) / 1000
}

async function open(node: Node): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: node.url('probe'),
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    options: '-c log_min_messages=fatal', // a standby refuses fifty inserts a second
  })
  client.on('error', () => {}) // the node died; the next insert finds out
  await client.connect()
  return client
}

/** Without a goodbye: the node may never answer it. */
const drop = (client: pg.Client | null) => void client?.end().catch(() => {})
