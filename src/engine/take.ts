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
  /** Its place is needed for a service that has none. */
  onCrowded(leased: Leased<Item>): void
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
  /** Nothing is being taken, loaded or given back. */
  isIdle(): boolean
  all(): Leased<Item>[]
  isLeased(leased: Leased<Item>): boolean
  /** Taken, and not loaded yet. */
  loading(): Ticket[]
  /** Of the tickets asked about, `kept` are still ours, by these takes; returns those that belong to another process now. */
  renewed(asked: readonly Id[], kept: ReadonlyMap<Id, number>, leasedUntil: number): Leased<Item>[]
  /** Ids of the tickets that are loaded, loading, being given back or left; null while tickets are being taken. */
  known(): readonly Id[] | null
  /** Results of this ticket were not recorded: it stays leased until its lease expires, and what was begun is uncertain then. */
  leave(id: Id): void
  isLeft(leased: Leased<Item>): boolean
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
/** Tickets taken without room at a time: of services that have none here, for which others give up theirs. */
const MOST_NEW = 4
const NEW_PAUSE_MS = 100

export function createTickets<Item>(options: TakeOptions<Item>): Tickets<Item> {
  const { lane, taker, suspectSlot, limits = USUAL, onFault, onChange } = options
  const leasedById = new Map<Id, Leased<Item>>()
  const loading = new Set<Ticket>()
  const left = new Set<Id>()
  const returning = new Set<Id>()
  let isTaking = false
  let mayHaveMore = false
  let isPauseTimerSet = false
  let nextTakeAt = 0
  let nextSuspectAt = 0
  let nextNewAt = 0
  /** Services that have given up their last place. They come after those that have had none since. */
  const served = new Set<Id>()

  const room = () => limits.all - leasedById.size - loading.size

  /** `ofOne`: tickets that a service may have here afterwards. */
  async function take(most: number, ofOne: number) {
    isTaking = true
    mayHaveMore = false
    nextTakeAt = performance.now() + TAKE_PAUSE_MS
    try {
      if (options.isPaused()) return
      // Measured before the statement that leases: a process that was frozen in between must not trust an expired lease.
      const leasedUntil = performance.now() + options.leaseSeconds * 1000
      const due = await taker.take(lane, most, 'usual', countTaken(), ofOne)
      // After an empty take the lane waits for the next expectMore(), which may have come during the statement.
      if (due.length > 0) mayHaveMore = true
      if (due.length < most && served.size > 0) {
        served.clear()
        mayHaveMore = true
      }
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

  /** A service in `served` counts as one that has a ticket. */
  function countTaken(): Map<Id, number> {
    const counts = countByService()
    for (const service of served) if (!counts.has(service)) counts.set(service, 1)
    return counts
  }

  // Without room, every service that waits gets a place nevertheless, in turns, so that none waits until the large tickets of others
  // end. A service gives up those that it has beyond its first, and its only one after an item of that was started.
  async function takeNew(most: number) {
    await take(most, 1)
    mayHaveMore = true // there was no room for others
  }

  function mostNew(): number {
    const now = performance.now()
    if (now < nextNewAt) return 0
    nextNewAt = now + NEW_PAUSE_MS
    return expendable() ? Math.min(MOST_NEW, room() + MOST_NEW) : 0
  }

  function makeRoom() {
    while (room() < 0) {
      const loadingOnly = [...loading].filter(({ id }) => !leasedById.has(id))
      if (waiting().length + loadingOnly.length <= limits.all) return
      const found = expendable()
      if (!found) return
      if (found.count === 1) served.add(found.leased.ticket.service_id)
      options.onCrowded(found.leased)
    }
  }

  const waiting = () => [...leasedById.values()].filter(({ items }) => items.length > 0)

  /** The newest ticket of the service that has most of them; where all have one, the oldest. */
  function expendable(): { leased: Leased<Item>; count: number } | null {
    const all = waiting()
    const counts = new Map<Id, number>()
    for (const { ticket } of all) counts.set(ticket.service_id, (counts.get(ticket.service_id) ?? 0) + 1)
    let found: { leased: Leased<Item>; count: number } | null = null
    for (const leased of all) {
      const { ticket, items, total } = leased
      const count = counts.get(ticket.service_id) ?? 0
      // A last item is not worth a new ticket.
      if (isSuspect(ticket) || items.length === 1 || (count === 1 && items.length === total)) continue
      if (!found || count > found.count || (count === found.count && count > 1)) found = { leased, count }
    }
    return found
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
      makeRoom()
      if (!mayHaveMore || isTaking) return
      if (room() > 0) {
        if (isPauseOver()) void take(Math.min(room(), MOST_TICKETS), limits.ofOne)
        return
      }
      const most = mostNew()
      if (most > 0) void takeNew(most)
    },
    add(tickets, leasedUntil) {
      // Its lease may have been taken over by now, also by this process.
      if (performance.now() < leasedUntil) void open(tickets, leasedUntil)
    },
    hasRoom: () => room() > 0,
    isIdle: () => loading.size === 0 && !isTaking && returning.size === 0,
    all: () => [...leasedById.values()],
    loading: () => [...loading],
    isLeased: leased => leasedById.get(leased.ticket.id) === leased,
    renewed(asked, kept, leasedUntil) {
      return asked.flatMap(id => {
        const leased = leasedById.get(id)
        if (leased && kept.get(id) !== leased.ticket.takes) return [leased]
        if (leased) leased.leasedUntil = leasedUntil
        return []
      })
    },
    known: () => (isTaking ? null : [...leasedById.keys(), ...[...loading].map(({ id }) => id), ...returning, ...left]),
    leave: id => void left.add(id),
    isLeft: ({ ticket }) => left.has(ticket.id),
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
      const ids = leased.map(({ ticket }) => ticket.id)
      for (const id of ids) returning.add(id)
      await taker.giveBack(ids).catch(error => onFault(error, 'tickets are left until their lease expires'))
      for (const id of ids) returning.delete(id)
      onChange()
    },
  }
}
