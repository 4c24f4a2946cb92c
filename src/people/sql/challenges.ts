// Challenges that were answered: of passkeys, and the states of single sign-on. Versions before 0.3 stored the others, too, in
// sign_in_challenges; what they left is purged.
import type { Timestamp } from '../../core/clock.ts'
import type { Id } from '../../core/id.ts'
import { type Part, part, type Sql } from '../../db/connect.ts'
import { purgeAged } from '../../db/purge.ts'

/** Nothing is returned when it was spent before. */
export const addSpentChallenge = (sql: Sql, id: Id, seconds: number) => sql`
  insert into spent_challenges (id, expires_at)
  values (${id}, now() + make_interval(secs => ${seconds}))
  on conflict (id) do nothing
  returning id`

export const findSpentChallenge = (sql: Sql, id: Id) => sql`select from spent_challenges where id = ${id}`

const aged = (table: Part) => ({ table, time: part`expires_at`, key: part`id`, match: part`t.id = old.id` })

export const purgeChallenges = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, aged(part`sign_in_challenges`), part`now()`, after, most)

export const purgeSpentChallenges = (sql: Sql, after: Timestamp | null, most: number) =>
  purgeAged(sql, aged(part`spent_challenges`), part`now()`, after, most)
