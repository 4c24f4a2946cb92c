// Reading, and whatever else a service asks that is not a send (contract 22.21): it takes turns by service, with few at the
// database at the same time, so that no service can take the connections that sends need.
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import { createTurns } from '../runtime/turns.ts'
import { refuse } from './refusals.ts'
import { countRequest } from './sql/rates.ts'

export type Reads = {
  /** `counts`: a read, which a limit of the operator counts; a change is not. */
  run<T>(service: Id, counts: boolean, work: () => Promise<T>): Promise<T>
  /** Single sends go first: while one is under way, reads stand still for a moment. */
  besides<T>(send: () => Promise<T>): Promise<T>
  /** Between two pieces of a read: lets everybody else have the event loop, sends above all. */
  giveWay(): Promise<void>
  running(): number
  waiting(): number
}

/** Of a third of the connections one service has all but one. */
const SHARE = 3
/** A process that always has a send under way must answer reads, too. */
const LONGEST_WAIT_MS = 25

export function createReads(app: { sql: Sql; connections: number; limit: number | null }): Reads {
  const atOnce = Math.max(1, Math.floor(app.connections / SHARE))
  const turns = createTurns({ atOnce, ofOne: Math.max(1, atOnce - 1) })
  const { limit } = app
  const standing: { since: number; resume(): void }[] = []
  let sending = 0
  let isLooking = false

  // One read goes on in each turn of the event loop, so that their pieces do not add up to a long one.
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
