// What a process has accepted goes to its own engine with its ticket, and is neither read from the database again nor opened:
// the ticket was born ours, so nobody can have touched the messages since. It lasts as long as the ticket does in memory; a
// ticket that comes from the queue has none.
import type { Ticket } from '../queue/port.ts'
import type { Personal } from './notification.ts'
import type { Asked } from './sql/accept.ts'
import type { Due } from './sql/record.ts'

/** A message that is due, and its personal part where it is known already. */
export type Fresh = Due & { personal: Personal | null }

const messages = new WeakMap<Ticket, Fresh[]>()

export const freshOf = (ticket: Ticket): readonly Fresh[] | undefined => messages.get(ticket)

export function keepFresh(ticket: Ticket, { id, service_id, channel, key_type, message }: Asked): void {
  if (!message) return
  const one = { id, service_id, channel, key_type, ...message }
  const others = messages.get(ticket)
  if (others) others.push(one)
  else messages.set(ticket, [one])
}
