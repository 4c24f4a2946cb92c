import { readFileSync } from 'node:fs'
import { UsageError } from './command.ts'

/** The text of a file that an option names; - reads standard input. */
export function readGiven(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = { ENOENT: 'does not exist', EISDIR: 'is a folder', EACCES: 'may not be read by this user' }[code]
    throw new UsageError(`The file ${file} ${why ?? `cannot be read (${code})`}.`)
  }
}
