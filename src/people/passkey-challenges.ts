// Challenges of passkeys are sealed tokens for one use, one browser and five minutes: anyone can ask for one, so nothing is stored
// until it was answered by a passkey that fits. From then on a row says that it was used.
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import { readToken, writeToken } from '../core/token.ts'
import type { Sql } from '../db/connect.ts'
import { addSpentChallenge, findSpentChallenge } from './sql/challenges.ts'
import { nameOfBrowser } from './token.ts'

export type PasskeyApp = {
  db: { sql: Sql }
  clock: Pick<Clock, 'now'>
  ids: { next(): Id }
  seal: Pick<Seal, 'sealToken' | 'openToken'>
}

/** What a passkey answers for. A challenge for one of them is worth nothing for another. */
export type ChallengePurpose = 'passkey sign-in' | 'passkey confirmation' | 'passkey registration'

/** `person`: who confirms or adds a passkey; null: someone signs in. */
type Asker = { browser: string; person: Id | null }

/** `challenge`: what the passkey signs. */
export const challengeToken = (
  { seal, clock, ids }: PasskeyApp,
  purpose: ChallengePurpose,
  { browser, person }: Asker,
  challenge: string,
): string => {
  const fields = { id: ids.next(), browser: nameOfBrowser(browser), person: person ?? '', challenge }
  return writeToken(seal, purpose, fields, clock.now())
}

/** Returns null unless the token is for this purpose, browser and person, and has not expired. */
export function readChallenge(
  { seal, clock }: PasskeyApp,
  purpose: ChallengePurpose,
  { browser, person }: Asker,
  token: string,
): { id: Id; challenge: string } | null {
  const found = readToken(seal, purpose, ['id', 'browser', 'person', 'challenge'], token, clock.now())
  const id = readId(found?.id)
  const isTheirs = found?.browser === nameOfBrowser(browser) && found.person === (person ?? '')
  return isTheirs && id ? { id, challenge: found.challenge } : null
}

/** After the answer was checked. Of two answers at the same moment one gets true. */
export const spendChallenge = async ({ db }: Pick<PasskeyApp, 'db'>, id: Id): Promise<boolean> =>
  (await addSpentChallenge(db.sql, id, SPENT_SECONDS)).length > 0

export const isSpent = async ({ db }: Pick<PasskeyApp, 'db'>, id: Id): Promise<boolean> =>
  (await findSpentChallenge(db.sql, id)).length > 0

/** Longer than a token is valid, whatever the clocks of two machines show. */
const SPENT_SECONDS = 3_600
