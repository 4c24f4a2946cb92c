// Stores accepted messages with group commit: requests that arrive at the same time share a statement, and each is answered after
// the commit of its own batch.
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { canRepeat, type Database, isLockTimeout, isUniqueViolation, mayHaveCommitted } from '../db/connect.ts'
import { isDataError } from '../db/errors.ts'
import { answersBefore, createPatient } from '../db/patience.ts'
import type { Keeping } from '../files/keep.ts'
import { lockedServices } from '../limits/sql/locked.ts'
import type { Ticket } from '../queue/port.ts'
import { BEGUN_AT_INSERT, type InitialLease } from '../queue/tickets.ts'
import { createGroupCommit, type GroupCommit, runSplitting } from '../runtime/group-commit.ts'
import { pollUntil } from '../runtime/poll.ts'
import { createTurns } from '../runtime/turns.ts'
import { crashPoint } from '../telemetry/crash.ts'
import type { Tracer } from '../telemetry/trace.ts'
import { keepInMemory } from './in-memory.ts'
import { SCAN_LANE } from './lane.ts'
import { type AcceptRequest, type Decision, accept as store, stored } from './sql/accept.ts'

export type Accept = {
  add(asked: AcceptRequest): Promise<Decision>
  /** With files, which are stored by the same commit or not at all. */
  addWithFiles(asked: AcceptRequest, files: Keeping): Promise<Decision>
}

const MAX_ITEMS = 500
/** A second batch with the same service would only wait for the row lock of its rate limit. */
const MAX_IN_FLIGHT = 1
/**
 * A batch waits only for the statement before it: while the database is idle, waiting for more requests would only make callers
 * wait (p50 at a quarter of the load 5.4 ms instead of 2.6 ms, for 2 % more at full load).
 */
const SEND_AT_ITEMS = 32
/**
 * A batch that services share waits this long for the limits of one of them, which another session has locked. It is many times
 * what a batch of another process takes.
 */
const LOCK_MS = 250
/** A request whose batch was given up so often waits for the limits of its service apart from others. */
const MOST_LOCK_TIMEOUTS = 2
/** So many services wait apart at the same time: each occupies a connection. */
const MOST_APART = 4
/** Large contents occupy a connection for a while; most connections must stay free for other requests. */
const MAX_WITH_FILES = 3

/** Where accepted messages go: to the engine of this process under an initial lease, or into the queue, with a notification. */
export type Dispatcher = {
  initialLease(lanes: readonly string[]): InitialLease
  hand(tickets: Ticket[], initialLease: InitialLease): void
}

