// Admission control for everything that is not a send (contract 22.21): services take turns, and together they use at most a third of
// the database connections, so that sends always find one. People, long answers and pages for everyone have bounds of their own.
// docs/admission.md has the table.
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import { createTurns, inTurns, type Turns } from '../runtime/turns.ts'
import { refuse } from './refusals.ts'
import { countRequest } from './sql/rates.ts'

/** Who shares the turns: a service, or the network of a caller who is not known. `person`: who opens a page of the console. */
export type Reader = { owner: string; person: Id | null }

export type Reads = {
  /** `counts`: whether the request counts against HERALD_READ_LIMIT; reads do, changes do not. */
  run<T>(service: Id, counts: boolean, work: () => Promise<T>): Promise<T>
  /** A page of the console: a turn of its owner, and few at a time for one person, whatever services they belong to. */
  visit<T>(reader: Reader, work: () => Promise<T>): Promise<T>
  /** A long answer to a caller of the interface. Few of a service run at a time, each piece in a turn of its own. */
  stream<T>(service: Id, pieces: AsyncIterable<T>): AsyncGenerator<T>
  /** A long answer for a person: each piece in a turn of its own. The time that a reader takes for a piece uses up no turn. */
  pieces<T>(reader: Reader, pieces: AsyncIterable<T>): AsyncGenerator<T>
  /** A page that is the same for everyone and reads nothing from the database. `network`: of the caller. */
  page<T>(network: string, work: () => T | Promise<T>): Promise<T>
  /** Runs a single send. Reads pause while one is running, for 25 ms at most. */
  besides<T>(send: () => Promise<T>): Promise<T>
  /** Called between two parts of a long read: yields the event loop to other requests. */
  giveWay(): Promise<void>
  running(): number
  waiting(): number
}

/** Reads use one third of the connections; one service may use all of these but one. */
const SHARE = 3
/** Long answers use at most half of the turns. */
const LONG_SHARE = 2
/** Pages and pieces that one person reads at the same time. */
const OF_PERSON = 2
/** Pages for everyone are written from memory: more at a time would only delay others. */
const PAGES = { atOnce: 2, ofOne: 1 }
/** Limits the pause of a read in a process that always has a send running. */
const LONGEST_WAIT_MS = 25

export function createReads(app: { sql: Sql; connections: number; limit: number | null }): Reads {
  const atOnce = Math.max(1, Math.floor(app.connections / SHARE))
  const ofOne = Math.max(1, atOnce - 1)
  // A piece of a long answer takes many times as long as a page: most turns stay free of them.
  const turns = createTurns({ atOnce, ofOne, ofLong: Math.max(1, Math.floor(atOnce / LONG_SHARE)) })
  const people = createTurns({ atOnce: Number.POSITIVE_INFINITY, ofOne: OF_PERSON })
  const streams = createTurns({ atOnce: Number.POSITIVE_INFINITY, ofOne })
  const pages = createTurns(PAGES)
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

  const turn = <T>(owner: string, work: () => Promise<T>, length?: 'long') =>
    turns.run(
      owner,
      async () => {
        await giveWay()
        return work()
      },
      length,
    )

  const visit = <T>({ owner, person }: Reader, work: () => Promise<T>, length?: 'long') =>
    person === null ? turn(owner, work, length) : people.run(person, () => turn(owner, work, length))

  const pieces = <T>(reader: Reader, given: AsyncIterable<T>) => inTurns<T>(read => visit(reader, read, 'long'), given)

  async function* stream<T>(service: Id, given: AsyncIterable<T>): AsyncGenerator<T> {
    const end = await placeIn(streams, service)
    try {
      yield* pieces({ owner: service, person: null }, given)
    } finally {
      end()
    }
  }

  return {
    run: (service, counts, work) =>
      turn(service, async () => {
        if (counts && limit !== null) await count(app.sql, service, limit)
        return work()
      }),
    visit: (reader, work) => visit(reader, work),
    stream,
    pieces,
    page: (network, work) =>
      pages.run(network, async () => {
        await giveWay()
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

/** Resolves when it is the owner's turn; what it returns ends the turn. */
function placeIn(turns: Pick<Turns, 'run'>, owner: string): Promise<() => void> {
  return new Promise(resolve => {
    void turns.run(owner, () => new Promise<void>(end => resolve(end)))
  })
}

async function count(sql: Sql, service: Id, limit: number): Promise<void> {
  const { passed, freeInSeconds } = await countRequest(sql, service, 'read', limit)
  if (passed) return
  const { kind, messages } = refuse.tooManyReads(limit)
  throw new Refusal(kind, messages, { 'retry-after': String(Math.max(1, Math.ceil(freeInSeconds))) })
}
