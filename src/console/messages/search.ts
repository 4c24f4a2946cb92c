// What is searched for may be an address, so it comes by POST and leads to an address without it.
import { search } from '../../timeline/search.ts'
import type { Handler, ServiceVisit } from '../page.ts'
import { type Given, givenIn, listPath, without } from './query.ts'

export const searchMessages: Handler<ServiceVisit> = async visit => {
  const { parts, actor, service, form } = visit
  const text = (form.get('q') ?? '').trim()
  const given = givenIn(form)
  const filters: Given = without(given, 'q', 'found')
  const to = (path: string) => ({ kind: 'redirect', to: path }) as const
  if (text === '') return to(listPath(service.id, filters))
  const hit = await search(parts, actor, service, text)
  switch (hit.kind) {
    case 'message':
      return to(`/s/${service.id}/messages/${hit.id}`)
    case 'recipient':
      return to(listPath(service.id, { ...filters, recipient: hit.digests }))
    case 'reference':
      return to(listPath(service.id, { ...without(filters, 'recipient'), q: hit.reference }))
    case 'nothing':
      return to(listPath(service.id, { ...without(filters, 'recipient'), found: 'nothing' }))
  }
}
