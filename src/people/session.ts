// Being signed in: a token in a cookie, its digest in the database. 12 hours without a request or 7 days in all end it. What a
// person may do is read with every request, so a change counts from the next one.
import { type Clock, fromMicros, type Timestamp, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { actorWhoSignsIn, type Person, type Session, type SignedIn, type SignInMethod } from './person.ts'
import {
  addSession,
  listSessions as list,
  readSession as read,
  readSessionById,
  renewSession,
  type Validity,
  endSession as writeEnd,
  endOtherSessions as writeEndOthers,
} from './sql/sessions.ts'
import { digestOf, isToken, newToken } from './token.ts'

export type SessionApp = { db: { sql: Sql }; clock: Clock }
type Ids = { ids: { next(): Id } }

const MINUTE = 60_000_000
const HOUR = 60 * MINUTE
export const IDLE_HOURS = 12
export const MOST_DAYS = 7
/** Sensitive acts want a proof of who it is that is not older. */
export const FRESH_MINUTES = 10

export function validityAt(clock: Clock): Validity {
  const now = clock.micros()
  return {
    now: fromMicros(now),
    idleSince: fromMicros(now - IDLE_HOURS * HOUR),
    begunSince: fromMicros(now - MOST_DAYS * 24 * HOUR),
    unseenSince: fromMicros(now - MINUTE),
  }
}

/**
 * Always with a new token: one that an attacker has placed in the browser becomes nothing. `before`: the token that the browser had;
 * its session ends. `provedAt`: when they proved who they are, in milliseconds, if that was not now; null: it is not known.
 */
export async function startSession(
  app: SessionApp & Ids,
  person: Pick<Person, 'id' | 'email_address' | 'name'>,
  { method, device, before = null, provedAt }: NewSession,
): Promise<{ token: string; session: Session }> {
  const token = newToken()
  const micros = app.clock.micros()
  const now = fromMicros(micros)
  const signed_in_at = provedAt === undefined ? now : fromMicros(provedMicros(micros, provedAt))
  const session = { id: app.ids.next(), method, device, created_at: now, signed_in_at, last_seen_at: now }
  await addSession(
    app.db.sql,
    { ...session, person_id: person.id, token_digest: digestOf(token) },
    isToken(before) ? digestOf(before) : null,
    actorWhoSignsIn(person),
  )
  return { token, session }
}

type NewSession = { method: SignInMethod; device: string; before?: string | null; provedAt?: number | null | undefined }

/** A proof whose time is not known is too old for a sensitive act. The clock of the provider may be ahead. */
const provedMicros = (now: number, provedAt: number | null): number =>
  provedAt === null ? now - (FRESH_MINUTES + 1) * MINUTE : Math.min(provedAt * 1_000, now)

/** Null: not signed in, or not any longer. */
export async function readSession(app: SessionApp, token: unknown): Promise<SignedIn | null> {
  return isToken(token) ? read(app.db.sql, digestOf(token), validityAt(app.clock)) : null
}

/** The same session as it is now, for an answer that takes long. Returns null if it has ended. */
export const readAgain = (app: SessionApp, { session }: SignedIn): Promise<SignedIn | null> =>
  readSessionById(app.db.sql, session.id, validityAt(app.clock))

export const listSessions = (app: SessionApp, person: Id): Promise<Session[]> =>
  list(app.db.sql, person, validityAt(app.clock))

/** One of the person's own sessions; the current one: they sign out. False: there is none with this id. */
export async function endSession(app: SessionApp, { person, session }: SignedIn, id: Id): Promise<boolean> {
  const action = id === session.id ? 'signed out' : 'session ended'
  return (await writeEnd(app.db.sql, person.id, id, action, actorWhoSignsIn(person))).length > 0
}

/** Everywhere but here. Returns how many have ended. */
export const endOtherSessions = async (app: SessionApp, { person, session }: SignedIn): Promise<number> =>
  (await writeEndOthers(app.db.sql, person.id, session.id, actorWhoSignsIn(person))).length

/** Whether the last proof of who it is suffices for a sensitive act. */
export const isFresh = ({ clock }: { clock: Clock }, session: Pick<Session, 'signed_in_at'>): boolean =>
  clock.now() - millisOf(session.signed_in_at) <= FRESH_MINUTES * 60_000

/** After a new proof of who it is. The session goes on with a new token; null: it has ended meanwhile. */
export async function confirmAgain(
  app: SessionApp,
  { person, session }: SignedIn,
  method: SignInMethod,
): Promise<string | null> {
  const token = newToken()
  const now = fromMicros(app.clock.micros())
  const renewed = await renewSession(
    app.db.sql,
    { id: session.id, person_id: person.id, method, token_digest: digestOf(token), now },
    actorWhoSignsIn(person),
  )
  return renewed.length > 0 ? token : null
}

const millisOf = (at: Timestamp) => Date.parse(zulu(at))
