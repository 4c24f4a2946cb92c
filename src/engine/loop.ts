// One lane at work: takes tickets, loads what they name, handles it a few at a time, and hands the results to be recorded.
// It does not know what a notification is.
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'

/** Work is read–act–write: load reads, handle talks to the world and touches no database, record writes. */
export type Work<Item, Result> = {
  /** What is still to be done of these tickets; subjects that are done already are left out. */
  load(tickets: readonly Ticket[]): Promise<Map<Id, Item>>
  handle(item: Item, ticket: Ticket): Promise<Handled<Result>>
  /** The end of something that ended the process each time it was tried. */
  setAside(item: Item): Result
}

/** done: recorded. again: recorded, and tried later. wait: nothing happened; the lane pauses until `until` resolves. */
export type Handled<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'again'; result: Result | null; delaySeconds: number }
  | { kind: 'wait'; until: Promise<void> }

/** One thing to write. The last entry of a ticket settles it and carries what is to be tried again. */
export type Entry<Result> = {
  ticket: Ticket
  id: Id | null
  result: Result | null
  settle: { id: Id; delaySeconds: number }[] | null
}

export type LaneOptions<Item, Result> = {
  name: string
  /** Items handled at the same time. */
  slots: number
  work: Work<Item, Result>
  taker: Taker
  leaseSeconds: number
  /** Resolves when the entry is on disk. Never rejects while the engine runs: it tries until the database takes it. */
  record(entry: Entry<Result>): Promise<void>
  /** Results that wait to be recorded: above the bound nothing new is begun. */
  unrecorded(): number
  onFault(error: unknown, sentence: string): void
}

export type LaneLoop = {
  readonly name: string
  /** Tickets that were born ours. */
  hand(tickets: Ticket[]): void
  /** Something may be due. */
  wake(): void
  hasRoom(): boolean
  load(): { inFlight: number; held: number }
  /** Tickets we hold, to be kept alive. */
  held(): Id[]
  /** Of the tickets asked about, these are still ours, until then; the others belong to somebody else now. */
  renewed(asked: readonly Id[], kept: ReadonlySet<Id>, leasedUntil: number): void
  stop(): Promise<void>
}

/**
 * A ticket that lost its owner twice is handled one subject at a time, each recorded before the next begins. So when the
 * process ends again, it is the first open subject that ends it, and after five takes that one is set aside.
 */
const SUSPECT_TAKES = 2
const MOST_TAKES = 5
/** Tickets held in memory beyond those being handled. */
const MOST_HELD = 16
const MOST_UNRECORDED = 256

type Run<Item> = {
  ticket: Ticket
  items: [Id, Item][]
  open: number
  again: { id: Id; delaySeconds: number }[]
  leasedUntil: number
}

