// The inbox of a service, or that of the installation, and what is looked at in it. What is searched for never stands in an address:
// a recipient is a digest, and words are sealed for the person who searched.
import type { Id } from '../../core/id.ts'
import { readId } from '../../core/id.ts'
import { readToken, writeToken } from '../../core/token.ts'
import type { Looking } from '../../inbox/look.ts'
import { OF_NOBODY, scopeOfService } from '../../inbox/read.ts'
import type { Scope } from '../../inbox/sql.ts'
import type { Reader } from '../../limits/reads.ts'
import type { ServiceVisit, SignedInVisit } from '../page.ts'

export type InboxPlace = {
  /** Without the path of the console. */
  base: string
  scope: Scope
  /** Null: of the installation. */
  service: ServiceVisit['service'] | null
  nav: string
}

export function placeOf(visit: SignedInVisit): InboxPlace {
  const service = 'service' in visit ? (visit as ServiceVisit).service : null
  return service
    ? { base: `/s/${service.id}/inbox`, scope: scopeOfService(service.id), service, nav: 'inbox' }
    : { base: '/operator/inbox', scope: OF_NOBODY, service: null, nav: 'all-inbox' }
}

export const appOf = ({ parts }: SignedInVisit) => ({ ...parts, sql: parts.db.sql })

/** Who reads what an answer needs later. */
export const readerOf = ({ actor }: SignedInVisit, { service }: InboxPlace): Reader => ({
  owner: service?.id ?? actor.id,
  person: actor.id,
})

/** As the address has it. */
export type Given = { to?: string; words?: string; before?: string }

const HEX = /^[0-9a-f]{14}$/
/** Four for each sealing secret: of two ciphers, in two formats. */
const MOST_DIGESTS = 32

export function givenIn(query: URLSearchParams): Given {
  const given: Given = {}
  for (const name of ['to', 'words', 'before'] as const) {
    const value = query.get(name)
    if (value) given[name] = value
  }
  return given
}

export function lookingFor(visit: SignedInVisit, { to, words, before }: Given): Looking {
  return {
    digests: to === undefined ? null : to.split('.').slice(0, MOST_DIGESTS).filter(isHex).map(fromHex),
    words: words === undefined ? '' : wordsIn(visit, words),
    before: before === undefined ? null : readId(before),
  }
}

const isHex = (text: string) => HEX.test(text)
const fromHex = (text: string) => Buffer.from(text, 'hex')

export const writeDigests = (digests: readonly Buffer[]) => digests.map(digest => digest.toString('hex')).join('.')

export const MOST_WORDS = 200

export const sealWords = ({ parts, actor }: SignedInVisit, words: string) =>
  writeToken(parts.seal, 'inbox search', { person: actor.id, words: words.slice(0, MOST_WORDS) }, parts.clock.now())

/** Empty when the token has expired, was changed, or is another person's: nothing is searched for. */
function wordsIn({ parts, actor }: SignedInVisit, token: string): string {
  const search = readToken(parts.seal, 'inbox search', ['person', 'words'], token, parts.clock.now())
  return search?.person === actor.id ? search.words.slice(0, MOST_WORDS) : ''
}

/** A path of this inbox that keeps what is looked at. */
export function pathOf({ base }: InboxPlace, id: Id | null, given: Given, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...given, ...more }).toString()
  return `${base}${id ? `/${id}` : ''}${query ? `?${query}` : ''}`
}
