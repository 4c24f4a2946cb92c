// Follows the feed of one key, at any of the processes. What it reads is stored together with the cursor, before the next page is
// asked for.
import { openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Following, Page } from './reader.ts'

const { addresses, key, file, limit, wait } = JSON.parse(process.argv[2] ?? '') as Following
let after = cursorOf(file)
const log = openSync(file, 'a')

for (let turn = 0; ; turn++) {
  const page = await read(addresses[turn % addresses.length] ?? '')
  if (page === null) {
    await sleep(50)
    continue
  }
  if (page.cursor === after) continue
  writeSync(log, `${JSON.stringify(page)}\n`)
  after = page.cursor
}

type Sent = { id: string; type: string; timestamp: string; data: { notification_id?: string; job_id?: string } }

/** Null: no answer now. */
async function read(address: string): Promise<Page | null> {
  const query = new URLSearchParams({ limit: String(limit), wait: String(wait), ...(after !== '' && { after }) })
  const reply = await fetch(`${address}/herald/v1/events?${query}`, {
    headers: { authorization: `ApiKey-v1 ${key}` },
    signal: AbortSignal.timeout(10_000 + wait * 1000),
  }).catch(() => null)
  if (!reply) return null
  const text = await reply.text().catch(() => null)
  if (text === null || reply.status >= 500) return null
  if (reply.status !== 200) throw new Error(`the feed answers ${reply.status} ${text.slice(0, 300)}`)
  const { events, next: cursor } = JSON.parse(text) as { events: Sent[]; next: string }
  return {
    cursor,
    at: Date.now(),
    events: events.map(({ id, type, timestamp, data }) => ({
      id,
      type,
      timestamp,
      about: data.notification_id ?? data.job_id ?? '',
    })),
  }
}

/** A line that was cut off by the death of the process before is removed: its page is read again. */
function cursorOf(path: string): string {
  const text = readFileSync(path, 'utf8')
  const end = text.lastIndexOf('\n') + 1
  truncateSync(path, Buffer.byteLength(text.slice(0, end)))
  const last = text.slice(0, end).trimEnd().split('\n').at(-1)
  return last ? (JSON.parse(last) as Page).cursor : ''
}
