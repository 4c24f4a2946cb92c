// Checks that the sealing secret fits the database: a known word that was sealed on the first start must open.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Seal } from '../core/seal.ts'
import type { Sql } from './connect.ts'

const WORD = 'herald'
const SHORTEST = 32

export const secretFile = (folder: string) => join(folder, 'secret')

/** The secret in the data folder. It is generated on the first start and readable by its owner only. */
export function secretIn(folder: string): string {
  const file = secretFile(folder)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    const draft = join(folder, `secret.${process.pid}`)
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
    try {
      linkSync(draft, file) // of two first starts at the same time one creates the link, and both read the same secret
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft)
    }
  }
  const secret = readFileSync(file, 'utf8').trim()
  // A truncated file, or one written by hand, would be a weak secret.
  if (secret.length < SHORTEST)
    throw new Error(
      `The file ${file} holds ${secret.length} characters, and a secret needs at least ${SHORTEST}. Restore it from where you keep a copy; without one, what it sealed is lost.`,
    )
  return secret
}

/** Held by a start until its transaction ends: of two first starts with different secrets, the second one sees the first. */
export const lockSeal = (sql: Sql) => sql`lock table seal_checks in share row exclusive mode`

/** Of every secret that was the current one, in the order of their last start. */
export const sealChecks = (sql: Sql) => sql<{ sealed: Buffer; micros: number }>`
  select sealed, (extract(epoch from created_at) * 1000000)::bigint as micros
  from seal_checks
  order by created_at`

export const OTHER_SECRET =
  'This database was sealed with another secret. Set HERALD_SECRET to the secret of the other machines, or to the one it was made with (the file `secret` of its data folder); to replace a secret, list the old one in HERALD_OLD_SECRETS.'

/** The start must not go on with these settings; the message says what to do. */
export class OtherInstallation extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OtherInstallation'
  }
}

/** Throws unless the secret that this database was last sealed with is among ours. A new current secret is recorded. */
export async function checkSeal(sql: Sql, seal: Seal): Promise<void> {
  const [last] = await sql<{ sealed: Buffer }>`
    select sealed
    from seal_checks
    order by created_at desc
    limit 1`
  if (last && !opens(seal, last.sealed)) throw new OtherInstallation(OTHER_SECRET)
  if (last && seal.isCurrent('secret check', last.sealed)) return
  await sql`
    insert into seal_checks (secret_id, sealed)
    values (${seal.secretId}, ${seal.seal('secret check', WORD)})
    on conflict (secret_id) do update
      set sealed = excluded.sealed,
          created_at = excluded.created_at`
}

function opens(seal: Seal, sealed: Buffer): boolean {
  try {
    return seal.open('secret check', sealed).toString('utf8') === WORD
  } catch {
    return false // sealed with another secret: the caller reports it
  }
}
