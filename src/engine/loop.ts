// One lane at work: takes tickets, loads what they name, handles it a few at a time, and hands the results to be recorded.
// It does not know what a notification is.
import type { Id } from '../core/id.ts'
import { MOST_OF_ONE, SUSPECT_TAKES, type Taker, type Ticket } from '../queue/port.ts'
import { crashPoint } from '../telemetry/crash.ts'
import type { Share } from './ceiling.ts'
import type { Recorder } from './recorder.ts'

/** Work is read–act–write: load reads, handle talks to the world and touches no database, record writes. */
export type Work<Item, Result> = {
  /** What is still to be done of these tickets; subjects that are done already are left out. */
  load(tickets: readonly Ticket[]): Promise<Map<Id, Item>>
  handle(item: Item, ticket: Ticket): Promise<Handled<Result>>
  /** The end of something that ended the process, or failed, each time it was tried. */
  setAside(item: Item): Result
  /** The same for what could not even be loaded; where nothing can be said of it, it is tried again, rarely. */
  setAsideUnseen?(): Result
  /** What is recorded instead of a result that the database refuses for its data. Absent: the ticket is left to its lease. */
  unrecordable?(result: Result): Result
}

/** done: recorded. again: recorded, and tried later. wait: nothing happened; the lane pauses until `until` resolves. */
export type Handled<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'again'; result: Result | null; delaySeconds: number }
  | { kind: 'wait'; until: Promise<void> }

/** One thing to write. The last entry of a ticket settles it and carries what is to be tried again. */
export type Entry<Result> = { ticket: Ticket; id: Id | null; result: Result | null; settle: Later[] | null }

/** A subject that goes on under another ticket, with the attempts and takes that ticket begins with. */
export type Later = { id: Id; delaySeconds: number; attempts: number; takes: number }

export type LaneOptions<Item, Result> = {
  name: string
  /** Items handled at the same time. */
  slots: number
  work: Work<Item, Result>
  taker: Taker
  leaseSeconds: number
  recorder: Recorder<Entry<Result>>
  /** Part of what the process may send at the same time; null where nothing leaves the house. */
  share(onRoom: () => void): Share | null
  suspicion: Suspicion
  onFault(error: unknown, sentence: string): void
  /** Told of what is given up after repeated faults. */
  onSetAside?(lane: string): void
}

/** Shared by all lanes of a process. */
export type Suspicion = { isHeld: boolean }

export type LaneLoop = {
  readonly name: string
  /** Tickets that were born ours, until then. */
  hand(tickets: Ticket[], leasedUntil: number): void
  /** Something may be due. */
  wake(): void
  hasRoom(): boolean
  load(): { inFlight: number; held: number; unrecorded: number }
  /** Tickets we hold, to be kept alive. */
  held(): Id[]
  /** Of the tickets asked about, these are still ours, until then; the others belong to somebody else now. */
  renewed(asked: readonly Id[], kept: ReadonlySet<Id>, leasedUntil: number): void
  stop(): Promise<void>
}

/**
 * A ticket that lost its owner twice is suspect: a process holds one such ticket at a time and handles it in groups, each recorded
 * before the next begins. So when the process ends again, the subject that ends it is in the first open group, and with the next
 * take those are handled in smaller groups: of 64, of 8, one by one. After five takes it is the first open subject, and is set
 * aside. What throws, or cannot be loaded, is set aside after as many tries.
 */
const MOST_TAKES = 5
const GROUPS = [64, 8, 1] as const
const THROWN_SECONDS = 5
const UNSEEN_SECONDS = 1_800
/** Tickets held in memory beyond those being handled. */
const MOST_HELD = 16
/** Between two takes while there is enough to do, and between two looks for suspects. */
const REST_MS = 10
const SUSPECTS_MS = 500

type Run<Item> = {
  ticket: Ticket
  items: [Id, Item][]
  open: number
  again: Later[]
  leasedUntil: number
  /** Of a suspect: subjects of the group that is being handled, those of them that are not recorded yet, and those of all groups
   * before it. */
  group: number
  unrecorded: number
  passed: number
}

