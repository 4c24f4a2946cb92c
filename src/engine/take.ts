// The tickets a lane has leased: takes more while there is room, loads them, keeps track of leases, and gives tickets back.
import type { Id } from '../core/id.ts'
import { MOST_OF_ONE, type Taker, type Ticket } from '../queue/port.ts'
import { crashPoint } from '../telemetry/crash.ts'
import { type LoadOptions, load } from './load.ts'
import { isSuspect, type SuspectSlot } from './suspects.ts'
import { type Leased, leasedOf } from './work.ts'

export type TakeOptions<Item> = LoadOptions<Item> & {
  lane: string
  taker: Taker
  leaseSeconds: number
  /** With at least this many items waiting, takes are TAKE_PAUSE_MS apart. */
  enough: number
  limits?: TicketLimits
  suspectSlot: SuspectSlot
  isPaused(): boolean
  onLoaded(leased: Leased<Item>, broken: readonly Id[]): void
  /** Its lease was lost without our notice: the ticket comes again. */
  onLost(leased: Leased<Item>): void
  /** Room, items or tickets have changed: the lane looks for something to start. */
  onChange(): void
}

export type Tickets<Item> = {
  /** More tickets may be due. */
  expectMore(): void
  /** Takes tickets if some may be due and there is room. */
  takeIfRoom(): void
  /** Tickets leased to this process at insert. */
  add(tickets: readonly Ticket[], leasedUntil: number): void
  hasRoom(): boolean
  isIdle(): boolean
  all(): Leased<Item>[]
  isLeased(leased: Leased<Item>): boolean
  /** Of the tickets asked about, `kept` are still ours, by these takes; returns those that belong to another process now. */
  renewed(asked: readonly Id[], kept: ReadonlyMap<Id, number>, leasedUntil: number): Leased<Item>[]
  /** Ids of the tickets that are loaded, loading or left; null while tickets are being taken. */
  known(): readonly Id[] | null
  /** Results of this ticket were not recorded: it stays leased until its lease expires, and what was begun is uncertain then. */
  leave(id: Id): void
  /** The ticket is settled, given back or lost. */
  forget(leased: Leased<Item>): void
  giveBack(leased: readonly Leased<Item>[]): Promise<void>
}

/** Tickets in memory, loaded or loading: of all services, and of one. */
export type TicketLimits = { all: number; ofOne: number }

/** Of one take, and in memory where a lane says nothing else. */
const MOST_TICKETS = 16
const USUAL: TicketLimits = { all: MOST_TICKETS, ofOne: MOST_OF_ONE }
const TAKE_PAUSE_MS = 10
const SUSPECT_PAUSE_MS = 500

