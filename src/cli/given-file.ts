import { readFileSync } from 'node:fs'
import { UsageError } from './command.ts'

/** The bytes of a file that an option names; - reads standard input. */
export function readGivenBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = { ENOENT: 'does not exist', EISDIR: 'is a folder', EACCES: 'may not be read by this user' }[code]
    throw new UsageError(`The file ${file} ${why ?? `cannot be read (${code})`}.`)
  }
}

/** Its text. Bytes that are not UTF-8 become replacement characters. */
export const readGiven = (file: string): string => readGivenBytes(file).toString('utf8')

/** Its text, which must be UTF-8: what is imported from it must not differ from it. */
export function readGivenUtf8(file: string): string {
  const bytes = readGivenBytes(file)
  if (bytes.length > LONGEST_TEXT)
    throw new UsageError(`The file ${file} is larger than ${LONGEST_TEXT / 2 ** 20} MiB.`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`The file ${file} is not UTF-8 text.`)
  }
}

/** No longer text fits into one string. */
const LONGEST_TEXT = 511 * 2 ** 20
