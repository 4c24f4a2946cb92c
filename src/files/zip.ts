// The directory of a ZIP archive, read without inflating anything (APPNOTE 6.3.10; S-17). What contradicts itself is no
// archive of ours: two programs could read two different things from it. Sizes are counted, not believed.
import { inflatedSize } from './deflate.ts'

export type Entry = { name: string; compressed: number; size: number; method: number; offset: number }

export type Directory = { ok: true; entries: readonly Entry[] } | { ok: false }

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const END_BYTES = 22
const MOST_COMMENT = 0xffff
const MOST_ENTRIES = 10_000
const MOST_RATIO = 100
/** Below this a high ratio is no bomb: a sheet of equal cells compresses well. */
const HARMLESS_BYTES = 4 * 1024 * 1024

const NOT_OURS: Directory = { ok: false }

/** Where the directory's own record begins; -1 when the bytes do not end as an archive does. */
export function endOf(content: Buffer): number {
  const lowest = Math.max(0, content.length - END_BYTES - MOST_COMMENT)
  for (let at = content.length - END_BYTES; at >= lowest; at--)
    if (content.readUInt32LE(at) === END && at + END_BYTES + content.readUInt16LE(at + 20) === content.length) return at
  return -1
}

export function readDirectory(content: Buffer): Directory {
  const end = endOf(content)
  if (end === -1) return NOT_OURS
  const count = content.readUInt16LE(end + 10)
  const bytes = content.readUInt32LE(end + 12)
  const start = content.readUInt32LE(end + 16)
  // One disk, no 64-bit sizes (which six megabytes never need), the directory right before its record.
  if (content.readUInt32LE(end + 4) !== 0 || content.readUInt16LE(end + 8) !== count) return NOT_OURS
  if (count === 0 || count > MOST_ENTRIES || start + bytes !== end) return NOT_OURS

  const entries: Entry[] = []
  let at = start
  for (let n = 0; n < count; n++) {
    if (at + 46 > end || content.readUInt32LE(at) !== CENTRAL) return NOT_OURS
    const nameLength = content.readUInt16LE(at + 28)
    const next = at + 46 + nameLength + content.readUInt16LE(at + 30) + content.readUInt16LE(at + 32)
    if (next > end) return NOT_OURS
    const isEncrypted = (content.readUInt16LE(at + 8) & 1) === 1
    const entry: Entry = {
      name: content.toString('utf8', at + 46, at + 46 + nameLength),
      method: content.readUInt16LE(at + 10),
      compressed: content.readUInt32LE(at + 20),
      size: content.readUInt32LE(at + 24),
      offset: content.readUInt32LE(at + 42),
    }
    if (isEncrypted || (entry.method !== 0 && entry.method !== 8)) return NOT_OURS
    if (entry.method === 0 && entry.size !== entry.compressed) return NOT_OURS
    if (!isSafeName(entry.name) || !isThere(content, entry, start, at + 46, nameLength)) return NOT_OURS
    entries.push(entry)
    at = next
  }
  if (at !== end || !isModest(entries, content.length)) return NOT_OURS
  return entries.every(entry => isTrue(content, entry)) ? { ok: true, entries } : NOT_OURS
}

/** The entry itself must carry the same name as the directory says. */
function isThere(content: Buffer, { offset, compressed }: Entry, start: number, nameAt: number, nameLength: number) {
  if (offset + 30 > start || content.readUInt32LE(offset) !== LOCAL) return false
  if (content.readUInt16LE(offset + 26) !== nameLength) return false
  if (content.compare(content, nameAt, nameAt + nameLength, offset + 30, offset + 30 + nameLength) !== 0) return false
  return dataOf(content, offset) + compressed <= start
}

/** Where the bytes of an entry begin. */
export const dataOf = (content: Buffer, offset: number) =>
  offset + 30 + content.readUInt16LE(offset + 26) + content.readUInt16LE(offset + 28)

const isSafeName = (name: string) => !/^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\u0000/.test(name)

/** Written before the sizes were known: the member's own header may leave them out. */
const STREAMED = 8

/** The member's own header says what the directory says, and its bytes become what both say. */
function isTrue(content: Buffer, { offset, method, compressed, size }: Entry): boolean {
  const isStreamed = (content.readUInt16LE(offset + 6) & STREAMED) !== 0
  const says = (at: number, value: number) =>
    content.readUInt32LE(offset + at) === value || (isStreamed && content.readUInt32LE(offset + at) === 0)
  if (content.readUInt16LE(offset + 8) !== method || !says(18, compressed) || !says(22, size)) return false
  const at = dataOf(content, offset)
  return method === 0 || inflatedSize(content.subarray(at, at + compressed), size) === size
}

// Entries that lie over each other are how a small archive becomes petabytes; so is a ratio that no document has.
function isModest(entries: readonly Entry[], length: number): boolean {
  const inOrder = [...entries].sort((a, b) => a.offset - b.offset)
  for (let n = 1; n < inOrder.length; n++) {
    const [before, next] = [inOrder[n - 1], inOrder[n]]
    if (before && next && before.offset + 30 + before.compressed > next.offset) return false
  }
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (entries.some(entry => entry.size > HARMLESS_BYTES && entry.size > entry.compressed * MOST_RATIO)) return false
  return total <= HARMLESS_BYTES || total <= length * MOST_RATIO
}