export function createLane<Item, Result>(options: LaneOptions<Item, Result>): LaneLoop {
  const { name, slots, work, taker, leaseSeconds, recorder, onFault } = options
  const share = options.share(() => pump())
  /** Held runs by service, taken in turn. */
  const turns = new Map<Id, Run<Item>[]>()
  const runs = new Map<Id, Run<Item>>()
  let inFlight = 0
  let recording = 0
  let loading = 0
  const opening = new Set<Ticket>()
  let taking = false
  let restedAt = 0
  let isResting = false
  let suspectsAt = 0
  let mayHaveMore = false
  let paused = false
  let stopping = false
  let drained: (() => void) | null = null

  // Counted from before the statement that leases: a process that was frozen meanwhile must not believe it has time left.
  const leaseEnd = () => performance.now() + leaseSeconds * 1000

  async function open(tickets: Ticket[], leasedUntil: number) {
    if (tickets.length === 0) return
    loading += tickets.length
    for (const ticket of tickets) opening.add(ticket)
    try {
      const items = await work.load(tickets)
      for (const ticket of tickets) begin(ticket, items, [], leasedUntil)
    } catch (error) {
      onFault(error, 'tickets could not be loaded; tried again, each alone')
      await Promise.all(tickets.map(ticket => openAlone(ticket, leasedUntil)))
    } finally {
      loading -= tickets.length
      for (const ticket of tickets) opening.delete(ticket)
      pump()
    }
  }

  // One that cannot be loaded keeps no other from it. It is not given back, because it would come again at once: when its
  // lease is over, somebody else tries.
  async function openAlone(ticket: Ticket, leasedUntil: number) {
    for (let pauseMs = 100; !stopping && performance.now() + pauseMs < leasedUntil; pauseMs *= 2) {
      await new Promise(resume => setTimeout(resume, Math.min(pauseMs, 5_000)))
      try {
        const sifted = await sift(ticket, ticket.subjects)
        return begin(ticket, sifted.items, sifted.broken, leasedUntil)
      } catch (error) {
        onFault(error, 'a ticket could not be loaded; tried again')
      }
    }
    if (isSuspect(ticket)) options.suspicion.isHeld = false
  }

  /** Finds those that cannot be loaded by halves. While the database answers, it is they who are broken; else it throws. */
  async function sift(ticket: Ticket, subjects: Id[]): Promise<{ items: Map<Id, Item>; broken: Id[] }> {
    try {
      return { items: await work.load([{ ...ticket, subjects }]), broken: [] }
    } catch (error) {
      await taker.renew([ticket.id])
      if (subjects.length === 1) {
        onFault(error, 'something could not be loaded while its neighbours could')
        return { items: new Map(), broken: subjects }
      }
    }
    const middle = Math.ceil(subjects.length / 2)
    const first = await sift(ticket, subjects.slice(0, middle))
    const second = await sift(ticket, subjects.slice(middle))
    return { items: new Map([...first.items, ...second.items]), broken: [...first.broken, ...second.broken] }
  }

  function begin(ticket: Ticket, items: Map<Id, Item>, broken: readonly Id[], leasedUntil: number) {
    const mine = ticket.subjects.flatMap((id): [Id, Item][] => {
      const item = items.get(id)
      return item === undefined ? [] : [[id, item]]
    })
    const run: Run<Item> = {
      ...{ ticket, items: mine, open: mine.length, again: [], leasedUntil },
      ...{ group: 0, unrecorded: 0, passed: 0 },
    }
    runs.set(ticket.id, run)
    for (const id of broken) putOff(run, id)
    if (mine.length === 0) settle(run, null, null)
    else if (ticket.takes > MOST_TAKES) isolate(run)
    else enqueue(run)
  }

  function putOff(run: Run<Item>, id: Id) {
    const { attempts } = run.ticket
    const result = attempts + 1 >= MOST_TAKES ? (work.setAsideUnseen?.() ?? null) : null
    if (result !== null) {
      options.onSetAside?.(name)
      return write({ ticket: run.ticket, id, result, settle: null })
    }
    const delaySeconds = attempts + 1 >= MOST_TAKES ? UNSEEN_SECONDS : THROWN_SECONDS
    run.again.push({ id, delaySeconds, attempts: attempts + 1, takes: 0 })
  }

  function isolate(run: Run<Item>) {
    const [poison, ...rest] = run.items
    for (const [id] of rest) run.again.push({ id, delaySeconds: 0, attempts: run.ticket.attempts, takes: 0 })
    if (poison) options.onSetAside?.(name)
    settle(run, poison?.[0] ?? null, poison ? work.setAside(poison[1]) : null)
  }

  function enqueue(run: Run<Item>) {
    const line = turns.get(run.ticket.service_id)
    if (line) line.push(run)
    else turns.set(run.ticket.service_id, [run])
  }

  // Every other turn of a service goes to the run that has least to do, so that a message that came alone does not wait for all that
  // was due before it; the others to the oldest, so that it ends.
  let turn = 0
  function inTurn(line: readonly Run<Item>[]): Run<Item> | undefined {
    const [oldest] = line
    if (!oldest || turn++ % 2 === 0) return oldest
    return line.reduce((least, run) => (run.items.length < least.items.length ? run : least), oldest)
  }

  /** The next item in turn: the service that was served goes to the end. A suspect that must wait holds up nobody. */
  function next(): { run: Run<Item>; id: Id; item: Item } | null {
    for (const [service, line] of turns) {
      const run = line.length === 1 ? line.find(mayBegin) : inTurn(line.filter(mayBegin))
      const entry = run?.items.shift()
      if (!run || !entry) continue
      turns.delete(service)
      const rest = run.items.length > 0 ? line : line.filter(other => other !== run)
      if (rest.length > 0) turns.set(service, rest)
      return { run, id: entry[0], item: entry[1] }
    }
    return null
  }

  const isSuspect = (ticket: Ticket) => ticket.takes > SUSPECT_TAKES
  const mayBegin = (run: Run<Item>) => !isSuspect(run.ticket) || run.group < groupOf(run)

  const isDrained = () => inFlight === 0 && loading === 0 && recording === 0 && !taking
  const mayBeginAnother = () => (share ? share.mayBegin() : recorder.unrecorded() < 2 * slots)

  function pump() {
    if (stopping) {
      if (isDrained()) drained?.()
      return
    }
    while (!paused && turns.size > 0 && inFlight < slots && mayBeginAnother()) {
      const turn = next()
      if (!turn) break
      if (performance.now() > turn.run.leasedUntil) {
        abandon(turn.run) // the lease ran out while nobody looked: whoever has it now will do it
        continue
      }
      inFlight++
      share?.began()
      if (isSuspect(turn.run.ticket)) {
        turn.run.group++
        turn.run.unrecorded++
      }
      void handle(turn)
    }
    if (mayHaveMore && !taking && runs.size + loading < MOST_HELD && isRested()) void takeMore()
  }

  function wake() {
    isResting = false
    pump()
  }

  // With enough to do, tickets are taken together, not each as it comes; whoever is not among them yet waits that much longer.
  function isRested(): boolean {
    let waiting = 0
    for (const run of runs.values()) waiting += run.items.length
    if (waiting < slots) return true
    const rest = restedAt - performance.now()
    if (rest <= 0) return true
    if (!isResting) setTimeout(wake, rest)
    isResting = true
    return false
  }

  async function handle({ run, id, item }: { run: Run<Item>; id: Id; item: Item }) {
    let handled: Handled<Result>
    try {
      handled = await work.handle(item, run.ticket)
    } catch (error) {
      const isLast = run.ticket.attempts + 1 >= MOST_TAKES
      onFault(error, isLast ? 'work failed once too often; it is set aside' : 'work failed; it is tried again')
      if (isLast) options.onSetAside?.(name)
      handled = isLast
        ? { kind: 'done', result: work.setAside(item) }
        : { kind: 'again', result: null, delaySeconds: THROWN_SECONDS }
    }
    const free = () => {
      inFlight--
      share?.answered()
      if (isSuspect(run.ticket) && --run.unrecorded === 0) endGroup(run)
    }
    if (handled.kind === 'wait') pauseUntil(run, id, item, handled.until)
    // Only a suspect waits for its own result: the others are bounded by what may be unrecorded.
    else if (isSuspect(run.ticket)) return finish(run, id, handled, free)
    else finish(run, id, handled)
    free()
    pump()
  }

  function pauseUntil(run: Run<Item>, id: Id, item: Item, until: Promise<void>) {
    const wasEmpty = run.items.length === 0
    run.items.unshift([id, item])
    if (wasEmpty) enqueue(run)
    // A suspect that only waits must not be blamed for an end that comes meanwhile. This one goes when its group has ended.
    for (const one of [...runs.values()].filter(one => isSuspect(one.ticket) && one.unrecorded === 0)) release(one)
    if (paused) return
    paused = true
    const resume = () => {
      paused = false
      pump()
    }
    until.then(resume, resume)
  }

  function finish(run: Run<Item>, id: Id, handled: Exclude<Handled<Result>, { kind: 'wait' }>, then?: () => void) {
    const { ticket } = run
    run.open--
    if (handled.kind === 'again') {
      run.again.push({ id, delaySeconds: handled.delaySeconds, attempts: ticket.attempts + 1, takes: 0 })
    }
    if (run.open === 0) settle(run, id, handled.result, then)
    else if (handled.result !== null) write({ ticket, id, result: handled.result, settle: null }, then)
    else then?.()
  }

  function endGroup(run: Run<Item>) {
    run.passed += run.group
    run.group = 0
    if (runs.get(run.ticket.id) !== run || run.open === 0) return
    if (paused) release(run)
    else if (run.again.length > 0) partFrom(run)
  }

  // What was deferred got an answer, so it is no poison; if it stayed in front of those behind it, it would be blamed for what they
  // do. They go on as suspect as they were: this take is not counted twice.
  function partFrom(run: Run<Item>) {
    const { attempts, takes } = run.ticket
    for (const [id] of run.items.splice(0)) run.again.push({ id, delaySeconds: 0, attempts, takes: takes - 1 })
    run.open = 0
    unline(run)
    settle(run, null, null)
  }

  function release(run: Run<Item>) {
    abandon(run)
    taker.giveBack([run.ticket.id]).catch(error => onFault(error, 'a ticket is left until its lease ends'))
  }

  function settle(run: Run<Item>, id: Id | null, result: Result | null, then?: () => void) {
    write({ ticket: run.ticket, id, result, settle: run.again }, () => {
      forget(run)
      then?.()
    })
  }

  // A stop gives tickets back only after the last result is on disk, or what was sent would be sent again.
  function write(entry: Entry<Result>, then?: () => void) {
    recording++
    share?.toRecord()
    recorder.add(entry, error => {
      recording--
      share?.recorded()
      if (error) onFault(error, 'results were not recorded')
      then?.()
      pump()
    })
  }

  // The same ticket may be ours a second time by now, as another run.
  function forget(run: Run<Item>) {
    if (runs.get(run.ticket.id) !== run) return
    // A service that had all it may have can have another now.
    if ((heldByService().get(run.ticket.service_id) ?? 0) >= MOST_OF_ONE) mayHaveMore = true
    runs.delete(run.ticket.id)
    if (!isSuspect(run.ticket)) return
    options.suspicion.isHeld = false
    suspectsAt = 0 // where one was, there may be others
    mayHaveMore = true
  }

  function abandon(run: Run<Item>) {
    forget(run)
    run.leasedUntil = 0
    unline(run)
  }

  function unline(run: Run<Item>) {
    const line = turns.get(run.ticket.service_id)?.filter(other => other !== run) ?? []
    if (line.length > 0) turns.set(run.ticket.service_id, line)
    else turns.delete(run.ticket.service_id)
  }

  async function takeMore() {
    if (taking || stopping) return
    taking = true
    mayHaveMore = false
    restedAt = performance.now() + REST_MS
    try {
      const room = MOST_HELD - runs.size - loading
      if (room <= 0 || paused) return
      const leasedUntil = leaseEnd()
      const tickets = await taker.take(name, room, 'usual', heldByService())
      // Some were there: there may be more. None: somebody will wake us, or has done so while we asked.
      if (tickets.length > 0) mayHaveMore = true
      const taken = [...tickets, ...(await takeSuspect())]
      if (taken.length > 0) crashPoint('after-take', () => taken.flatMap(ticket => ticket.subjects))
      void open(taken, leasedUntil)
    } catch (error) {
      onFault(error, 'tickets could not be taken')
    } finally {
      taking = false
      pump()
    }
  }

  function heldByService(): Map<Id, number> {
    const held = new Map<Id, number>()
    for (const { service_id } of [...opening, ...[...runs.values()].map(run => run.ticket)])
      held.set(service_id, (held.get(service_id) ?? 0) + 1)
    return held
  }

  async function takeSuspect(): Promise<Ticket[]> {
    const now = performance.now()
    if (options.suspicion.isHeld || now < suspectsAt) return []
    suspectsAt = now + SUSPECTS_MS
    options.suspicion.isHeld = true
    const suspects = await taker.take(name, 1, 'suspects').catch(error => {
      onFault(error, 'tickets could not be taken')
      return []
    })
    options.suspicion.isHeld = suspects.length > 0
    return suspects
  }

  return {
    name,
    hand: (tickets, leasedUntil) => void open(tickets, leasedUntil),
    wake() {
      mayHaveMore = true
      pump()
    },
    hasRoom: () => !stopping && !paused && runs.size + loading < MOST_HELD,
    load: () => ({ inFlight, held: runs.size, unrecorded: recorder.unrecorded() }),
    held: () => [...runs.keys()],
    renewed(asked, kept, leasedUntil) {
      for (const id of asked) {
        const run = runs.get(id)
        if (run && kept.has(id)) run.leasedUntil = leasedUntil
        else if (run) abandon(run)
      }
    },
    async stop() {
      stopping = true
      if (!isDrained()) await new Promise<void>(done => (drained = done))
      const rest = [...runs.keys()]
      if (rest.length > 0)
        await taker.giveBack(rest).catch(error => onFault(error, 'tickets are left until their lease ends'))
    },
  }
}

/** How many of a suspect are handled at the same time: among those of the group that the last owner did not finish, fewer. */
function groupOf({ ticket, passed }: Pick<Run<unknown>, 'ticket' | 'passed'>): number {
  const step = Math.min(ticket.takes - SUSPECT_TAKES, GROUPS.length) - 1
  const closer = GROUPS.findLast((_size, at) => at > 0 && at <= step && passed < (GROUPS[at - 1] ?? 0))
  return closer ?? GROUPS[0]
}
