// What the database refuses although the file was checked: something is in it already.
import type { Row } from '../db/connect.ts'
import { isDataError } from '../db/errors.ts'

/** A sentence without values of the file, which may be personal, but with an id; null: the error is not one of the data. */
export function conflictOf(error: unknown): string | null {
  if (!isDataError(error)) return null
  const { table, constraint, detail, code } = error as Row
  const id = /\(id\)=\(([0-9a-f-]{36})\)/.exec(String(detail ?? ''))?.[1]
  if (id) return `The id ${id} (${table}) belongs to another service here.`
  if (constraint === 'keys_secret_digest_key') return 'A key has the secret of another key here.'
  return `It does not fit into this database (${table ?? 'a value'}: ${constraint ?? code}).`
}
