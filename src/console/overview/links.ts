// The lists behind the numbers: addresses of the messages page with its filters.
import type { Id } from '../../core/id.ts'
import type { ServiceVisit } from '../page.ts'

export type MessagesFilter = {
  status?: string
  /** Today, or the last seven days. */
  since?: 'today' | '7'
  kind?: 'email' | 'text'
  template?: Id
  job?: Id
}

export function messagesUrl({ url, service }: Pick<ServiceVisit, 'url' | 'service'>, filter: MessagesFilter): string {
  const query = new URLSearchParams(filter as Record<string, string>).toString()
  return url(`/s/${service.id}/messages${query && `?${query}`}`)
}