export function createTickets<Item>(options: TakeOptions<Item>): Tickets<Item> {
  const { lane, taker, suspectSlot, limits = USUAL, onFault, onChange } = options
  const leasedById = new Map<Id, Leased<Item>>()
  const loading = new Set<Ticket>()
  const left = new Set<Id>()
  let isTaking = false
  let mayHaveMore = false
  let isPauseTimerSet = false
  let nextTakeAt = 0
  let nextSuspectAt = 0

  const room = () => limits.all - leasedById.size - loading.size

  async function take() {
    isTaking = true
    mayHaveMore = false
    nextTakeAt = performance.now() + TAKE_PAUSE_MS
    try {
      if (options.isPaused()) return
      // Measured before the statement that leases: a process that was frozen in between must not trust an expired lease.
      const leasedUntil = performance.now() + options.leaseSeconds * 1000
      const due = await taker.take(lane, Math.min(room(), MOST_TICKETS), 'usual', countByService(), limits.ofOne)
      // After an empty take the lane waits for the next expectMore(), which may have come during the statement.
      if (due.length > 0) mayHaveMore = true
      const taken = [...due, ...(await takeSuspect())]
      if (taken.length > 0) crashPoint('after-take', () => taken.flatMap(ticket => ticket.subjects))
      void open(taken, leasedUntil)
    } catch (error) {
      onFault(error, 'tickets could not be taken')
    } finally {
      isTaking = false
      onChange()
    }
  }

  async function takeSuspect(): Promise<Ticket[]> {
    const now = performance.now()
    if (now < nextSuspectAt || !suspectSlot.tryAcquire()) return []
    nextSuspectAt = now + SUSPECT_PAUSE_MS
    const suspects = await taker.take(lane, 1, 'suspects').catch(error => {
      onFault(error, 'tickets could not be taken')
      return []
    })
    if (suspects.length === 0) suspectSlot.release()
    return suspects
  }

  async function open(tickets: readonly Ticket[], leasedUntil: number) {
    if (tickets.length === 0) return
    for (const ticket of tickets) loading.add(ticket)
    try {
      await load(
        options,
        tickets,
        leasedUntil,
        ({ ticket, items, broken }) => {
          const leased = leasedOf(ticket, items, leasedUntil)
          const old = leasedById.get(ticket.id)
          if (old) options.onLost(old)
          leasedById.set(ticket.id, leased)
          options.onLoaded(leased, broken)
        },
        ticket => {
          if (isSuspect(ticket)) suspectSlot.release()
        },
      )
    } finally {
      for (const ticket of tickets) loading.delete(ticket)
      onChange()
    }
  }

  function countByService(): Map<Id, number> {
    const counts = new Map<Id, number>()
    const count = ({ service_id }: Ticket) => counts.set(service_id, (counts.get(service_id) ?? 0) + 1)
    for (const ticket of loading) count(ticket)
    for (const { ticket } of leasedById.values()) count(ticket)
    return counts
  }

  // With enough to do, several tickets are taken by one statement instead of each as it becomes due.
  function isPauseOver(): boolean {
    let waiting = 0
    for (const { items } of leasedById.values()) waiting += items.length
    if (waiting < options.enough) return true
    const pauseMs = nextTakeAt - performance.now()
    if (pauseMs <= 0) return true
    if (!isPauseTimerSet)
      setTimeout(() => {
        isPauseTimerSet = false
        onChange()
      }, pauseMs)
    isPauseTimerSet = true
    return false
  }

  return {
    expectMore() {
      mayHaveMore = true
    },
    takeIfRoom() {
      if (mayHaveMore && !isTaking && room() > 0 && isPauseOver()) void take()
    },
    add(tickets, leasedUntil) {
      // Its lease may have been taken over by now, also by this process.
      if (performance.now() < leasedUntil) void open(tickets, leasedUntil)
    },
    hasRoom: () => room() > 0,
    isIdle: () => loading.size === 0 && !isTaking,
    all: () => [...leasedById.values()],
    isLeased: leased => leasedById.get(leased.ticket.id) === leased,
    renewed(asked, kept, leasedUntil) {
      return asked.flatMap(id => {
        const leased = leasedById.get(id)
        if (leased && kept.get(id) !== leased.ticket.takes) return [leased]
        if (leased) leased.leasedUntil = leasedUntil
        return []
      })
    },
    known: () => (isTaking ? null : [...leasedById.keys(), ...[...loading].map(({ id }) => id), ...left]),
    leave: id => void left.add(id),
    forget(leased) {
      const { ticket } = leased
      // The same ticket may have been taken a second time.
      if (leasedById.get(ticket.id) !== leased) return
      // A service at its limit may have one more now.
      if ((countByService().get(ticket.service_id) ?? 0) >= limits.ofOne) mayHaveMore = true
      leasedById.delete(ticket.id)
      if (!isSuspect(ticket)) return
      suspectSlot.release()
      nextSuspectAt = 0 // there may be other suspects
      mayHaveMore = true
    },
    async giveBack(leased) {
      if (leased.length === 0) return
      await taker
        .giveBack(leased.map(({ ticket }) => ticket.id))
        .catch(error => onFault(error, 'tickets are left until their lease expires'))
    },
  }
}
