// Transfer encodings (RFC 2045, 6): the result is ASCII, has CRLF line ends only and no line over 998 characters.

export type Encoded = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const NOT_PLAIN = /[^\t\r\n\x20-\x7e]/
const TOO_LONG = /[^\n]{900}/
// A mailbox file would turn "From " into ">From " and so break a signature (RFC 4155).
const FROM_LINE = /^From /m

/** Plain when it may be, readable when it is mostly ASCII, else base64. */
export function encodeText(text: string): Encoded {
  const body = withCrLf(text.toWellFormed())
  if (!NOT_PLAIN.test(body) && !TOO_LONG.test(body) && !FROM_LINE.test(body)) return { encoding: '7bit', body }
  const octets = Buffer.from(body)
  // Every octet outside ASCII takes three characters quoted and 1.33 in base64.
  if (octets.length - body.length > octets.length / 6) return { encoding: 'base64', body: base64Lines(octets) }
  return { encoding: 'quoted-printable', body: quotedPrintable(octets.toString('latin1')) }
}

/** Every line end, of whatever kind, becomes CRLF: a bare one could end the data early at a lenient server (S-12). */
const withCrLf = (text: string) => (/\r|[^\r]\n|^\n/.test(text) ? text.replace(/\r\n|\r|\n/g, '\r\n') : text)

const HEX = Array.from({ length: 256 }, (_, code) => `=${code.toString(16).toUpperCase().padStart(2, '0')}`)
const quote = (char: string) => HEX[char.charCodeAt(0)] ?? ''

/** RFC 2045, 6.7. `octets` is a byte string; line ends are CRLF already. */
function quotedPrintable(octets: string): string {
  const quoted = octets
    .replace(/[^\t\r\n\x20-\x3c\x3e-\x7e]/g, quote)
    .replace(/[\t ](?=\r\n|$)/g, quote)
    .replace(/^From /gm, '=46rom ')
  if (!/[^\r\n]{77}/.test(quoted)) return quoted
  const lines = quoted.split('\r\n')
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (line.length > 76) lines[i] = softBreaks(line)
  }
  return lines.join('\r\n')
}

function softBreaks(line: string): string {
  let broken = ''
  let start = 0
  while (line.length - start > 76) {
    let end = start + 75
    // Never inside an =XX.
    if (line[end - 1] === '=') end -= 1
    else if (line[end - 2] === '=') end -= 2
    broken += `${line.slice(start, end)}=\r\n`
    start = end
  }
  return broken + line.slice(start)
}

export function base64Lines(content: Buffer): string {
  // 57 octets make a line of 76 characters; 57 * 1024 at a time keeps the pieces of the string few.
  const lines: string[] = []
  for (let at = 0; at < content.length; at += 57) lines.push(content.toString('base64', at, at + 57))
  return lines.join('\r\n')
}
