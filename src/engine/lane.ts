// One lane: takes tickets (take.ts), starts their items in a fair order (schedule.ts), handles them, and hands the results to be
// recorded. It does not know what a notification is.
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'
import type { LaneShare } from '../runtime/admission.ts'
import type { OpenSpan, Tracer } from '../telemetry/trace.ts'
import type { Recorder } from './record.ts'
import { createSchedule, type Turn } from './schedule.ts'
import * as suspects from './suspects.ts'
import { createTickets, type TicketLimits } from './take.ts'
import { isNarrow, nextWindow, openedAtInsert, type Windows } from './windows.ts'
import type { Entry, Handled, Leased, Retry, Work } from './work.ts'

export type LaneOptions<Item, Result> = {
  name: string
  /** Items in flight at the same time. */
  slots: number
  tickets?: TicketLimits
  work: Work<Item, Result>
  taker: Taker
  leaseSeconds: number
  recorder: Recorder<Result>
  share(onRoom: () => void): LaneShare
  suspectSlot: suspects.SuspectSlot
  windows: Windows
  /** Sending is held: what comes is not started, and goes back to the queue. */
  isShut?(): boolean
  trace?: Tracer | null
  onFault(error: unknown, sentence: string): void
  /** Called for every item that is given up after repeated failures. */
  onSetAside?(lane: string): void
}

export type Lane = {
  readonly name: string
  /** Tickets leased to this process at insert. */
  hand(tickets: readonly Ticket[], leasedUntil: number): void
  /** Tickets may be due. */
  wake(): void
  /** Gives the tickets that match back to the queue: at once, or when what a provider has of them is answered and recorded. */
  recall(matches: (ticket: Ticket) => boolean): void
  /** The tickets that are loaded or being loaded. */
  tickets(): Ticket[]
  hasRoom(): boolean
  load(): { inFlight: number; unrecorded: number }
  /** Ids of the leased tickets, to be renewed. */
  leased(): Id[]
  /** Of the tickets asked about, `kept` are still ours until `leasedUntil`, by these takes; the others belong to another process now. */
  renewed(asked: readonly Id[], kept: ReadonlyMap<Id, number>, leasedUntil: number): void
  /** Ids of all tickets that are leased to this process, for as far as it knows; null while tickets are being taken. */
  known(): readonly Id[] | null
  /** Gives back what is not handed over. Resolves when that is done, nothing is in flight, and every result is recorded. */
  stop(): Promise<void>
}

const WINDOW_RETRY_MS = 200

