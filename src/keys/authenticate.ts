// Authentication: from the Authorization header to the caller (contract 3). The order of the checks decides which error a caller sees.
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { openable, type Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { after } from '../runtime/after.ts'
import { createCache } from '../runtime/cache.ts'
import type { Services } from '../services/load.ts'
import type { LoadedService } from '../services/sql.ts'
import { type Caller, hasEnded, type Key, type KeyPrefix, readKey } from './key.ts'
import { createMarks } from './marks.ts'
import { refuse } from './refusals.ts'
import { byDigest, markUsed, ofService, type StoredKey } from './sql.ts'
import { createThrottle } from './throttle.ts'
import { isSignedWith, readToken, type Token } from './token.ts'

export type Headers = { authorization?: string | undefined; date?: string | undefined }

export type Authenticate = {
  /**
   * The caller at once if key and service are in memory. Otherwise a promise, which rejects with a refusal; after many failures from
   * one address the refusal is delayed (throttle.ts).
   */
  (headers: Headers, addressOf: () => string): Caller | Promise<Caller>
  /** The key that was refused, for the request log; null: it is not known. */
  refusedKey(error: unknown): Key | null
  drop(service: string): void
  clear(): void
}

type App = {
  sql: Sql
  clock: Clock
  seal: Seal
  services: Services
  keyPrefix: KeyPrefix
  onFault(error: unknown): void
}
type OpenedKey = StoredKey & { secret: string }

const ALLOWED_SKEW_SECONDS = 30

export function createAuthenticate(app: App): Authenticate {
  const { sql, clock, seal, services } = app
  const keys = createCache(
    clock,
    async (text: string): Promise<StoredKey | null> => {
      const parts = readKey(app.keyPrefix, text)
      // Timing must not reveal how close a guess came: malformed keys are digested too, and only digests are compared.
      const digests = seal.digests('key secret', parts?.secret ?? text)
      const key = parts && (await byDigest(sql, digests))
      return key && key.service_id === parts.serviceId ? key : null
    },
    { ownerOf: (_text, key) => key?.service_id ?? null },
  )
  const keysOfService = createCache(
    clock,
    async (service: Id): Promise<OpenedKey[]> => {
      const stored = await ofService(sql, service)
      // A key that no configured secret opens signs nothing, and the other keys of the service go on working.
      return stored.flatMap(key => {
        const secret = openable(seal, 'key secret', key.secret_sealed)
        return secret ? [{ ...key, secret: secret.toString('utf8') }] : []
      })
    },
    { ownerOf: service => service },
  )
  const marks = createMarks(clock)
  const throttle = createThrottle(clock)
  const refusedKeys = new WeakMap<object, Key>()
  const refused = (key: Key, refusal: Refusal): Refusal => {
    refusedKeys.set(refusal, key)
    return refusal
  }

  function authenticate(headers: Headers, addressOf: () => string): Caller | Promise<Caller> {
    const failed = async (error: unknown): Promise<Caller> => {
      if (error instanceof Refusal) await throttle.failed(addressOf())
      throw error
    }
    try {
      const caller = callerBy(headers)
      return caller instanceof Promise ? caller.catch(failed) : caller
    } catch (error) {
      return failed(error)
    }
  }

  function callerBy({ authorization, date }: Headers): Caller | Promise<Caller> {
    const [scheme = '', rest = ''] = split(authorization ?? '')
    if (scheme === '') throw refuse.noToken()
    switch (scheme.toLowerCase()) {
      case 'apikey-v1':
        return after(byKey(rest, date), used)
      case 'bearer':
        return byToken(rest).then(used)
      default:
        throw refuse.otherScheme()
    }
  }

  function byKey(text: string, date: string | undefined): Caller | Promise<Caller> {
    return after(keys.get(text), key => {
      if (!key) throw refuse.unknownKey()
      if (hasEnded(key, clock.now())) throw refused(key, refuse.revoked())
      return after(services.get(key.service_id), service => callerWith(key, service, date))
    })
  }

  function callerWith(key: Key, service: LoadedService | null, date: string | undefined): Caller {
    if (!service) throw refuse.unknownKey()
    if (service.state === 'archived') throw refused(key, refuse.archivedService())
    const sentAt = date === undefined ? Number.NaN : Date.parse(date)
    if (!Number.isNaN(sentAt) && isSkewed(sentAt / 1000)) throw refused(key, refuse.clock())
    return { service, key }
  }

  async function byToken(text: string): Promise<Caller> {
    const token = readToken(text)
    if (!token) throw refuse.undecodable()
    if (token.issuer === undefined || token.issuer === null || token.issuer === '') throw refuse.noIssuer()
    const id = readId(token.issuer)
    if (!id) throw refuse.issuerNotId()
    const service = await services.get(id)
    if (!service) throw refuse.unknownService()
    const candidates = await keysOfService.get(id)
    if (candidates.length === 0) throw refuse.noKeys()
    if (service.state === 'archived') throw refuse.archivedService()
    const key = await keyOf(token, candidates)
    if (hasEnded(key, clock.now())) throw refused(key, refuse.revoked())
    return { service, key }
  }

  async function keyOf(token: Token, candidates: readonly OpenedKey[]): Promise<Key> {
    let found: OpenedKey | undefined
    // Every key is tried, even after a match: timing must not reveal which one matched.
    for (const key of candidates) if (isSignedWith(token, key.secret) && !found) found = key
    if (!found || token.algorithm !== 'HS256' || typeof token.issuedAt !== 'number') throw refuse.noKeyFits()
    if (isSkewed(token.issuedAt)) throw refused(found, refuse.clock())
    return found
  }

  // Compares whole seconds: a difference of 30 is accepted, 31 is not.
  const isSkewed = (seconds: number) =>
    Math.abs(Math.floor(clock.now() / 1000) - Math.floor(seconds)) > ALLOWED_SKEW_SECONDS

  function used(caller: Caller): Caller {
    const { id } = caller.key
    // The request does not depend on `last_used_at`: it neither waits for the update nor fails with it.
    if (marks.isDue(id)) markUsed(sql, [id]).catch(app.onFault)
    return caller
  }

  return Object.assign(authenticate, {
    refusedKey: (error: unknown) => (error instanceof Refusal ? (refusedKeys.get(error) ?? null) : null),
    drop(service: string) {
      keys.drop(service)
      keysOfService.drop(service)
    },
    clear() {
      keys.clear()
      keysOfService.clear()
    },
  })
}

function split(header: string): [string, string] {
  const trimmed = header.trim()
  const space = trimmed.search(/\s/)
  return space === -1 ? [trimmed, ''] : [trimmed.slice(0, space), trimmed.slice(space).trim()]
}