export function createLane<Item, Result>(options: LaneOptions<Item, Result>): LaneLoop {
  const { name, slots, work, taker, leaseSeconds, record, onFault } = options
  /** Held runs by service, taken in turn. */
  const turns = new Map<Id, Run<Item>[]>()
  const runs = new Map<Id, Run<Item>>()
  let inFlight = 0
  let suspectsInFlight = 0
  let loading = 0
  let taking = false
  let mayHaveMore = false
  let paused = false
  let stopping = false
  let drained: (() => void) | null = null

  const leaseEnd = () => performance.now() + leaseSeconds * 1000

  async function open(tickets: Ticket[]) {
    if (tickets.length === 0) return
    loading += tickets.length
    const leasedUntil = leaseEnd()
    try {
      const items = await work.load(tickets)
      for (const ticket of tickets) {
        const mine = ticket.subjects.flatMap((id): [Id, Item][] => {
          const item = items.get(id)
          return item === undefined ? [] : [[id, item]]
        })
        const run: Run<Item> = { ticket, items: mine, open: mine.length, again: [], leasedUntil }
        runs.set(ticket.id, run)
        if (mine.length === 0) await settle(run, null, null)
        else if (ticket.takes > MOST_TAKES) await isolate(run)
        else enqueue(run)
      }
    } catch (error) {
      onFault(error, 'tickets could not be loaded; they are given back')
      await taker
        .giveBack(tickets.map(ticket => ticket.id))
        .catch(fault => onFault(fault, 'tickets could not be given back'))
    } finally {
      loading -= tickets.length
      pump()
    }
  }

  async function isolate(run: Run<Item>) {
    const [poison, ...rest] = run.items
    run.again = rest.map(([id]) => ({ id, delaySeconds: 0 }))
    await settle(run, poison?.[0] ?? null, poison ? work.setAside(poison[1]) : null)
  }

  function enqueue(run: Run<Item>) {
    const line = turns.get(run.ticket.service_id)
    if (line) line.push(run)
    else turns.set(run.ticket.service_id, [run])
  }

  /** The next item in turn: the service that was served goes to the end. */
  function next(): { run: Run<Item>; id: Id; item: Item } | null {
    for (const [service, line] of turns) {
      const run = line[0]
      const entry = run && mayBegin(run) ? run.items.shift() : undefined
      turns.delete(service)
      if (run && run.items.length === 0) line.shift()
      if (line.length > 0) turns.set(service, line)
      if (run && entry) return { run, id: entry[0], item: entry[1] }
      if (run && isSuspect(run)) return null
    }
    return null
  }

  const isSuspect = (run: Run<Item>) => run.ticket.takes > SUSPECT_TAKES
  const mayBegin = (run: Run<Item>) => !isSuspect(run) || suspectsInFlight === 0

  function pump() {
    if (stopping) {
      if (inFlight === 0 && loading === 0) drained?.()
      return
    }
    while (!paused && inFlight < slots && options.unrecorded() < MOST_UNRECORDED) {
      const turn = next()
      if (!turn) break
      if (performance.now() > turn.run.leasedUntil) {
        abandon(turn.run) // the lease ran out while nobody looked: whoever has it now will do it
        continue
      }
      inFlight++
      if (isSuspect(turn.run)) suspectsInFlight++
      void handle(turn)
    }
    if (mayHaveMore && runs.size + loading < MOST_HELD) void takeMore()
  }

  async function handle({ run, id, item }: { run: Run<Item>; id: Id; item: Item }) {
    let handled: Handled<Result>
    try {
      handled = await work.handle(item, run.ticket)
    } catch (error) {
      onFault(error, 'work failed; it is tried again')
      handled = { kind: 'again', result: null, delaySeconds: 5 }
    }
    if (handled.kind === 'wait') pauseUntil(run, id, item, handled.until)
    else await finish(run, id, handled)
    inFlight--
    if (isSuspect(run)) suspectsInFlight--
    pump()
  }

  function pauseUntil(run: Run<Item>, id: Id, item: Item, until: Promise<void>) {
    const wasEmpty = run.items.length === 0
    run.items.unshift([id, item])
    if (wasEmpty) enqueue(run)
    if (paused) return
    paused = true
    const resume = () => {
      paused = false
      pump()
    }
    until.then(resume, resume)
  }

  async function finish(run: Run<Item>, id: Id, handled: Exclude<Handled<Result>, { kind: 'wait' }>) {
    if (handled.kind === 'again') run.again.push({ id, delaySeconds: handled.delaySeconds })
    run.open--
    if (run.open === 0) return settle(run, id, handled.result)
    if (handled.result === null) return
    const recorded = record({ ticket: run.ticket, id, result: handled.result, settle: null })
    // Only a suspect waits for its own: the others are bounded by what may be unrecorded.
    if (isSuspect(run)) await recorded
  }

  async function settle(run: Run<Item>, id: Id | null, result: Result | null) {
    await record({ ticket: run.ticket, id, result, settle: run.again })
    runs.delete(run.ticket.id)
  }

  function abandon(run: Run<Item>) {
    runs.delete(run.ticket.id)
    const line = turns.get(run.ticket.service_id)?.filter(other => other !== run) ?? []
    if (line.length > 0) turns.set(run.ticket.service_id, line)
    else turns.delete(run.ticket.service_id)
  }

  async function takeMore() {
    if (taking || stopping) return
    taking = true
    mayHaveMore = false
    try {
      const room = MOST_HELD - runs.size - loading
      if (room <= 0 || paused) return
      const tickets = await taker.take(name, room)
      // As many as were asked for: there may be more. Fewer: somebody will wake us.
      mayHaveMore = tickets.length > 0
      await open(tickets)
    } catch (error) {
      onFault(error, 'tickets could not be taken')
    } finally {
      taking = false
    }
  }

  return {
    name,
    hand: tickets => void open(tickets),
    wake() {
      mayHaveMore = true
      pump()
    },
    hasRoom: () => !stopping && !paused && runs.size + loading < MOST_HELD,
    load: () => ({ inFlight, held: runs.size }),
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
      if (inFlight > 0 || loading > 0) await new Promise<void>(done => (drained = done))
      const rest = [...runs.keys()]
      if (rest.length > 0) await taker.giveBack(rest)
    },
  }
}
