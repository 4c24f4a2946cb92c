// After a change of the sealing secret, the next start seals all keys with the new one. Messages are not resealed: the old secret is
// needed until the last message sealed with it is purged.
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { reseal, sealedBefore } from './sql.ts'

export async function resealKeys(app: { sql: Sql; seal: Seal }): Promise<number> {
  const old = await sealedBefore(app.sql, app.seal.id)
  for (const { id, secret_sealed } of old) {
    const secret = app.seal.open(secret_sealed).toString('utf8')
    await reseal(app.sql, id, app.seal.digest(secret), app.seal.seal(secret))
  }
  return old.length
}
