// Checks the total size of all values (contract 2.4, phase B).
import { type Channel, PLAIN } from '../channels/plain.ts'
import { decimal } from '../core/number.ts'
import { type Contents, contentProblems, isFile } from '../files/file.ts'
import { codePoints } from '../rendering/characters.ts'
import type { Values } from '../rendering/placeholders.ts'

const MOST = 51_200

/** For a body that its schema has accepted. Files are checked where the channel takes them. */
export function personalisationProblems(
  channel: Channel,
  values: Values,
  contents: Contents,
  show: (value: unknown) => string,
): string[] {
  const size = Object.values(values).reduce((sum: number, value) => sum + (isFile(value) ? 0 : lengthOf(value)), 0)
  const large =
    size > MOST
      ? [`Personalisation variables size of ${size} bytes is greater than allowed limit of ${MOST} bytes.`]
      : []
  return PLAIN[channel].takesFiles ? [...large, ...contentProblems(values, contents, show)] : large
}

/** Length of the text form, counted as the reference implementation does: items of a list are quoted, with `, ` between them. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return /[\ud800-\udbff]/.test(value) ? codePoints(value) : value.length
  if (value === null) return 4
  if (typeof value === 'boolean') return value ? 4 : 5
  if (Array.isArray(value))
    return (
      2 +
      value.reduce((sum: number, item) => sum + lengthOf(item) + (typeof item === 'string' ? 2 : 0), 0) +
      2 * Math.max(0, value.length - 1)
    )
  if (typeof value === 'object')
    return 2 + Object.entries(value as object).reduce((sum, [key, item]) => sum + key.length + 6 + lengthOf(item), 0)
  return decimal(value as number | bigint).length
}

/** Every sentence of this file, for docs/errors.md. */
export const sentences = [
  'Personalisation variables size of <n> bytes is greater than allowed limit of 51200 bytes.',
] as const
