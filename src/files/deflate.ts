// Counts the bytes of a deflate stream (RFC 1951) without producing them: constant memory, and time linear in the compressed
// size, so a decompression bomb costs no more than an ordinary document. zlib would have to inflate it.

/** Null for an invalid stream, one that does not end with its bytes, or one that becomes more than `most` bytes. */
export function inflatedSize(data: Uint8Array, most: number): number | null {
  const bits = createBits(data)
  let size = 0
  for (let isLast = false; !isLast; ) {
    isLast = bits.take(1) === 1
    const kind = bits.take(2)
    const codes = kind === 1 ? FIXED : kind === 2 ? readCodes(bits) : null
    const added = kind === 0 ? stored(bits) : codes && compressed(bits, codes, size, most)
    if (added === null || bits.isOver()) return null
    size += added
    if (size > most) return null
  }
  return bits.isAtEnd() ? size : null
}

type Bits = ReturnType<typeof createBits>
type Code = { counts: Uint16Array; symbols: Uint16Array }
type Codes = { literals: Code; distances: Code }

/** Reads bits, the lowest of each byte first. Beyond the end bits are zero and `isOver` is true. */
function createBits(data: Uint8Array) {
  let at = 0
  const last = data.length * 8
  return {
    take(count: number): number {
      let value = 0
      for (let n = 0; n < count; n++, at++) value |= (((data[at >> 3] ?? 0) >> (at & 7)) & 1) << n
      return value
    },
    /** The next symbol of a canonical Huffman code, read bit by bit; -1 when no code matches. */
    symbol({ counts, symbols }: Code): number {
      let [code, first, index] = [0, 0, 0]
      for (let length = 1; length <= 15; length++, at++) {
        code |= ((data[at >> 3] ?? 0) >> (at & 7)) & 1
        const count = counts[length] ?? 0
        if (code - count < first) {
          at++
          return symbols[index + (code - first)] ?? -1
        }
        index += count
        first = (first + count) << 1
        code <<= 1
      }
      return -1
    },
    toByte() {
      at = (at + 7) & ~7
    },
    skip(bytes: number) {
      at += bytes * 8
    },
    isOver: () => at > last,
    isAtEnd: () => at <= last && last - at < 8,
  }
}

function stored(bits: Bits): number | null {
  bits.toByte()
  const length = bits.take(16)
  if (bits.take(16) !== (~length & 0xffff)) return null
  bits.skip(length)
  return length
}

const END = 256
/** Base lengths and their extra bits (RFC 1951, 3.2.5). */
const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
]
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]

function compressed(bits: Bits, { literals, distances }: Codes, before: number, most: number): number | null {
  for (let size = 0; before + size <= most; ) {
    const symbol = bits.symbol(literals)
    if (symbol === END) return size
    if (symbol === -1 || bits.isOver()) return null
    if (symbol < END) {
      size++
      continue
    }
    const length = LENGTHS[symbol - 257]
    if (length === undefined) return null
    const copied = length + bits.take(LENGTH_BITS[symbol - 257] ?? 0)
    const distance = bits.symbol(distances)
    if (distance === -1 || distance > 29) return null
    const more = Math.max(0, (distance >> 1) - 1)
    const back = (distance < 2 ? distance : (2 + (distance & 1)) << more) + bits.take(more) + 1
    if (back > before + size) return null
    size += copied
  }
  return null
}

const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** The code tables at the beginning of a block with dynamic Huffman codes. */
function readCodes(bits: Bits): Codes | null {
  const [literals, distances, given] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4]
  if (literals > 286 || distances > 30) return null
  const lengths = new Uint8Array(320)
  for (const place of ORDER.slice(0, given)) lengths[place] = bits.take(3)
  const code = codeOf(lengths.subarray(0, 19), false)
  if (!code) return null
  lengths.fill(0)
  for (let at = 0; at < literals + distances; ) {
    const symbol = bits.symbol(code)
    if (symbol === -1 || bits.isOver()) return null
    if (symbol < 16) {
      lengths[at++] = symbol
      continue
    }
    if (symbol === 16 && at === 0) return null
    const value = symbol === 16 ? (lengths[at - 1] ?? 0) : 0
    const times = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7)
    if (at + times > literals + distances) return null
    lengths.fill(value, at, at + times)
    at += times
  }
  const [one, other] = [codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals, literals + distances))]
  return one && other && lengths[END] !== 0 ? { literals: one, distances: other } : null
}

/** Null for an over-subscribed or incomplete set of codes. A single code may be incomplete, as zlib writes it. */
function codeOf(lengths: Uint8Array, mayBeSingle = true): Code | null {
  const counts = new Uint16Array(16)
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1
  counts[0] = 0
  const starts = new Uint16Array(17)
  let room = 1
  for (let length = 1; length <= 15; length++) {
    room = room * 2 - (counts[length] ?? 0)
    if (room < 0) return null
    starts[length + 1] = (starts[length] ?? 0) + (counts[length] ?? 0)
  }
  const longest = counts.findLastIndex(count => count > 0)
  if (room > 0 && longest !== -1 && !(mayBeSingle && longest === 1)) return null
  const symbols = new Uint16Array(lengths.length)
  lengths.forEach((length, symbol) => {
    if (length === 0) return
    symbols[starts[length] ?? 0] = symbol
    starts[length] = (starts[length] ?? 0) + 1
  })
  return { counts, symbols }
}

const FIXED = ((): Codes => {
  const lengths = Uint8Array.from({ length: 288 }, (_, n) => (n < 144 ? 8 : n < 256 ? 9 : n < 280 ? 7 : 8))
  const [literals, distances] = [codeOf(lengths), codeOf(new Uint8Array(32).fill(5))]
  if (!literals || !distances) throw new Error('the fixed codes of deflate are wrong')
  return { literals, distances }
})()
