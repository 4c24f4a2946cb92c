// Loads the items of tickets. A ticket that cannot be loaded does not prevent others from being loaded, and a subject that cannot be
// loaded does not prevent the other subjects of its ticket.
import type { Id } from '../core/id.ts'
import type { Taker, Ticket } from '../queue/port.ts'
import { runSplitting } from '../runtime/group-commit.ts'
import type { Work } from './work.ts'

/** `broken`: subjects that could not be loaded while the database answered. */
export type Loaded<Item> = { ticket: Ticket; items: [Id, Item][]; broken: readonly Id[] }

export type LoadOptions<Item> = {
  work: Pick<Work<Item, never>, 'load'>
  taker: Pick<Taker, 'renew'>
  isStopping(): boolean
  onFault(error: unknown, sentence: string): void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** Calls `onLoaded` for each ticket that was loaded in time; resolves when all are loaded or given up. */
export async function load<Item>(
  options: LoadOptions<Item>,
  tickets: readonly Ticket[],
  leasedUntil: number,
  onLoaded: (loaded: Loaded<Item>) => void,
  onGivenUp: (ticket: Ticket) => void,
): Promise<void> {
  try {
    const items = await options.work.load(tickets)
    for (const ticket of tickets) onLoaded({ ticket, items: itemsOf(ticket, items), broken: [] })
  } catch (error) {
    options.onFault(error, 'tickets could not be loaded; each is tried again alone')
    await Promise.all(
      tickets.map(async ticket => {
        const loaded = await loadAlone(options, ticket, leasedUntil)
        if (loaded) onLoaded(loaded)
        else onGivenUp(ticket)
      }),
    )
  }
}

const itemsOf = <Item>(ticket: Ticket, items: ReadonlyMap<Id, Item>) =>
  ticket.subjects.flatMap((id): [Id, Item][] => {
    const item = items.get(id)
    return item === undefined ? [] : [[id, item]]
  })

// A ticket that cannot be loaded is not given back: it would be taken again at once. Another process takes it when its lease expires.
async function loadAlone<Item>(options: LoadOptions<Item>, ticket: Ticket, leasedUntil: number) {
  const { isStopping, onFault } = options
  for (let pauseMs = FIRST_PAUSE_MS; !isStopping() && performance.now() + pauseMs < leasedUntil; pauseMs *= 2) {
    await new Promise(resume => setTimeout(resume, Math.min(pauseMs, LONGEST_PAUSE_MS)))
    try {
      return await loadByHalves(options, ticket)
    } catch (error) {
      onFault(error, 'a ticket could not be loaded; it is tried again')
    }
  }
  return null
}

/** Throws when the database does not answer. */
async function loadByHalves<Item>({ work, taker, onFault }: LoadOptions<Item>, ticket: Ticket): Promise<Loaded<Item>> {
  const unloadable = new Set<unknown>()
  const results = await runSplitting<Id, Item | undefined>(
    ticket.subjects,
    async subjects => {
      try {
        const items = await work.load([{ ...ticket, subjects: [...subjects] }])
        return subjects.map(id => items.get(id))
      } catch (error) {
        // While the database answers, a subject is the reason; otherwise this throws.
        await taker.renew([ticket.id])
        unloadable.add(error)
        throw error
      }
    },
    error => unloadable.has(error),
  )
  const loaded: Loaded<Item> & { broken: Id[] } = { ticket, items: [], broken: [] }
  for (const [at, result] of results.entries()) {
    const id = ticket.subjects[at]
    if (id === undefined) continue
    if (result.status === 'fulfilled') {
      if (result.value !== undefined) loaded.items.push([id, result.value])
      continue
    }
    if (!unloadable.has(result.reason)) throw result.reason
    onFault(result.reason, 'a subject could not be loaded while others could')
    loaded.broken.push(id)
  }
  return loaded
}
