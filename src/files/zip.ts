// Reads the directory of a ZIP archive without inflating anything (APPNOTE 6.3.10; S-17). An archive that contradicts itself is
// rejected, because two programs could read it differently. Sizes are computed, not taken from the headers.
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
/** Below this size a high compression ratio is accepted: a sheet of equal cells compresses well. */
const HARMLESS_BYTES = 4 * 1024 * 1024

const NOT_OURS: Directory = { ok: false }

/** The position of the end of central directory record; -1 when there is none. */
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
  // One disk, no ZIP64 (6 MB never need it), and the directory directly before its end record.
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
    if (!isSafeName(entry.name) || !hasLocalHeader(content, entry, start, at + 46, nameLength)) return NOT_OURS
    entries.push(entry)
    at = next
  }
  if (at !== end || !isPlausible(entries, content.length)) return NOT_OURS
  return entries.every(entry => isConsistent(content, entry)) ? { ok: true, entries } : NOT_OURS
}

/** The local header must have the same name as the directory. */
function hasLocalHeader(
  content: Buffer,
  { offset, compressed }: Entry,
  start: number,
  nameAt: number,
  nameLength: number,
) {
  if (offset + 30 > start || content.readUInt32LE(offset) !== LOCAL) return false
  if (content.readUInt16LE(offset + 26) !== nameLength) return false
  if (content.compare(content, nameAt, nameAt + nameLength, offset + 30, offset + 30 + nameLength) !== 0) return false
  return dataOf(content, offset) + compressed <= start
}

/** The position of an entry's data. */
export const dataOf = (content: Buffer, offset: number) =>
  offset + 30 + content.readUInt16LE(offset + 26) + content.readUInt16LE(offset + 28)

const isSafeName = (name: string) => !/^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\u0000/.test(name)

/** The sizes were not known when the local header was written, so it may omit them. */
const STREAMED = 8

/** The local header agrees with the directory, and the data has the size that both give. */
function isConsistent(content: Buffer, { offset, method, compressed, size }: Entry): boolean {
  const isStreamed = (content.readUInt16LE(offset + 6) & STREAMED) !== 0
  const says = (at: number, value: number) =>
    content.readUInt32LE(offset + at) === value || (isStreamed && content.readUInt32LE(offset + at) === 0)
  if (content.readUInt16LE(offset + 8) !== method || !says(18, compressed) || !says(22, size)) return false
  const at = dataOf(content, offset)
  return method === 0 || inflatedSize(content.subarray(at, at + compressed), size) === size
}

// Decompression bombs have overlapping entries, or a compression ratio that no document has.
function isPlausible(entries: readonly Entry[], length: number): boolean {
  const inOrder = [...entries].sort((a, b) => a.offset - b.offset)
  for (let n = 1; n < inOrder.length; n++) {
    const [before, next] = [inOrder[n - 1], inOrder[n]]
    if (before && next && before.offset + 30 + before.compressed > next.offset) return false
  }
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (entries.some(entry => entry.size > HARMLESS_BYTES && entry.size > entry.compressed * MOST_RATIO)) return false
  return total <= HARMLESS_BYTES || total <= length * MOST_RATIO
}
