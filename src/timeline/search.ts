// One search field: an id, a whole address or number, or a reference. Recipients are found by keyed digests, so that an address never
// stands in the address of a page.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import { type Id, readId } from '../core/id.ts'
import { isExpired } from '../notifications/read.ts'
import { browse as readPage } from '../notifications/sql/browse.ts'
import { story } from '../notifications/sql/read.ts'
import type { Service } from '../services/service.ts'
import { type BrowseApp, browsingOf, type Filters, NO_FILTERS } from './browse.ts'
import { digestsIn } from './find.ts'

export type SearchApp = BrowseApp & { config: { homeCountry: string } }

export type Hit =
  | { kind: 'message'; id: Id }
  /** `digests` is what the address of the page carries. */
  | { kind: 'recipient'; digests: string }
  | { kind: 'reference'; reference: string }
  | { kind: 'nothing' }

/** The filters are kept, except when there is one exact hit. */
export async function search(app: SearchApp, actor: PersonActor, service: Service, given: string): Promise<Hit> {
  requirePermission(actor, 'see-messages', service.id)
  const text = given.trim()
  if (text === '' || text.length > LONGEST || text.includes('\0')) return { kind: 'nothing' }
  const id = readId(text)
  if (id !== null && (await isKept(app, service, id))) return { kind: 'message', id }
  const digests = digestsIn(app, service, text).map(one => one.digest)
  const received = digests.length === 0 ? [] : await some(app, service, { digests })
  const referred = received.length > 0 ? [] : await some(app, service, { reference: text })
  const [only, ...more] = [...received, ...referred]
  if (only && more.length === 0) return { kind: 'message', id: only.id }
  if (referred.length > 0) return { kind: 'reference', reference: text }
  // What matches nothing may be an address with a typing error: it must not become part of an address either.
  return digests.length > 0 ? { kind: 'recipient', digests: writeDigests(digests) } : { kind: 'nothing' }
}

const LONGEST = 1_000

async function some(app: SearchApp, service: Service, filters: Partial<Filters>) {
  const browsing = await browsingOf(app, service, { ...NO_FILTERS, ...filters }, null, 2)
  return browsing === null ? [] : readPage(app.db.sql, browsing)
}

async function isKept({ db, clock }: SearchApp, service: Service, id: Id): Promise<boolean> {
  const found = await story(db.sql, service.id, id, 1)
  return found !== null && !isExpired(clock, service, found)
}

const writeDigests = (digests: readonly Buffer[]) => digests.map(one => one.toString('hex')).join('.')

/** Null: not digests. */
export const readDigests = (text: string): Buffer[] | null =>
  /^[0-9a-f]{14}(\.[0-9a-f]{14}){0,19}$/.test(text) ? text.split('.').map(one => Buffer.from(one, 'hex')) : null
