// How many messages of a period have which status, by day, month, template, status, channel or key type. From the hourly counts: what
// it costs does not depend on how many messages there are, except for text parts, which are counted from the messages themselves.
import { CHANNELS, channelNames } from '../channels/index.ts'
import type { Caller, KeyType } from '../keys/key.ts'
import { FAILURES } from '../notifications/status.ts'
import { countsBetween, templateCountsBetween } from '../statistics/sql/report.ts'
import { type BrowseApp, everyMessage, NO_FILTERS } from '../timeline/browse.ts'
import { partsIn } from './messages.ts'
import type { Period } from './period.ts'

export const GROUPINGS = ['day', 'month', 'template', 'status', 'channel', 'key_type'] as const
export type Grouping = (typeof GROUPINGS)[number]

export type CountGroup = {
  /** The day, the month, the id of the template, the status, the channel or the key type. */
  group: string
  messages: number
  /** delivered, and sent where the provider reports no more. */
  delivered: number
  failed: number
  /** Not final yet, scheduled ones among them. */
  in_transit: number
  cancelled: number
  /** Only by month: the parts of text messages that were handed over, and of how many messages they are. */
  text_parts: number | null
  text_parts_of: number | null
}

const HOUR_MICROS = 3_600_000_000
const DAY_MS = 86_400_000
const MOST_TEMPLATE_ROWS = 50_000

/** Messages whose parts are counted for one request: about ten seconds. */
export const MOST_MEASURED = 200_000

/** Live and team keys see the messages of both, a test key those of test keys. Hours that the period touches count as a whole. */
const keyTypesFor = (own: KeyType): readonly KeyType[] => (own === 'test' ? ['test'] : ['normal', 'team'])

export async function statistics(
  app: BrowseApp,
  { service, key }: Caller,
  { since, until }: Period,
  by: Grouping,
): Promise<CountGroup[]> {
  const keyTypes = keyTypesFor(key.key_type)
  const hours = [Math.floor(since / HOUR_MICROS), Math.ceil(until / HOUR_MICROS)] as const
  const groups = new Map<string, CountGroup>()
  const add = (group: string, status: string, messages: number) => {
    const found = groups.get(group) ?? emptyGroup(group)
    groups.set(group, {
      ...found,
      messages: found.messages + messages,
      [kindOf(status)]: found[kindOf(status)] + messages,
    })
  }
  if (by === 'template') {
    const days = [Math.floor(hours[0] / 24), Math.ceil(hours[1] / 24)] as const
    for (const row of await templateCountsBetween(app.db.sql, service.id, keyTypes, ...days, MOST_TEMPLATE_ROWS))
      add(row.template_id, row.status, row.messages)
  } else
    for (const row of await countsBetween(app.db.sql, service.id, keyTypes, ...hours))
      add(groupOf(row, by), row.status, row.messages)
  if (by === 'month') await addParts(app, { service, key }, keyTypes, { since, until }, groups)
  return [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : 1))
}

const emptyGroup = (group: string): CountGroup => ({
  group,
  messages: 0,
  delivered: 0,
  failed: 0,
  in_transit: 0,
  cancelled: 0,
  text_parts: null,
  text_parts_of: null,
})

type Kind = 'delivered' | 'failed' | 'in_transit' | 'cancelled'

function kindOf(status: string): Kind {
  if (status === 'delivered' || status === 'sent') return 'delivered'
  if (status === 'cancelled') return 'cancelled'
  return FAILURES.some(one => one === status) ? 'failed' : 'in_transit'
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

function groupOf(row: { day: number; channel: string; key_type: string; status: string }, by: Grouping): string {
  switch (by) {
    case 'day':
      return dayText(row.day)
    case 'month':
      return dayText(row.day).slice(0, 7)
    case 'status':
      return row.status
    case 'channel':
      return row.channel
    default:
      return row.key_type
  }
}

/** Only of messages that are still stored; `text_parts_of` says of how many. */
async function addParts(
  app: BrowseApp,
  { service }: Caller,
  keyTypes: readonly KeyType[],
  period: Period,
  groups: Map<string, CountGroup>,
) {
  let measured = 0
  const channels = channelNames.filter(channel => !CHANNELS[channel].template.hasSubject)
  for (const [channel, keyType] of channels.flatMap(one => keyTypes.map(type => [one, type] as const))) {
    const filters = { ...NO_FILTERS, ...period, channel, keyType }
    const options = { withRecipients: false, countParts: partsIn(app.templates, service) }
    for await (const rows of everyMessage(app, service, filters, options)) {
      for (const row of rows) {
        if (row.sent_at === null || row.text_parts === null || measured >= MOST_MEASURED) continue
        measured++
        const month = row.created_at.slice(0, 7)
        const found = groups.get(month) ?? emptyGroup(month)
        groups.set(month, {
          ...found,
          text_parts: (found.text_parts ?? 0) + row.text_parts,
          text_parts_of: (found.text_parts_of ?? 0) + 1,
        })
      }
      if (measured >= MOST_MEASURED) return
    }
  }
}
