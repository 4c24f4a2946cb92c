// Finds a service by what an operator types: a name, an id or the beginning of an id.
import { type Id, readId } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { matching, type ShownService } from './sql.ts'

const SHORTEST_START = 8

/** A whole id wins over a name, a name over the beginning of an id. */
export async function find(app: { db: { sql: Sql } }, text: string): Promise<ShownService> {
  const found = await matching(app.db.sql, text, idStart(text))
  const fitting = narrowed(found, text, service => service.name === text)
  const [service] = fitting
  if (!service) throw refuse.unknownService(text)
  if (fitting.length > 1)
    throw refuse.severalServices(text, fitting.map(service => `${service.id} (${service.name})`).join(', '))
  return service
}

/** The hexadecimal digits that an id begins with, or null when the text cannot be one. */
export function idStart(text: string): string | null {
  const whole = readId(text)
  const digits = (whole ?? text).toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]+$/.test(digits) && digits.length >= SHORTEST_START && digits.length <= 32 ? digits : null
}

/** The entries of the list that match the text: by id, else by name, else by the beginning of the id. */
export function narrowed<T extends { id: Id }>(
  list: readonly T[],
  text: string,
  isCalledSo: (item: T) => boolean,
): T[] {
  const start = idStart(text)
  const readings = [
    (item: T) => item.id === readId(text),
    isCalledSo,
    (item: T) => start !== null && item.id.replaceAll('-', '').startsWith(start),
  ]
  return readings.map(fits => list.filter(fits)).find(fitting => fitting.length > 0) ?? []
}