export function createLane<Item, Result>(options: LaneOptions<Item, Result>): Lane {
  const { name, work, taker, recorder, windows, trace, onFault } = options
  const share = options.share(() => advance())
  const schedule = createSchedule<Item>(share, widen)
  /** Their leases have expired by our timer, so nothing of them starts until they are renewed. */
  const parked = new Set<Leased<Item>>()
  /** Tickets that were recalled while they were loaded. */
  const recalled = new WeakSet<Ticket>()
  let isStopping = false
  let onDrained: (() => void) | null = null
  const tickets = createTickets<Item>({
    lane: name,
    work,
    taker,
    leaseSeconds: options.leaseSeconds,
    enough: options.slots,
    ...(options.tickets && { limits: options.tickets }),
    suspectSlot: options.suspectSlot,
    isPaused: schedule.isPaused,
    isStopping: () => isStopping,
    onLoaded: begin,
    onLost: drop,
    onCrowded: giveWay,
    onChange: advance,
    onFault,
  })

  const isDrained = () => share.inFlight() === 0 && share.unrecorded() === 0 && tickets.isIdle()

  /** Starts what may start and takes what there is room for. Called whenever something has changed. */
  function advance() {
    if (isStopping) {
      if (isDrained()) onDrained?.()
      return
    }
    for (let turn = schedule.next(); turn; turn = schedule.next()) {
      // Another process may have the ticket by now.
      if (performance.now() > turn.leased.leasedUntil) park(turn)
      else start(turn)
    }
    tickets.takeIfRoom()
  }

  function begin(leased: Leased<Item>, broken: readonly Id[]) {
    for (const id of broken) postpone(leased, id)
    if (leased.items.length === 0) settle(leased, null, null)
    else if (isStopping || options.isShut?.() || recalled.has(leased.ticket)) callBack([leased])
    else if (suspects.hasPoison(leased.ticket)) setPoisonAside(leased)
    else {
      if (work.isHandedOver) leased.window.open = openedAtInsert(leased.ticket, leased.items)
      schedule.add(leased)
    }
  }

  /** Asks for the next window of a ticket. While the database does not answer, nothing of it starts. */
  function widen(leased: Leased<Item>) {
    const { ticket, window } = leased
    const next = nextWindow(leased, performance.now())
    if (!next) return
    window.isAsking = true
    windows.push(
      { id: ticket.id, takes: ticket.takes, begun: next.begun },
      isOurs => {
        window.isAsking = false
        if (isOurs) window.open += next.items
        else if (tickets.isLeased(leased)) drop(leased)
        advance()
      },
      error => {
        onFault(error, 'hand-overs could not be announced; nothing is handed over meanwhile')
        setTimeout(() => {
          window.isAsking = false
          advance()
        }, WINDOW_RETRY_MS)
      },
    )
  }

  function park(turn: Turn<Item>) {
    schedule.putBack(turn)
    schedule.remove(turn.leased)
    parked.add(turn.leased)
  }

  function unpark() {
    for (const leased of parked) {
      const isLeased = tickets.isLeased(leased)
      if (isLeased && performance.now() > leased.leasedUntil) continue
      parked.delete(leased)
      if (isLeased && leased.items.length > 0) schedule.add(leased)
    }
    advance()
  }

  function callBack(all: readonly Leased<Item>[]) {
    for (const leased of all) {
      schedule.remove(leased)
      parked.delete(leased)
      leased.recall.recall()
    }
    goBack(all)
  }

  /** Of these recalled tickets, those of which nothing is in flight go back. Of those with unrecorded results no one knows what is left. */
  function goBack(all: readonly Leased<Item>[]) {
    const idle = all.filter(
      one => one.open > 0 && one.open === one.items.length && tickets.isLeased(one) && !tickets.isLeft(one),
    )
    const isWhole = ({ open, ticket }: Leased<Item>) => open === ticket.subjects.length
    release(...idle.filter(isWhole))
    // The others continue as new tickets, which have only what is left, and keep the delays of retries.
    for (const leased of idle.filter(one => !isWhole(one))) {
      suspects.splitOff(leased)
      settle(leased, null, null)
    }
  }

  function postpone({ ticket, retries }: Leased<Item>, id: Id) {
    const result = suspects.isLastFault(ticket) ? (work.setAsideUnseen?.() ?? null) : null
    if (result === null) return void retries.push(suspects.retryUnloadable(id, ticket))
    options.onSetAside?.(name)
    write({ ticket, id, result, settle: null })
  }

  function setPoisonAside(leased: Leased<Item>) {
    const poison = suspects.isolate(leased)
    if (poison) options.onSetAside?.(name)
    settle(leased, poison?.[0] ?? null, poison ? work.setAside(poison[1]) : null)
  }

  function start(turn: Turn<Item>) {
    share.started()
    suspects.countStart(turn.leased)
    turn.leased.window.open--
    if (isNarrow(turn.leased)) widen(turn.leased)
    void handle(turn)
  }

  async function handle(turn: Turn<Item>) {
    const { leased } = turn
    const span = trace ? spanOf(trace, turn) : null
    const handled = await handleOrFail(turn)
    const isRecalled = leased.recall.isRecalled()
    const endSpan = span && (() => span.end({ 'herald.result': handled.kind }))
    if (handled.kind === 'recalled' || (handled.kind === 'wait' && isRecalled)) {
      endSpan?.()
      leased.items.unshift([turn.id, turn.item])
    } else if (handled.kind === 'wait') {
      endSpan?.()
      pause(turn, handled.until)
    }
    // Only a suspect waits until its result is recorded. The lane's share limits how many results of the others are not recorded.
    else if (suspects.isSuspect(leased.ticket))
      return finish(turn, handled, () => {
        endSpan?.()
        free(leased)
      })
    else finish(turn, handled, endSpan)
    free(leased)
    advance()
  }

  function spanOf(trace: Tracer, { leased: { ticket }, id, item }: Turn<Item>): OpenSpan | null {
    const traced = work.traceOf ? work.traceOf(item) : id
    return traced === null
      ? null
      : trace.work(traced, `lane ${name}`, {
          ...{ 'herald.lane': name, 'herald.id': traced, 'herald.subject_id': id, 'herald.ticket_id': ticket.id },
          ...{
            'herald.service_id': ticket.service_id,
            'herald.attempt': ticket.attempts + (ticket.faults ?? 0) + 1,
            'herald.take': ticket.takes,
          },
        })
  }

  async function handleOrFail({ leased: { ticket, recall }, item }: Turn<Item>): Promise<Handled<Result>> {
    try {
      return await work.handle(item, ticket, recall)
    } catch (error) {
      const isLast = suspects.isLastFault(ticket)
      onFault(error, isLast ? 'work failed too often; it is set aside' : 'work failed; it is tried again')
      if (!isLast) return { kind: 'again', result: null, delaySeconds: suspects.FAILED_SECONDS, isFault: true }
      options.onSetAside?.(name)
      return { kind: 'done', result: work.setAside(item) }
    }
  }

  function free(leased: Leased<Item>) {
    share.answered()
    const isGroupOver = suspects.countEnd(leased)
    if (leased.recall.isRecalled()) return goBack([leased])
    if (!isGroupOver || !tickets.isLeased(leased) || leased.open === 0) return
    if (schedule.isPaused()) release(leased)
    else if (leased.retries.length > 0) {
      suspects.splitOff(leased)
      schedule.remove(leased)
      settle(leased, null, null)
    }
  }

  // A suspect ticket that only waits must not be blamed if the process ends meanwhile. The ticket of this turn is released when its
  // group has ended.
  function pause(turn: Turn<Item>, until: Promise<void>) {
    schedule.putBack(turn)
    turn.leased.window.open++
    for (const leased of tickets.all())
      if (suspects.isSuspect(leased.ticket) && leased.group.unrecorded === 0) release(leased)
    schedule.pause(until, advance)
  }

  function finish(
    { leased, id }: Turn<Item>,
    handled: Extract<Handled<Result>, { kind: 'done' | 'again' }>,
    onRecorded?: (() => void) | null,
  ) {
    const { ticket, retries } = leased
    leased.open--
    if (handled.kind === 'again') retries.push(retryOf(id, ticket, handled))
    if (leased.open === 0) settle(leased, id, handled.result, onRecorded)
    else if (handled.result !== null) write({ ticket, id, result: handled.result, settle: null }, onRecorded)
    else onRecorded?.()
  }

  function retryOf(
    id: Id,
    ticket: Ticket,
    { delaySeconds, isFault }: Extract<Handled<Result>, { kind: 'again' }>,
  ): Retry {
    if (isFault) return suspects.retryFailed(id, ticket, delaySeconds)
    return { id, delaySeconds, attempts: ticket.attempts + 1, faults: ticket.faults, takes: 0 }
  }

  function settle(leased: Leased<Item>, id: Id | null, result: Result | null, onRecorded?: (() => void) | null) {
    write({ ticket: leased.ticket, id, result, settle: leased.retries }, () => {
      tickets.forget(leased)
      onRecorded?.()
    })
  }

  function write(entry: Entry<Result>, onRecorded?: (() => void) | null) {
    share.recording()
    const settled = (error?: unknown) => {
      share.recorded()
      if (error) onFault(error, 'results were not recorded')
      if (error) tickets.leave(entry.ticket.id)
      onRecorded?.()
      advance()
    }
    recorder.push(entry, settled, settled)
  }

  /** What has not been started goes back to the queue. The ticket is settled when nothing of it is in flight. */
  function giveWay(leased: Leased<Item>) {
    suspects.splitOff(leased)
    schedule.remove(leased)
    if (leased.open === 0) settle(leased, null, null)
  }

  function release(...all: readonly Leased<Item>[]) {
    for (const leased of all) drop(leased)
    void tickets.giveBack(all)
  }

  function drop(leased: Leased<Item>) {
    tickets.forget(leased)
    leased.leasedUntil = 0
    schedule.remove(leased)
  }

  return {
    name,
    hand: tickets.add,
    wake() {
      tickets.expectMore()
      advance()
    },
    recall(matches) {
      for (const ticket of tickets.loading()) if (matches(ticket)) recalled.add(ticket)
      callBack(tickets.all().filter(({ ticket }) => matches(ticket)))
      advance()
    },
    tickets: () => [...tickets.loading(), ...tickets.all().map(({ ticket }) => ticket)],
    hasRoom: () => !isStopping && !schedule.isPaused() && tickets.hasRoom(),
    load: () => ({ inFlight: share.inFlight(), unrecorded: share.unrecorded() }),
    leased: () => tickets.all().map(({ ticket }) => ticket.id),
    renewed(asked, kept, leasedUntil) {
      for (const lost of tickets.renewed(asked, kept, leasedUntil)) drop(lost)
      if (parked.size > 0) unpark()
    },
    known: tickets.known,
    async stop() {
      isStopping = true
      callBack(tickets.all())
      if (!isDrained()) await new Promise<void>(resolve => (onDrained = resolve))
    },
  }
}
