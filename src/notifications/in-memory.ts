// Messages that this process has just accepted stay in memory with their ticket, so that its engine need not read and unseal them.
// They cannot be stale: the ticket is leased to this process since its insert. Tickets taken from the queue have no such messages.
import type { Ticket } from '../queue/port.ts'
import type { Personal } from './notification.ts'
import type { AcceptRequest } from './sql/accept.ts'
import type { Due } from './sql/record.ts'

/** A message that is due; `personal` is null when it has to be unsealed. */
export type DueMessage = Due & { personal: Personal | null }

const messages = new WeakMap<Ticket, DueMessage[]>()

export const inMemory = (ticket: Ticket): readonly DueMessage[] | undefined => messages.get(ticket)

export function keepInMemory(ticket: Ticket, { id, service_id, channel, key_type, message }: AcceptRequest): void {
  if (!message) return
  const { template_id, template_version, sender_id, is_international, sealed, personal } = message
  const one: DueMessage = {
    id,
    service_id,
    channel,
    key_type,
    template_id,
    template_version,
    sender_id,
    is_international,
    sealed,
    personal,
  }
  const others = messages.get(ticket)
  if (others) others.push(one)
  else messages.set(ticket, [one])
}
