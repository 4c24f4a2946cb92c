// The accept path's one door to the database: requests that wait at the same moment share a statement and a commit, and each
// is answered only after its own.
import { type Clock, fromMicros } from '../core/clock.ts'
import { type Database, isDatabaseError, isUniqueViolation } from '../db/connect.ts'
import { type Batch, createBatch } from '../engine/batch.ts'
import { createBusy } from '../engine/busy.ts'
import type { Keeping } from '../files/keep.ts'
import type { Ticket } from '../queue/port.ts'
import type { Birth } from '../queue/tickets.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { keepFresh } from './fresh.ts'
import { type Asked, type Decision, accept as store, stored } from './sql.ts'

export type Accept = Pick<Batch<Asked, Decision>, 'add'> & {
  /** With files, which are on disk by the same commit or not at all. */
  addWithFiles(asked: Asked, files: Keeping): Promise<Decision>
}

const MOST = 500
/** A second group of the same service would only wait for the first one's row of the rate limit. */
const IN_FLIGHT = 1
/** A statement costs as much as 15 messages in it, so under load it waits for company; a caller who comes alone never does. */
const REST = { several: 3, ms: 3, enough: 24, many: 32 }
/** Megabytes keep a connection busy for a while: most connections stay for others. */
const WITH_FILES = 3

/** Where accepted messages go: to the engine of this process, held from birth, or into the queue with a word to others. */
export type Outlet = { birth(lanes: readonly string[]): Birth; hand(tickets: Ticket[], birth: Birth): void }

export function createAccept(app: {
  db: Pick<Database, 'sql' | 'transaction'>
  clock: Clock
  outlet: Outlet
  patienceSeconds: number
}): Accept {
  const { db, clock } = app
  const { sql } = db
  const deadline = () => fromMicros(clock.micros() + app.patienceSeconds * 1_000_000)

  const run = (asked: Asked[]) => decide(asked, birth => store(sql, asked, deadline(), birth))

  const runWithFiles = (group: WithFiles[]) =>
    decide(
      group.map(one => one.asked),
      async birth => (await Promise.all(group.map(one => storeWithFiles(one, birth)))).flat(),
    )

  // Contents are written before the statement that counts and reserves, so that nobody waits for its locks meanwhile.
  const storeWithFiles = ({ asked, files }: WithFiles, birth: Birth) =>
    db.transaction(async sql => {
      await files.put(sql)
      const decisions = complete([asked], await store(sql, [asked], deadline(), birth))
      if (!isAccepted(decisions[0])) await files.drop(sql)
      return decisions
    })

  async function decide(asked: Asked[], attempt: (birth: Birth) => Promise<Decision[]>): Promise<Decision[]> {
    const birth = app.outlet.birth([...new Set(asked.flatMap(one => one.message?.lane ?? []))])
    crashPoint('before-accept', () => asked.map(one => one.id))
    const decisions = await persistently(asked, () => attempt(birth))
    crashPoint('after-commit-before-answer', () => asked.map(one => one.id))
    const accepted = asked.filter((_one, at) => isAccepted(decisions[at]))
    const [waiting, ready] = [accepted.filter(isWaiting), accepted.filter(one => !isWaiting(one))]
    app.outlet.hand(ticketsOf(ready, birth), birth)
    if (waiting.length > 0) app.outlet.hand(ticketsOf(waiting, null), null)
    return decisions
  }

  async function persistently(
    asked: Asked[],
    attempt: () => Promise<Decision[]>,
    tries = asked.length,
  ): Promise<Decision[]> {
    try {
      return complete(asked, await attempt())
    } catch (error) {
      // Another process has just stored an answer for one of our idempotency keys: looked at again, it is there to be seen. That
      // may happen to every key of the group, one after the other.
      if (isUniqueViolation(error) && tries > 0) return persistently(asked, attempt, tries - 1)
      if (isDatabaseError(error)) throw error
      return afterBrokenLine(asked, error)
    }
  }

  // The line broke before the answer came. What was committed all the same must not be answered as if it had not been.
  async function afterBrokenLine(asked: Asked[], error: unknown): Promise<Decision[]> {
    const ids = asked.filter(one => one.message).map(one => one.id)
    const found = await stored(sql, ids).catch(() => [])
    const kept = new Set(found.map(row => row.id))
    if (kept.size === 0 || !asked.every(one => kept.has(one.id))) throw error
    return asked.map(() => ({ verdict: 'accepted', remaining: 0, free_in: 60 }))
  }

  const grouped = createBatch(run, { most: MOST, inFlight: IN_FLIGHT, rest: { ...REST, isBusy: createBusy() } })
  const oneByOne = createBatch(runWithFiles, { most: 1, inFlight: WITH_FILES })
  return { add: grouped.add, addWithFiles: (asked, files) => oneByOne.add({ asked, files }) }
}

type WithFiles = { asked: Asked; files: Keeping }

const isWaiting = ({ message }: Asked) => message?.status === 'pending-virus-check'

function complete(asked: readonly Asked[], decisions: Decision[]): Decision[] {
  if (decisions.length !== asked.length)
    throw new Error('the database came to the request too late; nothing was stored')
  return decisions
}

const isAccepted = (decision: Decision | undefined) => decision?.verdict === 'accepted'

/** The tickets that the statement has made for messages that are due now: one for each lane and service, by its first id. */
function ticketsOf(accepted: readonly Asked[], birth: Birth): Ticket[] {
  const tickets = new Map<string, Ticket>()
  for (const one of accepted) {
    const { id, service_id, message } = one
    if (!message || (message.scheduled_for !== null && !isWaiting(one))) continue
    const lane = isWaiting(one) ? 'scan' : message.lane
    const name = lane + service_id
    const ticket = tickets.get(name) ?? { id, lane, service_id, subjects: [], attempts: 0, takes: birth ? 1 : 0 }
    tickets.set(name, ticket)
    ticket.subjects.push(id)
    if (birth) keepFresh(ticket, one)
  }
  for (const ticket of tickets.values()) {
    ticket.subjects.sort()
    ticket.id = ticket.subjects[0] ?? ticket.id
  }
  return [...tickets.values()]
}
