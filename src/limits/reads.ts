// Admission control for reads and all other requests that are not sends (contract 22.21): services take turns, and together they
// use at most a third of the database connections, so that sends always find one.
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import { createTurns } from '../runtime/turns.ts'
import { refuse } from './refusals.ts'
import { countRequest } from './sql/rates.ts'

export type Reads = {
  /** `counts`: whether the request counts against HERALD_READ_LIMIT; reads do, changes do not. */
  run<T>(service: Id, counts: boolean, work: () => Promise<T>): Promise<T>
  /** Runs a single send. Reads pause while one is running, for 25 ms at most. */
  besides<T>(send: () => Promise<T>): Promise<T>
  /** Called between two parts of a long read: yields the event loop to other requests. */
  giveWay(): Promise<void>
  running(): number
  waiting(): number
}

/** Reads use one third of the connections; one service may use all of these but one. */
const SHARE = 3
/** Limits the pause of a read in a process that always has a send running. */
const LONGEST_WAIT_MS = 25

export function createReads(app: { sql: Sql; connections: number; limit: number | null }): Reads {
  const atOnce = Math.max(1, Math.floor(app.connections / SHARE))
  const turns = createTurns({ atOnce, ofOne: Math.max(1, atOnce - 1) })
  const { limit } = app
  const standing: { since: number; resume(): void }[] = []
  let sending = 0
  let isLooking = false

  // One read resumes per turn of the event loop, so that their parts do not add up to one long turn.
  function look() {
    isLooking = false
    const [first] = standing
    if (!first) return
    const waited = performance.now() - first.since
    if (sending > 0 && waited < LONGEST_WAIT_MS) return lookAgain(LONGEST_WAIT_MS - waited)
    standing.shift()
    first.resume()
    lookSoon()
  }

  function lookSoon() {
    if (isLooking || standing.length === 0) return
    isLooking = true
    setImmediate(look)
  }

  function lookAgain(ms: number) {
    clearTimeout(timer)
    timer = setTimeout(lookSoon, ms)
  }
  let timer: NodeJS.Timeout | undefined

  const giveWay = () =>
    new Promise<void>(resume => {
      standing.push({ since: performance.now(), resume })
      lookSoon()
    })

  return {
    run: (service, counts, work) =>
      turns.run(service, async () => {
        await giveWay()
        if (counts && limit !== null) await count(app.sql, service, limit)
        return work()
      }),
    async besides(send) {
      sending++
      try {
        return await send()
      } finally {
        if (--sending === 0) lookSoon()
      }
    },
    giveWay,
    running: turns.running,
    waiting: turns.waiting,
  }
}

async function count(sql: Sql, service: Id, limit: number): Promise<void> {
  const { passed, freeInSeconds } = await countRequest(sql, service, 'read', limit)
  if (passed) return
  const { kind, messages } = refuse.tooManyReads(limit)
  throw new Refusal(kind, messages, { 'retry-after': String(Math.max(1, Math.ceil(freeInSeconds))) })
}
