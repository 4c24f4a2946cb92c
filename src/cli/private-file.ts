import { rmSync, writeFileSync } from 'node:fs'
import { UsageError } from './command.ts'

/** Writes a file that only its owner may read. It must not exist; one that could not be written whole is removed. */
export function writePrivate(file: string, content: Buffer | string): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'EEXIST') throw new UsageError(`The file ${file} exists already. Give another name.`)
    rmSync(file, { force: true })
    throw new Error(`The file ${file} cannot be written (${code}).`)
  }
}