export function createAccept(app: {
  db: Database
  clock: Clock
  dispatcher: Dispatcher
  timeoutSeconds: number
  /** Nothing is stored while a commit does not wait for a synchronous standby. */
  mustReplicate: boolean
  /** Sets our clock to that of the database. */
  followClock(): Promise<unknown>
  trace: Tracer | null
}): Accept {
  const { db, clock, mustReplicate } = app
  const { sql } = db
  const timeoutMs = app.timeoutSeconds * 1000
  const patient = createPatient(db, app.timeoutSeconds)

  async function run(entries: readonly Entry[], lockMs: number | null): Promise<AcceptResult[]> {
    const asked = entries.map(entry => entry.asked)
    const context = startBatch(entries, lockMs)
    const results = await runSplitting(asked, some => attempt(some, context), isDataError)
    if (results.every(isFulfilled)) return results.map(result => result.value)
    const lost = asked.filter((_one, at) => isLost(results[at]))
    const found = recover(lost, context, some => attempt(some, context, 0))
    const separating = separated(entries.filter((_entry, at) => isLockedOut(results[at])))
    return entries.map((entry, at) => {
      const result = results[at] as PromiseSettledResult<Decision>
      if (isFulfilled(result)) return result.value
      if (isLockedOut(result)) return withoutUnhandledRejection(afterLock(separating, entry))
      return withoutUnhandledRejection(
        isLost(result) ? decisionIn(found, entry.asked, result.reason) : again(entry, grouped, result.reason),
      )
    })
  }

  /**
   * The limits of a service were locked for too long, and nothing was stored. Requests of this service go on in a group apart, and
   * so do those that follow until all of them are answered; the others are submitted again with what has arrived since.
   */
  async function separated(entries: readonly Entry[]): Promise<Submit> {
    if (entries.length === 0) return submit
    const services = [...new Set(entries.map(({ asked }) => asked.service_id))]
    const locked = new Set((await lockedServices(sql, services)).map(({ service_id }) => service_id))
    return entry => {
      entry.lockTimeouts++
      const isApart = locked.has(entry.asked.service_id) || entry.lockTimeouts >= MOST_LOCK_TIMEOUTS
      return isApart ? submitApart(entry) : submit(entry)
    }
  }

  /** Services whose limits were locked. Each has statements of its own: one that waits for a lock contains no other service. */
  const apart = new Map<Id, Apart>()
  const turnsApart = createTurns({ atOnce: MOST_APART, ofOne: 1 })

  const submit: Submit = entry => (apart.has(entry.asked.service_id) ? submitApart(entry) : grouped.add(entry))

  const submitApart = (entry: Entry) => countedApart(entry.asked.service_id, group => group.add(entry))

  async function countedApart<T>(service: Id, work: (group: Apart['group']) => Promise<T>): Promise<T> {
    const own = apart.get(service) ?? { requests: 0, group: groupApart(service) }
    own.requests++
    apart.set(service, own)
    try {
      return await work(own.group)
    } finally {
      if (--own.requests === 0) apart.delete(service)
    }
  }

  const groupApart = (service: Id): Apart['group'] =>
    createGroupCommit(entries => turnsApart.run(service, () => run(entries, null)), size)

  // When it is certain that nothing was committed, and a primary answers in time, the request is submitted again with what has
  // arrived since. Other batches do not wait for it.
  async function again<E extends Entry>(
    entry: E,
    group: GroupCommit<E, AcceptResult>,
    error: unknown,
  ): Promise<Decision> {
    if (!canRepeat(error) || !(await answersBefore(db, entry.waitsUntil))) throw error
    return group.add(entry)
  }

  async function runWithFiles([one]: readonly WithFiles[]): Promise<AcceptResult[]> {
    if (!one) return []
    const { service_id } = one.asked
    // Uploads to S3 are slow: they happen before the transaction and the lease begin.
    await one.files.stage(patient.sql)
    try {
      if (!apart.has(service_id)) return await storeOne(one, LOCK_MS)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
    const results = countedApart(service_id, () => turnsApart.run(service_id, () => storeOne(one, null)))
    return [withoutUnhandledRejection(results.then(([result]) => result as AcceptResult))]
  }

  async function storeOne(one: WithFiles, lockMs: number | null): Promise<AcceptResult[]> {
    const { asked, files } = one
    const context = startBatch([one], lockMs)
    try {
      const decisions = await handed([asked], context, () => storeWithFiles(one, context))
      if (!isAccepted(decisions[0])) await files.discard(sql).catch(() => {}) // maintenance does it later (purge-orphaned-uploads)
      return decisions
    } catch (error) {
      if (isLockTimeout(error)) throw error
      if (!mayHaveCommitted(error)) return [withoutUnhandledRejection(again(one, oneByOne, error))]
      const repeat = () => handed([asked], context, () => storeWithFiles(one, context))
      return [withoutUnhandledRejection(decisionIn(recover([asked], context, repeat), asked, error))]
    }
  }

  // Contents are written first: the statement that counts limits takes row locks that other requests wait for.
  const storeWithFiles = ({ asked, files }: WithFiles, context: BatchContext) =>
    db.transaction(async sql => {
      await files.put(sql)
      const decisions = complete([asked], await store(sql, [asked], context, mustReplicate))
      if (!isAccepted(decisions[0])) await files.drop(sql)
      return decisions
    })

  function startBatch(entries: readonly Entry[], lockMs: number | null): BatchContext {
    crashPoint('before-accept', () => entries.map(one => one.asked.id))
    const fresh = performance.now() + timeoutMs
    let until = 0
    for (const entry of entries) {
      entry.until ??= fresh
      until = Math.max(until, entry.until)
    }
    return {
      until,
      lockMs,
      deadline: deadlineAt(until),
      initialLease: app.dispatcher.initialLease([...new Set(entries.flatMap(one => one.asked.message?.lane ?? []))]),
    }
  }

  const deadlineAt = (until: number) => fromMicros(clock.micros() + Math.round((until - performance.now()) * 1000))

  // The statement started after the deadline by the clock of the database, and stored nothing. If our timer has time left, that
  // clock was set forward: our clock follows it, and the statement is repeated with a new deadline.
  async function inTime(
    asked: readonly AcceptRequest[],
    context: BatchContext,
    write: () => Promise<Decision[]>,
  ): Promise<Decision[]> {
    try {
      return complete(asked, await write())
    } catch (error) {
      if (!(error instanceof TooLate) || performance.now() >= context.until) throw error
      await app.followClock()
      context.deadline = deadlineAt(context.until)
      return complete(asked, await write())
    }
  }

  // A unique violation: another process has just stored an answer for one of our idempotency keys. The next attempt finds it. In
  // the worst case this happens once for every key of the batch.
  async function attempt(
    asked: readonly AcceptRequest[],
    context: BatchContext,
    tries = asked.length,
  ): Promise<Decision[]> {
    try {
      return await handed(asked, context, () => store(sql, asked, context, mustReplicate))
    } catch (error) {
      if (isUniqueViolation(error) && tries > 0) return attempt(asked, context, tries - 1)
      throw error
    }
  }

  // Messages of one statement share tickets, so each statement dispatches its own.
  async function handed(asked: readonly AcceptRequest[], context: BatchContext, write: () => Promise<Decision[]>) {
    const decisions = await inTime(asked, context, write)
    crashPoint('after-commit-before-answer', () => asked.map(one => one.id))
    hand(
      asked.filter((_one, at) => isAccepted(decisions[at])),
      context.initialLease,
    )
    return decisions
  }

  /** `tickets`: by message, where they were stored by more than one statement. */
  function hand(
    accepted: readonly AcceptRequest[],
    initialLease: InitialLease,
    tickets: ReadonlyMap<Id, Id | null> | null = null,
  ) {
    const [waiting, ready] = [accepted.filter(isWaiting), accepted.filter(one => !isWaiting(one))]
    app.dispatcher.hand(ticketsOf(ready, initialLease, tickets), initialLease)
    if (waiting.length > 0) app.dispatcher.hand(ticketsOf(waiting, null), null)
  }

  /**
   * The connection was lost during a commit, so its outcome is unknown. Messages that are found in the database are accepted. The
   * others are submitted again with the same ids: if the first statement still runs, the second of the two fails on a duplicate id and
   * is looked up again. A refusal is final once the message is known not to be stored. Requests that are missing from the result
   * are still unknown at the deadline.
   */
  async function recover(
    lost: readonly AcceptRequest[],
    context: BatchContext,
    repeat: (some: readonly AcceptRequest[]) => Promise<Decision[]>,
  ) {
    const known = new Map<Id, Decision>()
    const refused = new Map<Id, Decision>()
    if (lost.length === 0) return known
    await pollUntil(context.until, async () => {
      const left = lost.filter(one => !known.has(one.id))
      const rows = await stored(
        sql,
        left.map(one => one.id),
      )
      const ids = new Map(rows.map(row => [row.id, row.ticket]))
      hand(
        left.filter(one => ids.has(one.id)),
        context.initialLease,
        ids,
      )
      for (const { id } of left) {
        const decision = ids.has(id) ? STORED : refused.get(id)
        if (decision) known.set(id, decision)
      }
      const open = left.filter(one => !known.has(one.id))
      if (open.length === 0) return true
      const results = await runSplitting(open, repeat, isDataError)
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

  const entryOf = (asked: AcceptRequest): Entry => ({
    asked,
    waitsUntil: performance.now() + timeoutMs,
    until: null,
    lockTimeouts: 0,
  })

  const size = { maxItems: MAX_ITEMS, maxInFlight: MAX_IN_FLIGHT, sendAtItems: SEND_AT_ITEMS }
  const grouped: GroupCommit<Entry, AcceptResult> = createGroupCommit(entries => run(entries, LOCK_MS), size)
  const oneByOne: GroupCommit<WithFiles, AcceptResult> = createGroupCommit(runWithFiles, {
    maxItems: 1,
    maxInFlight: MAX_WITH_FILES,
  })
  const accept: Accept = {
    add: async asked => submit(entryOf(asked)),
    addWithFiles: async (asked, files) => oneByOne.add({ ...entryOf(asked), files }),
  }
  return app.trace ? traced(accept, app.trace) : accept
}

function traced({ add, addWithFiles }: Accept, trace: Tracer): Accept {
  const withSpan = async (asked: AcceptRequest, work: () => Promise<Decision>) => {
    const from = trace.now()
    const decision = await work()
    const { id, service_id, channel, message } = asked
    // What a person sends is not answered with its id.
    if (message && isAccepted(decision))
      trace.accepted(id, from, asked.key_id !== null, {
        ...{ 'herald.id': id, 'herald.service_id': service_id },
        ...{ 'herald.channel': channel, 'herald.lane': message.lane },
      })
    return decision
  }
  return {
    add: asked => withSpan(asked, () => add(asked)),
    addWithFiles: (asked, files) => withSpan(asked, () => addWithFiles(asked, files)),
  }
}

/**
 * `waitsUntil`: how long it waits for a primary, from its arrival. `until`: the deadline of its first batch. `lockTimeouts`: how many
 * of its batches were given up because the limits of a service were locked.
 */
type Entry = { asked: AcceptRequest; waitsUntil: number; until: number | null; lockTimeouts: number }

/** A service whose limits another session has locked: its requests that are not answered yet, and the group for them. */
type Apart = { requests: number; group: GroupCommit<Entry, AcceptResult> }

/** Shared by all attempts for a batch; `until` is on the clock of performance.now(). */
type BatchContext = { until: number; deadline: Timestamp; initialLease: InitialLease; lockMs: number | null }

/** A promise while the outcome is looked up; the next batch does not wait for it. */
type AcceptResult = Decision | Promise<Decision>

/** The rate is unknown after a lost connection. */
const STORED: Decision = { verdict: 'accepted', remaining: 0, free_in: 60 }

const isFulfilled = <T>(result: PromiseSettledResult<T>): result is PromiseFulfilledResult<T> =>
  result.status === 'fulfilled'

type Submit = (entry: Entry) => Promise<AcceptResult>

const afterLock = async (separating: Promise<Submit>, entry: Entry): Promise<Decision> => (await separating)(entry)

const isLockedOut = (result: PromiseSettledResult<Decision> | undefined) =>
  result?.status === 'rejected' && isLockTimeout(result.reason)

const isLost = (result: PromiseSettledResult<Decision> | undefined) =>
  result?.status === 'rejected' && mayHaveCommitted(result.reason)

async function decisionIn(found: Promise<Map<Id, Decision>>, { id }: AcceptRequest, error: unknown): Promise<Decision> {
  const decision = (await found).get(id)
  if (!decision) throw error
  return decision
}

/** Prevents an unhandled rejection: the promise may fail before its caller awaits it. */
function withoutUnhandledRejection<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {})
  return result
}

type WithFiles = Entry & { files: Keeping }

const isWaiting = ({ message }: AcceptRequest) => message?.status === 'pending-virus-check'

function complete(asked: readonly AcceptRequest[], decisions: Decision[]): Decision[] {
  if (decisions.length !== asked.length)
    throw new TooLate('the database came to the request too late, or would not replicate it; nothing was stored')
  return decisions
}

class TooLate extends Error {}

const isAccepted = (decision: Decision | undefined) => decision?.verdict === 'accepted'

/**
 * The tickets that the statement has inserted for messages due now: one per lane and service; its id is the lowest message id. Of
 * messages that several statements have stored, `stored` says which ticket they have; null: another process has handled it.
 */
function ticketsOf(
  accepted: readonly AcceptRequest[],
  initialLease: InitialLease,
  stored: ReadonlyMap<Id, Id | null> | null = null,
): Ticket[] {
  const tickets = new Map<string, Ticket>()
  for (const one of accepted) {
    const { id, service_id, message } = one
    if (!message || (message.scheduled_for !== null && !isWaiting(one))) continue
    const lane = isWaiting(one) ? SCAN_LANE : message.lane
    const name = stored && !isWaiting(one) ? stored.get(id) : lane + service_id
    if (!name) continue
    const ticket = tickets.get(name) ?? { id, lane, service_id, subjects: [], attempts: 0, takes: initialLease ? 1 : 0 }
    tickets.set(name, ticket)
    ticket.subjects.push(id)
    if (initialLease) keepInMemory(ticket, one)
  }
  for (const ticket of tickets.values()) {
    ticket.subjects.sort()
    ticket.id = ticket.subjects[0] ?? ticket.id
    if (initialLease) ticket.begun = Math.min(ticket.subjects.length, BEGUN_AT_INSERT)
  }
  return [...tickets.values()]
}
