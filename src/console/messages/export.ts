// The list as a file, and how many messages are newer than it.
import { readId } from '../../core/id.ts'
import { countNewer, PAGE } from '../../timeline/browse.ts'
import { exportMessages } from '../../timeline/export.ts'
import type { Handler, ServiceVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'
import { filtersOf, givenIn } from './query.ts'

export const exportPage: Handler<ServiceVisit> = visit => {
  const { parts, actor, service, query } = visit
  const day = new Date(parts.clock.now()).toISOString().slice(0, 10)
  return {
    kind: 'export',
    name: `${service.name} messages ${day}.csv`,
    chunks: exportMessages(parts, actor, service, filtersOf(givenIn(query), visit)),
  }
}

/** For the script: new rows wait until the person asks for them. */
export const newerMessages: Handler<ServiceVisit> = async visit => {
  const { parts, actor, service, query } = visit
  const filters = filtersOf(givenIn(query), visit)
  const count = await countNewer(parts, actor, service, filters, readId(query.get('than')))
  const words =
    count === 0
      ? ''
      : count >= PAGE
        ? t`${count} or more new messages`
        : plural(count, t`1 new message`, t`${count} new messages`)
  return { kind: 'json', data: { count, words } }
}
