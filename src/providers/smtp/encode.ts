// Transfer encodings (RFC 2045, 6): the result is ASCII, has CRLF line ends only and no line over 998 characters.

export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const NOT_PLAIN = /[^\t\r\n\x20-\x7e]/
// A mailbox file would turn "From " into ">From " and so break a signature (RFC 4155).
const FROM_LINE = /^From /m

/** Plain when it may be, readable when it is mostly ASCII, else base64. */
export function encodeText(text: string): Encoded {
  const body = withCrLf(text.toWellFormed())
  if (!NOT_PLAIN.test(body) && longestLine(body) <= 900 && !FROM_LINE.test(body)) return { encoding: '7bit', body }
  const octets = Buffer.from(body)
  // Every octet outside ASCII takes three characters quoted and 1.33 in base64.
  if (octets.length - body.length > octets.length / 6) return { encoding: 'base64', body: base64Lines(octets) }
  return { encoding: 'quoted-printable', body: quotedPrintable(octets) }
}

/** Every line end, of whatever kind, becomes CRLF: a bare one could end the data early at a lenient server (S-12). */
const withCrLf = (text: string) => (/\r|[^\r]\n|^\n/.test(text) ? text.replace(/\r\n|\r|\n/g, '\r\n') : text)

/** A regular expression for it would look at every line once per character. */
function longestLine(body: string): number {
  let longest = 0
  let start = 0
  for (;;) {
    const end = body.indexOf('\r\n', start)
    if (end === -1) return Math.max(longest, body.length - start)
    if (end - start > longest) longest = end - start
    start = end + 2
  }
}

const HEX = Buffer.from('0123456789ABCDEF')
const [TAB, LF, CR, SPACE, EQUALS, F] = [9, 10, 13, 32, 61, 70]

/** RFC 2045, 6.7, octet by octet: ten times as fast as by regular expressions. Line ends are CRLF already. */
function quotedPrintable(octets: Buffer): string {
  // At worst three characters for each octet, and three more for every soft break after at least 73.
  const out = Buffer.allocUnsafe(octets.length * 3 + Math.ceil(octets.length / 24) * 3 + 3)
  let at = 0
  let column = 0
  for (let i = 0; i < octets.length; i++) {
    const code = octets[i] ?? 0
    if (code === CR) {
      out[at++] = CR
      out[at++] = LF
      i += 1
      column = 0
      continue
    }
    const plain = isPlain(octets, i, code) && !(column === 0 && code === F && isFromLine(octets, i))
    if (column + (plain ? 1 : 3) > 75) {
      out[at++] = EQUALS
      out[at++] = CR
      out[at++] = LF
      column = 0
    }
    if (plain) out[at++] = code
    else {
      out[at++] = EQUALS
      out[at++] = HEX[code >> 4] ?? 0
      out[at++] = HEX[code & 15] ?? 0
    }
    column += plain ? 1 : 3
  }
  return out.toString('latin1', 0, at)
}

/** Spaces may stand anywhere but at the end of a line. */
function isPlain(octets: Buffer, i: number, code: number): boolean {
  if (code > SPACE) return code < 127 && code !== EQUALS
  if (code !== SPACE && code !== TAB) return false
  return i + 1 < octets.length && octets[i + 1] !== CR
}

const isFromLine = (octets: Buffer, i: number) => octets.toString('latin1', i, i + 5) === 'From '

export function base64Lines(content: Buffer): string {
  // 57 octets make a line of 76 characters.
  const lines: string[] = []
  for (let at = 0; at < content.length; at += 57) lines.push(content.toString('base64', at, at + 57))
  return lines.join('\r\n')
}
