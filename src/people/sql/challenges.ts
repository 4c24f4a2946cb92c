// What an answer of a passkey or of a single sign-on provider is checked against. Each is used once, by the browser that it was
// made for.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'

export type ChallengeKind = 'passkey-added' | 'passkey-used' | 'single-sign-on'

export type Challenge = {
  id: Id
  kind: ChallengeKind
  /** Whose passkey is added, or who confirms; null: somebody signs in. */
  person_id: Id | null
  browser_digest: Buffer
  sealed: Buffer
}

export const keepChallenge = (sql: Sql, c: Challenge, seconds: number) => sql`
  insert into sign_in_challenges (id, kind, person_id, browser_digest, sealed, expires_at)
  values (${c.id}, ${c.kind}, ${c.person_id}, ${c.browser_digest}, ${c.sealed}, now() + make_interval(secs => ${seconds}))`

/** Null: there is none, it is another browser's, or its time is over. */
export async function takeChallenge(
  sql: Sql,
  { id, kind, browser }: { id: Id; kind: ChallengeKind; browser: Buffer },
): Promise<Pick<Challenge, 'person_id' | 'sealed'> | null> {
  const [taken] = await sql<Pick<Challenge, 'person_id' | 'sealed'> & { is_over: boolean }>`
    delete from sign_in_challenges
    where id = ${id}
      and kind = ${kind}
      and browser_digest = ${browser}
    returning person_id, sealed, expires_at <= now() as is_over`
  return taken && !taken.is_over ? taken : null
}

const CHALLENGES = {
  table: part`sign_in_challenges`,
  time: part`expires_at`,
  key: part`id`,
  match: part`t.id = old.id`,
}

export const purgeChallenges = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, CHALLENGES, part`now()`, after, most)
