// The filters of the list, as the address of the page carries them. A recipient stands there only as a keyed digest.
import { type Id, readId } from '../../core/id.ts'
import { KEY_TYPES, type KeyType } from '../../keys/key.ts'
import { startsOfDays } from '../../statistics/days.ts'
import { type Cursor, type Filters, STATUS_FILTERS, type StatusFilter } from '../../timeline/browse.ts'
import { readDigests } from '../../timeline/search.ts'
import type { ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'

/** Names of parameters that filter, in the order of the address. */
export const NAMES = ['q', 'recipient', 'found', 'status', 'kind', 'template', 'job', 'key', 'since'] as const
export type Name = (typeof NAMES)[number]
export type Given = Readonly<Partial<Record<Name, string>>>

const KINDS = { email: 'email', text: 'sms' } as const
export const KEYS = { live: 'normal', team: 'team', test: 'test' } as const satisfies Record<string, KeyType>

const isIn = <T extends object>(table: T, text: string): text is Extract<keyof T, string> => Object.hasOwn(table, text)

/** Only values that mean something; others are left out, as if they had not been given. */
export function givenIn(fields: URLSearchParams): Given {
  const kept = NAMES.flatMap((name): [Name, string][] => {
    const value = fields.get(name)?.trim() ?? ''
    return value !== '' && isKnown[name](value) ? [[name, value]] : []
  })
  return Object.fromEntries(kept)
}

const isKnown: Readonly<Record<Name, (text: string) => boolean>> = {
  q: text => text.length <= 1_000 && !text.includes('\0'),
  recipient: text => readDigests(text) !== null,
  found: text => text === 'nothing',
  status: text => isIn(STATUS_FILTERS, text),
  kind: text => isIn(KINDS, text),
  template: text => readId(text) !== null,
  job: text => readId(text) !== null,
  key: text => isIn(KEYS, text),
  since: text => text === 'today' || text === 'yesterday' || /^([1-9]|[1-9]\d|[12]\d\d|3[0-6]\d)$/.test(text),
}

/** The first and the last moment of a period, in microseconds since 1970. Days are those of the overview. */
function periodOf(since: string | undefined, now: number, timeZone: string): Pick<Filters, 'since' | 'until'> {
  if (since === undefined) return { since: null, until: null }
  const [yesterday = 0, today = 0] = startsOfDays(now, timeZone, 2).map(hour => hour * 3_600_000_000)
  if (since === 'today') return { since: today, until: null }
  if (since === 'yesterday') return { since: yesterday, until: today }
  const [first = 0] = startsOfDays(now, timeZone, Number(since))
  return { since: first * 3_600_000_000, until: null }
}

export const filtersOf = (given: Given, { parts, formats }: Pick<ServiceVisit, 'parts' | 'formats'>): Filters => ({
  status: (given.status as StatusFilter | undefined) ?? null,
  channel: given.kind && isIn(KINDS, given.kind) ? KINDS[given.kind] : null,
  template: readId(given.template),
  job: readId(given.job),
  keyType: given.key && isIn(KEYS, given.key) ? KEYS[given.key] : null,
  ...periodOf(given.since, parts.clock.now(), formats.timeZone),
  reference: given.q ?? null,
  digests: given.recipient ? readDigests(given.recipient) : null,
})

export function cursorOf(query: URLSearchParams): Cursor {
  const [older, newer] = [readId(query.get('before')), readId(query.get('after'))]
  return older !== null ? { older } : newer !== null ? { newer } : null
}

/** The path of the list with these filters. */
export function listPath(service: Id, given: Given, cursor: { before?: Id; after?: Id } = {}): string {
  return pathOf(`/s/${service}/messages`, given, cursor)
}

export function pathOf(path: string, given: Given, more: Readonly<Record<string, string | undefined>> = {}): string {
  const pairs = [...NAMES.map(name => [name, given[name]] as const), ...Object.entries(more)]
  const query = new URLSearchParams(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return query.size === 0 ? path : `${path}?${query}`
}

export const without = (given: Given, ...names: readonly Name[]): Given =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !names.some(one => one === name)))

export const keyNameOf = (type: KeyType): string =>
  ({ normal: t`Live key`, team: t`Team key`, test: t`Test key` })[KEY_TYPES.find(one => one === type) ?? 'normal']
