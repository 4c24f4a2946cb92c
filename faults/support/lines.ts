// A file to which another process appends lines of JSON, read as it grows.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Returns the lines that were added since the last call. A line that is not complete yet is returned later. */
export function followLines<T>(file: string): () => T[] {
  let read = 0
  return () => {
    const log = openSync(file, 'r')
    const bytes = Buffer.alloc(Math.max(0, fstatSync(log).size - read))
    readSync(log, bytes, 0, bytes.length, read)
    closeSync(log)
    const end = bytes.lastIndexOf('\n') + 1
    read += end
    const lines = bytes.toString('utf8', 0, end).split('\n')
    return lines.filter(line => line !== '').map(line => JSON.parse(line) as T)
  }
}
