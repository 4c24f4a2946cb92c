// Reads server replies from a stream of bytes (RFC 5321, 4.2). Replies may be split over packets anywhere; the bytes kept for
// an unfinished reply are bounded.
import { isAscii } from '../address.ts'

export type ReplyReader = {
  /** Adds bytes as they came, one character per octet. */
  feed(text: string): void
  /**
   * The next whole reply, its lines joined by LF, each with its code; null while it is not complete, and always once the
   * server has broken the protocol.
   */
  next(): string | null
  /** How the server broke the protocol, or null. */
  violation(): string | null
  /** True when bytes have arrived that no reply has used. */
  hasUnread(): boolean
}

export const LONGEST_REPLY = 16_384
/** EHLO of a large provider has about fifteen lines. */
export const MOST_LINES = 200

export function createReplyReader(): ReplyReader {
  let buffered = ''
  /** Where the next line begins in `buffered`. */
  let from = 0
  /** The finished lines of an unfinished reply. */
  let lines = ''
  let count = 0
  let violation: string | null = null

  function next(): string | null {
    for (;;) {
      const end = violation === null ? buffered.indexOf('\n', from) : -1
      if (end === -1) return unfinished()
      const line = buffered.slice(from, end > from && buffered.charCodeAt(end - 1) === CR ? end - 1 : end)
      from = end + 1
      count += 1
      if (!isReplyLine(line) || (lines !== '' && !line.startsWith(lines.slice(0, 3)))) return violated(NOT_SMTP)
      const reply = lines === '' ? line : `${lines}\n${line}`
      if (reply.length > LONGEST_REPLY || count > MOST_LINES) return violated(TOO_LONG)
      const isLast = line.charCodeAt(3) !== HYPHEN
      lines = isLast ? '' : reply
      if (!isLast) continue
      count = 0
      return reply
    }
  }

  function unfinished(): null {
    if (from > 0) buffered = buffered.slice(from)
    from = 0
    return buffered.length > LONGEST_REPLY ? violated(TOO_LONG) : null
  }

  function violated(how: string): null {
    violation ??= how
    buffered = ''
    lines = ''
    from = 0
    return null
  }

  return {
    feed(text) {
      if (violation !== null) return
      buffered = from >= buffered.length ? text : buffered.slice(from) + text
      from = 0
    },
    next,
    violation: () => violation,
    hasUnread: () => from < buffered.length || lines !== '',
  }
}

const CR = 13
const SPACE = 32
const HYPHEN = 45
const NOT_SMTP = 'The provider does not speak SMTP'
const TOO_LONG = 'The provider does not stop talking'

const isDigit = (code: number) => code >= 48 && code <= 57

/** Three digits, then a space, a hyphen or nothing. */
function isReplyLine(line: string): boolean {
  if (line.length < 3) return false
  if (!isDigit(line.charCodeAt(0)) || !isDigit(line.charCodeAt(1)) || !isDigit(line.charCodeAt(2))) return false
  return line.length === 3 || line.charCodeAt(3) === SPACE || line.charCodeAt(3) === HYPHEN
}

/** The class of a reply by its first digit. */
export const isPositive = (reply: string) => reply.startsWith('2')
export const isClosing = (reply: string) => reply.startsWith('421')

/** Replies are bytes of no declared charset; most are UTF-8 (RFC 6531, 3.7.4). */
export const decoded = (reply: string) => (isAscii(reply) ? reply : Buffer.from(reply, 'latin1').toString('utf8'))

/** Text as the octets of its UTF-8, one character each. */
export const byteString = (text: string) => (isAscii(text) ? text : Buffer.from(text).toString('latin1'))
