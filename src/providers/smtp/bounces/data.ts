// The message of one DATA command.

/** A report may carry the whole original message. It is received to its end, but only its beginning is kept. */
const MOST_KEPT = 1_048_576

/** Collects until CRLF.CRLF and nothing else (reliability S-12). */
export function createData() {
  const kept: string[] = []
  let keptSize = 0
  let size = 0
  // The end mark may stand at the very beginning, and may be split between two chunks.
  let tail = '\r\n'
  return {
    size: () => size,
    /** Returns what follows the end mark, or null while the end mark has not come. */
    take(chunk: string): string | null {
      const joined = tail + chunk
      const at = joined.indexOf('\r\n.\r\n')
      const mine = at === -1 ? chunk : joined.slice(tail.length, Math.max(at + 2, tail.length))
      size += mine.length
      if (keptSize < MOST_KEPT) {
        kept.push(mine.slice(0, MOST_KEPT - keptSize))
        keptSize += mine.length
      }
      if (at !== -1) return joined.slice(at + 5)
      tail = joined.slice(-4)
      return null
    },
    /** The beginning of the message, without dot stuffing. */
    text: () => `\r\n${kept.join('')}`.replaceAll('\r\n..', '\r\n.').slice(2),
  }
}
