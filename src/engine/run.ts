// Starts the lanes, renews their leases, wakes them when tickets are due, and drains them at stop.
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'
import { createLaneShares, type LaneShares } from '../runtime/admission.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import type { Tracer } from '../telemetry/trace.ts'
import { createAnswers } from './answers.ts'
import { createLane, type Lane } from './lane.ts'
import { createRecorder } from './record.ts'
import { createSuspectSlot, type SuspectSlot } from './suspects.ts'
import type { TicketLimits } from './take.ts'
import { createWindows, type Windows } from './windows.ts'
import type { Entry, Work } from './work.ts'

export type LaneContext = {
  taker: Taker
  leaseSeconds: number
  trace: Tracer | null
  onFault(error: unknown, sentence: string): void
  onSetAside?(lane: string): void
  isStopping(): boolean
  /** Sending from this lane is held. */
  isShut(lane: string): boolean
  suspectSlot: SuspectSlot
  windows: Windows
  shares: LaneShares
}

/** One entry of lanes.ts: the work of a lane, how much of it is in flight, and how its results are written. */
export type LaneSpec = { name: string; start(context: LaneContext): Lane }

export function lane<Item, Result>(spec: {
  name: string
  /** Items in flight at the same time. */
  slots: number
  /** Tickets in memory at the same time, of all services and of one. More than usual where a ticket has one item that takes long. */
  tickets?: TicketLimits
  /** Places of the process-wide limit that only this lane may use (runtime/admission.ts). Absent: the lane sends nothing. */
  reserved?: number
  work: Work<Item, Result>
  write(entries: readonly Entry<Result>[]): Promise<void>
}): LaneSpec {
  const { slots, reserved } = spec
  return {
    name: spec.name,
    start: context =>
      createLane({
        ...spec,
        ...context,
        isShut: () => context.isShut(spec.name),
        recorder: createRecorder(spec, context),
        share: onRoom =>
          reserved === undefined ? context.shares.local(slots) : context.shares.sending(slots, reserved, onRoom),
      }),
  }
}

export type Engine = {
  /** Tickets leased to this process at insert go to their lanes without a take. */
  hand(tickets: readonly Ticket[], leasedUntil: number): void
  hasRoom(lane: string): boolean
  wake(lane: string): void
  /** Gives tickets back to the queue, with everything of them that is not handed over yet. */
  recall(matches: (ticket: Ticket) => boolean): void
  /** The services of which tickets are loaded or being loaded. */
  services(): Set<Id>
  lanes(): readonly Lane[]
  stop(): Promise<void>
}

const LOOK_MS = 1_000
const REAP_MS = 3_000

export function createEngine(options: {
  specs: readonly LaneSpec[]
  taker: Taker
  leaseSeconds: number
  trace?: Tracer | null
  isShut?(lane: string): boolean
  onFault(error: unknown, sentence: string): void
  onSetAside?(lane: string): void
}): Engine {
  const { taker, leaseSeconds, onFault } = options
  let stopping = false
  const context: LaneContext = {
    taker,
    leaseSeconds,
    trace: options.trace ?? null,
    onFault,
    ...(options.onSetAside && { onSetAside: options.onSetAside }),
    isStopping: () => stopping,
    isShut: name => options.isShut?.(name) ?? false,
    suspectSlot: createSuspectSlot(),
    windows: createWindows(taker),
    shares: createLaneShares(),
  }
  const lanes = options.specs.map(spec => spec.start(context))
  const byName = new Map(lanes.map(one => [one.name, one]))
  const names = [...byName.keys()]
  const soon = new Map<string, NodeJS.Timeout>()
  const leaseMs = leaseSeconds * 1000
  const answers = createAnswers(leaseMs)

  // One query a second says for all lanes when their next ticket is due. A ticket due before the next query gets a timer. Messages
  // accepted meanwhile wake their lane directly.
  async function look(signal: AbortSignal) {
    const due = await taker.nextDue(names)
    answers.answered()
    for (const [name, ms] of due) {
      if (signal.aborted) return
      if (ms <= 0) byName.get(name)?.wake()
      else if (ms < LOOK_MS && !soon.has(name))
        soon.set(
          name,
          setTimeout(() => {
            soon.delete(name)
            byName.get(name)?.wake()
          }, ms + 1),
        )
    }
  }

  // While the database is away, owners can neither renew their leases nor record what they have sent. They get the time of one lease
  // to do so; without it their messages would be sent twice.
  async function reap() {
    if (answers.leftMs() === 0) await taker.reap()
  }

  async function renew() {
    const asked: Id[] = lanes.flatMap(one => one.leased())
    if (asked.length > 0) {
      const leasedUntil = performance.now() + leaseMs
      const kept = await taker.renew(asked)
      for (const one of lanes) one.renewed(asked, kept, leasedUntil)
    }
    const known = lanes.map(one => ({ name: one.name, ids: one.known() })).filter(one => one.ids !== null)
    await taker.freeUnknown(
      known.map(one => one.name),
      known.flatMap(one => one.ids ?? []),
    )
  }

  const every = (
    pauseMs: number | ((runs: number) => number),
    work: (signal: AbortSignal) => Promise<void>,
    sentence: string,
  ) =>
    startPeriodic(work, pauseMs, error => {
      answers.failed()
      onFault(error, sentence)
    })
  const renewing = every(leaseMs / 3, renew, 'leases could not be renewed')
  const looking = every(runs => (runs === 0 ? 0 : LOOK_MS), look, 'the queue could not be read')
  // The tickets of a process that ended are taken over within the lease and five seconds: three until they are free, one until
  // another process looks. A process that was started again frees those of its predecessor a lease after its start.
  const reaping = every(
    () => (answers.leftMs() > 0 ? LOOK_MS : Math.min(leaseMs, REAP_MS)),
    reap,
    'expired leases could not be freed',
  )
  for (const one of lanes) one.wake()

  return {
    hand(tickets, leasedUntil) {
      for (const ticket of tickets) byName.get(ticket.lane)?.hand([ticket], leasedUntil)
    },
    hasRoom: name => byName.get(name)?.hasRoom() ?? false,
    wake: name => byName.get(name)?.wake(),
    recall(matches) {
      for (const one of lanes) one.recall(matches)
    },
    services: () => new Set(lanes.flatMap(one => one.tickets().map(ticket => ticket.service_id))),
    lanes: () => lanes,
    async stop() {
      stopping = true
      const stopped = [looking.stop(), reaping.stop()]
      for (const timer of soon.values()) clearTimeout(timer)
      // Leases are renewed until nothing is in flight.
      await Promise.all(lanes.map(one => one.stop()))
      await Promise.all([...stopped, renewing.stop()])
    },
  }
}
