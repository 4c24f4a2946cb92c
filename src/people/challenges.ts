// Challenges live for five minutes and are bound to a browser by its cookie.
import { type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { type ChallengeKind, keepChallenge, takeChallenge } from './sql/challenges.ts'
import { digestOf } from './token.ts'

export type ChallengeApp = { db: { sql: Sql }; ids: { next(): Id }; seal: Seal }

const SECONDS = 300

/** `secret`: what the answer is checked against; it never leaves the server in the clear. */
export async function keep(
  app: ChallengeApp,
  kind: ChallengeKind,
  { id = app.ids.next(), browser, person, secret }: { id?: Id; browser: string; person: Id | null; secret: object },
): Promise<Id> {
  const row = {
    id,
    kind,
    person_id: person,
    browser_digest: digestOf(browser),
    sealed: app.seal.seal(JSON.stringify(secret)),
  }
  await keepChallenge(app.db.sql, row, SECONDS)
  return id
}

/** Null: there is none, it was used, it is another browser's, or its time is over. */
export async function take<Secret extends object>(
  app: ChallengeApp,
  kind: ChallengeKind,
  { id, browser }: { id: string; browser: string },
): Promise<{ person: Id | null; secret: Secret } | null> {
  const known = readId(id)
  if (!known) return null
  const taken = await takeChallenge(app.db.sql, { id: known, kind, browser: digestOf(browser) })
  if (!taken) return null
  return { person: taken.person_id, secret: JSON.parse(app.seal.open(taken.sealed).toString('utf8')) as Secret }
}
