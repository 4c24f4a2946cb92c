// The accept path's one door to the database: requests that wait at the same moment share a statement and a commit, and each
// is answered only after its own.
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Database, isUniqueViolation, mayHaveCommitted } from '../db/connect.ts'
import { isDataError } from '../db/errors.ts'
import type { Keeping } from '../files/keep.ts'
import type { Ticket } from '../queue/port.ts'
import type { InitialLease } from '../queue/tickets.ts'
import { createBusy } from '../runtime/busy.ts'
import { createGroupCommit, runSplitting } from '../runtime/group-commit.ts'
import { lookUntil } from '../runtime/look.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { keepFresh } from './fresh.ts'
import { SCAN_LANE } from './lane.ts'
import { type Asked, type Decision, accept as store, stored } from './sql/accept.ts'

export type Accept = {
  add(asked: Asked): Promise<Decision>
  /** With files, which are on disk by the same commit or not at all. */
  addWithFiles(asked: Asked, files: Keeping): Promise<Decision>
}

const MAX_ITEMS = 500
/** A second batch of the same service would only wait for the first one's row of the rate limit. */
const MAX_IN_FLIGHT = 1
/** A statement costs as much as 15 messages in it, so under load it waits up to 3 ms to fill a larger batch. */
const DELAY = { afterItems: 3, ms: 3, skipAtItems: 24, sendAtItems: 32 }
/** Megabytes keep a connection busy for a while: most connections stay for others. */
const MAX_WITH_FILES = 3

/** Where accepted messages go: to the engine of this process, held from initialLease, or into the queue with a word to others. */
export type Dispatcher = {
  initialLease(lanes: readonly string[]): InitialLease
  hand(tickets: Ticket[], initialLease: InitialLease): void
}

export function createAccept(app: {
  db: Pick<Database, 'sql' | 'transaction'>
  clock: Clock
  dispatcher: Dispatcher
  patienceSeconds: number
  /** Sets our clock by the database's. */
  followClock(): Promise<unknown>
}): Accept {
  const { db, clock } = app
  const { sql } = db
  const patienceMs = app.patienceSeconds * 1000

  async function run(asked: readonly Asked[]): Promise<Result[]> {
    const begun = begin(asked)
    const results = await runSplitting(asked, some => attempt(some, begun), isDataError)
    if (results.every(isFulfilled)) return results.map(result => result.value)
    const lost = asked.filter((_one, at) => isLost(results[at]))
    const found = recover(lost, begun, { askAgain: true })
    return asked.map((one, at) => {
      const result = results[at] as PromiseSettledResult<Decision>
      if (isFulfilled(result)) return result.value
      return apart(isLost(result) ? decisionIn(found, one, result.reason) : Promise.reject(result.reason))
    })
  }

  async function runWithFiles([one]: readonly WithFiles[]): Promise<Result[]> {
    if (!one) return []
    const { asked, files } = one
    // Uploads to another server take their time: no transaction is open meanwhile, and no lease runs.
    await files.stage(sql)
    const begun = begin([asked])
    try {
      const decisions = await handed([asked], begun, () => storeWithFiles(one, begun))
      if (!isAccepted(decisions[0])) await files.discard(sql).catch(() => {}) // maintenance does it later (purge-orphaned-uploads)
      return decisions
    } catch (error) {
      if (!mayHaveCommitted(error)) throw error
      return [apart(decisionIn(recover([asked], begun, { askAgain: false }), asked, error))]
    }
  }

  // Contents are written before the statement that counts and reserves, so that nobody waits for its locks meanwhile.
  const storeWithFiles = ({ asked, files }: WithFiles, begun: Begun) =>
    db.transaction(async sql => {
      await files.put(sql)
      const decisions = complete([asked], await store(sql, [asked], begun.deadline, begun.initialLease))
      if (!isAccepted(decisions[0])) await files.drop(sql)
      return decisions
    })

  function begin(asked: readonly Asked[]): Begun {
    crashPoint('before-accept', () => asked.map(one => one.id))
    const until = performance.now() + patienceMs
    return {
      until,
      deadline: deadlineAt(until),
      initialLease: app.dispatcher.initialLease([...new Set(asked.flatMap(one => one.message?.lane ?? []))]),
    }
  }

  const deadlineAt = (until: number) => fromMicros(clock.micros() + Math.round((until - performance.now()) * 1000))

  // The database came too late by its own clock. When there is time left by our timer, its clock was set forward meanwhile: ours
  // follows, and the statement, which has stored nothing, is repeated with a deadline of the new time.
  async function inTime(asked: readonly Asked[], begun: Begun, write: () => Promise<Decision[]>): Promise<Decision[]> {
    try {
      return complete(asked, await write())
    } catch (error) {
      if (!(error instanceof TooLate) || performance.now() >= begun.until) throw error
      await app.followClock()
      begun.deadline = deadlineAt(begun.until)
      return complete(asked, await write())
    }
  }

  // Another process has just stored an answer for one of our idempotency keys: on the next attempt it is seen. That may happen
  // to every key of the group, one after the other.
  async function attempt(asked: readonly Asked[], begun: Begun, tries = asked.length): Promise<Decision[]> {
    try {
      return await handed(asked, begun, () => store(sql, asked, begun.deadline, begun.initialLease))
    } catch (error) {
      if (isUniqueViolation(error) && tries > 0) return attempt(asked, begun, tries - 1)
      throw error
    }
  }

  // What one statement has accepted shares its tickets, so every statement hands on its own.
  async function handed(asked: readonly Asked[], begun: Begun, write: () => Promise<Decision[]>) {
    const decisions = await inTime(asked, begun, write)
    crashPoint('after-commit-before-answer', () => asked.map(one => one.id))
    hand(
      asked.filter((_one, at) => isAccepted(decisions[at])),
      begun.initialLease,
    )
    return decisions
  }

  function hand(accepted: readonly Asked[], initialLease: InitialLease) {
    const [waiting, ready] = [accepted.filter(isWaiting), accepted.filter(one => !isWaiting(one))]
    app.dispatcher.hand(ticketsOf(ready, initialLease), initialLease)
    if (waiting.length > 0) app.dispatcher.hand(ticketsOf(waiting, null), null)
  }

  /**
   * The connection was lost before the answer came: the server has committed, will commit, or never will. What is stored is
   * accepted. The rest is asked for again under the same ids: if the first statement is still under way, whichever of the two
   * comes second fails on an id, and is looked up again. A refusal counts once its message is known not to be stored. Requests
   * that are missing from the result are unknown: the deadline has passed.
   */
  async function recover(lost: readonly Asked[], begun: Begun, { askAgain }: { askAgain: boolean }) {
    const known = new Map<Id, Decision>()
    const refused = new Map<Id, Decision>()
    if (lost.length === 0) return known
    await lookUntil(begun.until, async () => {
      const left = lost.filter(one => !known.has(one.id))
      const rows = await stored(
        sql,
        left.map(one => one.id),
      )
      const ids = new Set(rows.map(row => row.id))
      hand(
        left.filter(one => ids.has(one.id)),
        begun.initialLease,
      )
      for (const { id } of left) {
        const decision = ids.has(id) ? STORED : refused.get(id)
        if (decision) known.set(id, decision)
      }
      const open = left.filter(one => !known.has(one.id))
      if (open.length === 0 || !askAgain) return open.length === 0
      const results = await runSplitting(open, some => attempt(some, begun, 0), isDataError)
      open.forEach(({ id, message }, at) => {
        const result = results[at]
        if (!result || !isFulfilled(result)) return
        const isCertain = isAccepted(result.value) || message === null
        ;(isCertain ? known : refused).set(id, result.value)
      })
      return lost.every(one => known.has(one.id))
    })
    return known
  }

  const grouped = createGroupCommit(run, {
    maxItems: MAX_ITEMS,
    maxInFlight: MAX_IN_FLIGHT,
    delay: { ...DELAY, isBusy: createBusy() },
  })
  const oneByOne = createGroupCommit(runWithFiles, { maxItems: 1, maxInFlight: MAX_WITH_FILES })
  return {
    add: async asked => grouped.add(asked),
    addWithFiles: async (asked, files) => oneByOne.add({ asked, files }),
  }
}

/** What all attempts for a group of requests have in common; `until` is on the clock of performance.now(). */
type Begun = { until: number; deadline: Timestamp; initialLease: InitialLease }

/** A promise: the answer is looked up, and the batch goes on without it. */
type Result = Decision | Promise<Decision>

/** What is left of its rate is not known any more. */
const STORED: Decision = { verdict: 'accepted', remaining: 0, free_in: 60 }

const isFulfilled = <T>(result: PromiseSettledResult<T>): result is PromiseFulfilledResult<T> =>
  result.status === 'fulfilled'

const isLost = (result: PromiseSettledResult<Decision> | undefined) =>
  result?.status === 'rejected' && mayHaveCommitted(result.reason)

async function decisionIn(found: Promise<Map<Id, Decision>>, { id }: Asked, error: unknown): Promise<Decision> {
  const decision = (await found).get(id)
  if (!decision) throw error
  return decision
}

/** Nobody may be listening yet when it fails. */
function apart<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {})
  return result
}

type WithFiles = { asked: Asked; files: Keeping }

const isWaiting = ({ message }: Asked) => message?.status === 'pending-virus-check'

function complete(asked: readonly Asked[], decisions: Decision[]): Decision[] {
  if (decisions.length !== asked.length)
    throw new TooLate('the database came to the request too late; nothing was stored')
  return decisions
}

class TooLate extends Error {}

const isAccepted = (decision: Decision | undefined) => decision?.verdict === 'accepted'

/** The tickets that the statement has made for messages that are due now: one for each lane and service, by its first id. */
function ticketsOf(accepted: readonly Asked[], initialLease: InitialLease): Ticket[] {
  const tickets = new Map<string, Ticket>()
  for (const one of accepted) {
    const { id, service_id, message } = one
    if (!message || (message.scheduled_for !== null && !isWaiting(one))) continue
    const lane = isWaiting(one) ? SCAN_LANE : message.lane
    const name = lane + service_id
    const ticket = tickets.get(name) ?? { id, lane, service_id, subjects: [], attempts: 0, takes: initialLease ? 1 : 0 }
    tickets.set(name, ticket)
    ticket.subjects.push(id)
    if (initialLease) keepFresh(ticket, one)
  }
  for (const ticket of tickets.values()) {
    ticket.subjects.sort()
    ticket.id = ticket.subjects[0] ?? ticket.id
  }
  return [...tickets.values()]
}
